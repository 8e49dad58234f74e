"""A disk that is full, read-only or no disk at all is one clear line, and leaves nothing half."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import Cli
from whence.api import run
from whence.engine import Cumulate
from whence.engine.errors import DiskError, LogError, WhenceError
from whence.engine.record import RunRecord, list_runs
from whence.store import Connection
from whence.store.server import Status

ROOM = 192  # kilobytes
CHAIN = """
logs: {log: {columns: {amount: integer}}}
line:
  - {id: amount, apply: amount}
  - {id: sum, cumulate: add}
"""
Mounted = Callable[..., Path]


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mounted]:
    """Small disks, in memory: made, and made anew with other settings."""
    made: list[Path] = []

    def mount(name: str, settings: str) -> Path:
        folder = tmp_path / name
        again = ["-o", f"remount,{settings}"] if folder in made else ["-o", settings]
        folder.mkdir(exist_ok=True)
        words = ["mount", "-t", "tmpfs", *again, "tmpfs", str(folder)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no mount command here")
        if done.returncode:
            pytest.skip(f"only root may mount a disk: {done.stderr.strip()}")
        if folder not in made:
            made.append(folder)
        return folder

    yield mount
    for folder in made:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """A chain, and a log whose record needs some hundred kilobytes."""
    (tmp_path / "sum.yaml").write_text(CHAIN, encoding="utf-8")
    numbers = "\n".join(str((n * 7919) ** 2 % 100_003) for n in range(30_000))
    (tmp_path / "numbers.csv").write_text(f"amount\n{numbers}\n", encoding="utf-8")
    return ["run", "sum.yaml", "--log", "numbers.csv"]


def refused(done: subprocess.CompletedProcess[str], got: str) -> str:
    """The one line that was said."""
    assert done.returncode == 1, (done.stdout, done.stderr)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("whence: "), done.stderr
    assert got in last, last
    assert "; try " in last
    for word in ("Traceback", "unexpected", "Errno"):
        assert word not in done.stderr
    return last


@pytest.mark.parametrize(
    "runner", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.fault])]
)
def test_a_run_on_a_full_disk_is_one_line_and_runs_once_there_is_room(
    runner: str, cli: Cli, mounted: Mounted, inputs: list[str]
) -> None:
    disk = mounted("disk", f"size={ROOM}k")
    words = [*inputs, "--runner", runner, "--track", "--no-load", "--record", str(disk / "r")]
    refused(cli(*words), "no space left on the disk")
    for id in list_runs(disk / "r"):
        assert RunRecord(disk / "r", id).manifest.status != "complete"
    mounted("disk", "size=64m")
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    assert RunRecord(disk / "r", "latest").manifest.status == "complete"


def test_without_any_room_nothing_is_left(cli: Cli, mounted: Mounted, inputs: list[str]) -> None:
    disk = mounted("disk", "size=4k,nr_inodes=16")
    (disk / "full").write_bytes(b"x" * 4096)
    words = [*inputs, "--runner", "local", "--record", str(disk / "r")]
    refused(cli(*words), "no space left on the disk")
    assert [path.name for path in disk.rglob("*") if path.is_file()] == ["full"]


def test_a_disk_that_is_read_only_can_be_read(
    cli: Cli, mounted: Mounted, inputs: list[str], tmp_path: Path
) -> None:
    disk = mounted("disk", "size=16m")
    words = [*inputs, "--runner", "local", "--record", str(disk / "r")]
    assert cli(*words).returncode == 0
    mounted("disk", "ro")
    before = sorted(str(path) for path in disk.rglob("*"))
    record = ("--record", str(disk / "r"))
    said = "a disk that is read-only"
    refused(cli(*words), said)
    refused(cli(*inputs, "--runner", "local", "--record", str(disk / "other")), said)
    refused(cli("runs", "hold", "latest", "--reason", "x", *record), said)
    refused(cli("runs", "remove", "latest", "--only", "record", "--yes", *record), said)
    refused(cli("erase", "--events", "3", "--reason", "x", "--yes", *record), said)
    refused(cli("draw", "--run", "latest", *record, "-o", str(disk / "a.svg")), "")
    refused(cli("export", "latest", *record, "-o", str(disk / "a.nq")), "")
    refused(cli("logs", "generate", "-o", str(disk / "a.csv"), "--events", "100"), "")
    for words in (["runs", "list"], ["runs", "show"], ["runs", "verify"]):
        done = cli(*words, *record)
        assert done.returncode == 0, done.stderr
    done = cli("export", "latest", *record, "-o", str(tmp_path / "a.nq"))
    assert done.returncode == 0, done.stderr
    assert "not in the journal: " in done.stderr
    assert sorted(str(path) for path in disk.rglob("*")) == before


def test_what_is_written_to_a_full_disk_is_one_line_and_no_file(
    cli: Cli, mounted: Mounted, inputs: list[str], tmp_path: Path
) -> None:
    words = [*inputs, "--runner", "local", "--track", "--no-load", "--record", "r"]
    assert cli(*words).returncode == 0
    disk = mounted("disk", "size=4k,nr_inodes=16")
    (disk / "full").write_bytes(b"x" * 4096)
    record = ("--record", str(tmp_path / "r"))
    for words in (
        ["export", "latest", *record, "-o", str(disk / "a.nq")],
        ["draw", "--run", "latest", *record, "-o", str(disk / "a.svg")],
        ["logs", "generate", "-o", str(disk / "a.csv"), "--events", "1000"],
        ["logs", "generate", "-o", str(disk / "a.parquet"), "--events", "1000"],
        ["keys", "create", "--folder", str(disk / "k")],
    ):
        refused(cli(*words), "")
        assert [path.name for path in disk.rglob("*") if path.is_file()] == ["full"], words


def test_a_server_is_not_set_up_on_a_disk_that_is_read_only(cli: Cli, mounted: Mounted) -> None:
    disk = mounted("disk", "size=1m")
    mounted("disk", "ro")
    line = refused(cli("server", "start", env={"WHENCE_HOME": str(disk)}), "ead-only")
    assert "WHENCE_HOME" in line


@pytest.mark.parametrize("place", ["/proc/x", "/proc/x/y", "/dev/null/x"])
def test_a_record_where_no_folder_can_be_is_one_line(
    place: str, cli: Cli, inputs: list[str]
) -> None:
    refused(cli(*inputs, "--runner", "local", "--record", place), place.rpartition("/x")[0])


def test_a_limit_on_the_size_of_files_is_one_line(tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    words = ["logs", "generate", "-o", "a.csv", "--events", "5000"]
    done = subprocess.run(
        [sys.executable, "-m", "whence", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    refused(done, "")
    assert not list(tmp_path.iterdir())


def test_in_python_it_is_an_error_of_whence(mounted: Mounted) -> None:
    disk = mounted("disk", f"size={ROOM}k")
    log = [(n * 7919) ** 2 % 100_003 for n in range(30_000)]
    with pytest.raises(DiskError, match="no space left on the disk") as raised:
        run(Cumulate("sum", "add"), log, runner="local", record=disk)
    assert isinstance(raised.value, WhenceError)
    assert "\n" not in str(raised.value)
    with pytest.raises((DiskError, LogError), match="expected to read and write there"):
        run(Cumulate("sum", "add"), [1, 2], runner="interpreter", record="/proc/x")


def full(disk: Path) -> None:
    """Leave no room on a disk."""
    with suppress(OSError), (disk / "full").open("wb", 0) as file:
        while True:
            file.write(b"x" * 4096)


def held(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_an_import_on_a_full_disk_is_one_line_and_leaves_nothing(
    cli: Cli, mounted: Mounted, inputs: list[str], tmp_path: Path
) -> None:
    words = [*inputs, "--runner", "local", "--track", "--no-load", "--record", "r"]
    assert cli(*words).returncode == 0
    assert cli("export", "latest", "--record", "r", "-o", "run.nq").returncode == 0
    disk = mounted("disk", f"size={ROOM}k")
    record = ("--record", str(disk / "r"))
    server = ("--uri", "bolt://127.0.0.1:1", "--password-file", "password")
    (tmp_path / "password").write_text("none", encoding="utf-8")
    refused(cli("import", "run.nq", *record, *server), "no space left on the disk")
    assert held(disk) == []
    full(disk)
    refused(cli("import", "run.nq", *record, *server), "no space left on the disk")
    assert held(disk) == ["full"]


@pytest.mark.spark
@pytest.mark.fault
def test_a_stream_on_a_full_disk_is_one_line_and_continues_once_there_is_room(
    cli: Cli, mounted: Mounted, inputs: list[str], tmp_path: Path
) -> None:
    disk, inbox = mounted("disk", f"size={ROOM}k"), tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "a.csv").write_bytes((tmp_path / "numbers.csv").read_bytes())
    words = ["run", "sum.yaml", "--stream", "inbox", "--available-now", "--track", "--no-load"]
    words += ["--record", str(disk / "r")]
    refused(cli(*words), "no space left on the disk")
    mounted("disk", "size=64m")
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    run = RunRecord(disk / "r", "latest")
    assert run.manifest.is_complete
    assert max(stream.length for stream in run.manifest.streams) == 30_000


@pytest.mark.neo4j
def test_packs_and_loads_on_a_full_disk_are_one_line_and_leave_nothing(
    cli: Cli,
    mounted: Mounted,
    inputs: list[str],
    tmp_path: Path,
    neo4j_server: Status,
    graph: Connection,
) -> None:
    """First the disk of the record is full, where leaves are made first, then that of the pack."""
    (tmp_path / "few.csv").write_text("amount\n4\n7\n", encoding="utf-8")
    server = {
        "NEO4J_URI": neo4j_server.settings().uri,
        "NEO4J_PASSWORD_FILE": str(neo4j_server.home / "password"),
    }
    disk, other = mounted("disk", "size=2m"), mounted("other", "size=64k")
    record = ("--record", str(disk / "r"))
    done = cli("run", "sum.yaml", "--log", "few.csv", "--runner", "local", "--track", "--no-load",
               *record)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert cli("keys", "create", "--folder", "k").returncode == 0
    (key,) = (tmp_path / "k").glob("*.key")
    full(disk)
    said = cli("load", "latest", *record, env=server)
    if said.returncode:  # it needs no room but for the line in the journal
        refused(said, "no space left on the disk")
    assert "Traceback" not in said.stderr
    (disk / "full").unlink()
    assert cli("load", "latest", *record, env=server).returncode == 0
    pack = ["evidence", "create", "--run", "latest", "--question", "1", "--profile", "bcbs239"]
    pack += ["--key", str(key), *record]
    full(disk)
    refused(cli(*pack, "-o", "b.zip", env=server), "o space left on")
    assert not (tmp_path / "b.zip").exists()
    (disk / "full").unlink()
    full(other)
    refused(cli(*pack, "-o", str(other / "a.zip"), env=server), "o space left on")
    assert held(other) == ["full"]
    done = cli(*pack, "-o", "b.zip", env=server)
    assert done.returncode == 0, done.stderr
