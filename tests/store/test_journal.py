"""The journal tells who did what, and a line that was tampered with is found."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.exporters._support.recorded_runs import product_run
from whence.cli.app import app
from whence.engine.errors import StoreError
from whence.engine.record.place import place_of
from whence.store.journal import FILE, note, read_journal


def test_what_was_done_is_noted_and_what_failed_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = product_run(tmp_path / "record")
    monkeypatch.chdir(tmp_path)

    def whence(*words: str) -> int:
        return CliRunner().invoke(app, words).exit_code

    assert whence("export", "latest", "-o", "a.nq", "--record", "record", "--quiet") == 0
    assert whence("export", run.id, "-o", "b.json", "--record=record", "--json") == 0
    assert whence("export", "nothing", "-o", "c.nq", "--record", "record") == 1
    assert whence("export", "--help") == 0
    assert whence("runs", "list", "--record", "record") == 0
    first, second = read_journal(tmp_path / "record")
    assert first.words == ("export", "latest", "-o", "a.nq", "--record", "record")
    assert (first.action, first.latest, first.number) == ("export", run.id, 0)
    assert (second.latest, second.number, second.previous) == (None, 1, first.digest)
    assert first.who
    assert stat.S_IMODE((tmp_path / "record" / FILE).stat().st_mode) == 0o600
    done = CliRunner().invoke(app, ["journal", "--record", "record", "--json"])
    assert [row["digest"] for row in json.loads(done.stdout)] == [first.digest, second.digest]


def _three(root: Path) -> bytes:
    for words in (["explain", "latest", "3"], ["export", "x\ud800ä\n"], ["impact"]):
        note(root, words)
    return (root / FILE).read_bytes()


def test_a_line_that_is_removed_swapped_or_put_in_is_named(tmp_path: Path) -> None:
    one, two, three = _three(tmp_path).splitlines(keepends=True)
    assert len(read_journal(tmp_path)) == 3
    for lines, number in (
        ([two, three], 1),
        ([one, three], 2),
        ([one, three, two], 2),
        ([one, two, two, three], 3),
        ([one, two, three[:-5]], 3),
    ):
        (tmp_path / FILE).write_bytes(b"".join(lines))
        with pytest.raises(StoreError, match=f"line {number}: expected the journal as it was"):
            read_journal(tmp_path)
    done = CliRunner().invoke(app, ["journal", "--record", str(tmp_path)])
    assert done.exit_code == 1
    with pytest.raises(StoreError, match="line 3"):
        note(tmp_path, ["impact"])  # nothing is put behind a broken line


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_byte_counts(data: st.DataObject, tmp_path: Path) -> None:
    (tmp_path / FILE).unlink(missing_ok=True)
    whole = _three(tmp_path)
    at = data.draw(st.integers(0, len(whole) - 2))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    (tmp_path / FILE).write_bytes(whole[:at] + bytes([other]) + whole[at + 1 :])
    with pytest.raises(StoreError, match=r"line \d: expected the journal as it was written"):
        read_journal(tmp_path)


def _many(root: Path) -> None:
    for _ in range(20):
        note(root, ["explain"])


def test_several_at_once_keep_one_chain(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3) as pool:
        list(pool.map(_many, [tmp_path] * 3))
    assert [entry.number for entry in read_journal(tmp_path)] == list(range(60))


def test_a_journal_that_cannot_be_written_is_told_and_the_answer_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    product_run(tmp_path / "record")
    (tmp_path / "record" / FILE).mkdir()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["export", "latest", "-o", "a.nq", "--record", "record"])
    assert done.exit_code == 0
    assert "not in the journal" in done.stderr
    assert (tmp_path / "a.nq").is_file()


def test_a_record_elsewhere_has_no_journal_and_that_is_told() -> None:
    with pytest.raises(StoreError, match="expected a record on this machine; got a URI"):
        note(place_of("s3://bucket/record"), ["explain"])
