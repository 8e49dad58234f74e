"""CSV logs: nothing guessed, nothing dropped, and errors that lead to the cell."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.text_strategies import BROAD
from whence.engine.errors import LogError
from whence.engine.sources import Limits, events_of, open_source
from whence.engine.values import Value

LOGS = Path(__file__).parents[3].parent / "shared" / "logs"
needs_logs = pytest.mark.skipif(not LOGS.is_dir(), reason=f"the real logs are not in {LOGS.name}/")

Write = Callable[[str | bytes], Path]
Rows = list[dict[str, Value]]


def read_csv(file: Path, columns: dict[str, str] | None = None, **options: Any) -> Rows:
    return list(events_of(open_source(file, columns=columns, **options)))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(content: str | bytes) -> Path:
        file = tmp_path / "log.csv"
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return to_file


def test_cells_are_text_and_only_an_empty_one_is_missing(write: Write) -> None:
    file = write("case,p\nNA,0123\nNIL,\n-,null\n")
    assert (read_csv(file)) == [
        {"case": "NA", "p": "0123"},
        {"case": "NIL", "p": None},
        {"case": "-", "p": "null"},
    ]


def test_declared_kinds_are_read_exactly(write: Write) -> None:
    file = write(
        "i,f,b,t,n\n-7,1.5e3,true,2026-03-01T10:00:00+01:00,x\n"
        "9223372036854775807,2,false,2026-03-01 10:00,\n,,,,\n"
    )
    kinds = {"i": "integer", "f": "float", "b": "boolean", "t": "instant", "n": "text"}
    rows = read_csv(file, kinds)
    assert rows == [
        {"i": -7, "f": 1500.0, "b": True, "t": datetime(2026, 3, 1, 9, tzinfo=UTC), "n": "x"},
        {
            "i": 2**63 - 1,
            "f": 2.0,
            "b": False,
            "t": datetime(2026, 3, 1, 10, tzinfo=UTC),
            "n": None,
        },
        dict.fromkeys("ifbtn"),
    ]
    assert type(rows[1]["f"]) is float


@pytest.mark.parametrize(
    ("cell", "kind", "expected", "hint"),
    [
        ("abc", "integer", "an integer", "the kind text"),
        ("1.0", "integer", "an integer", "the kind float"),
        (" 7", "integer", "an integer", "mending"),
        ("1_000", "integer", "an integer", "text"),
        ("٣", "integer", "an integer", "text"),
        ("9223372036854775808", "integer", "an integer of 64 bits", "float"),
        ("9" * 5000, "integer", "an integer of 64 bits", "float"),
        ('"1,5"', "float", "a float", "--decimal ','"),
        ("nan", "float", "a float", "text"),
        ("1e999", "float", "a float below", "text"),
        ("TRUE", "boolean", "true or false", "`column = 'TRUE'`"),
        ("1", "boolean", "true or false", "text"),
        ("01/03/2026", "instant", "an ISO 8601 instant", "instant(%d/%m/%Y)"),
    ],
)
def test_a_cell_that_does_not_parse_is_named(
    write: Write, cell: str, kind: str, expected: str, hint: str
) -> None:
    file = write(f"a,p\nx,\ny,{cell}\n")
    with pytest.raises(LogError) as caught:
        (read_csv(file, {"p": kind}))
    message = str(caught.value)
    assert message.startswith("log.csv, row 2 (line 3), column 'p': expected " + expected)
    assert cell.strip('"')[:50] in message
    assert len(message) < 300
    assert hint in message.partition("; try ")[2]
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        (b"", "expected a header .* got nothing"),
        (b"a,b,a\n1,2,3\n", "got 'a' twice in the header"),
        (b"a,b\n1,2\n1\n", r"row 2 \(line 3\): expected 2 cells as in the header; got 1"),
        (b"a,b\n1,2,3\n", r"row 1 \(line 2\): expected 2 cells as in the header; got 3"),
        (b"a,b\n1,2\n\n3,4\n", r"row 2 \(line 3\): expected 2 cells as in the header; got 0"),
        (b'a,b\n"x\ny",2\n1\n', r"row 2 \(line 4\): expected 2 cells"),
        (b'a,b\n"x" y,2\n', r"row 1 \(line 2\): expected CSV; got"),
        (b'a,b\n"x,2\n', r"expected CSV; got unexpected end of data; try .* closing it"),
        (b"a;b\n1;2\n", "got one column 'a;b'; try --delimiter ';'"),
        (b"a,b\nx,caf\xe9\n", "expected utf-8; got byte 0xe9 at offset 9; try encoding latin-1"),
        (b"a,b\n" + b"x,y\n" * 400_000 + b"x,\xff\n", "got byte 0xff at offset 1600006"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(
    write: Write, content: bytes, pattern: str
) -> None:
    with pytest.raises(LogError, match=pattern) as caught:
        (read_csv(write(content)))
    assert re.fullmatch(r".*expected .+; got .+; try .+", str(caught.value))


def test_a_character_cut_by_a_block_is_still_found(write: Write) -> None:
    before = b"a\n" + b"x" * ((1 << 20) - 3)
    with pytest.raises(LogError, match=f"got byte 0xc3 at offset {len(before)}"):
        (read_csv(write(before + b"\xc3\n")))


def test_an_unknown_column_in_the_mapping_is_refused_before_any_row(write: Write) -> None:
    file = write("price,quantity\n1,2\n")
    with pytest.raises(LogError, match=r"'pirce'; got no such column; try 'price' \(did you mean"):
        open_source(file, columns={"pirce": "integer"})
    with pytest.raises(LogError, match=r"a kind: expected one of text, integer, .* got 'list'"):
        open_source(file, columns={"price": "list"})


def test_a_file_that_is_not_there_or_no_file_is_refused(write: Write, tmp_path: Path) -> None:
    write("a\n1\n")
    with pytest.raises(LogError, match=r"no such file; try .*log.csv \(did you mean"):
        open_source(tmp_path / "lgo.csv")
    with pytest.raises(LogError, match="expected a known encoding; got 'klingon'"):
        open_source(tmp_path / "log.csv", encoding="klingon")
    with pytest.raises(LogError, match="expected a known encoding; got 'hex'"):
        open_source(tmp_path / "log.csv", encoding="hex")


def test_a_byte_order_mark_is_no_part_of_the_first_name(write: Write) -> None:
    assert (read_csv(write(b"\xef\xbb\xbfa,b\n1,2\n"))) == [{"a": "1", "b": "2"}]


def test_blank_lines_at_the_end_are_no_rows_but_count_in_a_single_column(write: Write) -> None:
    assert (read_csv(write("a,b\n1,2\n\n\n"))) == [{"a": "1", "b": "2"}]
    assert (read_csv(write("a\n1\n\n2\n"))) == [{"a": "1"}, {"a": None}, {"a": "2"}]


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@BROAD
@given(st.lists(st.tuples(CELLS, CELLS.filter(bool)), max_size=6), st.sampled_from(",;\t|§"))
def test_whatever_is_written_is_read(rows: list[tuple[str, str]], delimiter: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / "log.csv"
        with file.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, delimiter=delimiter).writerows([("a b", "c"), *rows])
        read = [(r["a b"], r["c"]) for r in read_csv(file, delimiter=delimiter)]
    assert read == [(a or None, c) for a, c in rows]


def test_progress_ends_at_the_size_of_the_file(write: Write) -> None:
    file = write("a\n" + "x" * 99 + "\n" + ("x" * 99 + "\n") * 130_000)
    seen: list[tuple[int, int]] = []
    rows = read_csv(file, progress=lambda event: seen.append((event.done, event.total)))
    assert len(rows) == 130_001
    size = os.path.getsize(file)
    assert seen[-1] == (size, size)
    assert len(seen) > 3
    assert seen == sorted(seen)


@needs_logs
def test_the_case_called_na_stays_a_case() -> None:
    file = LOGS / "sepsis.csv"
    rows = read_csv(file, {"CRP": "float"}, delimiter=";")
    assert len(rows) == 15_214
    assert len({row["Case ID"] for row in rows}) == 1_050
    assert "NA" in {row["Case ID"] for row in rows}


@needs_logs
def test_real_logs_have_the_events_that_are_known_of_them() -> None:
    fines = read_csv(LOGS / "traffic_fines.csv", {"timestamp": "instant", "amount": "float"})
    assert len(fines) == 34_724
    assert sum(row["resource"] is None for row in fines) == 24_705
    assert fines[0]["timestamp"] == datetime(2006, 7, 24, tzinfo=UTC)
    assert len(read_csv(LOGS / "ccc19.csv")) == 697


@needs_logs
def test_a_real_text_in_another_encoding_is_refused_until_it_is_named() -> None:
    file = LOGS / "derived" / "bpic2013_latin1.csv"
    with pytest.raises(LogError, match=r"got byte 0x\w\w at offset \d+; try encoding latin-1"):
        (read_csv(file, delimiter=";"))
    assert len(read_csv(file, delimiter=";", encoding="latin-1")) == 3_815


def test_a_row_that_does_not_fit_is_dropped_or_kept_without_its_value(write: Write) -> None:
    file = write("a,p\nx,1\ny,\nz,two\nw,4\n5\nv,six\n")
    source = open_source(file, columns={"p": "integer"}, on_bad="drop")
    batches = list(source.batches())
    assert [(r["row"], r["a"], r["p"]) for b in batches for r in b.to_pylist()] == [
        (0, "x", 1),
        (1, "y", None),
        (3, "w", 4),
    ]
    report = source.report
    assert (report.read, report.dropped, report.missing) == (6, 3, 0)
    assert [(bad.row, bad.line, bad.column) for bad in report.bad] == [
        (2, 4, "p"),
        (4, 6, None),
        (5, 7, "p"),
    ]
    assert "got 'two'" in str(report.bad[0])
    kept = open_source(file, columns={"p": "integer"}, on_bad="keep")
    rows = list(events_of(kept))
    assert [row["p"] for row in rows] == [1, None, None, 4, None, None]
    assert [row["a"] for row in rows] == ["x", "y", "z", "w", None, "v"]
    assert (kept.report.read, kept.report.dropped, kept.report.missing) == (6, 0, 3)


def test_lines_are_right_although_cells_hold_line_ends(write: Write) -> None:
    file = write('a,p\n"one\ntwo",1\n"three\r\nfour\n",x\n')
    source = open_source(file, columns={"p": "integer"}, on_bad="keep")
    assert [e["a"] for e in events_of(source)] == ["one\ntwo", "three\r\nfour\n"]
    assert [(bad.row, bad.line) for bad in source.report.bad] == [(1, 6)]


def test_broken_quotes_are_refused_whatever_may_be_dropped(write: Write) -> None:
    for content in ('a,b\n1,"2\n3,4\n', 'a,b\n1,"2" x\n3,4\n'):
        with pytest.raises(LogError, match="expected CSV; got"):
            read_csv(write(content), on_bad="drop")


def test_a_quote_inside_a_plain_cell_is_a_sign_like_others(write: Write) -> None:
    file = write('a,b\n5" pipe,x\n"q ""r"" s",6" nail\n')
    assert read_csv(file) == [{"a": '5" pipe', "b": "x"}, {"a": 'q "r" s', "b": '6" nail'}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_three_ways(write: Write, end: str) -> None:
    rows = [{"a": str(n), "b": "x" * (n % 7)} for n in range(1, 200)]
    file = write(end.join(["a,b", *(f"{r['a']},{r['b']}" for r in rows)]) + end)
    assert read_csv(file) == [{"a": r["a"], "b": r["b"] or None} for r in rows]


def test_without_a_header_columns_are_numbered(write: Write) -> None:
    assert read_csv(write("1,2\n3,4\n"), {"column2": "integer"}, header=False) == [
        {"column1": "1", "column2": 2},
        {"column1": "3", "column2": 4},
    ]


def test_columns_that_the_record_needs_for_itself_are_renamed(write: Write) -> None:
    assert read_csv(write("row,row_,position\n1,2,3\n")) == [
        {"row__": "1", "row_": "2", "position_": "3"}
    ]


def test_limits_are_named_and_can_be_raised(write: Write) -> None:
    file = write("a,b\n" + "x,y\n" * 10 + "z" * 50 + ",y\n")
    for limits, name in (
        (Limits(events=5), "events"),
        (Limits(columns=1), "columns"),
        (Limits(text=20), "text"),
    ):
        with pytest.raises(
            LogError, match=rf"the limit '{name}'\); got more; try --log-limit {name}="
        ):
            read_csv(file, limits=limits)
    assert len(read_csv(file, limits=Limits(events=11, columns=2, text=50))) == 11
    for content in ("a,b\n" + "x" * 9_000_000, "x" * 9_000_000, 'a,b\n1,2" ' + "x" * 9_000_000):
        with pytest.raises(LogError, match="the limit 'row'"):
            read_csv(write(content), limits=Limits(row=1_000_000))
