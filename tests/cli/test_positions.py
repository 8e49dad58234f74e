"""Positions inside a Slice have one spelling: what erase prints, questions and the page take."""

from __future__ import annotations

import pytest

from whence.cli.asking import ranges_text
from whence.engine.language.events import position_text
from whence.engine.record.manifest import RunChoices, StreamRole
from whence.store.catalog import RunGraph, StoredStream
from whence.store.questions.naming import find_event

STREAM = StoredStream("order", 1, "order", 0, StreamRole.OUTPUT, w=4, length=400, tracked=0)
RUN = RunGraph("r", "complete", True, 5, RunChoices(), "", (), (STREAM,))


@pytest.mark.parametrize(("outer", "index"), [(0, 0), (41, 0), (41, 1), (41, 3)])
def test_what_erase_prints_is_the_name_that_the_page_shows(outer: int, index: int) -> None:
    position = outer * STREAM.w + index
    printed = ranges_text(((position, position),), w=STREAM.w)
    assert printed == position_text((outer, index))
    assert STREAM.label(position) == f"order@{printed}"
    assert find_event(RUN, f"order@{printed}") == (STREAM, position)
