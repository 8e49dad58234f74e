"""What is erased from a record at a URI is gone from every object of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import fs

from tests._support.texts_in_files import holding
from tests.engine.record.erasable import CASES, SENTINELS, noted, values
from tests.engine.record.s3 import BUCKET, object_store
from whence.engine.errors import LogError
from whence.engine.record import RunRecord, record_place, remote
from whence.engine.record.erasing import hold_run, list_erasures, release_run, unfinished
from whence.engine.record.manifest import write_manifest
from whence.engine.record.remote import RemotePath
from whence.engine.record.verifying import verify_run
from whence.exporters.evidence import erasing
from whence.exporters.evidence.case_secrets import Secrets
from whence.exporters.evidence.erasing import erase, go_on, plan_case
from whence.exporters.evidence.hashing_pool import HashingPool
from whence.exporters.evidence.leaves import RunLeaves
from whence.store.journal import note, read_journal


@pytest.fixture(scope="module")
def _store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with object_store(tmp_path_factory.mktemp("s3")) as told, pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        remote._filesystem.cache_clear()
        yield
    remote._filesystem.cache_clear()


@pytest.fixture
def run(_store: None, tmp_path: Path, request: pytest.FixtureRequest) -> RunRecord:
    """A record with all that there may be, copied to the store."""
    here = noted(tmp_path / "here")
    with HashingPool() as hands:
        leaves = RunLeaves.begun(here, {"log": here.log("log")}, ["say"], hands)
        assert leaves.logs["log"].tree.count
        assert leaves.streams["say"].tree.count
    note(here.root, ["impact", "latest", "--case", CASES["B"]])
    root = record_place(f"s3://{BUCKET}/{request.node.name}/record")
    assert isinstance(root, RemotePath)
    fs.copy_files(str(here.root), root.key, destination_filesystem=root.filesystem)
    return RunRecord(root, here.id)


def held(run: RunRecord, folder: Path) -> set[bytes]:
    """Which of the private values are in an object of the record."""
    assert isinstance(run.root, RemotePath)
    fs.copy_files(run.root.key, str(folder), source_filesystem=run.root.filesystem)
    return {found for _, found in holding(folder, SENTINELS)}


def test_values_go_and_the_skeleton_stays(run: RunRecord, tmp_path: Path) -> None:
    before, said = sorted(run.rows(), key=repr), values(run, "say")
    assert held(run, tmp_path / "before") == set(SENTINELS)
    done = erase(plan_case(run.root, CASES["B"]), "request of 1 March", None)
    assert held(run, tmp_path / "after") == set()
    assert sorted(run.rows(), key=repr) == before
    assert values(run, "say") == [
        "erased null" if n in (1, 3) else each for n, each in enumerate(said)
    ]
    told = verify_run(run)
    assert (told.problems, len(told.erased)) == ((), 1)
    assert any(f"what the store of {run.root} keeps" in line for line in done.unreached)
    (entry,) = read_journal(run.root)
    assert (entry.words, entry.erased) == (("impact",), done.id)
    (secrets,) = run.log("log").folder.glob("secrets*.bin")
    assert len(secrets.read_bytes()) == 32  # of two cases, one is left
    assert Secrets.of(run.log("log")) is not None


def test_what_a_run_would_go_on_with_goes_too(run: RunRecord, tmp_path: Path) -> None:
    write_manifest(run.folder, replace(run.manifest, status="running", ended=None))
    torn = tmp_path / "torn"
    torn.write_bytes(SENTINELS[1])
    log = run.log("log")
    assert isinstance(log.folder, RemotePath)
    for name in ("state.arrow", "stream/checkpoint/0"):
        (run.folder / name).put(torn)  # type: ignore[attr-defined]
    for name in (".torn.part", "part-00009.parquet"):
        (log.folder / name).put(torn)
    plan = plan_case(run.root, CASES["B"])
    assert plan.ended == (run.id,)
    erase(plan, "why", None)
    assert held(run, tmp_path / "after") == set()
    assert run.manifest.status == "failed"


def test_a_hold_refuses_it_there_as_well(run: RunRecord) -> None:
    hold_run(run, "case 12 before the court")
    with pytest.raises(LogError, match=r"legal hold; got run .* \(case 12 before the court\)"):
        erase(plan_case(run.root, CASES["B"]), "why", None)
    assert list_erasures(run.root) == []
    release_run(run)


def test_an_erasure_that_was_stopped_is_taken_up_again(run: RunRecord, tmp_path: Path) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(erasing, "erase_in_log", stopped)
        with pytest.raises(KeyboardInterrupt):
            erase(plan_case(run.root, CASES["B"]), "why", None)
    assert unfinished(run.root) is not None
    assert held(run, tmp_path / "between") != set()
    go_on(run.root, None, None)
    assert held(run, tmp_path / "after") == set()
    assert unfinished(run.root) is None
