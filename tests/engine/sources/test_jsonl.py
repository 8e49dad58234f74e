"""JSON lines: kinds as JSON has them, fields that come and go, each line by itself."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
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


def written(folder: Path, *lines: str) -> Path:
    file = folder / "log.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_values_keep_their_kinds_and_null_is_missing(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        '{"i": 1, "f": 2, "t": "x", "b": true, "o": {"x": [1, null]}, "m": 1, "row": "r"}',
        "",
        '{"i": null, "f": 2.5, "late": "NA", "m": "one"}',
    )
    source = open_source(file)
    assert source.columns == {
        "i": "integer",
        "f": "float",
        "t": "text",
        "b": "boolean",
        "o": "any",
        "m": "any",
        "row_": "text",
        "late": "text",
    }
    first, second = events_of(source)
    assert first == {
        **{"i": 1, "f": 2.0, "t": "x", "b": True, "o": {"x": [1, None]}, "m": 1, "row_": "r"},
        "late": None,
    }
    assert (second["i"], second["f"], second["m"], second["late"]) == (None, 2.5, "one", "NA")


def test_stated_kinds_read_texts_as_cells_are_read(tmp_path: Path) -> None:
    file = written(tmp_path, '{"at": "2026-03-01T10:00:00+01:00", "n": "042"}', '{"n": 7}')
    rows = list(events_of(open_source(file, columns={"at": "instant", "n": "integer"})))
    assert rows == [
        {"at": datetime(2026, 3, 1, 9, tzinfo=UTC), "n": 42},
        {"at": None, "n": 7},
    ]
    with pytest.raises(LogError, match=r"row 2 \(line 2\), column 'n': expected text; got integer"):
        list(open_source(file, columns={"n": "text"}).batches())


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"a": 1, "a": 2}', "got the field 'a' twice"),
        ('{"a": NaN}', "got NaN, which JSON does not have"),
        ('{"a": 1', "expected a JSON object"),
        ("[1]", "expected a JSON object; got list"),
        ('{"a": "\\ud800"}', "got half a character"),
        ('{"a": 9223372036854775808}', "column 'a': expected an integer of 64 bits"),
        ('{"a": 1e999}', "column 'a': expected a float below"),
        ('{"a": ' + "9" * 5000 + "}", "expected a JSON object; got Exceeds"),
    ],
)
def test_a_line_that_does_not_fit_is_refused_dropped_or_kept(
    tmp_path: Path, line: str, told: str
) -> None:
    file = written(tmp_path, '{"a": 1}', line, '{"a": 3}')
    with pytest.raises(LogError, match=rf"log.jsonl, row 2 \(line 2\).*{told}"):
        list(open_source(file).batches())
    dropped = open_source(file, on_bad="drop")
    assert [b["row"].to_pylist() for b in dropped.batches()] == [[0, 2]]
    assert (dropped.report.read, dropped.report.dropped) == (3, 1)
    kept = open_source(file, on_bad="keep")
    assert [e.get("a") for e in events_of(kept)] == [1, None, 3]
    assert kept.report.missing == 1


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes('{"a": "é"}\n'.encode("latin-1"))
    with pytest.raises(LogError, match=r"line 1\): expected UTF-8; got byte 0xe9 at byte 8"):
        open_source(file)
    assert list(events_of(open_source(file, encoding="latin-1"))) == [{"a": "é"}]


def test_a_byte_order_mark_is_no_part_of_the_log(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b'{"a": 1}\n' * 50)
    source = open_source(file)
    for wanted in (1, 7):
        parts = [b for split in source.splits(wanted) for b in source.batches(split)]
        assert sum(part["a"].to_pylist() == [1] * part.num_rows for part in parts) == len(parts)
        assert [r for part in parts for r in part["row"].to_pylist()] == list(range(50))


def test_depth_size_and_number_have_limits(tmp_path: Path) -> None:
    file = written(tmp_path, '{"a": ' + "[" * 70 + "]" * 70 + ', "b": "xxxxx"}')
    for limits, name in (
        (Limits(), "nesting"),
        (Limits(nesting=100, attributes=1), "attributes"),
        (Limits(nesting=100, text=4), "text"),
        (Limits(nesting=100, columns=1), "columns"),
    ):
        with pytest.raises(LogError, match=f"the limit '{name}'"):
            open_source(file, limits=limits)
    written(tmp_path, '{"a": ' + "[" * 100_000)
    with pytest.raises(LogError, match="the limit 'nesting'"):
        open_source(file)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz"), inner, max_size=2),
    max_leaves=4,
)
OBJECTS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "c d"]), JSON), max_size=6)


@BROAD
@given(OBJECTS, st.integers(1, 4))
def test_whatever_is_written_is_read_also_packed_and_in_splits(
    objects: list[dict[str, Any]], wanted: int
) -> None:
    text = "".join(json.dumps(each) + "\n" for each in objects)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "log.jsonl"
        file.write_text(text)
        source = open_source(file)
        read = list(events_of(source))
        parts = [b for split in source.splits(wanted) for b in source.batches(split)]
        packed = Path(folder) / "packed.jsonl.gz"
        packed.write_bytes(gzip.compress(text.encode()))
        assert list(events_of(open_source(packed))) == read
        assert pa.Table.from_batches(parts, None if parts else pa.schema([])).num_rows == len(read)
        assert [r for b in parts for r in b.column(0).to_pylist()] == list(range(len(objects)))
    for row, each in zip(read, objects, strict=True):
        for name, value in row.items():
            wrote = each.get(name)
            assert value == (float(wrote) if isinstance(value, float) and wrote else wrote)
