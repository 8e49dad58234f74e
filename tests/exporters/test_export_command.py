"""``whence export`` as people type it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.conftest import Cli
from tests.exporters.making import lifecycle_run
from tests.exporters.reading import read_file


def test_a_run_is_written_and_the_file_is_named(cli: Cli, tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    done = cli("export", "latest", "-o", "run.nq.gz", "--record", "record", "--json")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "run.nq.gz"
    assert json.loads(done.stdout) == {
        "file": "run.nq.gz",
        "format": "nquads",
        "bytes": path.stat().st_size,
    }
    assert f"urn:whence:run:{record.id}:run".encode() in gzip.decompress(path.read_bytes())
    assert "100 %" in done.stderr


def test_the_format_may_be_named_and_the_record_be_a_setting(cli: Cli, tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "elsewhere")
    done = cli(
        *("export", record.id, "-o", "run", "--format", "prov-json", "--values", "--quiet"),
        env={"WHENCE_RECORD": str(record.root)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "run").rename(tmp_path / "run.json")
    read = read_file(tmp_path / "run.json")
    (log,) = record.manifest["logs"].values()
    assert "amount" in read.one(f"urn:whence:log:{log}:e0", "value")


def test_what_cannot_be_done_is_one_line_and_leaves_nothing(cli: Cli, tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    known = ("--record", "record")
    for arguments, said in (
        (("nothing", "-o", "a.nq", *known), f"try one of: {record.id}"),
        (("latest", "-o", "a.ttl", *known), "expected a name that ends in one of"),
        (("latest", "-o", "nowhere/a.nq", *known), "expected a file that can be written"),
    ):
        done = cli("export", *arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert said in done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("whence:")]
        assert len(lines) == 1
        assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


def test_wrong_usage_is_told_apart(cli: Cli) -> None:
    assert cli("export", "latest").returncode == 2
    assert cli("export", "latest", "-o", "a", "--format", "turtle").returncode == 2
