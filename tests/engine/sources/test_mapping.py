"""The proposed mapping: customary names, what the format knows, what the user states."""

from __future__ import annotations

import pytest

from whence.engine.errors import LogError
from whence.engine.sources.mapping import CUSTOMARY, Role, propose


def columns(*names: str, **options: object) -> dict[str, str]:
    found = propose(names, **options)  # type: ignore[arg-type]
    return {role: each.column for role, each in found.items()}


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("CASEID", "ACTIVITY", "START", "END"), ("CASEID", "ACTIVITY", "START")),
        (
            ("Case ID", "Activity", "Complete Timestamp", "Age"),
            ("Case ID", "Activity", "Complete Timestamp"),
        ),
        (("case_id", "activity", "timestamp", "amount"), ("case_id", "activity", "timestamp")),
        (("case", "concept:name", "time:timestamp"), ("case", "concept:name", "time:timestamp")),
        (
            ("concept:name", "case:concept:name", "time:timestamp", "case:REG_DATE"),
            ("case:concept:name", "concept:name", "time:timestamp"),
        ),
    ],
)
def test_the_names_of_real_logs_are_found(
    names: tuple[str, ...], found: tuple[str, str, str]
) -> None:
    assert columns(*names) == dict(zip(("case", "activity", "time"), found, strict=True))


@pytest.mark.parametrize(("role", "name"), [(r, n) for r in CUSTOMARY for n in CUSTOMARY[r]])
def test_every_customary_name_is_found_however_it_is_written(role: str, name: str) -> None:
    for written in (name, name.upper(), name.replace(" ", "_"), name.title().replace(" ", "")):
        assert propose([written, "other"])[role] == Role(written, "name")


def test_what_is_stated_comes_before_the_format_and_the_format_before_names() -> None:
    names = ("activity", "task", "step")
    assert propose(names)["activity"] == Role("activity", "name", ("task", "step"))
    assert propose(names, known={"activity": "step"})["activity"] == Role("step", "format")
    stated = {"activity": "task", "case": None}
    assert propose(names, known={"activity": "step"}, stated=stated)["activity"] == Role(
        "task", "stated"
    )


def test_nothing_is_mapped_where_no_name_fits_or_the_user_says_so() -> None:
    assert propose(["p", "q"]) == {}
    assert columns("case", "activity", stated={"case": ""}) == {"activity": "activity"}


def test_a_stated_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(LogError) as caught:
        propose(["case", "p"], stated={"case": "caze"}, where="log.csv")
    assert str(caught.value) == (
        "log.csv: expected the column 'caze', declared as case; got no such column; "
        "try 'case' (did you mean that?)"
    )
