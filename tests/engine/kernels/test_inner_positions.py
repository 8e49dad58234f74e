"""Positions inside a Slice: no two events share one, however many come at once."""

from __future__ import annotations

from random import Random

import pytest

from tests.engine.kernels.comparing import by_kernels
from whence.engine import Chain, MemoryTracker, Slice, interpret
from whence.engine.errors import EventError
from whence.engine.formula import formula
from whence.engine.interpreter import extract
from whence.engine.kernels import kernel, scope

SAID = r"position 6: expected at most 4 events of .*; got more; try "


def _closing() -> Chain:
    """Every slice has a verdict only when the log is closed."""
    return Chain.of(Slice("per-case", by="case", of=formula("G(x > 0)"), combine="and"))


def _log(cases: int) -> dict[str, list[dict[str, int]]]:
    return {"log": [{"case": case, "x": 1} for case in range(cases)]}


def test_more_closing_events_than_positions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kernel, scope):
        monkeypatch.setattr(module, "INNER_WIDTH", 4)
    by_kernels(_closing(), _log(4), True, Random(0))
    with pytest.raises(EventError, match=SAID):
        by_kernels(_closing(), _log(6), True, Random(0))


def test_the_interpreters_record_refuses_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extract, "INNER_WIDTH", 4)
    for cases, fails in ((4, False), (6, True)):
        result = interpret(_closing(), _log(cases), tracker=MemoryTracker(), closed=True)
        extractor = extract.Extractor(result.interpreter)
        kept = next(k for k in extractor.streams if k.role == "inner" and k.shelf is not None)
        assert kept.shelf is not None
        placed = [event for event in kept.shelf.events if event is not None]
        if not fails:
            assert len({extractor.position(kept, event) for event in placed}) == len(placed)
            continue
        with pytest.raises(EventError, match=SAID):
            [extractor.position(kept, event) for event in placed]
