"""Logs in the record: position by position, known again by their content, all or nothing."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.record import LogRecord, ingest
from whence.engine.record.schema import log_schema
from whence.engine.sources import events_of, open_source

KINDS = {"n": "integer", "at": "instant"}
TEXT = "case,n,at,note\n" + "".join(
    f"c{n % 7},{n},2026-03-{1 + n * 7 % 28:02d}T10:00:00Z,{'' if n % 3 else 'NA'}\n"
    for n in range(1_000)
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "log.csv"
    made.write_text(TEXT)
    return made


def test_a_log_is_kept_in_parts_with_positions_and_rows(tmp_path: Path, file: Path) -> None:
    source = open_source(file, columns=KINDS)
    log = ingest(tmp_path / "record", "log", source, order=["at"], chunk=300)
    parts = [log.part(number) for number in range(log.manifest.parts)]
    assert [part.num_rows for part in parts] == [300, 300, 300, 100]
    assert all(part.schema.equals(log_schema(source.columns)) for part in parts)
    whole = pa.concat_tables(parts)
    assert whole["position"].to_pylist() == list(range(1_000))
    events = list(events_of(source))
    order = sorted(range(1_000), key=lambda n: str(events[n]["at"]))
    assert whole["row"].to_pylist() == order
    assert list(log.read()) == [events[n] for n in order]


def test_the_manifest_says_how_it_came_about(tmp_path: Path, file: Path) -> None:
    file.write_text(TEXT + "c,x,2026-01-01,\nc,5000,,\n")
    source = open_source(file, columns=KINDS, on_bad="drop", timezone="Europe/Berlin")
    declared = Log(case="case", time="at", id="n", missing="last", timezone="Europe/Berlin")
    log = ingest(tmp_path, "log", source, declared=declared, order=["at", "case"], source="here")
    told = log.manifest.json()
    assert told.pop("digest").startswith("sha256:")
    assert len(told.pop("events")["secret"]) == 16
    assert told == {
        "format": 2,
        "id": log.id,
        "name": "log",
        "source": "here",
        "source_format": "csv",
        "length": 1_001,
        "plain": False,
        "columns": [
            {"name": "case", "kind": "text"},
            {"name": "n", "kind": "integer"},
            {"name": "at", "kind": "instant"},
            {"name": "note", "kind": "text"},
        ],
        "order": ["at", "case"],
        "missing": "last",
        "case": "case",
        "activity": None,
        "time": "at",
        "event_id": "n",
        "timezone": "Europe/Berlin",
        "report": {
            "on_bad": "drop",
            "read": 1_002,
            "dropped": 1,
            "missing": 0,
            "bad": [{"file": "log.csv", "row": 1_000, "line": 1_002, "column": "n"}],
        },
        "details": {},
        "chunk": 65_536,
        "parts": 1,
    }
    assert log.part(0)["row"][-1].as_py() == 1_001


def test_the_same_log_has_the_same_identity_however_it_is_kept(tmp_path: Path, file: Path) -> None:
    root = tmp_path / "record"
    first = ingest(root, "log", open_source(file, columns=KINDS), order=["at"])
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    latin = tmp_path / "latin.csv"
    latin.write_bytes(TEXT.replace(",", ";").encode("utf-16"))
    folder = tmp_path / "folder"
    folder.mkdir()
    head, *rows = TEXT.splitlines(keepends=True)
    for number, start in enumerate((0, 1, 400, 999)):
        end = (1, 400, 999, 1_000)[number]
        (folder / f"{number}.csv").write_text(head + "".join(rows[start:end]))
    parquet = tmp_path / "log.parquet"
    table = pa.Table.from_batches(list(open_source(file, columns=KINDS).batches()))
    pq.write_table(table.drop(["row"]), parquet, row_group_size=77)
    events = list(events_of(open_source(file, columns=KINDS)))
    declared = Log(columns=open_source(file, columns=KINDS).columns)
    same: list[Any] = [
        open_source(packed, columns=KINDS),
        open_source(latin, columns=KINDS, delimiter=";", encoding="utf-16"),
        open_source(folder, columns=KINDS),
        open_source(parquet),
        events,
    ]
    for number, source in enumerate(same):
        log = ingest(
            root,
            "other name",
            source,
            declared=declared if source is events else None,
            order=["at"],
            chunk=100 + number,
            run_bytes=20_000 if number % 2 else 1 << 30,
        )
        assert log.id == first.id
    assert len(list((root / "logs").iterdir())) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c6,6,", "c6,7,"),
        ("c6,6,", "c5,6,"),
        ("NA\n", "na\n"),
        (",NA\n", ",\n"),
        ("T10:00:00Z", "T10:00:00.000001Z"),
        ("c0,0,2026-03-01T10:00:00Z,NA\nc1,1", "c1,1"),
        ("case,", "Case,"),
    ],
)
def test_a_changed_byte_is_another_log(tmp_path: Path, file: Path, old: str, new: str) -> None:
    first = ingest(tmp_path, "log", open_source(file, columns=KINDS))
    changed = TEXT.replace(old, new, 1)
    assert changed != TEXT
    file.write_text(changed)
    assert ingest(tmp_path, "log", open_source(file, columns=KINDS)).id != first.id


def test_order_kinds_and_mapping_are_part_of_the_identity(tmp_path: Path, file: Path) -> None:
    ids = {
        ingest(tmp_path, "log", open_source(file, columns=kinds), order=order, declared=declared).id
        for kinds, order, declared in (
            (KINDS, [], None),
            (KINDS, ["n"], None),
            (KINDS, ["at"], None),
            ({}, [], None),
            (KINDS, [], Log(case="case")),
        )
    }
    assert len(ids) == 5


def test_cells_cannot_flow_into_each_other(tmp_path: Path) -> None:
    ids = [
        ingest(
            tmp_path, "log", [{"a": a, "b": b}], declared=Log(columns={"a": "text", "b": "text"})
        ).id
        for a, b in (("xy", "z"), ("x", "yz"), ("xyz", ""), ("xyz", None), (None, "xyz"))
    ]
    assert len(set(ids)) == 5


@pytest.mark.parametrize(
    ("events", "kinds", "told"),
    [
        ([{"x": 1}, {"x": "a"}], {"x": "integer"}, "position 1, field 'x': expected integer; got"),
        ([{"x": 2**63}], {"x": "integer"}, "position 0, field 'x': expected an integer of 64 bits"),
        ([{"x": 1}, 5], None, "position 1: expected a record like the ones before"),
        ([{"row": 1}], None, "expected columns other than position and row, .* got 'row'"),
    ],
)
def test_events_in_memory_must_fit_their_kinds(
    tmp_path: Path, events: list[Any], kinds: dict[str, str] | None, told: str
) -> None:
    with pytest.raises(LogError, match=told):
        ingest(tmp_path, "log", events, declared=Log(columns=kinds))
    assert not list((tmp_path / "logs").glob("*")) if (tmp_path / "logs").exists() else True


def test_an_order_that_cannot_be_is_refused(tmp_path: Path, file: Path) -> None:
    with pytest.raises(LogError, match=r"a column 'time' to order by; got no such column; try one"):
        ingest(tmp_path, "log", open_source(file), order=["time"])
    with pytest.raises(LogError, match="got the kind any, which has no order"):
        ingest(tmp_path, "log", [{"x": [1]}], order=["x"])


def test_a_log_without_events_has_one_part_without_rows(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("a,b\n")
    log = ingest(tmp_path, "log", open_source(file, columns={"b": "float"}), order=["b"])
    assert (log.length, log.manifest.parts, list(log.read())) == (0, 1, [])
    assert log.part(0).schema.equals(log_schema(log.columns))


def test_a_refused_log_leaves_nothing(tmp_path: Path, file: Path) -> None:
    file.write_text(TEXT + "c,x,2026-01-01,\n")
    with pytest.raises(LogError, match="row 1001"):
        ingest(tmp_path / "record", "log", open_source(file, columns=KINDS), chunk=10)
    assert list((tmp_path / "record" / "logs").iterdir()) == []


WRITER = """
import sys, time
from pathlib import Path
from whence.engine.record import ingest

def events():
    for n in range(10_000):
        yield {"n": n}
    print("half", flush=True)
    time.sleep(600)

from whence.engine.language.log import Log
ingest(Path(sys.argv[1]), "log", events(), declared=Log(columns={"n": "integer"}), chunk=1000)
"""


def test_a_killed_writer_leaves_no_log_and_the_next_cleans_up(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"half\n"
        unfinished = set(logs.iterdir())
        assert len(unfinished) == 2
        assert all(folder.name.startswith(".") for folder in unfinished)
        writers[0].send_signal(signal.SIGKILL)
        writers[0].wait()
        log = ingest(tmp_path, "log", [1, 2, 3])
        left = set(logs.iterdir()) - {log.folder}
        assert len(left) == 1  # of the one that lives
        assert left < unfinished
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
            assert writer.stdout is not None
            writer.stdout.close()
    again = ingest(tmp_path, "log", [1, 2, 3])
    assert list(logs.iterdir()) == [again.folder]


def test_two_that_write_the_same_log_at_once_agree(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def write(number: int) -> LogRecord:
        return ingest(tmp_path, f"log {number}", list(range(500)), chunk=50)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(write, range(8)))
    assert len({log.id for log in found}) == 1
    assert list((tmp_path / "logs").iterdir()) == [found[0].folder]
    assert list(found[0].read()) == list(range(500))


def test_a_log_that_changes_while_it_is_taken_in_is_refused(tmp_path: Path, file: Path) -> None:
    source = open_source(file, columns=KINDS)
    time.sleep(0.01)
    file.write_text(TEXT)
    with pytest.raises(LogError, match="a file that changed while it was read"):
        ingest(tmp_path / "record", "log", source)
    assert list((tmp_path / "record" / "logs").iterdir()) == []


def test_odd_file_names_go_into_the_manifest(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"two\nlines \xff.csv")
    file.write_text("a,b\n1,2\n")
    log = ingest(tmp_path / "record", "log", open_source(file))
    assert log.manifest.source == "two\\nlines \\xff.csv"


def test_times_are_instants(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("at,b\n2026-03-29T03:30:00,1\n2026-03-29T02:30:00+02:00,2\n")
    kinds = {"at": "instant"}
    source = open_source(file, columns=kinds, timezone="Europe/Berlin")
    first, second = ingest(tmp_path, "log", source, order=["at"]).read()
    assert first == {"at": datetime(2026, 3, 29, 0, 30, tzinfo=UTC), "b": "2"}
    assert second == {"at": datetime(2026, 3, 29, 1, 30, tzinfo=UTC), "b": "1"}


def test_positions_and_rows_take_next_to_no_room(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("a\n" + "x\n" * 20_000)
    log = ingest(tmp_path / "record", "log", open_source(file))
    part = log.folder / "part-00000.parquet"
    found = pq.ParquetFile(part).metadata.row_group(0)
    kept = {found.column(n).path_in_schema: found.column(n) for n in range(found.num_columns)}
    assert {name: kept[name].encodings[-1] for name in ("position", "row")} == dict.fromkeys(
        ("position", "row"), "DELTA_BINARY_PACKED"
    )
    assert kept["position"].total_compressed_size < 500
