"""What a run was when it ended is committed, and the journal goes through what was signed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.exporters._support.recorded_runs import product_run
from whence.api import run
from whence.cli.app import app
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import LogError, ParameterError, StoreError
from whence.engine.record import RunRecord
from whence.engine.record.root import parts_of, read_commits, root_of
from whence.exporters.evidence.committing import check_commit, commit_run, committed_of
from whence.exporters.evidence.heads import verify_heads
from whence.exporters.evidence.keys import KeyPair, create_keys
from whence.store.journal import FILE, Entry, forget, note, read_journal

CHAIN = Chain.of(ApplyFunction("big", "value > 3"))


@pytest.fixture
def keys(tmp_path: Path) -> KeyPair:
    return create_keys("test", tmp_path / "keys")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key is configured but what a test says."""
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WHENCE_KEY", raising=False)


def made_run(tmp_path: Path, **more: object) -> RunRecord:
    record = tmp_path / "record"
    return run(CHAIN, [1, 5, 2], runner="local", record=record, **more).record  # type: ignore[arg-type]


def whence(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def test_a_run_commits_its_root_when_it_ends(tmp_path: Path, keys: KeyPair) -> None:
    found = made_run(tmp_path, sign_with=keys.path)
    (commit,) = read_commits(found)
    assert commit["root"] == root_of(parts_of(found))
    assert commit["keyid"] == keys.public.id
    (entry,) = read_journal(found.root)
    assert entry.words == ("root", found.id, commit["root"])
    said = check_commit(commit, found.id).predicate
    assert said["journal"] == {"count": 1, "head": entry.digest}
    assert commit_run(found, keys=keys).root == commit["root"]
    assert len(read_commits(found)) == 1  # one that is committed stays as it is
    assert committed_of(found)["commits"] == [commit]


def test_a_key_that_is_configured_signs_and_none_is_needed(
    tmp_path: Path, keys: KeyPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsigned = made_run(tmp_path)
    assert read_commits(unsigned)[0]["keyid"] is None
    monkeypatch.setenv("WHENCE_KEY", str(keys.path))
    assert read_commits(made_run(tmp_path))[0]["keyid"] == keys.public.id
    monkeypatch.setenv("WHENCE_KEY", "none")
    assert read_commits(made_run(tmp_path))[0]["keyid"] is None
    monkeypatch.delenv("WHENCE_KEY")
    default = create_keys()
    assert read_commits(made_run(tmp_path))[0]["keyid"] == default.public.id


def test_what_cannot_be_signed_with_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="expected a private key; got no such file"):
        made_run(tmp_path, sign_with="nobody")
    with pytest.raises(ParameterError, match="expected http:// or https:// and a host"):
        made_run(tmp_path, timestamp="file:///etc/passwd")
    assert not (tmp_path / "record").exists()


def test_a_configured_key_that_is_not_there_leaves_the_run_whole_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHENCE_KEY", "nobody")
    result = run(CHAIN, [1], runner="local", record=tmp_path / "record")
    assert result.committed is not None
    (problem,) = result.committed.problems
    assert "the root is not signed: " in problem
    assert len(problem.splitlines()) == 1
    assert read_commits(result.record)[0]["keyid"] is None


def test_a_run_that_has_not_ended_has_no_root(tmp_path: Path) -> None:
    found = product_run(tmp_path / "record")
    manifest = found.folder / "manifest.json"
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "status": "failed"}))
    with pytest.raises(LogError, match="expected a run that is complete; got one that is failed"):
        commit_run(found)


def chained_anew(root: Path, lines: list[int]) -> None:
    """Write the journal as if only these entries had ever been."""
    entries = [read_journal(root)[n] for n in lines]
    (root / FILE).unlink()
    for entry in entries:
        note(root, entry.words, latest=entry.latest)


def test_an_entry_removed_and_chained_anew_is_found_by_a_signed_head(
    tmp_path: Path, keys: KeyPair
) -> None:
    root = tmp_path / "record"
    note(root, ["explain", "someone", "3"])
    note(root, ["export", "someone"])
    found = made_run(tmp_path, sign_with=keys.path)
    note(root, ["impact"])
    public = str(keys.path.with_suffix(".pub"))
    words = ("journal", "--verify", "--key", public, "--record", str(root))
    done = whence(*words)
    assert done.exit_code == 0
    assert "4 entries, unbroken, through 1 signed head, the last of 3 entries" in done.stdout
    assert "the last 1 come after it, and could be cut off" in done.stdout
    chained_anew(root, [0, 2, 3])
    assert len(read_journal(root)) == 3  # which is unbroken in itself
    done = whence(*words)
    assert done.exit_code == 1
    assert f"run {found.id} carries the head of a journal of 3 entries" in done.stdout
    assert "the journal was changed" in done.stdout.splitlines()[-1]
    with pytest.raises(LogError, match="expected the journal as it was when its root"):
        committed_of(found)


def test_a_head_that_is_taken_away_with_the_entry_is_missed(tmp_path: Path, keys: KeyPair) -> None:
    found = made_run(tmp_path, sign_with=keys.path)
    (found.folder / "root.json").unlink()
    (problem,) = verify_heads(found.root, None).problems
    assert problem == f"run {found.id}: entry 0 names a root that it has not"


def test_words_taken_out_in_the_name_of_no_erasure_are_found(tmp_path: Path, keys: KeyPair) -> None:
    """The chain rests on a digest of the words, so that it holds without them."""
    root = tmp_path / "record"
    note(root, ["export", "someone"])
    made_run(tmp_path, sign_with=keys.path)
    assert verify_heads(root, keys.public).problems == ()
    forget(root, lambda word: word == "someone", "20260101-000000-ffffff")
    assert read_journal(root)[0].words == ("export",)
    (problem,) = verify_heads(root, keys.public).problems
    assert problem == (
        "entry 0: its words were taken out with erasure 20260101-000000-ffffff, which the record "
        "does not have"
    )


def test_a_journal_that_is_gone_or_cut_before_a_signed_head_is_found(
    tmp_path: Path, keys: KeyPair
) -> None:
    """Nor does the head of an older run in the place of a newer one's help."""
    one = made_run(tmp_path, sign_with=keys.path)
    other = made_run(tmp_path, sign_with=keys.path)
    journal = one.root / FILE
    first, second = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(first)
    (problem,) = verify_heads(one.root, keys.public).problems
    assert problem.startswith(f"run {other.id} carries the head of a journal of 2 entries")
    older = (one.folder / "root.json").read_text()
    (other.folder / "root.json").write_text(older)
    (problem,) = verify_heads(one.root, keys.public).problems
    assert problem.startswith(f"run {other.id}: its root.json cannot be relied on")
    journal.write_bytes(second + first)
    with pytest.raises(StoreError, match="line 1: expected the journal as it was written"):
        verify_heads(one.root, keys.public)
    journal.unlink()
    assert len(verify_heads(one.root, keys.public).problems) == 2


def test_a_journal_without_a_signed_head_says_that_it_is_not_signed(
    tmp_path: Path, keys: KeyPair
) -> None:
    found = made_run(tmp_path)
    record = ("--record", str(found.root))
    done = whence("journal", "--verify", *record)
    assert done.exit_code == 3
    assert "the journal is not signed" in done.stdout
    other = made_run(tmp_path, sign_with=keys.path)
    public = create_keys("other", tmp_path / "keys").path.with_suffix(".pub")
    done = whence("journal", "--verify", "--key", str(public), *record)
    assert done.exit_code == 3
    assert f"heads are signed by other keys: {keys.public.id}" in " ".join(done.stdout.split())
    assert other.id != found.id


def test_the_journal_calls_users_by_their_process(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from whence.store.journal import note; "
        "print(note(Path(sys.argv[1]), ['explain']).who)"
    )
    environment = {**os.environ, "LOGNAME": "other", "USER": "other", "USERNAME": "other"}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert done.stdout.strip() != "other"
    (entry,) = read_journal(tmp_path)
    assert (entry.who, entry.uid) == (done.stdout.strip(), os.getuid())


OLD = (
    '{"number":0,"time":"2026-03-01T12:00:00Z","who":"jo","action":"explain","words":["explain"],'
    '"latest":null,"previous":"' + "0" * 64 + '","salt":"00","told":'
)


def test_an_entry_that_is_older_than_the_number_of_the_user_is_read(tmp_path: Path) -> None:
    from whence.store import journal

    told = journal._told("00", ["explain"])
    before = json.loads(f'{OLD}"{told}","erased":null}}')
    line = json.dumps({**before, "digest": journal._digest(before)}, separators=(",", ":"))
    (tmp_path / FILE).write_text(line + "\n")
    (entry,) = read_journal(tmp_path)
    assert entry.uid is None
    assert note(tmp_path, ["impact"]).previous == entry.digest
    assert [each.number for each in read_journal(tmp_path)] == [0, 1]
    assert isinstance(entry, Entry)
