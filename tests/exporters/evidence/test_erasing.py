"""After an erasure: the graph, exports, answers and packs, and what older packs still hold."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests._support.quick_java import FOR_NEO4J
from tests._support.texts_in_files import holding
from tests.exporters._support.recorded_runs import recorded
from tests.exporters.evidence._support.two_runs_over_one_log import (
    CASES,
    GONE,
    STAY,
    Kept,
    kept,
    trees_of,
)
from whence.cli.app import app
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import LogError, ParameterError, StoreError
from whence.engine.record.erasing import Erasure, list_erasures
from whence.exporters import save, save_run
from whence.exporters.evidence import verify_pack
from whence.exporters.evidence.erasing import erase, plan_case, plan_events
from whence.exporters.evidence.leaves import LEAVES, read_leaves
from whence.exporters.evidence.merkle import Tree
from whence.exporters.evidence.verify import BAG, read_pack
from whence.exporters.prov.formats import RUN_FORMATS
from whence.exporters.validating import validate
from whence.store import Connection, connect
from whence.store.care import check
from whence.store.journal import read_journal
from whence.store.loading import load
from whence.store.questions import compare, explain, steps
from whence.store.server import Memory, Status, remove, start, stop

pytestmark = pytest.mark.neo4j


@pytest.fixture(scope="module")
def erased(
    neo4j_server: Status, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Kept, Erasure]]:
    with connect(neo4j_server.settings()) as graph:
        graph.write("MATCH (n) DETACH DELETE n")
        packs = ("decision.zip", "access.zip", "said.zip")
        made = kept(graph, tmp_path_factory.mktemp("erased"), packs)
        made.before = made.answers()
        assert {g for _, g in holding(made.root, GONE)} == set(GONE)
        done = erase(plan_case(made.root, CASES["B"]), "request of 1 March", graph)
        yield made, done


def in_graph(graph: Connection) -> bytes:
    rows = graph.read("MATCH (n) RETURN properties(n) AS p")
    return json.dumps([row["p"] for row in rows], default=str).encode()


def test_nothing_is_left_of_it_in_record_and_graph(erased: tuple[Kept, Erasure]) -> None:
    made, done = erased
    assert holding(made.root, GONE) == []
    assert {each for _, each in holding(made.root, STAY)} == set(STAY)
    text = in_graph(made.graph)
    assert not any(each in text for each in GONE)
    assert STAY[0] in text
    assert check(made.graph, made.root).findings == ()
    # The server is not one whose files are here, as far as this erasure was told.
    assert any("neo4j-admin database copy" in line for line in done.unreached)


def test_answers_are_unchanged_apart_from_the_values(erased: tuple[Kept, Erasure]) -> None:
    made, _ = erased
    assert made.answers() == made.before


def test_answers_say_where_something_was_erased(erased: tuple[Kept, Erasure]) -> None:
    made, _ = erased
    why = explain(made.graph, made.judged.id, "3")
    assert (why.output.kind, why.output.value) == ("erased", "null")
    assert [each.position for each in why.events if each.erased] == [1, 3]
    assert all(each.case is None for each in why.events if each.erased)
    assert "2 events of log erased (1, 3)" in str(why.coverage)
    assert "3 events of per-case erased (3-5)" in str(why.coverage)
    options = ["--record", str(made.root), *server_options()]
    done = CliRunner().invoke(app, ["explain", made.judged.id, "3", *options])
    assert done.exit_code == 0, done.stderr
    assert "per-case@3 is erased (after input 3), explained by 2 input events" in done.stdout
    assert "erased" in done.stdout.splitlines()[2]
    with pytest.raises(StoreError, match="got 2 erased events before it"):
        steps(made.graph, explain(made.graph, made.judged.id, "4"), record=made.root)


SERVER: list[Status] = []


@pytest.fixture(scope="module", autouse=True)
def _server(neo4j_server: Status) -> None:
    SERVER[:] = [neo4j_server]


def server_options() -> list[str]:
    (here,) = SERVER
    password = here.home / "password"
    return ["--uri", str(here.uri), "--username", "neo4j", "--password-file", str(password)]


def test_new_exports_hold_nothing_of_it_and_tell_of_the_invalidation(
    erased: tuple[Kept, Erasure], tmp_path: Path
) -> None:
    made, _ = erased
    endings = {"turtle": "ttl", "openlineage": "jsonl", "nquads": "nq"}
    for format in RUN_FORMATS:
        path = tmp_path / f"a.{endings.get(format, format)}"
        save_run(made.root, made.said.id, path, format, values=True)
    zipped = save_run(made.root, made.judged.id, tmp_path / "b.nq.gz", values=True)
    save(explain(made.graph, made.said.id, "1"), tmp_path / "why.json", about=made.said)
    assert holding(tmp_path, GONE) == []
    assert holding(tmp_path, STAY[:1])
    for path in (zipped, tmp_path / "why.json", *tmp_path.glob("a.nq")):
        assert validate(path).valid, path
    told = json.loads((tmp_path / "why.json").read_bytes())
    (bundle,) = told["bundle"].values()
    ends = {each["prov:entity"] for each in bundle["wasInvalidatedBy"].values()}
    assert ends == {"say:e1", "log:e1"}
    (activity,) = {each["prov:activity"] for each in bundle["wasInvalidatedBy"].values()}
    assert bundle["activity"][activity]["whence:reason"] == "request of 1 March"
    assert bundle["entity"]["say:e1"]["whence:kind"] == "erased"


def test_older_packs_still_verify_and_newer_ones_speak_of_the_same_log(
    erased: tuple[Kept, Erasure],
) -> None:
    made, _ = erased
    for name, before in made.packs.items():
        assert (made.folder / name).read_bytes() == before
        assert verify_pack(made.folder / name).holds
    again = made.pack("decision-2.zip", made.judged.id, question="3")
    assert verify_pack(again).holds
    trees = [trees_of(made.folder / name) for name in ("decision.zip", "decision-2.zip")]
    log = f"log/{made.judged.log('log').id}"
    assert trees[0][log] == trees[1][log]
    # Outputs 4 and 5 tell of B and came after events of A, whose secret stays.
    stream = f"run/{made.judged.id}/per-case"
    assert trees[0][stream] != trees[1][stream]
    assert not any(each in again.read_bytes() for each in GONE)
    told = json.loads(read_pack(again)[0][f"{BAG}data/evidence.json"])
    assert "is erased" in told["answer"]["words"]
    assert any("were erased (2 of log; 3 of per-case)" in gap for gap in told["gaps"])
    # An output after an event of the erased case that tells nothing of it can still be proved.
    other = made.pack("true.zip", made.judged.id, question="1")
    assert verify_pack(other).holds
    proofs = json.loads(read_pack(other)[0][f"{BAG}data/proofs.json"])["events"]
    assert [each["fields"]["value"]["value"] for each in proofs if each["kind"] == "output"] == [
        "true"
    ]
    assert [each["position"] for each in proofs if "leaf" in each] == [1]


def test_the_secret_of_the_case_is_destroyed(erased: tuple[Kept, Erasure]) -> None:
    made, _ = erased
    log = made.judged.log("log")
    (path,) = log.folder.glob("secrets*.bin")
    assert path.stat().st_size == 32  # of two cases, one is left
    assert path.stat().st_mode & 0o077 == 0


def test_a_pack_of_the_erasure_tells_what_was_done(erased: tuple[Kept, Erasure]) -> None:
    made, done = erased
    path = made.pack(
        "erasure.zip", made.judged.id, question="erasure latest", profile="gdpr-erasure"
    )
    assert [words for holds, words in verify_pack(path).findings if not holds] == []
    files, whole = read_pack(path)
    assert not any(each in whole for each in GONE)
    told = json.loads(files[f"{BAG}data/evidence.json"])
    assert told["erasure"]["id"] == done.id
    assert "request of 1 March" in told["answer"]["words"]
    assert told["erasure"]["unreached"] == list(done.unreached)
    rows = list(csv.DictReader(io.StringIO(files[f"{BAG}data/events.csv"].decode())))
    assert [(row["position"], row["values"]) for row in rows] == [("1", ""), ("3", "")]
    assert b"wasInvalidatedBy" in files[f"{BAG}data/prov.json"]
    assert "What could not be reached" in files[f"{BAG}data/report.html"].decode()
    for wanted in (
        {"question": "erasure latest", "profile": "gdpr-decision"},
        {"question": "3", "profile": "gdpr-erasure"},
    ):
        with pytest.raises(ParameterError, match="expected the profile gdpr-erasure with"):
            made.pack("no.zip", made.judged.id, **wanted)


def test_runs_that_were_erased_from_are_compared_as_far_as_they_can(
    erased: tuple[Kept, Erasure],
) -> None:
    made, _ = erased
    again = recorded(made.root, Chain.of(ApplyFunction("say", "note")), {"log": [{"note": "x"}]})
    load(made.root, again.id, made.graph)
    try:
        found = compare(made.graph, made.said.id, again.id, record=made.root)
        (pipe,) = found.pipes
        assert (pipe.lengths, pipe.erased) == ((6, 1), 0)
        same = compare(made.graph, made.said.id, made.said.id, record=made.root)
        assert (same.pipes[0].same, same.pipes[0].erased) == (4, 2)
    finally:
        from whence.store.care.removing import remove_from_graph, sweep

        remove_from_graph(made.graph, again.id)
        sweep(made.graph)


def test_from_the_command_line(graph: Connection, tmp_path: Path) -> None:
    """Dry run, hold, refusal, erasure by position, journal: as somebody would do it."""
    made = kept(graph, tmp_path)
    root = ["--record", str(made.root)]
    options = [*root, *server_options()]

    def whence(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, [*words])
        assert done.exit_code == code, (done.stdout, done.stderr)
        return done.stdout + done.stderr

    shown = whence("erase", "--case", CASES["B"], "--dry-run", *options)
    assert "2 verdicts follow as well and stay" in shown
    assert "nothing was" in shown
    inside = whence("erase", "--case", CASES["B"], "--verdicts", "--dry-run", *options)
    assert not re.search(r"(?<![-\w])\d{7,}(?![-\w])", shown + inside)  # a Slice's own numbers
    assert list_erasures(made.root) == []
    whence("runs", "hold", made.said.id, "--reason", "court", *root)
    assert "held: since" in whence("runs", "show", made.said.id, *root)
    refused = whence(*("erase", "--case", CASES["B"], "--reason", "x", "--yes", *options), code=1)
    (line,) = [each for each in refused.splitlines() if "legal hold" in each]
    assert "try whence runs release" in line
    assert "legal hold" in whence("runs", "remove", made.said.id, "--yes", *options, code=1)
    whence("runs", "release", made.said.id, *root)
    assert "expected why it is erased" in whence(
        *("erase", "--case", CASES["B"], "--yes", *options), code=2
    )
    told = whence(
        *("erase", "--events", "1,3", "--run", made.judged.id, "--reason", "error", "--yes"),
        *("--no-rebuild", *options),
    )
    assert "erased with" in told
    assert "not reached:" in told
    assert holding(made.root, GONE) == []
    assert not any(each in in_graph(graph) for each in GONE)
    said = [" ".join(each.words) for each in read_journal(made.root)]
    assert said[0].startswith("erase --dry-run --record")
    assert said[-1].startswith(f"erase --erasure {list_erasures(made.root)[0].id}")
    assert any(each.startswith("runs hold") for each in said)
    shown = whence("runs", "verify", made.judged.id, *root)
    assert "all as it was written, apart from what was erased" in shown
    assert "expected --case or --events; got neither" in whence("erase", *options, code=1)
    # The case had no other events, but its secret may stay: what stood for its events does not.
    pack = made.pack("decision-3.zip", made.judged.id, question="3")
    assert verify_pack(pack).holds


def test_events_of_a_case_that_stays_can_still_be_proved(graph: Connection, tmp_path: Path) -> None:
    made = kept(graph, tmp_path, ["said.zip"])
    plan = plan_events(made.root, made.said.id, {"log": ((0, 0),)})
    log = made.judged.log("log")
    assert read_leaves(log.folder / LEAVES)[1] is not None
    erase(plan, "why", graph)
    assert read_leaves(log.folder / LEAVES)[1] is None  # what is above a leaf tells of it, too
    log = made.judged.log("log")
    (secrets,) = log.folder.glob("secrets*.bin")
    assert secrets.stat().st_size == 64  # both cases have other events
    for question in ("say@2", "say@0"):
        assert verify_pack(made.pack("a.zip", made.said.id, question=question)).holds
    # With the secret there, what stood for the event would let its value be tried out.
    place = f"log/{log.id}"
    leaves, tops = read_leaves(log.folder / LEAVES)
    assert tops == Tree(leaves).tops
    assert Tree(leaves).root.hex() == trees_of(made.folder / "a.zip")[place]
    trees = [trees_of(made.folder / name)[place] for name in ("a.zip", "said.zip")]
    assert trees[0] != trees[1]


def test_a_first_pack_after_an_erasure_proves_what_is_left(
    graph: Connection, tmp_path: Path
) -> None:
    made = kept(graph, tmp_path)
    erase(plan_case(made.root, CASES["B"]), "why", graph)
    assert not list(made.root.rglob("leaves*"))  # nothing was worked out before
    trees = []
    for number, question in enumerate(("1", "3", "1")):
        pack = made.pack(f"{number}.zip", made.judged.id, question=question)
        assert verify_pack(pack).holds
        assert not any(each in pack.read_bytes() for each in GONE)
        trees.append(trees_of(pack))
    assert trees[0] == trees[1] == trees[2]
    # Output 1 stays and came after an event whose secret is gone: its salt is its own, and kept.
    proofs = json.loads(read_pack(tmp_path / "2.zip")[0][f"{BAG}data/proofs.json"])["events"]
    (proof,) = (each for each in proofs if each["kind"] == "output")
    (salts,) = made.judged.folder.rglob("*.salts")
    assert proof["fields"]["value"]["salt"] == json.loads(salts.read_text())["1"]


def test_a_graph_that_is_away_is_taken_up_again(graph: Connection, tmp_path: Path) -> None:
    made = kept(graph, tmp_path)
    with pytest.MonkeyPatch.context() as patch:

        def away(*_: Any) -> None:
            raise StoreError("away")

        patch.setattr("whence.exporters.evidence.erasing.erase_in_graph", away)
        with pytest.raises(StoreError, match="away"):
            erase(plan_case(made.root, CASES["B"]), "why", graph)
    assert any(each in in_graph(graph) for each in GONE)
    with pytest.raises(LogError, match="was stopped on its way"):
        plan_case(made.root, CASES["A"])
    words = ["erase", "--no-rebuild", "--record", str(made.root), *server_options()]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    assert not any(each in in_graph(graph) for each in GONE)


@pytest.mark.full
def test_the_files_of_the_database_are_free_of_it(jars: Path, tmp_path: Path) -> None:
    """On a server of this test alone: its files are searched, running and stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", FOR_NEO4J)
        try:
            here = start("forgetting", port=None, memory=Memory.of(768))
            with connect(here.settings()) as graph:
                made = kept(graph, tmp_path)
                made.before = made.answers()
            stop("forgetting")
            assert holding(here.home, GONE)
            here = start("forgetting", port=None, memory=Memory.of(768))
            with connect(here.settings()) as graph:
                done = erase(plan_case(made.root, CASES["B"]), "why", graph, local="forgetting")
            assert not any("were not rebuilt: " in line for line in done.unreached)
            stop("forgetting")
            assert holding(here.home, GONE) == []
            assert holding(here.home, STAY[:1])
            here = start("forgetting", port=None, memory=Memory.of(768))
            with connect(here.settings()) as graph:
                made.graph = graph
                assert made.answers() == made.before
        finally:
            stop("forgetting")
            remove("forgetting")
