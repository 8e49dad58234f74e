"""Workbooks as logs: kinds, rows and sheets; what is damaged or hostile is one clear line."""

from __future__ import annotations

import pickle
import random
import struct
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.engine.sources._support.handwritten_workbooks import (
    Raw,
    parts_of,
    write_parts,
    write_workbook,
)
from whence.engine.errors import LogError, MissingExtraError
from whence.engine.sources import Limits, events_of, open_source
from whence.engine.sources.inspection import inspect_log

HEADER = ["case", "activity", "time", "n", "amount", "paid", "took", "mixed"]
MARCH = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
ROWS: list[list[Any]] = [
    HEADER,
    ["A", "register & check", MARCH, 1, 2.5, True, timedelta(hours=30), "x"],
    ["NA", "pay", date(2026, 3, 2), 2, 3, None, None, 7],
    ["0123", None, MARCH, None, -1e-3, False, timedelta(days=1), 2.5],
]
SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "log.xlsx"


def test_cells_keep_their_kinds_and_whole_numbers_are_integers(book: Path) -> None:
    source = open_source(write_workbook(book, ROWS))
    assert source.columns == {
        "case": "text",
        "activity": "text",
        "time": "instant",
        "n": "integer",
        "amount": "float",
        "paid": "boolean",
        "took": "duration",
        "mixed": "text",
    }
    first, second, third = events_of(source)
    values = ["A", "register & check", MARCH, 1, 2.5, True, timedelta(hours=30), "x"]
    assert list(first.values()) == values
    assert [type(value) for value in first.values()] == [type(value) for value in values]
    assert second["time"] == datetime(2026, 3, 2, tzinfo=UTC)
    assert (second["case"], second["paid"], second["mixed"]) == ("NA", None, "7")
    assert (third["case"], third["n"], third["mixed"]) == ("0123", None, "2.5")
    assert list(events_of(source)) == [first, second, third]  # and again, when it is read anew


def test_times_are_of_the_stated_zone_and_texts_of_the_stated_kind(book: Path) -> None:
    rows: list[list[Any]] = [["at", "said", "sum"], [MARCH, "31/12/2026", "1.234,5"]]
    stated = {"said": "instant(%d/%m/%Y)", "sum": "float"}
    source = open_source(write_workbook(book, rows), timezone="+02:00", columns=stated, decimal=",")
    (event,) = events_of(source)
    assert event == {
        "at": datetime(2026, 3, 1, 7, 30, tzinfo=UTC),
        "said": datetime(2026, 12, 30, 22, tzinfo=UTC),
        "sum": 1234.5,
    }


def test_rows_are_numbered_as_in_the_file_and_empty_ones_are_none(book: Path) -> None:
    rows: list[list[Any]] = [["a", "b"], [1, 2], [], [None, None], [3, "x"]]
    write_workbook(book, rows, first=4)
    (batch,) = open_source(book).batches()
    assert batch.column("row").to_pylist() == [0, 3]
    with pytest.raises(LogError) as refused:
        list(open_source(book, columns={"b": "integer"}).batches())
    assert str(refused.value).startswith(
        "log.xlsx, row 4 (line 8), column 'b': expected an integer"
    )


def test_a_sheet_can_be_named(book: Path) -> None:
    write_workbook(book, [["a"], [1]], March=[["b"], [2]])
    assert list(events_of(open_source(book))) == [{"a": 1}]
    assert list(events_of(open_source(book, sheet="March"))) == [{"b": 2}]
    with pytest.raises(LogError, match="expected a sheet 'march'; got none; try 'March' "):
        open_source(book, sheet="march")


def test_several_workbooks_are_one_log(tmp_path: Path) -> None:
    write_workbook(tmp_path / "1.xlsx", [["a", "b"], [1, "x"], [], [2, "y"]])
    write_workbook(tmp_path / "2.xlsx", [["a", "b"], [2.5, "z"]])
    source = open_source(tmp_path)
    assert source.columns == {"a": "float", "b": "text"}
    assert [e["a"] for e in events_of(source)] == [1.0, 2.0, 2.5]
    whole = [n for batch in source.batches() for n in batch.column("row").to_pylist()]
    cut = [
        n
        for split in source.splits(2)
        for batch in pickle.loads(pickle.dumps(source)).batches(split)
        for n in batch.column("row").to_pylist()
    ]
    assert whole == cut == [0, 2, 3]
    write_workbook(tmp_path / "3.xlsx", [["a", "c"], [1, "x"]])
    with pytest.raises(LogError, match=r"3.xlsx: expected the columns of 1.xlsx; got 'a', 'c'"):
        open_source(tmp_path)


def test_a_cell_with_an_error_does_not_fit(book: Path) -> None:
    wrong = Raw(' t="e"><v>#N/A</v></c>')
    write_workbook(book, [["a", "b"], [1, "x"], [wrong, "y"], [2, wrong], [wrong, wrong]])
    with pytest.raises(LogError) as refused:
        list(open_source(book).batches())
    assert str(refused.value) == (
        "log.xlsx, row 2 (line 3), column 'a': expected a value; got an error such as #N/A; "
        "try mending it, or --on-bad keep"
    )
    kept = open_source(book, on_bad="keep")
    assert [list(e.values()) for e in events_of(kept)] == [
        [1, "x"],
        [None, "y"],
        [2, None],
        [None] * 2,
    ]
    assert kept.report.missing == 4
    dropped = open_source(book, on_bad="drop")
    assert [list(e.values()) for e in events_of(dropped)] == [[1, "x"]]
    assert dropped.report.dropped == 3


def test_formulas_are_their_values_and_nothing_is_fetched(book: Path) -> None:
    linked = Raw('><f>[1]Other!A1+WEBSERVICE("http://127.0.0.1:9/")</f><v>5</v></c>')
    parts = parts_of({"Log": [["a"], [linked]]})
    parts["xl/externalLinks/externalLink1.xml"] = "<externalLink/>"
    assert list(events_of(open_source(write_parts(book, parts)))) == [{"a": 5}]


@pytest.mark.parametrize("empty", ["<v></v>", "<v/>", ""])
def test_a_formula_that_nothing_has_computed_does_not_fit(empty: str, book: Path) -> None:
    """As programs write it that make workbooks and compute nothing; it would be missing."""
    bare = Raw(f"><f>1+1</f>{empty}</c>")
    write_workbook(book, [["a", "b"], [1, bare], [2, Raw("><f>1+1</f><v>2</v></c>")], [bare]])
    with pytest.raises(LogError) as refused:
        list(open_source(book).batches())
    assert str(refused.value) == (
        "log.xlsx, row 1 (line 2), column 'b': expected a value; got a formula without the value "
        "that it has; try saving the workbook once more with a program that computes"
    )
    kept = open_source(book, on_bad="keep")
    rows = [[1, None], [2, 2], [None, None]]
    assert [list(e.values()) for e in events_of(kept)] == rows


def test_an_empty_text_of_a_formula_is_a_value(book: Path) -> None:
    text = Raw(' t="str"><f>IF(1,"","x")</f><v></v></c>')
    shared = Raw('><f t="shared" si="0"/><v>3</v></c>')
    write_workbook(book, [["a", "b"], [1, text], [2, "x"], [shared, "y"]])
    events = [list(e.values()) for e in events_of(open_source(book))]
    assert events == [[1, None], [2, "x"], [3, "y"]]


def test_a_time_before_the_first_day_does_not_fit(book: Path) -> None:
    before = Raw(' s="1"><v>-1.5</v></c>')
    rows: list[list[Any]] = [
        ["at", "n", "took"],
        [MARCH, -1, timedelta(hours=-2)],
        [before, -2.5, timedelta(1)],
    ]
    write_workbook(book, rows)
    with pytest.raises(LogError, match=r"column 'at': .* got a time before the first day"):
        list(open_source(book).batches())
    kept = open_source(book, on_bad="keep")
    (first, second) = events_of(kept)
    assert [first["n"], second["n"], second["at"]] == [-1.0, -2.5, None]
    assert [first["took"], second["took"]] == [timedelta(hours=-2), timedelta(1)]


@pytest.mark.parametrize(
    "second", ['<c r="A2"><v>7</v></c>', '<c r="A1"><v>7</v></c>', '<c r="B1"><v>7</v></c>']
)
def test_a_cell_twice_or_out_of_order_is_refused(second: str, book: Path) -> None:
    parts = parts_of({"Log": [["a", "b"], [1, 2]]})
    parts[SHEET] = parts[SHEET].replace("</row></sheet", f"{second}</row></sheet")
    with pytest.raises(LogError, match="got a cell twice, or not in the order of the sheet"):
        open_source(write_parts(book, parts))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "expected a header with the columns' names; got an empty sheet"),
        ([["a", "a"], [1, 2]], "expected columns that differ; got 'a' twice in the header"),
        (
            [["a", None], [1, 2]],
            "expected a name above each column that has values; got none above",
        ),
    ],
)
def test_a_header_that_is_not_right_is_refused(
    book: Path, rows: list[list[Any]], message: str
) -> None:
    with pytest.raises(LogError, match=message):
        open_source(write_workbook(book, rows))


def test_without_a_header_columns_are_numbered(book: Path) -> None:
    source = open_source(write_workbook(book, [[1, "x"], [2, "y"]]), header=False)
    assert list(events_of(source))[1] == {"column1": 2, "column2": "y"}


def test_a_workbook_without_events_is_an_empty_log(book: Path) -> None:
    source = open_source(write_workbook(book, [["a", "b"]]))
    assert (dict(source.columns), list(source.batches())) == ({}, []) or list(
        events_of(source)
    ) == []


def test_a_workbook_can_be_inspected(book: Path) -> None:
    found = inspect_log(open_source(write_workbook(book, ROWS)))
    assert (found.format, found.events, found.cases) == ("xlsx", 3, 3)
    assert found.times is not None
    assert found.times.first == MARCH


def test_integers_that_floats_cannot_tell_apart_stay_floats(book: Path) -> None:
    source = open_source(write_workbook(book, [["n"], [2**53], [2**60]]))
    assert source.columns == {"n": "float"}


def hostile(name: str) -> dict[str, str | bytes]:
    parts: dict[str, str | bytes] = dict(parts_of({"Log": [["a"], ["x"]]}))
    sheet, texts = str(parts[SHEET]), str(parts["xl/sharedStrings.xml"])
    if name == "entities":
        bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
        parts[SHEET] = sheet.replace("<worksheet", bomb + "<worksheet").replace("<v>0<", "<v>&b;<")
    elif name == "entities in texts":
        parts["xl/sharedStrings.xml"] = texts.replace(
            "<sst", "<!DOCTYPE x SYSTEM '/etc/passwd'><sst"
        )
    elif name == "far cell":
        parts[SHEET] = sheet.replace("</row></sheet", '<c r="D1048576"><v>1</v></c></row></sheet')
    elif name == "wide cell":
        parts[SHEET] = sheet.replace("</row></sheet", '<c r="XFD1048576"><v>1</v></c></row></sheet')
    elif name == "beyond":
        parts[SHEET] = sheet.replace('r="A1"', 'r="ZZZZZZZ99999999999"')
    elif name == "beyond the last row":
        parts[SHEET] = sheet.replace('<row r="1"><c r="A1"', '<row r="99999999999"><c')
    elif name == "count":
        parts["xl/sharedStrings.xml"] = texts.replace('Count="2"', 'Count="99999999999"')
    elif name == "utf-16":
        parts[SHEET] = sheet.replace("UTF-8", "UTF-16").encode("utf-16")
    elif name == "cut off":
        parts[SHEET] = sheet[: len(sheet) // 2]
    elif name == "no sheet":
        del parts[SHEET]
    elif name == "no texts":
        del parts["xl/sharedStrings.xml"]
    elif name == "prefixed":
        plain = sheet.replace("<", "<q:").replace("<q:/", "</q:").replace("<q:?", "<?")
        parts[SHEET] = plain.replace("xmlns=", "xmlns:q=")
    return parts


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("entities", "got XML with a DOCTYPE"),
        ("entities in texts", "got XML with a DOCTYPE"),
        ("far cell", r"at most 67,108,864 bytes of a workbook in memory .* --log-limit workbook="),
        ("wide cell", "at most 4,096 columns"),
        ("beyond", "got a cell at 'ZZZZZZZ9999"),
        ("beyond the last row", "a cell beyond the last row or column"),
        ("count", "at most 67,108,864 bytes of a workbook in memory"),
        ("utf-16", "got XML in UTF-16|got XML that is not in UTF-8"),
        ("cut off", "got XML that is not well-formed"),
        ("no sheet", r"got a file without xl/worksheets/sheet1\.xml"),
        ("no texts", r"got a file without xl/sharedstrings\.xml"),
    ],
)
def test_a_hostile_workbook_is_refused_in_one_line(book: Path, name: str, message: str) -> None:
    write_parts(book, hostile(name))
    with pytest.raises(LogError, match=message) as refused:
        open_source(book, limits=Limits(workbook=64 << 20))
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("log.xlsx")


def test_a_workbook_with_prefixes_is_read_or_refused_and_never_empty(book: Path) -> None:
    write_parts(book, hostile("prefixed"))
    try:
        found = list(events_of(open_source(book)))
    except LogError:
        return
    assert found == [{"a": "x"}]


def test_a_bomb_is_refused_whatever_size_the_archive_states(book: Path) -> None:
    parts: dict[str, str | bytes] = dict(parts_of({"Log": [["a"], ["x"]]}))
    parts[SHEET] = str(parts[SHEET]).replace("<sheetData>", "<sheetData>" + " " * (80 << 20))
    write_parts(book, parts)
    assert book.stat().st_size < 200_000
    data = bytearray(book.read_bytes())
    size = struct.pack("<I", len(str(parts[SHEET])))
    while size in data:  # in the part's own header and in the directory
        data[data.index(size) : data.index(size) + 4] = struct.pack("<I", 100)
    for content in (book.read_bytes(), bytes(data)):
        book.write_bytes(content)
        with pytest.raises(LogError, match="of a workbook in memory"):
            open_source(book, limits=Limits(workbook=64 << 20))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "got damage"),
        (b"case,activity\n", "got damage"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "protected, or older than .xlsx"),
        (b"PK\x05\x06" + b"\0" * 18, "got a file without"),
    ],
)
def test_what_is_no_workbook_is_refused(book: Path, content: bytes, message: str) -> None:
    book.write_bytes(content)
    with pytest.raises(LogError, match=message):
        open_source(book)


def test_damage_anywhere_is_refused_or_changes_nothing(book: Path) -> None:
    whole = write_workbook(book, ROWS).read_bytes()
    right = list(events_of(open_source(book)))
    chance = random.Random(7)
    for _ in range(150):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        book.write_bytes(data)
        try:
            found = list(events_of(open_source(book, limits=Limits(workbook=64 << 20))))
        except LogError:
            continue
        assert found == right


def test_other_workbooks_are_refused_with_what_to_try(tmp_path: Path) -> None:
    (tmp_path / "log.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(LogError, match=r"got a workbook as \.xls; try saving it as \.xlsx"):
        open_source(tmp_path / "log.xls")


def test_without_the_package_the_extra_is_named(
    book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_workbook(book, ROWS)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"try: pip install 'whence\[xlsx\]'"):
        open_source(book)
