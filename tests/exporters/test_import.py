"""A run that was exported comes back and gives the same answers."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.exporters._support.recorded_runs import RUNS, lifecycle_run, product_run
from whence.engine.errors import LogError, ParameterError
from whence.engine.record import RunRecord
from whence.exporters import RecordedRun, save_run, save_runs
from whence.exporters.importing import import_runs
from whence.store import Connection
from whence.store.loading import load
from whence.store.questions import explain, impact, never_matters

FILES = ("a.json", "a.nq", "a.trig", "a.jsonld", "a.json.gz", "a.nq.gz")


def back(record: RunRecord, folder: Path, file: str = "a.nq") -> RunRecord:
    path = save_run(record.root, record.id, folder / file)
    (id,) = import_runs(path, folder / "back")
    return RunRecord(folder / "back", id)


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_events_and_what_they_lead_to_come_back(name: str, kernels: bool, tmp_path: Path) -> None:
    record = RUNS[name](tmp_path / "record", kernels=kernels, chunk=40)
    again = back(record, tmp_path, "a.nq" if kernels else "a.json")
    for word in ("id", "status", "chain", "chain_digest", "logs", "options", "started", "ended"):
        assert again.manifest.json()[word] == record.manifest.json()[word], word
    told, kept = AssociationIndex(again.rows()), AssociationIndex(record.rows())
    streams = again.manifest.by_name
    for stream in record.manifest.streams:
        for word in ("processor", "pipe", "role", "w", "length", "tracked"):
            assert getattr(streams[stream.name], word) == getattr(stream, word), word
        if stream.role.is_output:
            assert values(again, stream.name) == values(record, stream.name)
            for position in range(0, stream.length, 7):
                for support in (False, True):
                    asked = (stream.name, position)
                    assert told.up(*asked, support=support) == kept.up(*asked, support=support)


def values(record: RunRecord, name: str) -> list[object]:
    stream = record.manifest.by_name[name]
    return [row for part in stream.outputs for row in record.outputs(name, part.part).to_pylist()]


@pytest.mark.parametrize("file", FILES)
def test_every_file_gives_the_same_record(file: str, tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    again = back(record, tmp_path, file)
    (tmp_path / "other").mkdir()
    first = back(record, tmp_path / "other")
    assert set(again.rows()) == set(first.rows())
    assert again.manifest == first.manifest
    assert [*again.log("log").read()] == [*first.log("log").read()]


def test_an_export_of_what_came_back_is_the_same(tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record")
    again = back(record, tmp_path)
    first = save_run(record.root, record.id, tmp_path / "first.nq").read_text("utf-8")
    second = save_run(again.root, again.id, tmp_path / "second.nq").read_text("utf-8")
    assert sorted(second.splitlines()) == sorted(first.splitlines())


@pytest.mark.neo4j
@pytest.mark.parametrize("kernels", [False, True])
def test_an_empty_graph_gives_the_same_answers(
    kernels: bool, graph: Connection, tmp_path: Path
) -> None:
    record = lifecycle_run(tmp_path / "record", kernels=kernels)
    load(record.root, record.id, graph)
    before = answers(graph, record.id)
    graph.write("MATCH (n) DETACH DELETE n")
    again = back(record, tmp_path)
    load(again.root, again.id, graph)
    assert answers(graph, record.id) == before


def answers(graph: Connection, run: str) -> list[object]:
    found: list[object] = []
    for position in (0, 40, 100, 129):
        why = explain(graph, run, str(position), support=True)
        found.append((why.output, why.inputs, why.support, why.events))
    touched = impact(graph, run, {"log": [(3, 5), (90, 90)]})
    found.append((touched.unaffected, touched.possibly, touched.explained, touched.may_appear))
    never = never_matters(graph, run)
    return [*found, never.certain, never.softer]


def test_several_runs_come_back_together(tmp_path: Path) -> None:
    runs = [product_run(tmp_path / "record") for _ in range(2)]
    sources = [RecordedRun(run.root, run.id) for run in runs]
    (path,) = save_runs(sources, tmp_path / "a.json")
    assert import_runs(path, tmp_path / "back") == [run.id for run in runs]


def test_what_cannot_come_back_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    record = product_run(tmp_path / "record")
    path = save_run(record.root, record.id, tmp_path / "a.json")
    text = path.read_text("utf-8")
    whole = json.loads(text)
    fewer = json.loads(text)
    (bundle,) = fewer["bundle"].values()
    bundle["hadMember"] = {
        k: m for k, m in bundle["hadMember"].items() if m["prov:entity"] != "log:e7"
    }
    broken = {
        "cut.json": text[:2000],
        "twice.json": text.replace('"prefix":', '"bundle": {},\n"prefix":', 1),
        "none.json": json.dumps({"prefix": {}, "bundle": {}}),
        "list.json": "[]",
        "other.json": text.replace("urn:whence:ns#", "urn:other#"),
        "prefix.json": json.dumps({**whole, "prefix": {}}),
        "fewer.json": json.dumps(fewer),
        "cut.nq": "<urn:a> <urn:b> <urn:c",
        "a.nq.gz": "no gzip",
    }
    for name, content in broken.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(LogError, match=r"expected .*; got.*; try") as raised:
            import_runs(tmp_path / name, tmp_path / "back")
        assert "\n" not in str(raised.value)
        assert not (tmp_path / "back").exists(), name
    with pytest.raises(LogError, match="got one that is there"):
        import_runs(path, record.root)
    with pytest.raises(ParameterError, match="expected one of prov-json, nquads"):
        import_runs(save_run(record.root, record.id, tmp_path / "a.provn"), tmp_path / "back")


def test_values_come_back_if_the_export_has_them(tmp_path: Path) -> None:
    for name, run in (("lifecycle", lifecycle_run), ("product", product_run)):
        record = run(tmp_path / name)
        path = save_run(record.root, record.id, tmp_path / f"{name}.nq", values=True)
        (id,) = import_runs(path, tmp_path / f"{name}-back")
        before, after = record.log("log"), RunRecord(tmp_path / f"{name}-back", id).log("log")
        assert [*after.read()] == [*before.read()]
        assert after.columns == dict(sorted(before.columns.items()))
        for word in ("case", "activity", "time", "plain", "id", "digest", "length"):
            assert after.manifest.json()[word] == before.manifest.json()[word], word


def test_more_than_is_allowed_is_refused_in_little_memory(tmp_path: Path) -> None:
    """A bomb: half a gigabyte of spaces in half a megabyte; only its beginning is unpacked."""
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(512):
            file.write(b" " * (1 << 20))
    measured = (
        "import re, sys\nfrom pathlib import Path\n"
        "from whence.engine.errors import LogError\n"
        "from whence.exporters.importing import import_runs\n"
        "try:\n    import_runs(Path(sys.argv[1]), Path(sys.argv[2]), most=32 << 20)\n"
        "except LogError as error:\n    print(error)\n"
        "print(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1])\n"
    )
    arguments = [sys.executable, "-c", measured, str(path), str(tmp_path / "back")]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    said, peak = done.stdout.splitlines()
    assert said.startswith("bomb.json.gz: expected at most 32 MB unpacked; got more; try --limit")
    assert int(peak) < 400 << 10  # kilobytes; the libraries alone take about half of it
    assert not (tmp_path / "back").exists()
