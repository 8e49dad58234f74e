"""Files that want to harm: each is refused with one line, quickly, and nothing of it is left."""

from __future__ import annotations

import gzip
import json
import os
import signal
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import psutil
import pytest

from tests.engine.sources._support.ocel_files import small_log, write_json, write_sqlite, write_xml
from tests.engine.sources._support.real_logs import real_log
from whence.engine.errors import LogError
from whence.engine.record import ingest
from whence.engine.sources import Limits, events_of, open_source

MEGABYTE = 1 << 20


@contextmanager
def bounded(megabytes: int, seconds: int = 60) -> Iterator[None]:
    """Whatever happens inside ends, and does not grow beyond this."""

    def too_long(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"still reading after {seconds} s")

    process = psutil.Process()
    before = process.memory_info().rss
    old = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
    assert process.memory_info().rss - before < megabytes * MEGABYTE


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Temporary files go where we can see that none stays."""
    place = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(place))
        patch.setenv("SQLITE_TMPDIR", str(place))
        opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        yield
        assert list(place.iterdir()) == []
    if opened:
        assert len(os.listdir("/proc/self/fd")) <= opened + 5


def refused(path: Path, record: Path, **how: Any) -> str:
    """The one line, after trying to take the log into a record, where nothing is to be found."""
    with pytest.raises(LogError) as caught:
        ingest(record, "log", open_source(path, **how))
    message = str(caught.value)
    assert "\n" not in message
    assert "expected " in message
    assert "; got " in message
    assert "; try " in message
    assert len(message) < 600
    logs = record / "logs"
    assert not logs.exists() or [f for f in logs.iterdir() if f.is_dir()] == []
    return message


@pytest.mark.parametrize("name", ["b5.xes", "b8.xes", "xxe.xes"])
@pytest.mark.parametrize("on_bad", ["refuse", "drop", "keep"])
def test_document_types_and_with_them_all_entities_are_refused(
    name: str, on_bad: str, tmp_path: Path
) -> None:
    with bounded(20):
        message = refused(real_log(f"hostile/{name}"), tmp_path, on_bad=on_bad)
    assert "got <!DOCTYPE" in message


def test_no_external_file_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    os.mkfifo(secret)  # whoever opened it would wait for ever
    file = tmp_path / "log.xes"
    for outside in (f'<!ENTITY x SYSTEM "{secret}">', f'<!ENTITY % x SYSTEM "{secret}"> %x;'):
        file.write_text(f"<!DOCTYPE log [{outside}]><log>&x;</log>")
        with bounded(20, 10):
            assert "got <!DOCTYPE" in refused(file, tmp_path / "record")
    file.write_text(f'<!DOCTYPE log SYSTEM "{secret}"><log/>')
    with bounded(20, 10):
        assert "got <!DOCTYPE" in refused(file, tmp_path / "record")


def test_ordinary_entities_are_decoded_and_odd_attributes_read() -> None:
    (row,) = events_of(open_source(real_log("hostile/amp.xes")))
    assert row["concept:name"] == "A & B <x> é"
    assert len(list(events_of(open_source(real_log("hostile/odd.xes"), on_bad="keep")))) == 5


FILL: dict[str, tuple[bytes, bytes]] = {
    "log.csv": (b"a,b\n", b"x,y\n"),
    "log.jsonl": (b"", b'{"a": 1}\n'),
    "log.xes": (b"<log><trace><id key='concept:name' value='c'/>", b"<event/>"),
    "log.xmlocel": (b"<log><events>", b'<event id="" type=""/>'),
    "log.jsonocel": (b'{"events": [', b" " * 8),
    "log.log": (b"", b"x\n"),
}


@pytest.mark.parametrize("name", FILL)
def test_a_bomb_is_refused_as_soon_as_it_goes_beyond_the_limit(name: str, tmp_path: Path) -> None:
    begin, again = FILL[name]
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    many = again * (8 * MEGABYTE // len(again))
    data = packer.compress(begin) + b"".join(packer.compress(many) for _ in range(8))
    file = tmp_path / f"{name}.gz"
    file.write_bytes(data + packer.flush())
    assert file.stat().st_size < MEGABYTE  # of 64
    how = {"pattern": "(?P<a>.)"} if name == "log.log" else {}
    with bounded(150):
        message = refused(
            file, tmp_path / "record", limits=Limits.stated(["unpacked=4_000_000"]), **how
        )
    assert "at most 4,000,000 bytes after unpacking (the limit 'unpacked')" in message
    assert "try --log-limit unpacked=8000000" in message


def test_a_packed_database_is_bounded_too(tmp_path: Path) -> None:
    file = tmp_path / "log.sqlite.gz"
    plain = write_sqlite(tmp_path / "plain", small_log()).read_bytes()
    file.write_bytes(gzip.compress(plain + bytes(20 * MEGABYTE)))
    with bounded(60):
        message = refused(file, tmp_path / "record", limits=Limits.stated(["unpacked=100_000"]))
    assert "the limit 'unpacked'" in message


def _xes(folder: Path) -> Path:
    event = '<event><string key="concept:name" value="A"/></event>'
    text = f'<log><trace><string key="concept:name" value="c"/>{event * 4_000}</trace></log>'
    (folder / "log.xes").write_text(text)
    return folder / "log.xes"


MAKE: dict[str, Callable[[Path], Path]] = {
    "xes": _xes,
    "json": lambda folder: write_json(folder / "log.jsonocel", small_log()),
    "xml": lambda folder: write_xml(folder / "log.xmlocel", small_log()),
    "sqlite": lambda folder: write_sqlite(folder / "log.sqlite", small_log()),
}


@pytest.mark.parametrize("form", MAKE)
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_a_gzip_file_that_is_cut_off_is_told_as_such(
    form: str, share: float, tmp_path: Path
) -> None:
    plain = MAKE[form](tmp_path)
    packed = gzip.compress(plain.read_bytes())
    file = tmp_path / f"{plain.name}.gz"
    file.write_bytes(packed[: int(len(packed) * share)])
    message = refused(file, tmp_path / "record")
    assert "expected a whole gzip file; got one that is cut off" in message


@pytest.mark.parametrize("form", MAKE)
def test_a_gzip_file_with_a_changed_byte_is_told_as_such(form: str, tmp_path: Path) -> None:
    plain = MAKE[form](tmp_path)
    packed = bytearray(gzip.compress(plain.read_bytes()))
    packed[-5] ^= 0xFF
    file = tmp_path / f"{plain.name}.gz"
    file.write_bytes(packed)
    assert "expected a whole gzip file; got damage" in refused(file, tmp_path / "record")


XES_BOMBS = {
    "nesting": '<id key="a" value="1">' * 200_000,
    "row": f'<string key="a" value="{"x" * (70 << 20)}"/>',
    "text": f'<string key="a" value="{"x" * 5_000_000}"/>',
    "attributes": "".join(f'<id key="{n}" value="1"/>' for n in range(5_000)),
    "attributes ": '<id key="a" value="1"/>' * 4_000_000,
}


@pytest.mark.parametrize("limit", XES_BOMBS)
def test_events_without_measure_are_refused_by_the_limits_that_everyone_has(
    limit: str, tmp_path: Path
) -> None:
    file = tmp_path / "log.xes"
    inside = XES_BOMBS[limit]
    closing = "</id>" * 200_000 if limit == "nesting" else ""
    head = '<log><trace><string key="concept:name" value="c"/>'
    file.write_text(f"{head}<event>{inside}{closing}</event></trace></log>")
    with bounded(600):
        assert f"(the limit '{limit.strip()}')" in refused(file, tmp_path / "record")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("log.jsonocel", '{"events": [{"id": "e", "attributes": ' + "[" * 500_000),
        ("log.jsonocel", '{"events": [{"id": "e", "x": ' + "[" * 900 + "]" * 900 + "}]}"),
        ("log.xmlocel", "<log><events>" + "<event id='e' type='t'>" * 200_000),
        ("log.jsonl", '{"a": ' + "[" * 500_000),
    ],
)
def test_deep_nesting_is_refused_in_every_format(name: str, content: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(content)
    with bounded(300):
        assert "(the limit 'nesting')" in refused(file, tmp_path / "record")


def test_one_endless_token_is_refused(tmp_path: Path) -> None:
    low = Limits.stated(["row=3_000_000"])
    for name, begin in (
        ("log.xes", "<log><trace><event><string value='"),
        ("log.xmlocel", "<log x='"),
        ("log.jsonocel", '{"x": "'),
    ):
        file = tmp_path / name
        file.write_text(begin + "x" * 20 * MEGABYTE)
        with bounded(200):
            assert "(the limit 'row')" in refused(file, tmp_path / "record", limits=low)


def test_a_log_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = write_json(tmp_path / "log.jsonocel", small_log())
    source = open_source(file)
    file.write_text(json.dumps(small_log()))
    with pytest.raises(LogError, match="got a file that changed while it was read"):
        list(source.batches())
    file = _xes(tmp_path)
    source = open_source(file)
    os.utime(file, (1, 1))
    with pytest.raises(LogError, match="got a file that changed while it was read"):
        list(source.batches())


def test_classifiers_are_kept_in_the_manifest(tmp_path: Path) -> None:
    file = tmp_path / "log.xes"
    file.write_text(
        _xes(tmp_path).read_text().replace("<log>", "<log><classifier name='A' keys='b'/>")
    )
    record = ingest(tmp_path / "record", "log", open_source(file))
    assert record.manifest.details["classifiers"] == [{"name": "A", "keys": "b"}]
    assert record.manifest.details["traces"] == 1
    assert record.length == 4_000
