"""The state of a run is a file: whoever reads it goes on as if nothing had happened."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.comparing import difference
from tests.engine.random_chains import random_case
from whence.engine.kernels.batch import Batch
from whence.engine.kernels.columns.column import from_values, records
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.state import UnsavedError, read_state, write_state
from whence.engine.kernels.trails.composing import Chosen
from whence.engine.kernels.trails.entries import Entries
from whence.engine.kernels.trails.trail import Line, Nothing, Spans
from whence.engine.values.columns import canonical
from whence.engine.values.slice_map import SliceMap, SliceMapHistory

HUNDREDS = 6
"""Of the random chains; those that hold a processor without kernel are left out and counted."""


@pytest.mark.parametrize("hundred", range(HUNDREDS))
def test_a_run_that_moves_after_every_batch_says_the_same(hundred: int) -> None:
    moved = 0
    for seed in range(hundred * 20, hundred * 20 + 20):
        try:
            found = difference(random_case(seed), steps=seed % 2 == 0, moved=True)
        except UnsavedError:
            continue
        moved += 1
        assert found is None, f"seed {seed}: {found}"
    assert moved >= 10


def test_whatever_a_kernel_may_keep_survives(tmp_path: Path) -> None:
    texts = Texts(["a", "b"])
    history = SliceMapHistory()
    history.keys, history.changes = [1.5, "k"], [(0, True), (1, None)]
    values = [None, 1, 2.5, "t", [1, None], {"r": -0.0}, SliceMap(history), float("nan"), 2**70]
    kinds: dict[str, list[Any]] = {
        "boolean": [True, None],
        "integer": [1, -(2**62)],
        "float": [float("inf"), -0.0],
        "text": ["b", None],
        "instant": [datetime(2026, 3, 1, tzinfo=UTC), None],
        "duration": [timedelta(seconds=1), timedelta(0)],
    }
    typed = {kind: from_values(some, kind, texts) for kind, some in kinds.items()}
    line = Line(3, -1, 2, 5, 7)
    spans = Spans(1, 0, np.array([4, 0]), np.array([6, -1]))
    chosen = Chosen(2, [(np.array([True, False]), line), (None, spans)])
    moment = np.arange(2)
    record = records(typed, 2, texts)
    batch = Batch(record, moment, None, chosen, chosen, None)
    other = Batch(record, moment, moment, line, spans, Nothing(2))
    state = {
        "any": from_values(values, "any", texts),
        "array": np.arange(6, dtype=np.int32).reshape(2, 3),
        "flags": np.array([True, False]),
        "batches": [batch, other, None],
        "plain": {"n": 3, "x": 0.5, "t": "t", "none": None, "yes": True},
        "entries": Entries(*(np.arange(2) for _ in range(5))),
    }
    write_state(tmp_path / "state.arrow", state)
    again = read_state(tmp_path / "state.arrow", texts)
    assert [canonical(v) for v in again["any"].to_list()] == [canonical(v) for v in values]
    assert again["array"].dtype == np.int32
    assert again["array"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert again["flags"].tolist() == [True, False]
    assert again["plain"] == state["plain"]
    assert [a.tolist() for a in again["entries"]] == [[0, 1]] * 5
    first, second, nothing = again["batches"]
    assert nothing is None
    assert first.sup is first.why
    assert second.sup is not second.why
    assert str(first.values.to_list()) == str(record.to_list())
    for old, new in ((chosen, first.why), (line, second.why), (spans, second.sup)):
        wanted = old.settle().held
        assert [a.tolist() for a in new.settle().held] == [a.tolist() for a in wanted]


def test_python_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Python objects"):
        write_state(tmp_path / "state.arrow", {"x": np.array([object()])})
    with pytest.raises(TypeError, match="got object"):
        write_state(tmp_path / "state.arrow", {"x": object()})
