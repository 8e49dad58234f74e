"""A palette may bring a kernel, a rule for the analysis, and what the planner must know."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.kernels.comparing import by_interpreter, by_kernels
from tests.engine.runners._support.kernel_records import check
from tests.engine.runners.test_spark_chunks import in_chunks
from tests.palette_example.example_palette import Difference
from tests.palette_example.example_palette.kernel import DifferenceKernel
from whence.api import run
from whence.engine import (
    ApplyFunction,
    Chain,
    CountDecimate,
    Filter,
    MemoryTracker,
    Window,
    interpret,
)
from whence.engine.analysis import analyse
from whence.engine.errors import EventError
from whence.engine.kernels.adapter import Interpreted
from whence.engine.kernels.work import KernelWork
from whence.engine.processors import Group, Slice
from whence.engine.record import ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.plans import plan_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.engine.kernels.kernel import Kernel, Place

CHAIN = ApplyFunction("x", "x") | Difference("steps", lag=2) | ApplyFunction("up", "value > 0")


@dataclass(frozen=True)
class Noted(Difference):
    """A Difference whose kernel leaves a file named by its process."""

    folder: str = ""

    tag = "noted"

    def kernel(self, place: Place) -> Kernel | None:
        """Leave the note of a kernel that is there."""
        made = super().kernel(place)
        if made is not None:
            (Path(self.folder) / str(os.getpid())).touch()
        return made


def kernels_of(chain: Chain) -> Iterator[type[Kernel]]:
    return (type(at.kernel) for at in KernelWork(chain).kernels.steps)


def cases() -> Iterator[tuple[int, Chain, dict[str, list[Any]]]]:
    """Regular and irregular streams, lags that are longer than logs, two in a row, a Group."""
    for seed in range(150):
        random = Random(seed)
        log = [{"x": random.randint(-9, 9), "y": random.random() < 0.6} for _ in range(seed % 23)]
        chain = Chain.of(ApplyFunction("x", "x"))
        if seed % 3 == 0:
            chain = Filter("some", "y") | chain
        inner = Chain.of(Difference("one", random.randint(1, 4)))
        chain = chain | (Group("held", inner) if seed % 5 == 0 else inner)
        if seed % 2:
            chain = chain | Difference("two", random.randint(1, 4))
        yield seed, chain, {chain.inputs[0]: log}


@pytest.mark.parametrize("moved", [False, True])
def test_its_kernel_says_what_the_interpreter_says(moved: bool) -> None:
    outputs = 0
    for seed, chain, logs in cases():
        told, ends = by_interpreter(chain, logs, False)
        found = by_kernels(chain, logs, False, Random(seed), steps=seed % 4 == 0, moved=moved)
        assert found == (told, ends), f"seed {seed}"
        outputs += sum(map(len, told.values()))
    assert outputs > 500


def test_the_local_runner_uses_its_kernel(tmp_path: Path) -> None:
    assert DifferenceKernel in kernels_of(CHAIN)
    chain = ApplyFunction("x", "x") | Noted("steps", 2, str(tmp_path))
    logs = [{"x": n * n % 7} for n in range(40)]
    result = run(chain, logs, runner="local", record=tmp_path / "record")
    expected = interpret(chain, logs).values
    assert [value for _, value in result.outputs()] == expected
    assert (tmp_path / str(os.getpid())).exists()


def test_where_it_brings_none_it_runs_as_the_interpreter_does() -> None:
    chain = Chain.of(
        Slice("each", by="c", of=ApplyFunction("x", "x") | Difference("d"), combine="add")
    )
    logs = {"log": [{"c": n % 3, "x": n * n % 11} for n in range(30)]}
    assert Interpreted not in kernels_of(chain)  # only inside
    told, ends = by_interpreter(chain, logs, False)
    assert by_kernels(chain, logs, False, Random(1)) == (told, ends)


@pytest.mark.parametrize("at", [3, 17])
def test_a_value_that_does_not_fit_is_refused_in_the_same_words(tmp_path: Path, at: int) -> None:
    chain = Difference("steps", lag=2)
    log: list[Any] = [n if n != at else "four" for n in range(20)]
    said = []
    for runner in ("interpreter", "local"):
        with pytest.raises(EventError) as refused:
            run(chain, log, runner=runner, record=tmp_path / runner)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_the_planner_cuts_by_its_hint(tmp_path: Path) -> None:
    chain = CHAIN | Window("two", n=2, of=ApplyFunction("last", "value"))
    events = [{"x": n * 7 % 5} for n in range(50)]
    log = ingest(tmp_path, "log", events, chunk=6)
    options = RunOptions(chunk=8)
    plan = plan_run(chain, {"log": log}, options, cores=8, partitions=5)
    assert (plan.kind, plan.tasks, plan.halo) == ("chunks", 5, 3)
    expected = interpret(chain, {"log": list(log.read())}, tracker=MemoryTracker())
    check(in_chunks(tmp_path, chain, log, options, plan), expected)


@pytest.mark.spark
def test_tasks_of_spark_use_its_kernel(tmp_path: Path, spark: SparkSession) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    chain = ApplyFunction("x", "x") | Noted("steps", 2, str(notes))
    events = [{"x": n * n % 7} for n in range(60)]
    result = run(chain, events, record=tmp_path / "record", session=spark, partitions=3, chunk=10)
    expected = interpret(chain, events, tracker=MemoryTracker())
    check(result.record, expected)
    others = {int(note.name) for note in notes.iterdir()} - {os.getpid()}
    assert others


def test_the_analysis_uses_its_rule() -> None:
    chain = ApplyFunction("x", "x") | Difference("steps", lag=2) | CountDecimate("third", n=3)
    found = analyse(chain)
    (log,) = found.logs
    matter = [at for at in range(12) if log.matters(at)]
    assert matter == [0, 2, 3, 5, 6, 8, 9, 11]
    assert (found.not_exact, found.pipes[0].explains_at_most, found.pipes[0].waits) == ((), 1, 2)
    events = [{"x": n} for n in range(12)]
    values = interpret(chain, events).values
    for at in range(12):
        changed = [{"x": 100} if n == at else event for n, event in enumerate(events)]
        assert (interpret(chain, changed).values != values) == (at in matter)
