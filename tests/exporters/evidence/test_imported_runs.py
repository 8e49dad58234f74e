"""A pack about a run that came in a file says so: whoever signs it has not computed it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.exporters.evidence._support.judged_run import Made, failures, made_in
from tests.exporters.evidence._support.resigned_packs import facts_of, resigned
from whence.cli.app import app
from whence.engine.record import RunRecord
from whence.engine.record.root import read_commits
from whence.exporters import save_run
from whence.exporters.evidence import verify_pack
from whence.exporters.evidence.committing import check_commit, commit_run
from whence.exporters.evidence.deriving import derived, json_bytes, prov_files
from whence.exporters.evidence.wording import IMPORTED
from whence.exporters.importing import import_runs
from whence.store import Connection
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j


def brought(graph: Connection, folder: Path) -> Made:
    """A run whose verdict was turned round in the file that it came in."""
    made = made_in(folder, graph)
    path = save_run(made.record.root, made.record.id, folder / "run.json", values=True)
    told = json.loads(path.read_text("utf-8"))
    (bundle,) = told["bundle"].values()
    turned = [
        said
        for said in bundle["entity"].values()
        if said.get("whence:position") == 3 and said.get("prov:value") is False
    ]
    assert turned
    for said in turned:
        said["prov:value"] = True
    path.write_text(json.dumps(told), encoding="utf-8")
    graph.write("MATCH (n) DETACH DELETE n")
    shutil.copytree(made.record.root / "logs", folder / "here" / "logs")  # it is a log of ours
    (id,) = import_runs(path, folder / "here")
    record = RunRecord(folder / "here", id)
    load(record.root, id, graph)
    commit_run(record, keys=made.keys)
    return Made(graph, record, made.keys, folder)


def test_a_pack_about_an_imported_run_says_so(graph: Connection, tmp_path: Path) -> None:
    made = brought(graph, tmp_path)
    pack = made.pack(run=made.record.id)
    assert "is true" in str(facts_of(pack)["answer"])  # which the file made of it
    assert IMPORTED in facts_of(pack)["gaps"]  # type: ignore[operator]
    public = made.keys.path.with_suffix(".pub")
    assert f"origin: {IMPORTED}" in verify_pack(pack, public).notes
    (commit,) = read_commits(made.record)
    assert check_commit(commit, made.record.id).predicate["why"] == "imported"


def test_a_pack_about_a_run_made_here_says_nothing_of_it(graph: Connection, tmp_path: Path) -> None:
    made = made_in(tmp_path, graph)
    pack = made.pack()
    assert IMPORTED not in facts_of(pack)["gaps"]  # type: ignore[operator]
    assert not any(words.startswith("origin:") for words in verify_pack(pack).notes)


def test_a_signer_cannot_leave_it_out(graph: Connection, tmp_path: Path) -> None:
    made = brought(graph, tmp_path)
    pack = made.pack(run=made.record.id)
    told = facts_of(pack)
    told["gaps"] = [each for each in told["gaps"] if each != IMPORTED]  # type: ignore[attr-defined]
    changes = {"evidence.json": json_bytes(told), **derived(told), **prov_files(told)}
    pack.write_bytes(resigned(pack, made.keys, changes))
    assert failures(pack) == ["facts: the gaps are not those of this run"]


def test_whoever_makes_the_pack_reads_it(
    graph: Connection, neo4j_server: Status, tmp_path: Path
) -> None:
    made = brought(graph, tmp_path)
    done = CliRunner().invoke(
        app,
        [
            *("evidence", "create", "--run", made.record.id, "--question", "3"),
            *("--record", str(made.record.root), "-o", str(tmp_path / "p.zip")),
            *("--key", str(made.keys.path), "--uri", str(neo4j_server.uri)),
            *("--username", "neo4j", "--password-file", str(neo4j_server.home / "password")),
        ],
    )
    assert done.exit_code == 0, done.stderr
    assert IMPORTED in done.stderr
