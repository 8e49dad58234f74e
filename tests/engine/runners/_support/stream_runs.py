"""Chains, events and files for runs on streams."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.engine.runners._support.stopped_runs import CHAINS as STOPPED
from whence.engine import ApplyFunction, Chain, Cumulate, Filter, MemoryTracker, Slice, Window
from whence.engine import interpret as run_interpreter
from whence.engine.interpreter import RunResult
from whence.engine.language.log import Log
from whence.engine.record import RunRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.stream.on_spark import StreamProgress, run_stream
from whence.engine.sources.folder_stream import FolderStream

__all__ = ["CHAINS", "DECLARED", "EVENTS", "OPTIONS", "cut", "interpreted", "put", "streamed"]

OPTIONS = RunOptions(closed=True, chunk=40)
DECLARED = Log(columns={"x": "integer"})
EVENTS = [
    {"case": f"case {n * 7 % 23}", "act": "abbcab"[n * n % 6], "x": n * 5 % 11 - 3}
    for n in range(300)
]

CHAINS: dict[str, Callable[[], Any]] = {
    "window": lambda: (
        ApplyFunction("x", "x")
        | Window("three", n=3, of=Cumulate("product", "product"))
        | ApplyFunction("not-zero", "value != 0")
    ),
    "lifecycle": STOPPED["lifecycle"],
    "rule": STOPPED["rule"],
    "nested": lambda: Slice(
        "per-case",
        by="case",
        of=ApplyFunction("x", "x") | Window("two", n=2, of=Cumulate("sum", "add")),
        combine="add",
    ),
    "filter": lambda: (
        Filter("negative", where="x < 0") | ApplyFunction("x", "x") | Cumulate("total", "add")
    ),
}


def cut(events: Sequence[Any], random: Random, pieces: int) -> Iterator[Sequence[Any]]:
    """Cut events into so many files, some of which may be empty."""
    cuts = sorted(random.randrange(len(events) + 1) for _ in range(pieces - 1))
    for start, stop in zip([0, *cuts], [*cuts, len(events)], strict=True):
        yield events[start:stop]


def put(folder: Path, name: str, events: Sequence[Any]) -> None:
    """Put a file into a folder in one step; its ending says how it is written."""
    beside = folder / f".{name}"
    columns = {column: [e[column] for e in events] for column in EVENTS[0]}
    if name.endswith(".parquet"):
        types = [("case", pa.string()), ("act", pa.string()), ("x", pa.int64())]
        pq.write_table(pa.table(columns, schema=pa.schema(types)), beside)
    elif name.endswith(".jsonl"):
        beside.write_text("".join(json.dumps(e) + "\n" for e in events))
    else:
        rows = [",".join(EVENTS[0]), *(",".join(map(str, e.values())) for e in events)]
        beside.write_text("\n".join(rows) + "\n")
    beside.rename(folder / name)


def interpreted(name: str) -> RunResult:
    """What the interpreter says of the events."""
    chain = Chain.of(CHAINS[name]())
    logs = {chain.inputs[0]: EVENTS}
    return run_interpreter(chain, logs, tracker=MemoryTracker(), closed=True)


def streamed(
    root: Path,
    folder: Path,
    name: str,
    options: RunOptions,
    session: Any,
    later: Sequence[tuple[str, Sequence[Any]]] = (),
    **given: Any,
) -> RunRecord:
    """Follow a folder; whenever a batch was taken put the next file there, and then stop.

    Without files for later, take what is there and end the run.
    """
    stop = threading.Event()
    waiting = list(later)

    def tell(progress: StreamProgress) -> None:
        if waiting:
            put(folder, *waiting.pop(0))
        elif later:
            stop.set()

    return run_stream(
        root,
        Chain.of(CHAINS[name]()),
        FolderStream(folder, given.pop("declared", DECLARED)),
        options,
        session=session,
        stop=stop,
        tell=tell,
        every=0.1,
        available_now=not later,
        **given,
    )
