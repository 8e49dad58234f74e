from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from whence.engine.errors import LogError
from whence.engine.sources import Limits, events_of, open_source

LOGS = Path(__file__).resolve().parents[4] / "shared" / "logs"
APACHE = LOGS / "apache_logs"
needs_logs = pytest.mark.skipif(
    not LOGS.is_dir(), reason="the real logs (../shared/logs) are not here"
)

Write = Callable[[str], Path]
COMMON = '::1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326'
COMBINED = COMMON + r' "http://x/?q=\"a\"" "Mozilla/5.0 (say \"hi\")"'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(content: str) -> Path:
        file = tmp_path / "access.log"
        file.write_bytes(content.encode())
        return file

    return make


def rows(path: Path, **how: Any) -> list[dict[str, Any]]:
    return list(events_of(open_source(path, **how)))


@pytest.mark.parametrize("pattern", [None, "combined"])
def test_a_line_of_the_combined_format(write: Write, pattern: str | None) -> None:
    source = open_source(write(COMBINED + "\n"), pattern=pattern)
    assert list(events_of(source)) == [
        {
            "address": "::1",
            "identity": "-",
            "user": "frank",
            "time": datetime(2000, 10, 10, 20, 55, 36, tzinfo=UTC),
            "request": "GET /a.gif HTTP/1.0",
            "method": "GET",
            "path": "/a.gif",
            "protocol": "HTTP/1.0",
            "status": 200,
            "size": 2326,
            "referer": r"http://x/?q=\"a\"",
            "agent": r"Mozilla/5.0 (say \"hi\")",
        }
    ]
    assert source.roles == {"case": "address", "activity": "request", "time": "time"}


def test_a_dash_is_missing_only_as_a_size(write: Write) -> None:
    line = '::1 - - [10/Oct/2000:13:55:36 -0700] "-" 408 - "-" "-"'
    (row,) = rows(write(line))
    assert row["size"] is None
    assert [row[n] for n in ("identity", "user", "request", "referer", "agent")] == ["-"] * 5
    assert (row["method"], row["path"], row["protocol"]) == (None, None, None)


def test_the_first_line_tells_which_named_pattern_it_is(write: Write) -> None:
    assert "agent" not in rows(write(COMMON))[0]
    (row,) = rows(write("www.example.org:443 " + COMBINED))
    assert (row["host"], row["port"]) == ("www.example.org", 443)
    with pytest.raises(LogError, match=r"expected a line as one of common, combined, .* got 'x'"):
        open_source(write("\nx\n"))


@needs_logs
def test_the_real_log_has_the_lines_and_addresses_that_are_known_of_it() -> None:
    read = rows(APACHE, format="text", pattern="combined")
    assert len(read) == 10_000
    assert len({row["address"] for row in read}) == 1_753
    assert sum(row["size"] is None for row in read) == 669
    times = [row["time"] for row in read]
    assert sum(a > b for a, b in pairwise(times)) == 4_915
    assert all(row["user"] is not None for row in read)
    assert read[8_898]["agent"].endswith("bot.html")  # this line ends without a quote


@needs_logs
@pytest.mark.parametrize("wanted", [1, 3, 7])
def test_stretches_together_are_the_whole_log(wanted: int, tmp_path: Path) -> None:
    packed = tmp_path / "access.log.gz"
    packed.write_bytes(gzip.compress(APACHE.read_bytes()))
    whole = [b.to_pydict() for b in open_source(APACHE, format="text").batches()]
    expected = [row for found in whole for row in found["row"]]
    for file in (APACHE, packed):
        source = pickle.loads(pickle.dumps(open_source(file, format="text")))
        found: list[Any] = []
        texts: list[str] = []
        splits = source.splits(wanted)
        assert len(splits) >= (wanted if file == APACHE else 1)
        for split in splits:
            for batch in source.batches(split):
                found += batch.column("row").to_pylist()
                texts += batch.column("agent").to_pylist()
        assert found == expected
        assert texts == [text for part in whole for text in part["agent"]]


def test_a_pattern_of_the_users_own_makes_the_columns(write: Write) -> None:
    file = write("2024-01-02 [WARN] disk 93%\r\n\r\n2024-01-03 [INFO] ok\r\n")
    pattern = r"(?P<day>\S+) \[(?P<level>[A-Z]+)\] (?P<what>\w+)(?: (?P<share>[0-9]+)%)?"
    source = open_source(file, pattern=pattern, columns={"day": "instant", "share": "integer"})
    assert dict(source.columns) == {
        "day": "instant", "level": "text", "what": "text", "share": "integer"
    }  # fmt: skip
    day = datetime(2024, 1, 2, tzinfo=UTC)
    first, second = events_of(source)
    assert first == {"day": day, "level": "WARN", "what": "disk", "share": 93}
    assert (second["what"], second["share"]) == ("ok", None)
    assert source.roles == {}


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("combine", "expected one of common, combined, vhost_combined, or a regular expression"),
        ("(?P<a>x", "missing )"),
        ("(x)", "unnamed groups"),
        (r"(?P<a>x)(?=y)", "invalid perl operator"),
        (r"(?P<a>x)\1", "invalid escape sequence"),
        ("(?P<a>x)(?P<a>y)", "expected names that differ; got 'a' twice"),
    ],
)
def test_a_pattern_that_is_none_is_refused(write: Write, pattern: str, problem: str) -> None:
    with pytest.raises(LogError) as caught:
        open_source(write("x"), pattern=pattern)
    assert problem in str(caught.value)
    assert "; try " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("line", "column", "problem"),
    [
        ("what?", None, "expected a line as the pattern common; got 'what?'"),
        (COMMON.replace("Oct", "Okt"), "time", "expected a time as %d/%b/%Y:%H:%M:%S %z"),
        (COMMON.replace("10/Oct", "31/Feb"), "time", "expected a time as"),
        (COMMON.replace("2326", "9" * 30), "size", "expected an integer of 64 bits"),
        (COMMON[:40], None, "expected a line as the pattern common"),
    ],
)
def test_a_line_that_does_not_fit_is_named_dropped_or_missing(
    write: Write, line: str, column: str | None, problem: str
) -> None:
    file = write(f"{COMMON}\n\n{line}\n{COMMON}\n")
    with pytest.raises(LogError) as caught:
        rows(file, pattern="common")
    where = "access.log, row 2 (line 3)" + (f", column {column!r}" if column else "")
    assert str(caught.value).startswith(f"{where}: {problem}")
    dropped = open_source(file, on_bad="drop")
    assert [b.column("row").to_pylist() for b in dropped.batches()] == [[0, 2]]
    assert (dropped.report.read, dropped.report.dropped) == (3, 1)
    kept = open_source(file, on_bad="keep")
    row = list(events_of(kept))[1]
    assert row[column or "address"] is None
    assert kept.report.missing == 1


def test_a_line_in_another_encoding_is_named(write: Write) -> None:
    file = write("")
    file.write_bytes(f"{COMMON}\n{COMMON.replace('a.gif', 'é')}\n".encode("latin-1"))
    with pytest.raises(LogError, match=r"row 2 \(line 2\): expected utf-8; got byte 0xe9 at byte"):
        rows(file)
    assert len(rows(file, on_bad="drop")) == 1
    assert rows(file, encoding="latin-1")[1]["path"] == "/é"


def test_a_hostile_pattern_takes_no_longer_than_its_line(write: Write) -> None:
    file = write("a" * 100_000 + "!\n")
    with pytest.raises(LogError, match="expected a line as the pattern given"):
        rows(file, pattern="(?P<a>(?:a+)+)")


def test_an_empty_log_has_no_events(write: Write) -> None:
    assert rows(write("")) == []
    assert rows(write("\n \n")) == []


@pytest.mark.parametrize("limit", ["text=50", "row=60", "events=1"])
def test_limits_are_named(write: Write, limit: str) -> None:
    file = write(f"{COMMON}\n{COMMON}\n")
    name = limit.partition("=")[0]
    with pytest.raises(LogError, match=rf"\(the limit '{name}'\)"):
        rows(file, limits=Limits.stated([limit]))
