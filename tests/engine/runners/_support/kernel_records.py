"""Records that kernels leave, and what they say of every output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.random_chains import Case
from whence.engine.interpreter import RunResult
from whence.engine.language.chain import Chain
from whence.engine.lineage.positions import positions
from whence.engine.lineage.terms import Inputs, flatten
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.values.columns import canonical

__all__ = ["by_log", "check", "even", "logs_of", "reached", "record"]

Places = dict[str, set[int]]


def logs_of(
    root: Path, chain: Chain, logs: dict[str, list[Any]], chunk: int
) -> dict[str, LogRecord]:
    """The logs in the record."""
    return {name: ingest(root, name, logs[name], chunk=chunk) for name in chain.inputs}


def even(root: Path, case: Case) -> dict[str, list[Any]]:
    """The logs of a case as the record gives them back: every record with every field."""
    return {name: list(ingest(root, name, log).read()) for name, log in case.logs.items()}


def record(
    root: Path, chain: Chain, logs: dict[str, list[Any]], options: RunOptions, batch: int = 4
) -> RunRecord:
    """Run a chain by kernels."""
    return run_kernels(root, chain, logs_of(root, chain, logs, options.chunk), options, batch=batch)


def by_log(inputs: Inputs) -> Places:
    places: Places = {}
    for log, position in inputs:
        assert isinstance(position, int)
        places.setdefault(log, set()).add(position)
    return places


def reached(index: AssociationIndex, stream: str, position: int, support: bool) -> Places:
    found = index.up(stream, position, support=support)
    return {log: set(positions(places)) for log, places in found.items()}


def check(run: RunRecord, expected: RunResult) -> None:
    """The record says the same as the tracker in memory."""
    index = AssociationIndex(run.rows())
    streams = run.manifest.by_name
    for name in expected.interpreter.chain.outputs:
        stream = streams[name]
        told = [row for part in stream.outputs for row in run.outputs(name, part.part).to_pylist()]
        outputs = expected.of(name)
        assert [row["position"] for row in told] == list(range(len(outputs)))
        assert [row["moment"] for row in told] == [output.moment for output in outputs]
        assert [row["value"] for row in told] == [canonical(output.value) for output in outputs]
        assert stream.length == stream.tracked == len(outputs)
        for output in outputs:
            for support in (False, True):
                wanted = by_log(flatten(output.event, support=support))
                assert reached(index, name, output.position, support) == wanted
        wanted = by_log(expected.interpreter.open_inputs(name))
        assert reached(index, f"{name}/end", 0, True) == wanted
    assert run.manifest.pending == expected.interpreter.pending()
