"""After an erasure: what it did not reach, what is left to do, and the roots of what is left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.exporters.evidence._support.two_runs_over_one_log import CASES, GONE, Kept, kept
from whence.cli.app import app
from whence.engine.errors import LogError, StoreError
from whence.engine.record.erasing import list_erasures
from whence.engine.record.files import read_json, write_json
from whence.engine.record.root import parts_of, read_commits, root_of
from whence.exporters.evidence import verify_pack
from whence.exporters.evidence.committing import commit_run, committed_of
from whence.exporters.evidence.erasing import erase, plan_case
from whence.exporters.evidence.unreached import files_written
from whence.store import Connection
from whence.store.journal import note, read_journal
from whence.store.server import Status

pytestmark = pytest.mark.neo4j


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_KEY", "none")


@pytest.fixture
def server(neo4j_server: Status) -> list[str]:
    password = str(neo4j_server.home / "password")
    return ["--uri", str(neo4j_server.uri), "--username", "neo4j", "--password-file", password]


def whence(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code, done.stderr
    return done.stdout + done.stderr


def test_pictures_files_printed_into_and_what_the_page_handed_out_are_listed(
    graph: Connection, tmp_path: Path
) -> None:
    made = kept(graph, tmp_path)
    root = ("--record", str(made.root))
    picture, printed = tmp_path / "why.svg", tmp_path / "printed.csv"
    whence("draw", "--run", made.judged.id, "--explain", "3", "-o", str(picture), *root)
    code = "import sys; from whence.cli import main; sys.argv[0] = 'whence'; main()"
    words = ["export", made.judged.id, "-o", str(tmp_path / "e.json"), *root]
    with printed.open("w") as file:
        subprocess.run([sys.executable, "-c", code, *words], stdout=file, check=True)
    note(made.root, ["web", "outputs.csv", "--run", made.said.id])
    note(made.root, ["web", "why.svg", "--run", made.said.id, "--case", CASES["B"]])
    done = erase(plan_case(made.root, CASES["B"]), "why", graph)
    listed = "\n".join(done.unreached)
    assert f"a file written earlier, {picture}: ask its holder" in listed
    assert f"a file written earlier, {printed}: ask its holder" in listed
    assert "what the page handed out, outputs.csv of line 3 of the journal" in listed
    assert "what the page handed out, of line 4 of the journal" in listed
    assert CASES["B"] not in listed


@pytest.mark.parametrize("written", ["-o{}", "--output={}", "-o={}"])
def test_a_file_is_listed_however_its_option_is_written(written: str, tmp_path: Path) -> None:
    note(tmp_path, ["draw", "--run", "latest", "--explain", "3", written.format("why.svg")])
    (line,) = files_written(tmp_path, lambda word: False)
    assert line.startswith(
        ("a file written earlier, why.svg:", "a file written earlier, =why.svg:")
    )


def test_a_drawing_of_a_chain_file_is_not_in_the_journal(tmp_path: Path) -> None:
    chain = tmp_path / "chain.json"
    chain.write_text('{"id": "skip", "trim": 2}')
    root = tmp_path / "record"
    whence("draw", str(chain), "-o", str(tmp_path / "a.svg"), "--record", str(root))
    assert read_journal(root) == []


def test_a_rebuild_that_could_not_be_done_is_exit_code_4_and_named(
    graph: Connection, server: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = kept(graph, tmp_path)

    def away(*_: object, **__: object) -> None:
        msg = "expected a server; got none; try whence server start"
        raise StoreError(msg)

    monkeypatch.setattr("whence.exporters.evidence.erasing.rebuild", away)
    monkeypatch.setattr("whence.cli.erase._local", lambda server: "mine")
    told = whence(
        *("erase", "--case", CASES["B"], "--reason", "why", "--yes", "--record", str(made.root)),
        *server,
        code=4,
    )
    (line,) = [each for each in told.splitlines() if each.startswith("whence: left: ")]
    assert "were not rebuilt: expected a server" in line
    assert line.endswith("finish with: WHENCE_INSTANCE=mine whence store rebuild")
    (erasure,) = list_erasures(made.root)
    assert erasure.done is not None
    assert len(erasure.left) == 1
    assert read_journal(made.root)[-1].words[:3] == ("erase", "--erasure", erasure.id)


def test_a_graph_that_goes_away_on_the_way_is_exit_code_4_and_the_command_is_told(
    graph: Connection, server: list[str], tmp_path: Path
) -> None:
    made = kept(graph, tmp_path)
    record = ("--record", str(made.root))
    with pytest.MonkeyPatch.context() as patch:

        def away(*_: object) -> None:
            msg = "expected Neo4j; got none; try again"
            raise StoreError(msg)

        patch.setattr("whence.exporters.evidence.erasing.erase_in_graph", away)
        told = whence(
            *("erase", "--case", CASES["B"], "--reason", "why", "--yes", "--no-rebuild", *record),
            *server,
            code=4,
        )
    (line,) = [each for each in told.splitlines() if "has begun and is not done" in each]
    assert line.endswith(f"finish with: whence erase --record {made.root}")
    whence("erase", "--no-rebuild", *record, *server)
    assert list_erasures(made.root)[0].done is not None


def committed(graph: Connection, folder: Path) -> Kept:
    made = kept(graph, folder)
    for run in (made.judged, made.said):
        commit_run(run, keys=made.keys)
    return made


def test_an_erasure_commits_the_roots_of_what_is_left(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = committed(graph, tmp_path)
    monkeypatch.setenv("WHENCE_KEY", str(made.keys.path))
    done = erase(plan_case(made.root, CASES["B"]), "why", graph)
    for run in (made.judged, made.said):
        first, second = read_commits(run)
        assert first["root"] != second["root"] == root_of(parts_of(run))
        assert first["keyid"] == second["keyid"] == made.keys.public.id
    pack = made.pack("after.zip", made.judged.id, question="1")
    verified = verify_pack(pack, made.keys.path.with_suffix(".pub"))
    assert verified.proved, verified.findings
    assert any(f"erasure {done.id}" in words for _, words in verified.findings)
    assert not any(each in pack.read_bytes() for each in GONE)


def test_an_erasure_does_not_vouch_for_a_run_that_was_changed_before(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = committed(graph, tmp_path)
    monkeypatch.setenv("WHENCE_KEY", str(made.keys.path))
    manifest = made.judged.folder / "manifest.json"
    told = read_json(manifest)
    write_json(manifest, {**told, "options": {**told["options"], "closed": True}})
    done = erase(plan_case(made.root, CASES["B"]), "why", graph)
    assert list(done.changed) == [made.judged.id]
    assert len(read_commits(made.judged)) == 1
    assert len(read_commits(made.said)) == 2
    with pytest.raises(LogError, match="expected the record as it was when its root was"):
        committed_of(made.judged)
