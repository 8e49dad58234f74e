"""A Slice on several partitions says the same as in one piece."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.engine.runners._support.kernel_records import check
from whence.engine import (
    ApplyFunction,
    Chain,
    Cumulate,
    Filter,
    Group,
    MemoryTracker,
    Slice,
    Trim,
    Window,
    interpret,
)
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.record import LogRecord, RunRecord, RunWriter, ingest
from whence.engine.record.staged import StagedParts, take_in
from whence.engine.runners import RunOptions, described
from whence.engine.runners.spark.slice_parts import Inside, LogShape, Piece, Together, gathered


def machine() -> MooreMachine:
    return MooreMachine(
        "order",
        initial="new",
        states={"new": True, "open": True, "wrong": False},
        transitions=[
            ("new", "x > 0", "open"),
            ("open", "x > 1", "open"),
            ("open", "x < -2", "wrong"),
            ("wrong", "x > 2", "open"),
        ],
        otherwise={"new": "new", "open": "new", "wrong": "wrong"},
    )


CHAINS: dict[str, Any] = {
    "machine": lambda: Slice("all", by="case", of=machine(), combine="and"),
    "or": lambda: Slice("all", by="case", of=ApplyFunction("ok", "x > 2"), combine="or"),
    "count": lambda: Slice("all", by="case", of=Trim("skip", n=2), combine="count"),
    "silent": lambda: Slice(
        "all", by="case", of=Trim("skip", n=1) | ApplyFunction("ok", "x > -3"), combine="and"
    ),
    "first": lambda: Slice(
        "all", by="case", of=ApplyFunction("ok", "x > 0"), combine="and", take="first"
    ),
    "longer": lambda: (
        Slice("all", by="case", of=machine(), combine="and")
        | Window("three", n=3, of=Cumulate("every", "and"))
        | Filter("bad", where="not value")
    ),
    "group": lambda: Group("g", CHAINS["silent"]()),
    "nested": lambda: Slice(
        "all",
        by="case",
        of=Slice("inner", by="x", of=ApplyFunction("ok", "x < 3"), combine="and"),
        combine="and",
    ),
}


def log_of(seed: int) -> list[Any]:
    random = Random(seed)
    count = random.randint(1, 60)
    return [
        {"case": random.choice(["a", "b", "c", "d", None]), "x": random.randint(-4, 4)}
        for _ in range(count)
    ]


def in_pieces(
    root: Path, chain: Chain, log: LogRecord, options: RunOptions, partitions: int, batch: int
) -> RunRecord:
    """What Spark's tasks do, one after the other in this process."""
    shape = LogShape(log.columns, log.manifest.plain, log.length)
    table = pa.concat_tables(log.part(n) for n in range(log.manifest.parts))
    names = ["position", *(f"c{n}" for n in range(len(shape.columns)))]
    table = table.select(["position", *shape.columns]).rename_columns(names)
    keys = [hash(case) % partitions for case in table.column("c0").to_pylist()]
    pieces: list[list[Piece]] = []
    for number in range(partitions):
        mine = table.take(pa.array(np.flatnonzero(np.array(keys) == number)))
        inside = Inside(chain, shape, options)
        found: list[Piece] = []
        for start in range(0, mine.num_rows, batch):
            found += inside.feed(mine.slice(start, batch))
        pieces.append([*found, *inside.finish()])
    writer = RunWriter(
        root,
        "run",
        {
            "chain": chain.tree(),
            **described(chain, {"log": log}, options, "spark"),
            "streams": [],
        },
    )
    told = []
    staged = StagedParts(writer.folder)
    together = Together(chain, shape, options, staged, partitions)
    for part in range(-(-log.length // options.chunk)):
        notes = {
            number: piece.events
            for number, some in enumerate(pieces)
            for piece in some
            if not piece.stream.name and piece.part == part and piece.events is not None
        }
        if notes:
            together.feed(part, notes)
    pending = together.finish()
    told.append(staged.told())
    groups: dict[tuple[str, int], list[Piece]] = {}
    for some in pieces:
        for piece in some:
            if piece.stream.name:
                groups.setdefault((piece.stream.name, piece.part), []).append(piece)
    staged = StagedParts(writer.folder)
    for (name, part), several in groups.items():
        staged.add_stream(several[0].stream)
        events, rows = gathered(several[0].stream, several)
        staged.add(name, part, events, rows, sum(piece.tracked for piece in several))
    take_in(writer, [*told, staged.told()])
    writer.finish("complete", pending=pending)
    return RunRecord(root, "run")


@pytest.mark.parametrize("name", CHAINS)
def test_slices_in_pieces_say_the_same(tmp_path: Path, name: str) -> None:
    for seed in range(6):
        chain, root = Chain.of(CHAINS[name]()), tmp_path / str(seed)
        log = ingest(root, "log", log_of(seed), chunk=7)
        detail: Any = "steps" if seed % 4 == 0 else "ends"
        options = RunOptions(chunk=(3, 8, 100)[seed % 3], detail=detail)
        run = in_pieces(root, chain, log, options, 1 + seed % 4, 1 + seed % 5)
        expected = interpret(chain, {"log": list(log.read())}, tracker=MemoryTracker())
        check(run, expected)
