"""What ties a run to others: earlier runs, corrected logs, people, alternatives, single steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.exporters._support.independent_readers import PROV, WHENCE, read_file, rows_of
from tests.exporters._support.recorded_runs import RUNS, product_run, recorded
from whence.engine import ApplyFunction, Chain
from whence.engine.language.stream_roles import StreamRole
from whence.exporters import (
    Answer,
    Edge,
    Event,
    Log,
    RecordedRun,
    Run,
    Stream,
    Witness,
    save,
    save_runs,
)


def test_a_log_that_is_an_output_keeps_the_names_of_its_events(tmp_path: Path) -> None:
    root = tmp_path / "record"
    first = product_run(root)
    made = [n for n in range(118)]
    second = recorded(root, Chain.of(ApplyFunction("same", "value")), {"log": made})
    source = RecordedRun(root, second.id, chained={"log": f"{first.id}/three"})
    (path,) = save_runs([RecordedRun(root, first.id)], tmp_path / "a.nq")
    (other,) = save_runs([source], tmp_path / "b.nq")
    outputs = {
        e for e in read_file(path).things if e.startswith(f"urn:whence:run:{first.id}:three:0:")
    }
    reached = {second for _, second in read_file(other).pairs("wasDerivedFrom")}
    assert len(reached) == 118
    assert reached <= outputs


def test_a_corrected_log_is_a_revision(tmp_path: Path) -> None:
    record = product_run(tmp_path / "record")
    source = RecordedRun(record.root, record.id, revised={"log": "5f0c"})
    (log,) = record.manifest.logs.values()
    expected = (f"urn:whence:log:{log}:all", "urn:whence:log:5f0c:all")
    (path,) = save_runs([source], tmp_path / "a.nq")
    lines = path.read_text(encoding="utf-8")
    assert f"<{expected[0]}> <{PROV}wasRevisionOf> <{expected[1]}>" in lines
    (path,) = save_runs([source], tmp_path / "a.json")
    told = [
        r for r in read_file(path).relations.values() if PROV + "Revision" in r[3].get("type", [])
    ]
    assert [(word, *ends) for word, *ends, _ in told] == [("wasDerivedFrom", *expected)]


def test_people_answer_for_a_run(tmp_path: Path) -> None:
    known = {"owner": "A. Person", "controller": "An Office", "purpose": "a trial"}
    record = product_run(tmp_path / "record", metadata=known)
    (path,) = save_runs([RecordedRun(record.root, record.id)], tmp_path / "a.json")
    read = read_file(path)
    kinds = {
        read.one(i, "name"): i
        for i in read.things
        if read.types(i) & {PROV + "Person", PROV + "Organization"}
    }
    assert PROV + "Person" in read.types(kinds["A. Person"])
    assert PROV + "Organization" in read.types(kinds["An Office"])
    acted = read.pairs("actedOnBehalfOf")
    assert (kinds["A. Person"], kinds["An Office"]) in acted
    assert len(acted) == 2


def test_single_steps_name_the_processor_at_work(tmp_path: Path) -> None:
    record = RUNS["filter"](tmp_path / "record", kernels=True, detail="steps")
    lines = _lines(record.root, record.id, tmp_path)
    works = f"urn:whence:run:{record.id}:odd:work"
    assert any(f"<{PROV}hadActivity> <{works}>" in line for line in lines)
    ends = RUNS["filter"](tmp_path / "other", kernels=True, detail="ends")
    # There a derivation may span several processors.
    derived = [
        line for line in _lines(ends.root, ends.id, tmp_path) if f"<{PROV}hadActivity>" in line
    ]
    assert all(":start>" in line for line in derived)


def _lines(root: Path, run: str, folder: Path) -> list[str]:
    (path,) = save_runs([RecordedRun(root, run)], folder / "a.nq")
    return path.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("file", ["a.json", "a.nq", "a.provn", "a.xml"])
def test_alternatives_are_collections_of_one_explanation(file: str, tmp_path: Path) -> None:
    run = Run("r", (Log("log", "5f0c", 4),), (Stream("s", "s", 0, StreamRole.OUTPUT, 1, 1),))
    output = ("s", 0)
    answer = Answer(
        run,
        "explain s@0",
        (Event("s", 0), Event("log:log", 1), Event("log:log", 2), Event("log:log", 3)),
        (
            Edge(output, ("log:log", 1), witness=(0, 1)),
            Edge(output, ("log:log", 2), witness=(0,)),
            Edge(output, ("log:log", 3), witness=(1,)),
        ),
        witnesses=(
            Witness(0, output, (("log:log", 1, 2),)),
            Witness(1, output, (("log:log", 1, 1), ("log:log", 3, 3))),
        ),
    )
    path = save(answer, tmp_path / file)
    if not file.endswith((".json", ".nq")):
        text = path.read_text(encoding="utf-8")
        assert text.count("specializationOf") >= 2
        return
    read = read_file(path)
    witnesses = {
        read.one(i, "witness"): i for i in read.things if WHENCE + "Witness" in read.types(i)
    }
    members = {
        number: {member[-2:] for whole, member in read.members if whole == name}
        for number, name in witnesses.items()
    }
    assert members == {0: {"e1", "e2"}, 1: {"e1", "e3"}}
    told = {
        second[-2:]: sorted(said["witness"])
        for _, _, second, said in read.relations.values()
        if "witness" in said
    }
    assert told == {"e1": [0, 1], "e2": [0], "e3": [1]}


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_expanded_relations_give_the_same_answers(name: str, kernels: bool, tmp_path: Path) -> None:
    record = RUNS[name](tmp_path / "record", kernels=kernels, chunk=40)
    (path,) = save_runs([RecordedRun(record.root, record.id)], tmp_path / "a.nq", expand=True)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines))
    read = read_file(path)
    assert not [i for i in read.things if WHENCE + "Range" in read.types(i)]
    told, kept = AssociationIndex(rows_of(read)), AssociationIndex(record.rows())
    for stream in record.manifest.streams:
        if stream.role.is_output:
            for position in range(0, stream.length, 9):
                for support in (False, True):
                    asked = (stream.name, position)
                    assert told.up(*asked, support=support) == kept.up(*asked, support=support)
