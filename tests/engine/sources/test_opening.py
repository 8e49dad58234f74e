"""Files as people have them: packed, damaged, oddly named, several, changing meanwhile."""

from __future__ import annotations

import gzip
import io
import os
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from whence.engine.errors import LogError
from whence.engine.sources import Limits, events_of, open_source
from whence.engine.sources.opening import LogBytes, log_files

ROWS = [{"a": str(n), "b": "é" * (n % 5) or None} for n in range(3_000)]
TEXT = "a,b\n" + "".join(f"{r['a']},{r['b'] or ''}\n" for r in ROWS)


def rows(where: Any, **options: Any) -> list[dict[str, Any]]:
    return list(events_of(open_source(where, **options)))


@pytest.mark.parametrize("name", ["log.csv.gz", "log.csv", "LOG.CSV.GZ"])
def test_a_packed_file_is_read_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(TEXT.encode()))
    assert rows(file) == ROWS


def test_a_packed_file_of_several_pieces_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "log.csv.gz"
    half = len(TEXT) // 2
    file.write_bytes(gzip.compress(TEXT[:half].encode()) + gzip.compress(TEXT[half:].encode()))
    assert rows(file) == ROWS


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True])
def test_other_encodings_are_read_as_a_stream(tmp_path: Path, encoding: str, packed: bool) -> None:
    file = tmp_path / "log.csv"
    data = TEXT.encode(encoding)
    file.write_bytes(gzip.compress(data) if packed else data)
    assert rows(file, encoding=encoding) == ROWS


def test_a_byte_that_an_encoding_does_not_have_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    for size in (0, 3_000_000):
        before = b"a,b\n" + b"x,y\n" * (size // 4)
        file.write_bytes(before + b"x,\x81\n")
        with pytest.raises(LogError, match=f"got byte 0x81 at offset {len(before) + 2};"):
            rows(file, encoding="cp1252")
    file.write_bytes("a,b\nx,y\n".encode("utf-16-le")[:-1])
    with pytest.raises(LogError, match="expected utf-16-le; got byte 0x0a at offset 14"):
        rows(file, encoding="utf-16-le")


def test_transcoding_holds_no_more_than_a_block(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_bytes(("a,b\n" + "ä,ö\n" * 2_000_000).encode("latin-1"))
    with LogBytes(file, Limits(), encoding="latin-1") as stream:
        sizes = [len(block) for block in stream.blocks()]
    assert sum(sizes) == 12_000_004
    assert max(sizes) <= 2 << 20


def test_a_cut_or_damaged_packed_file_is_one_line(tmp_path: Path) -> None:
    whole = gzip.compress(os.urandom(50_000).hex().encode())
    file = tmp_path / "log.csv.gz"
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 255
    for content, told in (
        (whole[:-9], "got one that is cut off after [1-9]"),
        (whole[:15], "cut off after 0"),
        (bytes(damaged), "got damage after"),
        (whole + b"rest", "got damage after"),
        (b"a,b\n", "expected a gzip file; got something else"),
        (b"", "expected a gzip file; got an empty file"),
    ):
        file.write_bytes(content)
        with pytest.raises(LogError, match=told) as caught:
            list(open_source(file).batches())
        assert "\n" not in str(caught.value)


def test_a_packed_bomb_is_refused_at_its_limit(tmp_path: Path) -> None:
    file = tmp_path / "log.csv.gz"
    with gzip.open(file, "wb") as out:
        out.write(b"a,b\n")
        for _ in range(40):
            out.write(b"x,y\n" * 250_000)
    assert file.stat().st_size < 100_000
    with pytest.raises(
        LogError, match=r"at most 1,000,000 bytes after unpacking \(the limit 'unpacked'\)"
    ):
        rows(file, limits=Limits(unpacked=1_000_000))
    unpacked = open_source(file, limits=Limits(unpacked=40_000_004)).batches()
    assert sum(batch.num_rows for batch in unpacked) == 10_000_000


@pytest.mark.parametrize(
    "name",
    [
        b"with space.csv",
        b'it\'s "quoted".csv',
        b"two\nlines.csv",
        b"not-utf8-\xff.csv",
        b"100%25.csv",
        b"-rf.csv",
        b"~.csv",
        "ünïcode 日本.csv".encode(),
        b"#?&*$(x).csv",
    ],
)
def test_odd_names_work_and_errors_stay_on_one_line(tmp_path: Path, name: bytes) -> None:
    file = tmp_path / os.fsdecode(name)
    file.write_text("a,b\n1,2\n")
    source = open_source(file)
    assert list(events_of(source)) == [{"a": "1", "b": "2"}]
    assert source.name.isprintable()
    source.name.encode()
    file.write_text("a,b\n1\n")
    with pytest.raises(LogError, match="expected 2 cells") as caught:
        rows(file)
    assert str(caught.value).isprintable()
    str(caught.value).encode()


def test_a_name_with_a_null_is_refused() -> None:
    with pytest.raises(LogError, match="to be readable; got embedded null"):
        open_source("a\0b.csv")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(LogError, match="a pipe or device; try saving"):
        open_source(tmp_path / "pipe.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LogError, match=r"expected files in .*empty; got none"):
        open_source(tmp_path / "empty")
    with pytest.raises(LogError, match="at least one file; got none"):
        open_source([])
    with pytest.raises(LogError, match=r"expected a file, .* or a Spark DataFrame; got int"):
        open_source(5)  # type: ignore[arg-type]


def test_a_folder_is_one_log_in_the_order_of_names(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    for number in (10, 2, 1):
        (folder / f"part-{number:02d}.csv").write_text(f"a\n{number}-1\n{number}-2\n")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-00.csv.crc").write_text("x")
    source = open_source(folder)
    table = pa.Table.from_batches(list(source.batches()))
    assert table.to_pydict() == {
        "row": [0, 1, 2, 3, 4, 5],
        "a": ["1-1", "1-2", "2-1", "2-2", "10-1", "10-2"],
    }
    splits = source.splits(1)
    assert [b.column(0).to_pylist() for s in splits for b in source.batches(s)] == [
        [0, 1],
        [2, 3],
        [4, 5],
    ]
    files = sorted(folder.glob("p*.csv"), reverse=True)
    assert [file.name for file in log_files(files)] == [f.name for f in reversed(files)]
    with pytest.raises(LogError, match=r"each file once; got part-01.csv twice"):
        open_source([files[0], files[2], files[2]])


def test_files_of_one_log_must_fit_together(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a,c\n1,2\n")
    with pytest.raises(LogError, match=r"2.csv: expected the columns of 1.csv; got 'c' instead"):
        open_source(tmp_path)
    (tmp_path / "2.csv").rename(tmp_path / "2.jsonl")
    with pytest.raises(LogError, match="expected files of one format"):
        open_source(tmp_path)


def test_a_fault_in_a_later_file_names_it(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "2.csv").write_text("a,b\n5,6\n7,x\n")
    source = open_source(tmp_path, columns={"b": "integer"})
    with pytest.raises(LogError, match=r"2.csv, row 4 \(line 3\), column 'b'"):
        list(source.batches())


def test_a_log_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("a,b\n" + "x,y\n" * 3_000_000)
    source = open_source(file)
    batches = source.batches()
    next(batches)
    with file.open("a") as out:
        out.write("x,y\n")
    with pytest.raises(LogError, match="a file that changed while it was read; try a copy"):
        for _ in batches:
            pass
    with pytest.raises(LogError, match="a file that changed"):
        next(source.batches())
    next(open_source(file).batches())


def test_a_source_travels_to_another_process(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(TEXT)
    source = open_source(file, progress=lambda event: None)
    again = pickle.loads(pickle.dumps(source))
    split = pickle.loads(pickle.dumps(source.splits(3)[1]))
    assert list(again.batches(split)) == list(source.batches(split))
    assert again.fingerprint() == source.fingerprint()


def test_the_format_is_found_by_ending_or_content(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('{"a": 1}\n')
    assert open_source(tmp_path / "log").format == "jsonl"
    (tmp_path / "log.tsv").write_text("a\tb\n1\t2\n")
    assert rows(tmp_path / "log.tsv") == [{"a": "1", "b": "2"}]
    (tmp_path / "data").write_text("a,b\n1,2\n")
    with pytest.raises(LogError, match=r"a name that ends with one of \.csv.*--log-format csv"):
        open_source(tmp_path / "data")
    assert rows(tmp_path / "data", format="csv") == [{"a": "1", "b": "2"}]
    with pytest.raises(LogError, match=r"expected one of csv, jsonl, .*; got 'cvs'"):
        open_source(tmp_path / "data", format="cvs")


def test_skipping_leaves_exactly_what_follows(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(bytes(range(256)) * 10)
    for skipped in (0, 1, 255, 2560, 9999):
        with LogBytes(file, Limits()) as stream:
            stream.skip(skipped)
            read = io.BytesIO(b"".join(stream.blocks(100))).read()
        assert read == file.read_bytes()[skipped:]
