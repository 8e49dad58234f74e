"""A chain in chunks says the same as in one piece; what each chain is cut into, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.random_chains import random_case
from tests.engine.runners._support.kernel_records import check, even
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Filter,
    MemoryTracker,
    Slice,
    Trim,
    Window,
    interpret,
)
from whence.engine.errors import WhenceError
from whence.engine.formula import formula
from whence.engine.palettes.ltl import X
from whence.engine.record import LogRecord, RunRecord, RunWriter, ingest
from whence.engine.record.staged import take_in
from whence.engine.runners import RunOptions, described
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.plans import Cut, plan_run
from whence.engine.runners.spark.chunks import ChunkTasks

STATELESS = ("apply", "window", "passthrough", "turn_into", "fork")


def in_chunks(
    root: Path, chain: Chain, log: LogRecord, options: RunOptions, plan: Cut
) -> RunRecord:
    """What Spark's tasks do, one after the other in this process."""
    (name,) = chain.inputs
    manifest = {"chain": chain.tree(), **described(chain, {name: log}, options, "spark")}
    writer = RunWriter(root, "run", {**manifest, "streams": []})
    place, tasks = str(log.folder), plan.tasks
    work = ChunkTasks(str(writer.folder), place, chain, options, tasks, plan.halo, plan.reads_on)
    if plan.reads_on:
        final = max(0, *(number for number in range(tasks) if work.decides(number)), 0)
        work = replace(work, final=final)
        tasks = final + 1
    told = [work.do(number) for number in range(tasks)]
    assert [one["error"] for one in told if "error" in one] == []
    take_in(writer, told)
    pending = {name: n for one in told for name, n in one["pending"].items()}
    writer.finish("complete", pending=pending)
    return RunRecord(root, "run")


def test_random_chains_in_chunks_say_the_same(tmp_path: Path) -> None:
    cut = 0
    for seed in range(120):
        case = random_case(seed, STATELESS)
        chain, root = case.chain(), tmp_path / str(seed)
        if len(chain.inputs) != 1 or not all(case.logs.values()):
            continue
        logs = even(root, case)
        name = chain.inputs[0]
        log = ingest(root, name, logs[name] * 3, chunk=4)
        options = RunOptions(chunk=(2, 3, 5)[seed % 3], detail="steps" if seed % 4 else "ends")
        plan = plan_run(chain, {name: log}, options, cores=2, partitions=1 + seed % 5)
        if plan.kind != "chunks":
            continue
        try:
            expected = interpret(chain, {name: list(log.read())}, tracker=MemoryTracker())
        except WhenceError:
            continue
        cut += 1
        check(in_chunks(root, chain, log, options, plan), expected)
    assert cut >= 12


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_windows_over_nexts_need_the_events_of_both(tmp_path: Path, tasks: int) -> None:
    chain = (
        ApplyFunction("low", "value < 3")
        | X("after")
        | Window("four", n=4, of=Cumulate("all", "and"))
    )
    log = ingest(tmp_path, "log", [n * 7 % 5 for n in range(50)], chunk=6)
    options = RunOptions(chunk=8)
    plan = plan_run(chain, {"log": log}, options, cores=8, partitions=tasks)
    assert plan.kind == ("chunks" if tasks > 1 else "one task")
    assert plan.halo == (4 if tasks > 1 else 0)
    run = in_chunks(tmp_path, chain, log, options, Cut("chunks", tasks, "", 4))
    check(run, interpret(chain, {"log": list(log.read())}, tracker=MemoryTracker()))


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("text", ["G x != 3", "F x = 4", "G (x = 3 -> X x < 3)"])
@pytest.mark.parametrize("at", [(), (0,), (49,), (11,), (16, 17, 30), range(0, 50, 3)])
def test_what_waits_reads_on_to_what_decides_it(
    tmp_path: Path, text: str, at: Sequence[int], closed: bool
) -> None:
    chain = Chain.of(formula(text))
    log = ingest(tmp_path, "log", [{"x": 3 + (n % 2 if n in at else 0)} for n in range(50)])
    if "!=" in text or "->" in text:
        log = ingest(tmp_path, "other", [{"x": 3 if n in at else n % 3} for n in range(50)])
    options = RunOptions(chunk=4, closed=closed, detail="steps" if len(at) % 2 else "ends")
    plan = plan_run(chain, {"log": log}, options, cores=8, partitions=5)
    if closed and "X" in text:
        assert plan.kind == "one task"
        return
    assert (plan.kind, plan.reads_on) == ("chunks", True)
    run = in_chunks(tmp_path, chain, log, options, plan)
    whole = interpret(chain, {"log": list(log.read())}, tracker=MemoryTracker(), closed=closed)
    check(run, whole)
    alone = run_kernels(tmp_path, chain, {"log": log}, options)
    assert run.manifest.pending == alone.manifest.pending


CASES: list[tuple[str, Any, RunOptions, str, str]] = [
    ("a Slice", Slice("s", "case", Trim("t", n=1), "count"), RunOptions(), "slices", "of each key"),
    ("a Window", Window("w", n=3, of=Trim("t", n=1)), RunOptions(), "chunks", "and the 2 after it"),
    ("a sum", Cumulate("c", "add"), RunOptions(), "one task", "Cumulate 'c'"),
    ("a rule", formula("G x > 0"), RunOptions(), "chunks", "G 'formula/G' on the first false"),
    ("a way out", formula("F X x > 0"), RunOptions(), "chunks", "the 1 after it; F"),
    (
        "two rules",
        formula("G (F x > 0)"),
        RunOptions(),
        "one task",
        "F 'formula/F' gives depends on",
    ),
    ("an until", formula("x > 0 U x < 0"), RunOptions(), "one task", "U 'formula/U' gives depends"),
    ("a map", Slice("s", "case", Trim("t", n=1)), RunOptions(), "one task", "every head counts"),
    (
        "a computed key",
        Slice("s", "x + 1", Trim("t", n=1), "count"),
        RunOptions(),
        "one task",
        "the key of the Slice 's' is computed",
    ),
    (
        "an irregular P",
        Slice("s", "case", Filter("f", where="x > 0"), "count"),
        RunOptions(),
        "one task",
        "depends on values",
    ),
    (
        "all witnesses",
        Trim("t", n=1),
        RunOptions(witnesses="all"),
        "one task",
        "only supported by the interpreter",
    ),
]


@pytest.mark.parametrize(("what", "part", "options", "kind", "why"), CASES)
def test_what_a_run_is_cut_into(
    tmp_path: Path, what: str, part: Any, options: RunOptions, kind: str, why: str
) -> None:
    chain = Chain.of(part)
    log = ingest(tmp_path, "log", [{"case": "a", "x": 1}] * 20_000)
    cut = plan_run(chain, {"log": log}, options, cores=8, partitions=3)
    assert (cut.kind, cut.tasks) == (kind, 1 if kind == "one task" else 3)
    assert why in cut.why
    alone = plan_run(chain, {"log": log}, options, cores=8)
    assert alone.kind == "one task"
    if kind != "one task":
        assert "20,000 events are too few" in alone.why
        few = plan_run(chain, {"log": log}, options, cores=2)
        assert "2 cores are too few" in few.why
