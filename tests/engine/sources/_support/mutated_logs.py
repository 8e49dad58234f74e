"""Mutate logs and read them: whatever comes, it is read or refused with one line.

Run as a module it reads so many mutations of every format and dies if one takes too long; what it
reads at the moment is in the file ``now``, so that it can be done again::

    python -m tests.engine.sources._support.mutated_logs FOLDER FIRST COUNT [FORMAT ...]
"""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.engine.sources._support.ocel_files import small_log, write_json, write_sqlite, write_xml
from tests.engine.sources._support.slow_xes_reader import events_by_expat
from whence.engine.errors import WhenceError
from whence.engine.sources import Limits, open_source
from whence.engine.sources.source import ON_BAD, source_schema
from whence.engine.values.columns import records_of

__all__ = ["FORMATS", "HOW", "mutated", "read_one"]

REAL = Path(__file__).resolve().parents[5] / "shared" / "logs"
SECONDS = 60
"""How long one small file may take, on a machine that has other things to do."""

CSV = b'case,activity,time,n\n1,"a ""b"", c",2024-01-01T00:00:00Z,5\n2,\xc3\xa9,2024-01-02,\n' * 20
JSONL = b'{"case": 1, "a": "x", "n": [1, {"b": null}], "f": 1.5}\n{"case": "2", "t": true}\n' * 20
TEXT = (
    b'::1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326 "-" "M \\"x\\""\n'
    b'10.0.0.1 - - [10/Oct/2000:13:55:36 +0000] "-" 408 - "-" "-"\n'
) * 20
XES = b"""<?xml version="1.0" encoding="UTF-8"?><!-- c --><log xmlns="http://www.xes-standard.org/">
<global scope="event"><string key="concept:name" value="x"/></global>
<classifier name="c" keys="concept:name"/>
<trace><string key="concept:name" value="A &amp; B"/><int key="n" value=" 7"/>
<event><string key='concept:name' value="a"/><date key="time:timestamp" value="2020-01-01T00:00:00Z"
/><float key="f" value="1.5"><string key="unit" value="EUR"/></float></event>
<event><list key="l"><values><int key="i" value="1"/></values></list>
<boolean key="b" value="TRUE"/></event><![CDATA[<event>]]></trace>
<trace><id key="concept:name" value="2"/><event/></trace></log>"""

TOKENS = [
    *(b"<", b">", b"/", b'"', b"'", b"&", b"&#x110000;", b"&#0;", b"&amp;", b"<!--", b"-->"),
    *(b"<![CDATA[", b"]]>", b"<?x", b"?>", b"<!DOCTYPE a>", b"<event>", b"</event>", b"</trace>"),
    *(b"<trace>", b' key="k"', b' value="v"', b"<list key='l'>", b'<int key="n" value="9e9"/>'),
    *(b"{", b"}", b"[", b"]", b",", b":", b"null", b"NaN", b"1e999", b"9" * 400, b"-0", b"\\ud800"),
    *(b"\\u0000", b"\n", b"\r", b"\r\n", b"\t", b";", b"\0", b"\xff", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"2024-02-30", b"0000-00-00T00:00:00+99:99"),
    *(b"PAR1", b"SQLite format 3\0", b"ocel_id", b"[[[[[[[[" * 20),
]
VALUES = [
    *(b"", b" ", b"7", b" 7", b"-0", b"1e5", b"1e999", b"NaN", b"INF", b"true", b"TRUE", b"9" * 25),
    *(b"2024-02-30T00:00:00Z", b"2024-01-01T00:00:00.1234567Z", b"2024-01-01", b"24:00"),
    *(b"0001-01-01T00:00:00+14:00", b"concept:name", b"case:concept:name", b"row", b"position"),
    *(b"&#10;", b"&lt;", b"\xc3\xa9", b"x" * 5_000, b"float", b"orders", b"o1", b"e1", b"time"),
]
QUOTED = re.compile(rb"""["']([^"'\n]*)["']""")


def _head(name: str, count: int) -> bytes:
    """The first lines of a real log, if it is there."""
    path = REAL / name
    if not path.exists():
        return b""
    with gzip.open(path) if name.endswith(".gz") else path.open("rb") as file:
        return b"".join(file.readline() for _ in range(count))


def _parquet(folder: Path) -> bytes:
    table = pa.table(
        {
            "case": ["a", "b", None] * 20,
            "n": pa.array(range(60), pa.int64()),
            "f": pa.array([0.5, None, -2.0] * 20),
            "t": pa.array([1, 2, None] * 20, pa.timestamp("ms", "UTC")),
            "l": [[1, 2], [], None] * 20,
        }
    )
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(table, folder / "seed.parquet", row_group_size=25, **plain)
    return (folder / "seed.parquet").read_bytes()


def _real_xes(folder: Path) -> bytes:
    head = _head("receipt.xes.gz", 700)
    return head[: head.rfind(b"</trace>")] + b"</trace></log>" if b"</trace>" in head else XES


def _ocel(form: str, write: Callable[..., Path]) -> Callable[[Path], bytes]:
    return lambda folder: write(folder / f"seed.{form}", small_log()).read_bytes()


FORMATS: dict[str, tuple[str, list[Callable[[Path], bytes]]]] = {
    "csv": (".csv", [lambda _: CSV, lambda _: _head("ccc19.csv", 50) or CSV]),
    "jsonl": (".jsonl", [lambda _: JSONL]),
    "parquet": (".parquet", [_parquet]),
    "xes": (".xes", [lambda _: XES, _real_xes]),
    "ocel-sqlite": (".sqlite", [_ocel("sqlite", write_sqlite)]),
    "ocel-json": (".jsonocel", [_ocel("jsonocel", write_json)]),
    "ocel-xml": (".xmlocel", [_ocel("xmlocel", write_xml)]),
    "text": (".log", [lambda _: TEXT, lambda _: _head("apache_logs", 50) or TEXT]),
}
"""The ending of each format, and what makes files to begin with."""

HOW: dict[str, list[dict[str, Any]]] = {
    "csv": [{}, {"columns": {"time": "instant", "n": "integer"}, "timezone": "Europe/Berlin"}],
    "jsonl": [{}, {"columns": {"t": "boolean", "f": "float"}}],
    "xes": [{}, {"columns": {"concept:name": "integer"}}, {"timezone": "-03:30"}],
    "ocel-sqlite": [{}, {"object_type": "orders", "timezone": "Asia/Tokyo"}],
    "ocel-json": [{}, {"columns": {"total": "text"}}],
    "ocel-xml": [{}, {"object_type": "orders"}, {"columns": {"boxes": "float"}}],
    "text": [{}, {"pattern": r"(?P<a>\S+) (?P<b>.*)", "columns": {"b": "float"}}],
}
"""Other ways to read some of them."""


def mutated(data: bytes, random: Random) -> bytes:
    """The same file with a few things wrong."""
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        at, length = random.randrange(len(made) + 1), random.choice((1, 2, 8, 64, 1_000))
        match random.randrange(12):
            case 0:
                for _ in range(random.choice((1, 1, 5))):
                    if made:
                        made[random.randrange(len(made))] ^= 1 << random.randrange(8)
            case 1:
                del made[at : at + length]
            case 2:
                made[at:at] = made[at : at + length] * random.choice((1, 2, 20))
            case 3 | 4:
                made[at:at] = random.choice(TOKENS)
            case 5:
                token = random.choice(TOKENS)
                made[at : at + len(token)] = token
            case 6:
                other = random.randrange(len(made) + 1)
                made[at:at] = made[other : other + length]
            case 7 | 8 | 9 | 10:
                places = [found.span(1) for found in QUOTED.finditer(made)]
                if places:
                    start, stop = random.choice(places)
                    made[start:stop] = random.choice(VALUES)
            case 11:
                del made[random.randrange(len(made) + 1) :]
    return bytes(made)


def read_one(path: Path, random: Random, how: Mapping[str, Any]) -> str:
    """Read a log to its end; how it came out.

    Raises:
        AssertionError: what was read, or the refusal, is not as it should be.
    """
    limits = Limits.stated(["unpacked=50_000_000", "events=1_000_000", "nesting=40"])
    on_bad = random.choice(ON_BAD)
    try:
        source = open_source(path, on_bad=on_bad, limits=limits, **how)
        rows = -1
        for batch in source.batches():
            batch.validate(full=True)
            assert batch.schema.equals(source_schema(source.columns)), batch.schema
            records_of(batch, source.columns)
            for row in batch.column("row").to_pylist():
                assert row > rows
                rows = row
        assert source.report.read >= rows + 1
        if source.format == "xes":
            assert source.report.read == len(events_by_expat(path))
    except WhenceError as error:
        message = str(error)
        for part in ("expected ", "; got ", "; try "):
            assert part in message, message
        assert message.isprintable(), repr(message)
        assert len(message) < 2_000, message
        return "refused"
    return f"read {on_bad}"


def main(folder: Path, first: int, count: int, formats: list[str]) -> None:
    """Read mutations and print how many were read and refused."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process wherever it is
    logs, temporary = folder / "logs", folder / "temporary"
    for place in (logs, temporary):
        place.mkdir()
    tempfile.tempdir = str(temporary)
    os.environ["SQLITE_TMPDIR"] = str(temporary)
    outcomes: dict[str, Counter[str]] = {}
    for name in formats or FORMATS:
        ending, makers = FORMATS[name]
        seeds = [make(folder) for make in makers]
        for number in range(first, first + count):
            (folder / "now").write_text(f"{name} {number}")
            random = Random(f"{name} {number}")
            data = mutated(random.choice(seeds), random)
            if random.randrange(4) == 0:
                data, ending_now = mutated(gzip.compress(data), random), ending + ".gz"
            else:
                ending_now = ending
            file = logs / f"log{ending_now}"
            file.write_bytes(data)
            how = random.choice(HOW.get(name, [{}]))
            signal.alarm(SECONDS)
            outcomes.setdefault(name, Counter())[read_one(file, random, how)] += 1
            signal.alarm(0)
            assert [f.name for f in logs.iterdir()] == [file.name]
            assert list(temporary.iterdir()) == []
            file.unlink()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"outcomes": outcomes, "megabytes": most // 1024}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
