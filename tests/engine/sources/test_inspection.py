"""A look at a log: what is counted, and that proposals are what would really be read."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.engine.sources import open_source
from whence.engine.sources.cells import converter
from whence.engine.sources.inspection import Inspection, inspect_log
from whence.engine.sources.mapping import Role
from whence.engine.sources.proposing import Candidates


def look(tmp_path: Path, text: str, **options: Any) -> Inspection:
    file = tmp_path / "log.csv"
    file.write_text(text, encoding="utf-8")
    stated = options.pop("stated", None)
    return inspect_log(open_source(file, **options), stated=stated)


def proposal(*texts: str | None, batch: int = 100) -> str | None:
    candidates = Candidates()
    for start in range(0, len(texts), batch):
        candidates.see(pa.array(texts[start : start + batch], pa.string()))
    return candidates.best


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (("true", "false"), "boolean"),
        (("true", "FALSE"), None),
        (("1", "-20", "+3"), "integer"),
        (("1", "0123"), None),  # codes, that would lose their zeros
        (("9223372036854775807", "1"), "float"),
        (("1", "2.5", "1e3"), "float"),
        (("1,5", "2"), None),
        (("1", "NA"), None),
        (("-", "5"), None),
        (("2026-03-01", "2026-03-02T10:00:00Z"), "instant"),
        (("2026-03-01", "2026-13-01"), None),
        (("2014/10/22 11:15:41.000",), "instant(%Y/%m/%d %H:%M:%S.%f)"),
        (("10/31/2018 23:00:55",), "instant(%m/%d/%Y %H:%M:%S)"),
        (("31/10/2018 23:00",), "instant(%d/%m/%Y %H:%M)"),
        (("31.10.2018",), "instant(%d.%m.%Y)"),
        (("17/May/2015:10:05:03 +0200",), "instant(%d/%b/%Y:%H:%M:%S %z)"),
        ((None, None), None),
        (("", "a"), None),
    ],
)
def test_a_kind_is_proposed_if_every_text_fits(
    texts: tuple[str | None, ...], kind: str | None
) -> None:
    assert proposal(*texts) == kind
    assert proposal(*texts, None, batch=1) == kind


CELLS = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.floats().map(repr),
    st.sampled_from(("true", "false", "NA", "-", "007", "1e999", "+1", " 7", "", "2026-02-30")),
    st.datetimes().map(datetime.isoformat),
    st.dates().map(lambda day: day.strftime("%m/%d/%Y")),
    st.text(max_size=5),
)


@given(st.lists(CELLS, min_size=1, max_size=4))
def test_what_is_proposed_can_really_be_read(cells: list[str]) -> None:
    kind = proposal(*cells)
    if kind is not None:
        convert = converter(kind)
        assert convert is not None
        for cell in cells:
            convert(cell)  # raises nothing


@pytest.mark.parametrize("sign", ["/", ".", "-"])
@pytest.mark.parametrize(
    ("clock", "written"), [("", ""), (" %H:%M", " 10:30"), (" %I:%M %p", " 10:30 PM")]
)
@pytest.mark.parametrize(("year", "digits"), [("%Y", "2026"), ("%y", "26")])
def test_of_times_that_can_be_read_in_two_ways_none_is_proposed(
    sign: str, clock: str, written: str, year: str, digits: str
) -> None:
    kinds = [f"instant({sign.join((*days, year))}{clock})" for days in (("%d", "%m"), ("%m", "%d"))]
    candidates = Candidates()
    candidates.see(pa.array([sign.join(("03", "04", digits)) + written]))
    assert (candidates.best, candidates.ambiguous) == (None, tuple(kinds))
    candidates.see(pa.array([sign.join(("14", "03", digits)) + written]))
    assert (candidates.best, candidates.ambiguous) == (kinds[0], ())
    other = Candidates()
    other.see(pa.array([sign.join(("03", "14", digits)) + written]))
    assert (other.best, other.ambiguous) == (kinds[1], ())


def test_everything_about_a_small_log(tmp_path: Path) -> None:
    found = look(
        tmp_path,
        "case,activity,time,p\n"
        "A,a,2026-03-01T10:00:00Z,1\n"
        "A,b,2026-03-01T10:00:00Z,\n"
        "NA,a,2026-03-01T12:00:00+02:00,x\n"
        "NA,c,2026-03-01T09:00:00Z,-\n",
    )
    assert (found.events, found.cases, found.activities) == (4, 2, 3)
    times = found.times
    assert times is not None
    assert (times.first, times.last) == (
        datetime(2026, 3, 1, 9, tzinfo=UTC),
        datetime(2026, 3, 1, 10, tzinfo=UTC),
    )
    assert (times.ties, times.ties_in_case, times.back, times.back_in_case) == (2, 1, 1, 1)
    assert found.roles["time"] == Role("time", "name")
    columns = {c.name: (c.kind, c.proposed, c.missing, c.distinct) for c in found.columns}
    assert columns["p"] == ("text", None, 1, 3)
    assert columns["time"] == ("text", "instant", 0, 3)
    assert found.first[0]["row"] == 0
    assert found.declaration() == {
        "columns": {"time": "instant"},
        "case": "case",
        "activity": "activity",
        "time": "time",
    }


def test_declared_kinds_are_used_and_not_proposed_again(tmp_path: Path) -> None:
    text = "at,p\n01.03.2026 10:00,1\n01.03.2026 09:00,2\n"
    found = look(
        tmp_path,
        text,
        columns={"at": "instant(%d.%m.%Y %H:%M)", "p": "integer"},
        timezone="+01:00",
        stated={"time": "at"},
    )
    assert [(c.kind, c.proposed) for c in found.columns] == [("instant", None), ("integer", None)]
    assert found.times is not None
    assert found.times.first == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert found.times.back == 1


def test_a_log_without_events_or_without_times_is_no_error(tmp_path: Path) -> None:
    empty = look(tmp_path, "case,time\n")
    assert (empty.events, empty.cases) == (0, 0)
    assert empty.times is None or empty.times.first is None
    found = look(tmp_path, "case,time\nA,soon\n,\n")
    assert found.times is None
    assert [c.missing for c in found.columns] == [1, 1]


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 1000])
def test_counts_do_not_depend_on_how_the_log_is_cut(rows: int) -> None:
    chance = random.Random(4)
    start = datetime(2026, 3, 1, tzinfo=UTC)
    cases = [chance.choice(["A", "B", None]) for _ in range(200)]
    times = [
        None if chance.random() < 0.2 else start + timedelta(hours=chance.randrange(4))
        for _ in range(200)
    ]
    source = _Cut(cases, times, rows)
    found = inspect_log(source)
    neighbours = [
        (a, b, x == y and x is not None)
        for (a, b), (x, y) in zip(pairwise(times), pairwise(cases), strict=True)
        if a is not None and b is not None
    ]
    seen = found.times
    assert seen is not None
    assert Counter(
        ties=seen.ties, back=seen.back, own=seen.ties_in_case, own_back=seen.back_in_case
    ) == Counter(
        ties=sum(a == b for a, b, _ in neighbours),
        back=sum(b < a for a, b, _ in neighbours),
        own=sum(a == b and same for a, b, same in neighbours),
        own_back=sum(b < a and same for a, b, same in neighbours),
    )
    assert seen.first == min(t for t in times if t)
    assert [c.missing for c in found.columns] == [cases.count(None), times.count(None)]


class _Cut:
    """A log in batches of a given size."""

    name, format, ordered = "cut", "test", True

    def __init__(self, cases: list[Any], times: list[Any], rows: int) -> None:
        from whence.engine.sources.source import Report, source_schema

        self.columns = {"case": "text", "time": "instant"}
        self.roles: dict[str, str] = {}
        self.report = Report()
        self.table = pa.table(
            {"row": range(len(cases)), "case": cases, "time": times},
            schema=source_schema(self.columns),
        )
        self.rows = rows

    def batches(self, split: Any = None) -> Any:
        return iter(self.table.to_batches(max_chunksize=self.rows))

    def splits(self, wanted: int) -> list[Any]:
        return []

    def fingerprint(self) -> str:
        return ""
