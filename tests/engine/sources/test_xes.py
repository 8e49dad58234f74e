from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from whence.engine.errors import LogError
from whence.engine.sources import Limits, events_of, open_source
from whence.engine.sources.xes import pieces

LOGS = Path(__file__).resolve().parents[4] / "shared" / "logs"
needs_logs = pytest.mark.skipif(
    not LOGS.is_dir(), reason="the real logs (../shared/logs) are not here"
)

Write = Callable[[str], Path]
NAME, TIME = "concept:name", "time:timestamp"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(inside: str) -> Path:
        file = tmp_path / "log.xes"
        file.write_text(f'<log xes.version="1.0">{inside}</log>', encoding="utf-8")
        return file

    return make


def trace(*events: str, name: str = "c") -> str:
    return f'<trace><string key="concept:name" value="{name}"/>{"".join(events)}</trace>'


def event(inside: str) -> str:
    return f"<event>{inside}</event>"


def _present(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def rows(path: Path, **how: Any) -> list[dict[str, Any]]:
    return list(events_of(open_source(path, **how)))


@needs_logs
def test_odd_but_legal_attributes_are_all_read_and_none_is_changed() -> None:
    read = rows(LOGS / "hostile" / "odd.xes", on_bad="keep")
    a, b, c, d, last = read
    assert [row["case:concept:name"] for row in read] == ["NA"] * 4 + ["(trace 2)"]
    assert (a["amount"], a["amount:nested"]) == (10.0, {"currency": "EUR"})
    assert a[TIME] == datetime(2020, 3, 29, 1, 30, tzinfo=UTC)
    assert b[TIME] is None
    assert c[TIME] == datetime(2020, 3, 29, 1, 0, tzinfo=UTC)
    assert (c["ok"], c["n"]) == (True, 7)
    assert c["items"] == [{"item": "x"}, {"item": "y"}]
    assert d[TIME] == datetime(2020, 3, 28, 23, 0, tzinfo=UTC)
    assert last[TIME] == datetime(2020, 3, 29, 22, 0, tzinfo=UTC)
    assert "__INVALID__" not in {row[NAME] for row in read}


@needs_logs
def test_a_time_without_zone_is_read_in_the_stated_one() -> None:
    read = rows(LOGS / "hostile" / "odd.xes", on_bad="keep", timezone="Europe/Berlin")
    assert read[2][TIME] == datetime(2020, 3, 29, 0, 0, tzinfo=UTC)
    assert read[0][TIME] == datetime(2020, 3, 29, 1, 30, tzinfo=UTC)


@needs_logs
def test_a_trace_without_name_is_refused_dropped_or_a_case_of_its_own() -> None:
    file = LOGS / "hostile" / "odd.xes"
    with pytest.raises(LogError, match=r"odd.xes, row 5 \(line 10\), column 'case:concept:name'"):
        open_source(file)
    source = open_source(file, on_bad="drop")
    read = list(events_of(source))
    assert [row[NAME] for row in read] == ["A", "B", "C", "D"]
    assert (source.report.read, source.report.dropped) == (5, 1)
    assert [(bad.row, bad.line) for bad in source.report.bad] == [(4, 10)]


@needs_logs
def test_entities_are_decoded() -> None:
    (read,) = rows(LOGS / "hostile" / "amp.xes")
    assert (read["case:concept:name"], read[NAME]) == ("c&1", "A & B <x> é")


@needs_logs
@pytest.mark.parametrize(
    ("file", "events", "cases"),
    [
        ("receipt.xes.gz", 8_577, 1_434),
        ("RequestForPayment.xes.gz", 36_072, 6_760),
        ("bpic2012.xes.gz", 262_200, 13_087),
    ],
)
def test_real_logs_have_the_events_and_cases_that_are_known_of_them(
    file: str, events: int, cases: int
) -> None:
    source: Any = open_source(LOGS / file)
    found: set[str] = set()
    count = without = 0
    for batch in source.batches():
        assert batch.column("row").to_pylist() == list(range(count, count + batch.num_rows))
        found.update(batch.column("case:concept:name").to_pylist())
        without += batch.column("org:resource").null_count
        assert batch.column(TIME).null_count == 0
        count += batch.num_rows
    assert (count, len(found), source.details["traces"]) == (events, cases, cases)
    assert source.roles == {"case": "case:concept:name", "activity": NAME, "time": TIME}
    assert source.details["classifiers"][0]["keys"].startswith(NAME)
    if file.startswith("bpic"):
        assert without == 18_010


def test_an_attribute_with_several_types_keeps_each_value(write: Write) -> None:
    file = write(
        trace(
            event('<int key="n" value="1"/>'),
            event('<float key="n" value="1.5"/>'),
            event('<string key="n" value="1"/>'),
            event('<date key="n" value="2020-01-01T00:00:00Z"/>'),
        )
    )
    source = open_source(file)
    assert source.columns["n"] == "any"
    values = [row["n"] for row in events_of(source)]
    assert values == [1, 1.5, "1", datetime(2020, 1, 1, tzinfo=UTC)]
    assert [type(value) for value in values[:3]] == [int, float, str]


def test_a_stated_kind_reads_the_text_as_it_stands(write: Write) -> None:
    file = write(trace(event('<string key="sum" value="34.5"/><int key="n" value="007"/>')))
    source = open_source(file, columns={"sum": "float", "n": "text"})
    assert source.columns == {"case:concept:name": "text", "sum": "float", "n": "text"}
    (row,) = events_of(source)
    assert (row["sum"], row["n"]) == (34.5, "007")
    with pytest.raises(LogError, match=r"expected a column 'summ'; .* try 'sum' \(did you mean"):
        open_source(file, columns={"summ": "float"})
    with pytest.raises(LogError, match=r"a kind: expected one of text, .* got 'money'"):
        open_source(file, columns={"sum": "money"})


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        ('<int key="n" value="7.5"/>', "expected an integer; got '7.5'"),
        ('<int key="n" value=""/>', "expected an integer; got ''"),
        ('<int key="n" value="0x1F"/>', "expected an integer; got '0x1F'"),
        ('<int key="n" value="9223372036854775808"/>', "expected an integer of 64 bits"),
        ('<float key="n" value="1,5"/>', "expected a float; got '1,5'"),
        ('<boolean key="n" value="yes"/>', "expected true or false; got 'yes'"),
        ('<date key="n" value="yesterday"/>', "expected an ISO 8601 instant; got 'yesterday'"),
        ('<string key="n"/>', "expected an attribute with a value; got none"),
        ('<int key="n" value="1"/><int key="n" value="2"/>', "expected each key once"),
        ('<list key="n"><values><int key="i" value="x"/></values></list>', "expected an integer"),
        ('<list key="n"><odd key="i" value="x"/></list>', "expected an attribute; got <odd>"),
        ('<int key="n" value="1"><x/></int>', "expected an attribute with a key"),
    ],
)
def test_a_value_that_does_not_fit_is_named_dropped_or_missing(
    write: Write, attribute: str, problem: str
) -> None:
    good = '<string key="concept:name" value="A"/>'
    file = write("\n" + trace(event(good), "\n" + event(good + attribute)))
    with pytest.raises(LogError) as caught:
        open_source(file)
    message = str(caught.value)
    assert message.startswith(f"log.xes, row 2 (line 3), column 'n': {problem}")
    assert "; try " in message
    dropped = open_source(file, on_bad="drop")
    assert [row[NAME] for row in events_of(dropped)] == ["A"]
    assert (dropped.report.read, dropped.report.dropped) == (2, 1)
    kept = open_source(file, on_bad="keep")
    assert next(events_of(kept)).get("n") is None
    assert kept.report.missing == 1


def test_space_and_signs_around_numbers_are_read_as_xml_schema_says(write: Write) -> None:
    inside = "".join(
        f'<{kind} key="{key}" value="{text}"/>'
        for key, (kind, text) in enumerate(
            [("int", " +7 "), ("float", ".5"), ("float", "-INF"), ("boolean", " 1"), ("int", "-0")]
        )
    )
    (row,) = rows(write(trace(event(inside))))
    assert [row[str(key)] for key in range(5)] == [7, 0.5, float("-inf"), True, 0]


def test_an_empty_text_is_a_value_and_an_absent_attribute_is_missing(write: Write) -> None:
    first, second = rows(write(trace(event('<string key="r" value=""/>'), "<event/>")))
    assert (first["r"], second["r"]) == ("", None)


def test_globals_extensions_and_attributes_of_the_log_are_no_events(write: Write) -> None:
    file = write(
        '<extension name="Time" prefix="time" uri="u"/>'
        '<global scope="event"><string key="concept:name" value="__INVALID__"/></global>'
        '<classifier name="a &gt; b" keys="concept:name \'two words\'"/>'
        '<string key="x" value="y"><string key="z" value="1"/></string>'
        + trace(event('<string key="concept:name" value="A"/>'))
        + "<trace/>"
    )
    source: Any = open_source(file)
    assert [row[NAME] for row in events_of(source)] == ["A"]
    assert list(source.columns) == ["case:concept:name", NAME]
    assert source.details == {
        "classifiers": [{"name": "a > b", "keys": "concept:name 'two words'"}],
        "extensions": [{"name": "Time", "prefix": "time", "uri": "u"}],
        "traces": 2,
        "traces_without_events": 1,
    }


@pytest.mark.parametrize(
    ("inside", "pattern"),
    [
        ("<event/>", "line 1: expected events inside traces; got one outside"),
        (trace(event("<event/>")), "line 1: expected attributes in an event; got '<event/>"),
        (trace("<thing/>"), "expected attributes in a trace; got '<thing/>"),
        (trace("<event/>", '<int key="n" value="1"/>'), "before its events; got one behind"),
        (trace(event('<int value="1"/>')), "expected an attribute with a key; got none"),
        (trace(event("<int")), "line 1: expected well-formed XML; got "),
        ("<trace>", "expected well-formed XML; got mismatched tag"),
        (
            trace(event('<int key="a" value="1"><int key="b" value="1"/></int>'),
                  event('<int key="a:nested" value="1"/>')),
            "expected no attribute 'a:nested' beside attributes nested in 'a'",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("on_bad", ["refuse", "drop", "keep"])
@pytest.mark.parametrize("block", [16, 1 << 20])
def test_what_is_no_xes_is_refused(
    write: Write, inside: str, pattern: str, on_bad: str, block: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(pieces, "_BLOCK", block)
    with pytest.raises(LogError, match=pattern):
        open_source(write(inside), on_bad=on_bad)


def test_another_root_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "log.xes"
    file.write_text("<html></html>")
    with pytest.raises(LogError, match=r"expected an XES log, .* got <html></html>; try another"):
        open_source(file)
    file.write_text("")
    with pytest.raises(LogError, match="got no element found"):
        open_source(file)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_the_encoding_that_a_file_states_is_used(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "log.xes"
    stated = encoding.removesuffix("-sig")
    log = f'<?xml version="1.0" encoding="{stated}"?><log>{trace(name="Zoé")}'
    log = log.replace("</trace>", "<event/></trace></log>")
    file.write_text(log, encoding=encoding)
    assert [row["case:concept:name"] for row in rows(file)] == ["Zoé"]


def test_a_wrong_encoding_is_refused_until_it_is_named(write: Write) -> None:
    file = write("")
    file.write_bytes(f"<log>{trace('<event/>', name='Zoé')}</log>".encode("latin-1"))
    with pytest.raises(LogError, match=r"got not well-formed .*try .*--encoding"):
        open_source(file)
    assert rows(file, encoding="latin-1") == [{"case:concept:name": "Zoé"}]


def test_the_attributes_of_a_long_trace_are_told_once(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "_BLOCK", 64)
    bad = '<string key="concept:name" value="c"/><int key="n" value="x"/>'
    file = write(f"<trace>{bad}{'<event/>' * 50}</trace>")
    source = open_source(file, on_bad="drop")
    assert list(source.batches()) == []
    assert (source.report.dropped, len(source.report.bad)) == (50, 1)


def test_columns_that_the_record_needs_are_renamed(write: Write) -> None:
    file = write(trace(event('<int key="row" value="5"/><int key="position" value="6"/>')))
    source = open_source(file, columns={"row": "text"})
    assert dict(source.columns) == {
        "case:concept:name": "text", "row_": "text", "position_": "integer"
    }  # fmt: skip
    assert rows(file) == [{"case:concept:name": "c", "row_": 5, "position_": 6}]


def test_several_files_are_one_log_and_travel_to_other_processes(tmp_path: Path) -> None:
    for number in range(3):
        own = f'<string key="k{number}" value="{number}"/>'
        (tmp_path / f"{number}.xes").write_text(f"<log>{trace(event(own) * 2)}</log>")
    source = open_source(tmp_path)
    again = pickle.loads(pickle.dumps(source))
    for read in (source, again, source):
        table = list(events_of(read))
        assert Counter(tuple(_present(row)) for row in table) == {
            ("case:concept:name", f"k{n}"): 2 for n in range(3)
        }
        assert read.report.read == 6
    assert [r for b in source.batches() for r in b.column("row").to_pylist()] == list(range(6))
    assert len(source.splits(4)) == 1


@pytest.mark.parametrize(
    ("limit", "inside"),
    [
        ("events", trace("<event/>" * 11)),
        ("attributes", trace(event("".join(f'<id key="{n}" value="1"/>' for n in range(11))))),
        ("columns", trace(*(event(f'<id key="{n}" value="1"/>') for n in range(11)))),
        ("text", trace(event('<string key="a" value="12345678901"/>'))),
        ("nesting", trace(event('<id key="a" value="1">' * 12 + "</id>" * 12))),
        ("row", trace(event(f'<string key="a" value="{"x" * 300}"/>'))),
    ],
)
def test_every_limit_is_named_and_can_be_raised(
    write: Write, limit: str, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "_BLOCK", 100)
    file = write(inside)
    low = Limits.stated([f"{limit}={250 if limit == 'row' else 10}"])
    with pytest.raises(LogError, match=rf"\(the limit '{limit}'\); got more; try --log-limit"):
        open_source(file, limits=low)
    assert rows(file)
