"""A pack holds what it promises, and tells no more than it may."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.exporters._support.recorded_runs import RUNS
from tests.exporters.evidence._support.judged_run import CASES, STATED, Made, failures, made_in
from whence.cli.app import app
from whence.engine.errors import LogError, ParameterError
from whence.engine.lineage.positions import contains, count, overlap
from whence.engine.record import RunRecord
from whence.engine.record.reaching import Reaching
from whence.engine.what_if import what_if
from whence.exporters.evidence import create_keys, reconciling, verify_pack
from whence.exporters.evidence.reconciling import reconcile
from whence.exporters.evidence.verify import BAG, FORMAT, archive, read_pack
from whence.exporters.evidence.verifying import ORIGIN
from whence.store import Connection, connect
from whence.store.catalog import find_run
from whence.store.loading import load
from whence.store.questions import explain, never_matters
from whence.store.server import Status

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def made(neo4j_server: Status, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    with connect(neo4j_server.settings()) as graph:
        yield made_in(tmp_path_factory.mktemp("evidence"), graph)


@pytest.fixture(scope="module")
def pack(made: Made) -> Path:
    return made.pack()


def test_a_pack_holds_and_says_so_in_words(made: Made, pack: Path) -> None:
    public = made.keys.path.with_suffix(".pub")
    found = [words for _, words in verify_pack(pack, public).findings]
    assert failures(pack, public) == []
    assert [words.partition(":")[0] for words in found] == [
        *("digests", "files", "attestation", "proofs", "counts", "archive", "signature"),
        *("PROV", "PROV", "facts", "derived", "chain", "root"),
    ]
    assert f"by the key given, {made.keys.public.id}, 2026-03-01T12:00:00Z" in found[6]
    without = verify_pack(pack)
    assert "valid, signer not verified" in without.findings[6][1]
    assert (without.holds, without.proved, without.unproved) == (True, False, (ORIGIN,))
    assert verify_pack(pack, public).proved
    assert pack.stat().st_size < 1 << 20


def test_what_it_tells_is_what_the_graph_says(made: Made, pack: Path) -> None:
    files, _ = read_pack(pack)
    told = json.loads(files[f"{BAG}data/evidence.json"])
    why = explain(made.graph, made.record.id, "3")
    rows = list(csv.DictReader(io.StringIO(files[f"{BAG}data/events.csv"].decode())))
    assert {int(row["position"]) for row in rows} == {
        at for each in why.inputs for at in range(each.lo, each.hi + 1)
    }
    assert told["question"] == "explain per-case@3"
    assert "per-case@3" in told["answer"]["words"]
    assert "is false" in told["answer"]["words"]
    assert told["metadata"] == {**STATED, "purpose": "test"}
    assert "Not stated for this run: legal basis." in told["gaps"]
    assert told["scope"]["chain_digest"] == made.record.manifest.chain_digest
    (log,) = told["scope"]["logs"]
    assert log["digest"] == made.record.log("log").manifest.digest
    page = files[f"{BAG}data/report.html"].decode()
    for words in (told["answer"]["words"], "<svg", "Known gaps", "not a legal opinion"):
        assert words in page
    assert files[f"{BAG}data/report.pdf"].startswith(b"%PDF")
    assert b"not a legal opinion" in files[f"{BAG}data/report.pdf"]
    assert json.loads(files[f"{BAG}data/chain.json"]) == made.record.manifest.chain


def test_steps_are_said_in_words_as_far_as_values_may_be_told(made: Made, pack: Path) -> None:
    def said(path: Path) -> list[str]:
        files = read_pack(path)[0]
        sentences: list[str] = json.loads(files[f"{BAG}data/evidence.json"])["answer"]["steps"]
        for each in sentences:
            assert escape(each, quote=True) in files[f"{BAG}data/report.html"].decode()
        return sentences

    assert said(pack)[:2] == [
        "per-case@3 is false since event 3 because one slice fails, and all must hold: "
        "per-case/order@3",
        "per-case/order@3 follows from log@3 and per-case/order@1",
    ]
    way = (
        "per-case/order@3 is false because it was new, became open with log@1 (action = create), "
        "then became violation with log@3 (action = pay), for which open has no transition"
    )
    assert said(made.pack("said.zip", reveal=("action",)))[1] == way
    # All of one subject may be told, and of the others nothing.
    assert said(made.pack("said.zip", subject=CASES["B"]))[1] == way
    assert "open" not in " ".join(said(made.pack("said.zip", subject=CASES["A"])))


def test_it_tells_how_other_inputs_would_have_changed_the_result(made: Made, pack: Path) -> None:
    told = json.loads(read_pack(pack)[0][f"{BAG}data/evidence.json"])
    outcomes = {row["result"]: row["changes"] for row in told["what_if"]}
    assert outcomes["it would be true"] is True
    assert {row["value"] for row in told["what_if"]} == {"another value of the log"}
    shown = made.pack("actions.zip", reveal=("action",))
    rows = json.loads(read_pack(shown)[0][f"{BAG}data/evidence.json"])["what_if"]
    for row in rows:
        again = what_if(made.record, {row["place"]: json.loads(row["value"])})
        (pipe,) = again.outputs
        assert contains(pipe.changed, 3) is row["changes"], row


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_byte_counts(data: st.DataObject, pack: Path, tmp_path: Path) -> None:
    whole = pack.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    changed = tmp_path / "changed.zip"
    changed.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
    assert failures(changed), at


def test_what_is_cut_added_or_hidden_is_found(pack: Path, tmp_path: Path) -> None:
    files, whole = read_pack(pack)
    changed = tmp_path / "changed.zip"
    for other in (whole[:-30], whole + b"more", b"before" + whole, whole[:100], b""):
        changed.write_bytes(other)
        assert failures(changed)
    less = {name: data for name, data in files.items() if not name.endswith("route.csv")}
    changed.write_bytes(archive(less))
    assert f"digests: {BAG}data/route.csv is missing" in failures(changed)
    changed.write_bytes(archive({**files, f"{BAG}data/more.txt": b"more"}))
    assert f"digests: {BAG}data/more.txt is in no manifest" in failures(changed)


def test_whoever_mends_the_digests_fails_at_the_attestation(
    made: Made, pack: Path, tmp_path: Path
) -> None:
    files, _ = read_pack(pack)
    name = f"{BAG}data/evidence.json"
    files[name] = files[name].replace(b'"explained": ', b'"explained": 1')
    for manifest in ("manifest-sha256.txt", "tagmanifest-sha256.txt"):
        lines = files[BAG + manifest].decode().splitlines()
        names = [line.partition("  ")[2] for line in lines]
        files[BAG + manifest] = "".join(
            f"{hashlib.sha256(files[BAG + each]).hexdigest()}  {each}\n" for each in names
        ).encode()
    changed = tmp_path / "changed.zip"
    changed.write_bytes(archive(files))
    found = failures(changed)
    assert f"attestation: it does not match {BAG}manifest-sha256.txt" in found
    assert any(words.startswith("counts: those of log do not add up") for words in found)


def test_wrong_and_missing_keys_are_told(made: Made, pack: Path, tmp_path: Path) -> None:
    other = create_keys("other", tmp_path).path.with_suffix(".pub")
    (found,) = failures(pack, other)
    assert "not by the one given" in found
    with pytest.raises(ParameterError, match="expected a public key; got"):
        verify_pack(pack, tmp_path / "none.pub")
    done = CliRunner().invoke(app, ["evidence", "verify", str(pack), "--key", str(other)])
    assert done.exit_code == 1
    assert "1 of 13 fail" in done.stdout


def test_what_is_no_pack_is_refused_in_one_line(pack: Path, tmp_path: Path) -> None:
    files, _ = read_pack(pack)
    bad = tmp_path / "bad.zip"

    def refused(words: str) -> None:
        done = CliRunner().invoke(app, ["evidence", "verify", str(bad)])
        assert done.exit_code == 1
        (line,) = done.stderr.splitlines()
        assert words in line, line

    newer = json.loads(files[f"{BAG}data/evidence.json"]) | {"format": FORMAT + 1}
    bad.write_bytes(archive({**files, f"{BAG}data/evidence.json": json.dumps(newer).encode()}))
    refused("try a newer version of Whence")
    for name in ("../outside", "/outside", "pack/../../outside", "pack\\outside", "else.txt"):
        bad.write_bytes(archive({**files, name: b"x"}))
        refused("expected names in pack/")
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr(f"{BAG}data/bomb", b"\0" * (200 << 20))
    assert bad.stat().st_size < 1 << 20
    refused("compressed")
    bad.write_bytes(archive({f"{BAG}data/{n}": b"" for n in range(1001)}))
    refused("expected at most 1000 files")
    bad.write_bytes(b"no zip")
    refused("expected a zip archive")
    bad.write_bytes(archive({f"{BAG}data/README.txt": b""}))
    refused("expected this file in the pack")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.zip"]


def test_a_long_log_is_not_run_again_and_the_pack_says_how_to(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.exporters.evidence.counterfactuals.WORK", 5)
    files = read_pack(made.pack("long.zip"))[0]
    (gap,) = (
        each
        for each in json.loads(files[f"{BAG}data/evidence.json"])["gaps"]
        if "was not tried" in each
    )
    assert "as the log is long (6 events; a pack runs up to 5 again)" in gap
    assert f"whence what-if {made.record.id} --set " in gap


def test_the_page_counts_positions_inside_a_slice_as_the_log_does(pack: Path) -> None:
    files = read_pack(pack)[0]
    assert re.search(rb"@\d{8}", files[f"{BAG}data/route.csv"])
    assert not re.search(rb"@\d{8}", files[f"{BAG}data/report.html"])


def test_an_event_inside_the_chain_is_no_output_to_ask_about(made: Made) -> None:
    streams = made.record.manifest.streams
    inside = next(each.name for each in streams if each.role.is_inner)
    with pytest.raises(ParameterError, match="got an event inside the chain; try one of per-case"):
        made.pack("no.zip", question=f"{inside}@3")


def test_values_are_left_out_unless_they_are_revealed(made: Made, pack: Path) -> None:
    private = [b"subject-Q7Z-alpha", b"subject-X9K-beta", b"-remark"]
    assert not any(each in pack.read_bytes() for each in private)
    notes = made.pack("notes.zip", reveal=("note",))
    assert failures(notes) == []
    assert b"private-3-remark" in notes.read_bytes()
    assert not any(each in notes.read_bytes() for each in private[:2])
    with pytest.raises(ParameterError, match="expected a field of the log; got 'nothing'"):
        made.pack("no.zip", reveal=("nothing",))


def test_one_subject_is_shown_in_clear_and_the_others_are_references(made: Made) -> None:
    # At the end both cases explain the output: it is false since B paid.
    path = made.pack("beta.zip", question="5", subject="subject-X9K-beta", profile="bcbs239")
    assert failures(path) == []
    assert b"private-3-remark" in path.read_bytes()
    assert b"subject-Q7Z-alpha" not in path.read_bytes()
    whole = made.pack("access.zip", question="case subject-Q7Z-alpha", profile="gdpr-access")
    assert failures(whole) == []
    rows = list(csv.DictReader(io.StringIO(read_pack(whole)[0][f"{BAG}data/events.csv"].decode())))
    assert [int(row["position"]) for row in rows] == [0, 2, 4, 5]
    assert all(json.loads(row["values"])["case"] == "subject-Q7Z-alpha" for row in rows)
    page = read_pack(whole)[0][f"{BAG}data/report.html"].decode()
    assert "action = create, case = subject-Q7Z-alpha, note = private-0-remark" in page
    assert "In clear: all fields of the events of case subject-Q7Z-alpha. All other" in page
    told = json.loads(read_pack(whole)[0][f"{BAG}data/evidence.json"])["answer"]["words"]
    (many,) = re.findall(r"They explain ([\d,]+ outputs)", told)
    assert f">{many}</text>" in page
    assert b"subject-X9K-beta" not in whole.read_bytes()
    with pytest.raises(ParameterError, match="expected a case"):
        made.pack("no.zip", subject="nobody")
    with pytest.raises(ParameterError, match="expected a case"):
        made.pack("no.zip", question="case nobody")
    assert not (made.folder / "no.zip").exists()


def test_a_reference_cannot_be_guessed_without_its_salt(made: Made, pack: Path) -> None:
    """Two records of one log have secrets of their own, so that nothing can be tried out."""
    proofs = json.loads(read_pack(pack)[0][f"{BAG}data/proofs.json"])["events"]
    hidden = [field for proof in proofs for field in proof["fields"].values()]
    assert any("digest" in each and "salt" not in each for each in hidden)
    secrets = made.record.log("log").folder / "secrets.bin"
    assert secrets.stat().st_mode & 0o077 == 0
    assert secrets.stat().st_size == 2 * 32  # one for each case
    assert not any(secrets.read_bytes()[at : at + 32] in pack.read_bytes() for at in (0, 32))


def test_a_record_that_was_changed_afterwards_gives_no_pack(made: Made) -> None:
    path = made.record.log("log").folder / "leaves.bin"
    before = path.read_bytes()
    try:
        path.write_bytes(bytes(6 * 32) + before[6 * 32 :])
        with pytest.raises(LogError, match="expected the event as it was"):
            made.pack("no.zip")
        path.write_bytes(before[: 5 * 32])
        with pytest.raises(LogError, match="expected 6 leaves; got 5"):
            made.pack("no.zip")
        path.write_bytes(before[:-32])
        with pytest.raises(LogError, match="expected 6 leaves; got a file that was cut"):
            made.pack("no.zip")
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("name", RUNS)
def test_the_counts_are_those_of_never_matters(
    name: str, graph: Connection, tmp_path: Path
) -> None:
    record = RUNS[name](tmp_path / "record")
    load(record.root, record.id, graph)
    run = find_run(graph, record.id)
    (each,) = reconcile(run, record)
    never = never_matters(graph, record.id)
    assert each.count == record.log("log").length
    assert each.explained == each.count - never.softer[0].count
    # What explains without supporting, such as events after a trap, counts as explaining.
    neither = overlap(never.certain[0].ranges, never.softer[0].ranges)
    assert each.never_matters == count(neither)
    assert each.explained + each.support_only + each.open + each.never_matters == each.count


def test_the_counts_are_kept_for_these_parts_and_no_others(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = next(iter(RUNS.values()))(tmp_path / "record")
    load(record.root, record.id, graph)
    run = find_run(graph, record.id)
    counted = reconcile(run, record)
    read: list[RunRecord] = []

    def reaching(run: RunRecord) -> Reaching:
        read.append(run)
        return Reaching(run)

    monkeypatch.setattr(reconciling, "Reaching", reaching)
    assert reconcile(run, record) == counted
    assert read == []  # no association was looked at
    file = record.folder / "leaves" / reconciling.KEPT
    kept = file.read_text()
    of_others = kept.replace('"of": "', '"of": "0')
    for of_no_use in (of_others, kept[:-9], "[]", '{"of": 1}'):
        file.write_text(of_no_use)
        assert reconcile(run, record) == counted
        assert file.read_text() == kept
    assert len(read) == 4
