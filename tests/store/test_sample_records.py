"""Records that earlier versions wrote answer as they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.record.sample_records import NAMES, answers, unpacked
from whence.engine.errors import WhenceError
from whence.engine.record import RunRecord, list_runs
from whence.store.questions.from_record import explain_recorded


def explained(run: RunRecord, output: str) -> object:
    """Value, inputs, what supports it, and how many events are listed; or why there is none."""
    try:
        why = explain_recorded(run, output, support=True)
    except WhenceError as error:
        return str(error)
    return [
        str(why.output.value),
        [str(each) for each in why.inputs],
        [str(each) for each in why.support or ()],
        len(why.events),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_explains_as_before(name: str, tmp_path: Path) -> None:
    root = unpacked(name, tmp_path)
    asked = 0
    for id in list_runs(root):
        run = RunRecord(root, id)
        for output, before in answers()[f"{name}/{id}"]["why"].items():
            assert explained(run, output) == before, (id, output)
            asked += 1
    assert asked > 2
