"""What is read in blocks on threads is what is read sign by sign, cell by cell."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.text_strategies import BROAD
from whence.engine.errors import LogError
from whence.engine.sources import Limits, events_of, open_source
from whence.engine.sources.cells import converter, zone_of
from whence.engine.sources.csv_exact import exact_rows, text_lines
from whence.engine.sources.csv_parser import CsvParser
from whence.engine.sources.in_order import in_order
from whence.engine.sources.opening import LogBytes
from whence.engine.sources.row_blocks import RowBlock, RowBlocks, row_ends
from whence.engine.sources.source import Reading
from whence.engine.sources.typed import typed
from whence.engine.values import ValueFault
from whence.engine.values.columns import records_of

ODD = (
    *("true", "false", "TRUE", "0x1F", "inf", "nan", ".5", "5.", "1_0", "٣", "-", "-0", "+"),
    *("9223372036854775808", "-9223372036854775808", "0" * 50 + "7", "1e400", "Z", "NA"),
    *("0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "0000-01-01", "2026-02-30"),
    *("2026-03-29T02:30:00", "2026-10-25T02:30:00", "2026-03-01T10:00:00.1234567Z"),
    *("12/31/2025 24:00", "02/30/2025 10:00", "2026-W01-1", "20260301", "2026-03-01T24:00"),
)
CELLS = st.one_of(
    st.none(),
    st.from_regex(r"[-+]?[0-9]{1,21}", fullmatch=True),
    st.from_regex(r"[-+ ]?[0-9]{0,3}[.,]?[0-9]{0,3}([eE][-+]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}(:[0-9]{2}){0,2})?", fullmatch=True),
    st.from_regex(r"-?[0-9]{1,3}([. \u00a0\u202f][0-9]{3}){0,2}(,[0-9]{0,4})?", fullmatch=True),
    st.datetimes().map(datetime.isoformat),
    st.datetimes(timezones=st.timezones()).map(lambda t: t.isoformat()),
    st.from_regex(r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4} [0-9]{1,2}:[0-9]{2}", fullmatch=True),
    st.sampled_from(ODD),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
).filter(lambda cell: cell != "")
KINDS = ("integer", "float", "boolean", "instant", "text", "instant(%m/%d/%Y %H:%M)")


@BROAD
@given(
    st.lists(CELLS, max_size=8),
    st.sampled_from(KINDS),
    st.sampled_from(["UTC", "Europe/Berlin", "-03:30"]),
    st.sampled_from([".", ","]),
)
def test_a_column_converts_as_its_cells_do(
    cells: list[str | None], kind: str, timezone: str, decimal: str
) -> None:
    convert = converter(kind, zone_of(timezone), decimal) or str
    expected: list[Any] = []
    faults: list[tuple[int, str]] = []
    for index, cell in enumerate(cells):
        expected.append(None)
        if cell is not None:
            try:
                expected[-1] = convert(cell)
            except ValueFault as fault:
                faults.append((index, str(fault)))
    made, found = typed(pa.array(cells, pa.string()), kind, timezone, decimal)
    table = pa.RecordBatch.from_arrays([made], names=["c"])
    values = [r["c"] for r in records_of(table, {"c": kind.partition("(")[0]})]
    assert list(map(repr, values)) == list(map(repr, expected))
    assert [(index, str(fault)) for index, fault in found] == faults


@given(st.floats(-1e12, 1e12), st.sampled_from([".", " ", "\u00a0", "\u202f", ""]))
def test_a_decimal_comma_changes_nothing_but_how_a_number_is_written(
    number: float, thousands: str
) -> None:
    written = f"{number:,.4f}".replace(",", " ").replace(".", ",").replace(" ", thousands)
    made, faults = typed(pa.array([written]), "float", decimal=",")
    assert (made.to_pylist(), faults) == ([float(f"{number:.4f}")], [])
    convert = converter("float", decimal=",")
    assert convert is not None
    assert convert(written) == made[0].as_py()


@pytest.mark.parametrize(
    "cell", ["1.5", "1,234.5", "1.234 567", "12.34,5", "1..234", ",5", "1,5,6"]
)
def test_what_is_no_number_with_a_decimal_comma_is_refused(cell: str) -> None:
    for kind in ("float", "integer"):
        made, (fault,) = typed(pa.array([cell]), kind, decimal=",")
        assert made.null_count == 1
        assert f"with a decimal comma, as 1.234,56; got '{cell}'; try" in str(fault[1])


def test_most_of_the_work_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing above compares two ways of reading."""

    def never(*given: object) -> None:
        pytest.fail(f"one by one: {given}")

    monkeypatch.setattr("whence.engine.sources.typed._one_by_one", never)
    every: dict[str, list[str | None]] = {
        "integer": ["042", "-7", None],
        "float": ["1", "-2.5e3", "5."],
        "boolean": ["true", None, "false"],
        "instant": ["2026-03-01", "2026-03-01 10:00", "2026-03-01T10:00:00.5"],
        "float,": ["1", "-2,5e3", "1.234,5", "1 234 567,"],
        "instant(%m/%d/%Y %H:%M)": ["1/31/2026 7:05", "12/01/2026 17:05"],
        "instant(%d/%b/%Y:%H:%M:%S %z)": ["10/Oct/2000:13:55:36 -0700"],
    }
    for kind, cells in every.items():
        decimal = "," if kind.endswith(",") else "."
        made, faults = typed(pa.array(cells, pa.string()), kind.rstrip(","), decimal=decimal)
        assert (made.null_count, faults) == (cells.count(None), [])
    mixed = ["2026-03-01T10:00:00+01:00", "2026-03-01T10:00:00Z", "2026-03-01T10:00:00"]
    assert typed(pa.array(mixed), "instant")[0].null_count == 0


SIGNS = st.lists(
    st.sampled_from(["a", "bc", "7", '"', '""', ",", "\n", "\r\n", "\r", " ", "é", "\0"]),
    max_size=30,
).map("".join)
ROWS = st.lists(
    st.sampled_from(["a,b", '"x\ny",2', '"q""r",s', ",", "7,", "", "", "c", "a,b,c", 'p"q,r']),
    max_size=9,
)
LINES = st.builds(lambda rows, end: end.join(rows), ROWS, st.sampled_from(["\n", "\r\n", "\r"]))


@BROAD
@given(SIGNS | LINES, st.integers(1, 3), st.integers(1, 30))
def test_blocks_of_rows_are_read_as_the_whole_file_is(text: str, width: int, size: int) -> None:
    """Whatever the quotes and line ends, and wherever the blocks are cut."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "f"
        file.write_bytes(text.encode())
        got = _told(lambda: _in_blocks(file, width, size))
    assert got == _told(lambda: _whole(text, width))


def test_every_short_file_is_read_in_blocks_as_the_whole_file_is(tmp_path: Path) -> None:
    """Open quotes before empty lines, quotes inside cells, line ends of every kind."""
    file = tmp_path / "f"
    for length in range(5):
        for signs in product('a",\n\r', repeat=length):
            text = "".join(signs)
            file.write_bytes(text.encode())
            for width, size in ((1, 1), (2, 1), (2, 3)):
                got = _told(partial(_in_blocks, file, width, size))
                assert got == _told(partial(_whole, text, width)), (text, width, size)


def _whole(text: str, width: int) -> list[tuple[list[str] | None, int, str]]:
    rows = exact_rows(text_lines(text), name="f", width=width, delimiter=",", limits=Limits())
    return [(row.cells, row.line, row.problem) for row in rows]


def _told(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except LogError as error:
        return str(error)


def _in_blocks(file: Path, width: int, size: int) -> list[tuple[list[str] | None, int, str]]:
    stated = {str(n): "text" for n in range(width)}
    parser = CsvParser("f", stated, ",", Reading(on_bad="keep"))
    found: list[tuple[list[str] | None, int, str]] = []
    with LogBytes(file, Limits()) as stream:
        blocks = RowBlocks(stream, Limits(), "f", delimiter=",", blank_is_row=width == 1, size=size)
        for block in blocks:
            if block.regular:
                several = [parser.parse(block)]
                assert several[0].count == row_ends(block)
            else:
                several = list(parser.to_the_end(block, iter(blocks.more, b""), len(found)))
            for rows in several:
                problems = {index: problem for index, _, problem in rows.faults}
                for index in range(rows.count):
                    cells = [column[index].as_py() or "" for column in rows.columns]
                    line = rows.line_of(index)
                    if rows.lines is None and block.quoted:
                        line = _line(block, index, width)
                    problem = problems.get(index, "")
                    found.append((None if problem else cells, line, problem))
    return found


def _line(block: RowBlock, index: int, width: int) -> int:
    """Where nothing is wrong nobody asks for lines; the exact reader knows them all the same."""
    text = block.data.decode()
    rows = exact_rows(
        text_lines(text), name="", width=width, delimiter=",", limits=Limits(), line=block.line
    )
    return list(rows)[index].line


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some ten megabytes, with cells that hold line ends and quotes."""
    chance = random.Random(5)
    file = tmp_path_factory.mktemp("large") / "large.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write("case,note,amount,at\n")
        for number in range(150_000):
            note = '"two\nlines, ""quoted"""' if chance.random() < 0.05 else "naïve text"
            out.write(f"c{number % 997},{note},{number},2026-03-01T10:{number % 60:02d}:00Z\n")
    return file


KINDS_OF_LARGE = {"amount": "integer", "at": "instant"}


def test_many_blocks_are_read_in_order(large: Path) -> None:
    source = open_source(large, columns=KINDS_OF_LARGE)
    batches = list(source.batches())
    assert len(batches) > 2
    table = pa.Table.from_batches(batches)
    assert table["row"].to_pylist() == table["amount"].to_pylist() == list(range(150_000))
    assert set(table["note"].to_pylist()) == {"naïve text", 'two\nlines, "quoted"'}


def test_a_fault_far_inside_is_told_with_its_row_and_line(large: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    good = large.read_bytes()
    lines = good.count(b"\n")
    file.write_bytes(good + b"c,x,seven,2026-03-01T10:00:00Z\n" + b"c,x,1,2026-03-01\n")
    with pytest.raises(LogError) as caught:
        list(open_source(file, columns=KINDS_OF_LARGE).batches())
    assert str(caught.value).startswith(
        f"bad.csv, row 150001 (line {lines + 1}), column 'amount': expected an integer"
    )
    file.write_bytes(good + b"c,x\n")
    with pytest.raises(LogError, match=rf"row 150001 \(line {lines + 1}\): expected 4 cells"):
        list(open_source(file).batches())
    file.write_bytes(good + b"c,\xff,1,2026-03-01\n")
    with pytest.raises(LogError, match=f"got byte 0xff at offset {len(good) + 2}"):
        list(open_source(file).batches())


_PEAK = """
import sys
import pyarrow as pa
from whence.engine.sources import open_source

for batch in open_source(sys.argv[1], columns={"amount": "integer", "at": "instant"}).batches():
    del batch
print(pa.default_memory_pool().max_memory())
"""


def test_memory_does_not_grow_with_the_file(large: Path, tmp_path: Path) -> None:
    """Not even between two batches: the most that was ever held counts."""
    head, _, rows = large.read_bytes().partition(b"\n")
    peaks = []
    for times in (4, 10):
        file = tmp_path / f"{times}.csv"
        file.write_bytes(head + b"\n" + rows * times)
        read = [sys.executable, "-c", _PEAK, str(file)]
        told = subprocess.run(read, capture_output=True, text=True, check=True)
        peaks.append(int(told.stdout))
    assert peaks[1] < 1.5 * peaks[0]  # the file is two and a half times as large


def test_reading_is_never_ahead_by_more_blocks_than_there_are_threads() -> None:
    taken = 0

    def blocks() -> Iterator[int]:
        nonlocal taken
        for number in range(1, 21):
            taken = number
            yield number

    results = in_order(lambda block: block, blocks(), workers=3)
    for number, result in enumerate(results, start=1):
        assert result == number
        assert taken < number + 3


def test_a_reader_that_stops_early_leaves_no_thread(large: Path) -> None:
    import threading

    before = threading.active_count()
    batches = open_source(large).batches()
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


@pytest.mark.parametrize("wanted", [1, 2, 7])
def test_splits_together_are_the_whole(large: Path, wanted: int) -> None:
    source = open_source(large, columns=KINDS_OF_LARGE)
    splits = source.splits(wanted)
    assert wanted <= len(splits) <= wanted + 1
    parts = [batch for split in splits for batch in source.batches(split)]
    assert pa.Table.from_batches(parts).equals(pa.Table.from_batches(list(source.batches())))


def test_a_file_with_odd_quotes_stays_in_one_piece(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("a,b\n" + 'x,5" pipe\ny,z\n' * 1000)
    source = open_source(file)
    (split,) = source.splits(4)
    assert sum(batch.num_rows for batch in source.batches(split)) == 2000
    assert len(list(events_of(source))) == 2000
