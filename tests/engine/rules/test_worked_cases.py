"""The worked cases of rules: verdicts, when they became certain, why, and what they lean on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whence.engine.testing import findings

FILE = Path(__file__).parents[4] / "shared" / "vectors" / "rules.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"] if FILE.is_file() else []
SETTINGS = ("grace", "as_of", "closed", "closes")
EXACT = ("case", "trigger", "status", "decided", "by", "since", "due", "explains")
OPEN_LESS = {  # The case's events before the first pending trigger cannot matter any more.
    "bounds/not-itself", "template/not_response", "random/15", "random/23", "random/35",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not CASES, reason="the worked cases are not on this machine")


def pairs(found: list[list[Any]]) -> set[tuple[int, str | None]]:
    return {(position, field) for position, field in found}


def test_there_are_as_many_cases_as_announced() -> None:
    assert len(CASES) == 327


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_worked_case_comes_out_as_it_says(case: dict[str, Any]) -> None:
    found = findings(case["rule"], case["log"], **{k: case[k] for k in SETTINGS if k in case})
    got = [{key: each[key] for key in EXACT} for each in found]
    assert got == [
        {key: {"explains": [], **each}.get(key) for key in EXACT} for each in case["findings"]
    ]
    for each, worked in zip(found, case["findings"], strict=True):
        assert pairs(each["supports"]) == pairs(worked.get("supports", []))
    assert (found.late, found.reopened) == (case["late"], case["reopened"])
    if case["id"] in OPEN_LESS:
        assert pairs(found.open) < pairs(case["open"])
    else:
        assert pairs(found.open) == pairs(case["open"])
