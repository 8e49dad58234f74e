"""Events keep their identity from one version of a log to the next."""

from __future__ import annotations

import hashlib
import random
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.record import LogRecord, ingest, match
from whence.engine.record.event_digest import event_digests, sip_hash
from whence.engine.record.event_ids import FILE
from whence.engine.record.secret import record_secret

COLUMNS = {"case": "text", "n": "integer", "x": "float"}


def events(count: int, seed: int = 1) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [
        {
            "case": chance.choice(["a", "b", "é" * 70, None, "x" * 600]),
            "n": chance.choice([1, 2, None]),
            "x": chance.choice([0.5, -1.0, None]),
        }
        for _ in range(count)
    ]


def kept(root: Path, rows: list[dict[str, Any]], **options: Any) -> LogRecord:
    return ingest(root, "log", rows, declared=Log(columns=COLUMNS, **options))


def test_inserted_removed_and_changed_rows_leave_the_others_matched(tmp_path: Path) -> None:
    old = [{"case": f"c{n}", "n": n, "x": None} for n in range(300)]
    new = list(old)
    del new[50]
    new[100] = {"case": "changed", "n": 0, "x": None}
    new.insert(10, {"case": "inserted", "n": 1, "x": None})
    found = match(kept(tmp_path, old), kept(tmp_path, new))
    for pair in found.both.to_pylist():
        assert old[pair["old"]] == new[pair["new"]]
    assert found.both["new"].to_pylist() == [n for n in range(300) if n not in (10, 101)]
    assert (found.removed, found.added) == ([50, 101], [10, 101])


def test_equal_events_are_matched_in_turn(tmp_path: Path) -> None:
    one, two = {"case": "a", "n": 1, "x": None}, {"case": "b", "n": 2, "x": None}
    old, new = [one, two, one, one], [two, one, two, one, one, one]
    found = match(kept(tmp_path, old), kept(tmp_path, new))
    assert [(p["old"], p["new"]) for p in found.both.to_pylist()] == [
        (1, 0),
        (0, 1),
        (2, 3),
        (3, 4),
    ]
    assert (found.removed, found.added) == ([], [2, 5])


def test_many_equal_events_in_any_batches_are_all_matched(tmp_path: Path) -> None:
    old, extra = events(20_000), events(500, seed=2)
    new = [*extra, *old]
    found = match(
        kept(tmp_path, old), ingest(tmp_path, "n", new, declared=Log(columns=COLUMNS), chunk=77)
    )
    assert found.both.num_rows == 20_000
    assert (found.removed, len(found.added)) == ([], 500)
    for pair in found.both.slice(0, 300).to_pylist():
        assert old[pair["old"]] == new[pair["new"]]


def test_an_id_column_tells_events_apart_whatever_else_changes(tmp_path: Path) -> None:
    old = [{"case": f"e{n}", "n": n, "x": 0.5} for n in range(9)]
    new = [{"case": f"e{n}", "n": -n, "x": None} for n in reversed(range(4, 12))]
    found = match(kept(tmp_path, old, id="case"), kept(tmp_path, new, id="case"))
    assert [(p["old"], p["new"]) for p in found.both.to_pylist()] == [
        (8, 3),
        (7, 4),
        (6, 5),
        (5, 6),
        (4, 7),
    ]
    with pytest.raises(LogError, match="got two ways"):
        match(kept(tmp_path, old), kept(tmp_path, new, id="case"))


def test_guessed_ids_that_come_twice_are_matched_in_turn_and_counted(tmp_path: Path) -> None:
    old = kept(tmp_path, [{"n": 1}, {"n": 2}, {"n": 1}, {"n": None}], id="n", guessed=("id",))
    new = kept(
        tmp_path,
        [{"n": 2, "x": 1.0}, {"n": 1}, {"n": None}, {"n": 1}, {"n": 1}],
        id="n",
        guessed=("id",),
    )
    pairs = [(pair["old"], pair["new"]) for pair in match(old, new).both.to_pylist()]
    assert pairs == [(1, 0), (0, 1), (3, 2), (2, 3)]
    assert [log.manifest.events.repeated for log in (old, new)] == [1, 2]


def test_digests_need_the_secret_which_only_the_owner_reads(tmp_path: Path) -> None:
    rows = events(5)
    first, other = kept(tmp_path / "one", rows), kept(tmp_path / "two", rows)
    assert first.id == other.id
    with pytest.raises(LogError, match="the same record's secret"):
        match(first, other)
    tables = [pq.read_table(log.folder / FILE) for log in (first, other)]
    assert not set(tables[0]["high"].to_pylist()) & set(tables[1]["high"].to_pylist())
    secret = tmp_path / "one" / "secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert record_secret(tmp_path / "one") == record_secret(tmp_path / "one")
    assert secret.read_text().strip() not in (first.folder / "manifest.json").read_text()
    secret.write_text("short\n")
    with pytest.raises(LogError, match="expected the record's secret of 32 bytes"):
        record_secret(tmp_path / "one")


def test_the_keyed_function_is_the_published_one() -> None:
    key = bytes(range(16))
    for count, expected in (
        (0, "a3817f04ba25a8e66df67214c7550293"),
        (1, "3b62a9ba6258f5610f83e264f31497b4"),
    ):
        words = [np.frombuffer(bytes(range(8 * n, 8 * n + 8)), "<u8") for n in range(count)]
        high, low = sip_hash(words, key, 1)
        assert high.tobytes().hex() + low.tobytes().hex() == expected


def plain_digest(row: dict[str, Any], secret: bytes) -> bytes:
    """What is hashed of one event, written down once more, one event at a time."""
    values = list(row.values())
    words = [sum((value is not None) << place for place, value in enumerate(values))]
    for name, value in row.items():
        if COLUMNS[name] == "text":
            text = (value or "").encode()
            words.append(len(text))
            if len(text) > 512:
                long = hashlib.blake2b(text, key=secret[16:], digest_size=16).digest()
                words += np.frombuffer(long, "<u8").tolist()
            else:
                padded = text + bytes(-len(text) % 8)
                words += np.frombuffer(padded, "<u8").tolist()
        else:
            packed = np.array([value or 0], "<f8" if COLUMNS[name] == "float" else "<i8")
            words.append(int(packed.view("<u8")[0]))
    mask = 2**64 - 1
    k0, k1 = (int.from_bytes(secret[n : n + 8], "little") for n in (0, 8))
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D ^ 0xEE,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def turned(x: int, by: int) -> int:
        return (x << by | x >> 64 - by) & mask

    def rounds(times: int) -> None:
        for _ in range(times):
            v[0] = v[0] + v[1] & mask
            v[1] = turned(v[1], 13) ^ v[0]
            v[0] = turned(v[0], 32)
            v[2] = v[2] + v[3] & mask
            v[3] = turned(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & mask
            v[3] = turned(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & mask
            v[1] = turned(v[1], 17) ^ v[2]
            v[2] = turned(v[2], 32)

    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    high = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return b"".join(part.to_bytes(8, "little") for part in (high, v[0] ^ v[1] ^ v[2] ^ v[3]))


def test_many_digests_at_once_are_those_of_each_event(tmp_path: Path) -> None:
    rows = events(300)
    secret = bytes(range(100, 132))
    columns = [
        pa.array([row["case"] for row in rows], pa.string()),
        pa.array([row["n"] for row in rows], pa.int64()),
        pa.array([row["x"] for row in rows], pa.float64()),
    ]
    high, low = event_digests([c.slice(7, 200) for c in columns], secret, 200)
    found = [h.tobytes() + x.tobytes() for h, x in zip(high, low, strict=True)]
    assert found == [plain_digest(row, secret) for row in rows[7:207]]


@pytest.mark.parametrize("order", [(), ("n",)])
@pytest.mark.parametrize("seed", range(5))
def test_an_id_that_comes_twice_is_refused_with_the_rows_of_the_first_two(
    tmp_path: Path, order: tuple[str, ...], seed: int
) -> None:
    chance = random.Random(seed)
    count = 40_000
    rows: list[dict[str, Any]] = [
        {"case": f"c{n}", "n": chance.choice([n, -n]), "x": None} for n in range(count)
    ]
    for _ in range(3):  # without an id there is nothing that could repeat
        rows[chance.randrange(count)]["case"] = None
    kept(tmp_path, rows, id="case")
    for _ in range(seed + 1):
        rows[chance.randrange(count)]["case"] = rows[chance.randrange(count)]["case"] or "c1"
    ordered = sorted(range(count), key=lambda at: (rows[at]["n"], at)) if order else range(count)
    seen: dict[str, int] = {}
    first: tuple[int, int] | None = None
    repeated = 0
    for at in ordered:
        id = rows[at]["case"]
        if id in seen:
            repeated += 1
            first = first or (seen[id], at)
        elif id is not None:
            seen[id] = at
    if first is None:
        kept(tmp_path, rows, id="case")
        return
    one, two = sorted(first)
    with pytest.raises(LogError) as caught:
        ingest(
            tmp_path, "log", rows, declared=Log(columns=COLUMNS, id="case"), order=order, chunk=999
        )
    told = str(caught.value)
    assert told.startswith(f"log, rows {one + 1} and {two + 1}, column 'case': expected an id of")
    assert f"got {rows[one]['case']!r} in both" in told
    assert (f"{repeated - 1} more such" in told) == (repeated > 1)
    assert len(list((tmp_path / "logs").glob("*"))) == len(list((tmp_path / "logs").glob("[!.]*")))
