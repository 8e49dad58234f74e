"""The steps of an explanation: as the tracker has them, from the graph or computed again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from tests.store._support.runs_in_neo4j import keep
from whence.engine.errors import StoreError
from whence.engine.lineage.steps import Steps, routes, steps_of
from whence.engine.lineage.terms import flatten
from whence.engine.runners import RunOptions
from whence.store import Connection
from whence.store.questions import explain, steps

pytestmark = pytest.mark.neo4j


def inputs_of(found: Steps) -> set[tuple[str, int]]:
    """The input events among the steps; neighbours that stand together one by one."""
    places = set()
    for step in found.inputs:
        log, _, at = step.name.partition("@")
        lo, _, hi = at.partition("-")
        places |= {(log, n) for n in range(int(lo), int(hi or lo) + 1)}
    return places


def plain(value: Any) -> Any:
    """A value that can be compared: a log in the record has every field; NaN is no number."""
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items() if each is not None}
    return "NaN" if value != value else value


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("seed", range(5, 8))
def test_steps_equal_the_trackers(
    graph: Connection, tmp_path: Path, seed: int, detail: str
) -> None:
    case = random_case(seed)
    options = RunOptions(detail=detail, closed=case.closed, chunk=3 if seed % 2 else 100)  # type: ignore[arg-type]
    with refusals_skipped():
        kept = keep(graph, tmp_path, case.chain(), case.logs, options)
    for output in kept.result.outputs[-4:]:
        why = explain(graph, kept.record.id, f"{output.name}@{output.position}")
        found = steps(graph, why, record=tmp_path)
        wanted = steps_of(output.event)
        assert inputs_of(found) == set(flatten(output.event))
        if detail == "ends":
            assert found.below == wanted.below
            own = {name for name, step in found.steps.items() if not step.is_input}
            assert own == {name for name, step in wanted.steps.items() if not step.is_input}
        else:
            # Windows keep no steps inside; whatever is there, is the tracker's.
            own = {name for name, step in found.steps.items() if not step.is_input}
            assert own <= {name.partition(" ")[0] for name in wanted.steps}
        for name in own & set(wanted.steps):
            assert plain(found.steps[name].value) == plain(wanted.steps[name].value), name
        assert routes(found, 1)[0][0].steps[0].name == found.output


def test_without_the_record_only_a_run_with_steps_tells_them(
    graph: Connection, tmp_path: Path
) -> None:
    case = random_case(1)
    for detail in ("ends", "steps"):
        root = tmp_path / detail
        options = RunOptions(detail=detail, closed=case.closed)
        kept = keep(graph, root, case.chain(), case.logs, options)
        why = explain(graph, kept.record.id, f"{kept.result.outputs[-1].name}@0")
        with_record = steps(graph, why, record=root)
        root.rename(tmp_path / f"{detail}-moved")
        if detail == "steps":
            without = steps(graph, why, record=root)
            assert without.below == with_record.below
        else:
            with pytest.raises(StoreError, match="expected a run with --detail steps, or its"):
                steps(graph, why, record=root)
