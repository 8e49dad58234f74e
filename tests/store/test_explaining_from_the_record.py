"""Explained from the record alone, against every row of the record looked at for every event."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.record._support.random_runs import random_run
from tests.exporters._support.recorded_runs import RUNS
from whence.engine.lineage.association import Association
from whence.engine.lineage.follow import EXPLAINS, SUPPORTS
from whence.engine.record import RunRecord
from whence.store.questions.fields import asked_inputs
from whence.store.questions.from_record import described, explain_recorded

Lead = tuple[object, ...]


def leads_on(rows: Iterable[Association], start: tuple[str, int]) -> set[Lead]:
    """Every single step on the way from an event, row by row."""
    by_stream = AssociationIndex(rows).by_stream
    found: set[Lead] = set()
    seen, stack = {start}, [start]
    while stack:
        name, at = stack.pop()
        for row in by_stream.get(name, ()):
            if row.witness is not None and 0 not in row.witness:
                continue
            for lo, hi in row.reaches(at, at):
                for below in range(lo, hi + 1):
                    found.add((name, at, row.relation, row.to, below, row.fields, row.copy))
                    if (row.to, below) not in seen:
                        seen.add((row.to, below))
                        stack.append((row.to, below))
    return found


def check(run: RunRecord) -> None:
    about, rows = described(run), list(run.rows())
    for stream in run.manifest.streams:
        for position in range(stream.length if stream.role.is_output else 0):
            why = explain_recorded(run, f"{stream.name}@{position}", support=True)
            told = (
                (EXPLAINS, why.inputs, why.derivations),
                (SUPPORTS, why.support, why.support_derivations),
            )
            for relations, inputs, derivations in told:
                wanted = [row for row in rows if row.relation in relations]
                assert derivations is not None
                assert leads_on(derivations, (stream.name, position)) == leads_on(
                    wanted, (stream.name, position)
                )
                first = [row for row in wanted if row.witness is None or 0 in row.witness]
                closed = AssociationIndex(first).by_stream.values()
                every = [row for several in closed for row in several]
                assert inputs == asked_inputs(about, every, stream.name, position)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_of_known_runs(name: str, kernels: bool, tmp_path: Path) -> None:
    check(RUNS[name](tmp_path, kernels=kernels))


@pytest.mark.parametrize("seed", range(12))
def test_of_random_chains(seed: int, tmp_path: Path) -> None:
    check(random_run(seed, tmp_path))
