"""``whence export`` as people type it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.conftest import Cli
from tests.exporters._support.independent_readers import read_file
from tests.exporters._support.recorded_runs import RUNS, lifecycle_run


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
    (log,) = record.manifest.logs.values()
    assert "amount" in read.one(f"urn:whence:log:{log}:e0", "value")


def test_what_cannot_be_done_is_one_line_and_leaves_nothing(cli: Cli, tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    known = ("--record", "record")
    for arguments, said in (
        (("nothing", "-o", "a.nq", *known), f"try one of: {record.id}"),
        (("latest", "-o", "a.txt", *known), "expected a name that ends in one of"),
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
    assert cli("export", "latest", "-o", "a", "--format", "rdf").returncode == 2


def test_several_runs_are_one_file_with_a_bundle_each(cli: Cli, tmp_path: Path) -> None:
    first, second = (lifecycle_run(tmp_path / "record") for _ in range(2))
    ids = (first.id, second.id)
    done = cli("export", *ids, "-o", "runs.json", "--record", "record")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "runs.json").read_text(encoding="utf-8"))
    prefixes = document["prefix"]
    names = [name.partition(":") for name in document["bundle"]]
    assert [prefixes[prefix] + local for prefix, _, local in names] == [
        f"urn:whence:run:{id}:bundle" for id in ids
    ]
    # Both read the same log: its events have the same names in both.
    (log,) = first.manifest.logs.values()
    spaces = [prefix for prefix, iri in prefixes.items() if iri == f"urn:whence:log:{log}:"]
    assert len(spaces) == 1
    for bundle in document["bundle"].values():
        assert f"{spaces[0]}:e0" in bundle["entity"]
    again = cli("export", first.id, first.id, "-o", "a.json", "--record", "record")
    assert (again.returncode, "expected different runs" in again.stderr) == (1, True)


def test_turtle_has_no_bundles_and_the_command_says_so(cli: Cli, tmp_path: Path) -> None:
    ids = [lifecycle_run(tmp_path / "record").id for _ in range(2)]
    done = cli("export", *ids, "-o", "runs.ttl.gz", "--record", "record")
    assert done.returncode == 0, done.stderr
    assert "turtle cannot hold bundles: each run is in a file of its own" in done.stderr
    names = sorted(path.name for path in tmp_path.glob("*.gz"))
    assert names == sorted(f"runs-{id}.ttl.gz" for id in ids)
    one = cli("export", ids[0], "-o", "run.ttl", "--record", "record")
    assert "the bundle is left out" in one.stderr
    (tmp_path / f"runs-{ids[0]}.ttl").write_bytes(
        gzip.decompress((tmp_path / f"runs-{ids[0]}.ttl.gz").read_bytes())
    )
    assert (tmp_path / "run.ttl").read_bytes() == (tmp_path / f"runs-{ids[0]}.ttl").read_bytes()


def test_the_size_of_what_is_expanded_is_foretold(cli: Cli, tmp_path: Path) -> None:
    RUNS["wide window"](tmp_path / "record")
    done = cli("export", "latest", "-o", "a.nq", "--expand", "--record", "record")
    assert done.returncode == 0, done.stderr
    assert "up to 6,440 relations from event to event" in done.stderr  # 161 windows of 40
    assert len(read_file(tmp_path / "a.nq").pairs("wasDerivedFrom")) == 6440


def test_ties_to_other_logs_are_checked(cli: Cli, tmp_path: Path) -> None:
    lifecycle_run(tmp_path / "record")
    for arguments, said in (
        (("--chained", "log"), "expected LOG=RUN/STREAM; got 'log'"),
        (("--chained", "log=latest/nothing"), "got no such output in run"),
        (("--revised", "other=5f0c"), "expected one of its logs; got 'other'; try log"),
    ):
        done = cli("export", "latest", "-o", "a.nq", *arguments, "--record", "record")
        assert (done.returncode, done.stdout) == (1, "")
        assert said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["record"]
