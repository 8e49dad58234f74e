"""Manifests are read, checked, and written back as they were; also those of earlier versions."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.record.sample_records import NAMES, answers, unpacked
from whence.engine.errors import LogError
from whence.engine.record import LogRecord, RunRecord, RunWriter, list_runs
from whence.engine.record.manifest import (
    ManifestError,
    PartInfo,
    Parts,
    RunManifest,
    StreamInfo,
    StreamRole,
    log_of_json,
    read_log,
    run_of_json,
    write_manifest,
)
from whence.engine.record.verifying import verify_run

RUN: dict[str, Any] = {
    "format": 1,
    "id": "r",
    "status": "complete",
    "started": "2026-01-01T00:00:00.000Z",
    "logs": {"log": "5f0c"},
    "runner": "local",
    "options": {"tracked": True, "where": None},
    "versions": {},
    "metadata": {},
    "chunk": 10,
    "streams": [
        {
            **{"name": "a", "processor": "a", "pipe": 0, "role": "output", "w": 1, "length": 2},
            **{"tracked": 2, "associations": []},
            "outputs": [{"part": 0, "rows": 2, "first": 0, "last": 1}],
        }
    ],
}
LOG: dict[str, Any] = {
    **{"format": 2, "id": "5f0c", "name": "log", "length": 0, "plain": False},
    **{"columns": [{"name": "x", "kind": "integer"}], "chunk": 10, "parts": 1},
}


@pytest.mark.parametrize("name", NAMES)
def test_every_manifest_of_a_sample_is_written_back_byte_for_byte(
    name: str, tmp_path: Path
) -> None:
    root = unpacked(name, tmp_path)
    seen = 0
    for path in sorted(root.glob("*/*/manifest.json")):
        before = path.read_bytes()
        indent = 1 if before.startswith(b"{\n") else None
        if path.parent.parent.name == "logs":
            log = read_log(path.parent)
            assert not log.unknown
            write_manifest(path.parent, log)
        else:
            stated = json.loads(before)
            beside = {name: stated.pop(name) for name in ("journal",) if name in stated}
            run = run_of_json(path.parent.name, stated)
            assert not run.unknown
            assert all(not stream.unknown for stream in run.streams)
            assert all(not p.unknown for s in run.streams for p in (*s.outputs, *s.associations))
            write_manifest(path.parent, run, indent=indent, **beside)
        assert path.read_bytes() == before, path
        seen += 1
    assert seen > 1


def test_the_samples_are_of_every_kind(tmp_path: Path) -> None:
    roots = [unpacked(name, tmp_path) for name in NAMES]
    manifests = [RunRecord(root, id).manifest for root in roots for id in list_runs(root)]
    assert {m.runner for m in manifests} == {"interpreter", "local", "spark", "stream", "job"}
    assert {m.status for m in manifests} == {"complete", "failed", "interrupted"}
    assert {m.options.tracked for m in manifests} == {True, False}
    assert {m.options.detail for m in manifests} == {"ends", "steps"}
    assert {m.options.witnesses for m in manifests} == {"first", "all"}
    assert {m.plan and m.plan.kind for m in manifests} == {None, "slices", "chunks"}
    assert {s.role for m in manifests for s in m.streams} == set(StreamRole)
    assert any(m.options.is_selective for m in manifests)
    assert any(m.erasures for m in manifests)
    assert any(s.erased for m in manifests for s in m.streams)
    assert any(s.unselected for m in manifests for s in m.streams)
    logs = [read_log(path.parent) for path in tmp_path.glob("*/logs/*/manifest.json")]
    assert {log.format for log in logs} == {1, 2}
    assert {log.source_format for log in logs} >= {
        *("", "arrow", "csv", "jsonl", "memory", "parquet", "prov", "run", "spark", "xes")
    }
    assert {log.plain for log in logs} == {True, False}
    assert any(log.made_by for log in logs)
    assert any(log.revision_of and log.adjustment for log in logs)
    assert any(log.erased for log in logs)
    assert any(log.events.by for log in logs)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_opens_and_verifies_as_before(name: str, tmp_path: Path) -> None:
    root = unpacked(name, tmp_path)
    for id in list_runs(root):
        before = answers()[f"{name}/{id}"]
        run = RunRecord(root, id)
        manifest = run.manifest
        assert manifest.status == before["status"]
        assert list(verify_run(run).problems) == before["problems"]
        assert sum(_rows_on_disk(run)) == before["rows"]
        events = sum(1 for log in manifest.logs for _ in run.log(log).read())
        assert events == before["events"]


def _rows_on_disk(run: RunRecord) -> Iterator[int]:
    """The rows of each part; blocks of a run on batches stand for several."""
    for stream in run.manifest.streams:
        for part in stream.associations.numbers:
            table, blocks = run.associations(stream.name, part), run.blocks(stream.name, part)
            rows = list(blocks.rows())
            if "back" in table.schema.names:
                yield len(rows)
                continue
            # Rows that differ in their one input alone are read as one association.
            inputs = sum(len(each or ()) for each in table["inputs"].to_pylist())
            assert sum(len(row.inputs) for row in rows) == inputs
            yield table.num_rows


def test_a_run_that_was_killed_is_taken_up_under_the_manifest_it_left(tmp_path: Path) -> None:
    root = unpacked("killed", tmp_path)
    path = root / "runs" / "the-run" / "manifest.json"
    before = path.read_bytes()
    writer = RunWriter.again(root, "the-run")
    assert path.read_bytes() == before
    writer.leave()


def _changed(told: dict[str, Any], *path: str | int, to: Any) -> dict[str, Any]:
    changed = json.loads(json.dumps(told))
    at = changed
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = to
    found: dict[str, Any] = changed
    return found


@pytest.mark.parametrize(
    ("path", "to", "words"),
    [
        (("chunk",), "ten", "with chunk: a whole number; got 'ten'"),
        (("chunk",), True, "with chunk: a whole number; got True"),
        (("status",), None, "with status: text; got None"),
        (("logs",), [], r"with logs: an object; got \[\]"),
        (("logs", "log"), 5, "with logs.log: text; got 5"),
        (("options", "detail"), "most", "with options.detail: ends or steps; got 'most'"),
        (("streams",), {}, "with streams: a list; got {}"),
        (("streams", 0, "role"), "input", "with streams.0.role: one of output, step, inner,"),
        (("streams", 0, "outputs", 0), {}, "with streams.0.outputs.0: a part with its place"),
        (("streams", 0, "erased"), [[1]], r"with streams.0.erased.0: a list of 2; got \[1\]"),
    ],
)
def test_a_damaged_manifest_is_one_line_that_names_the_place(
    path: tuple[str | int, ...], to: Any, words: str, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "r"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(_changed(RUN, *path, to=to)))
    with pytest.raises(LogError, match=f"^run r: expected a manifest {words}.*; try a") as told:
        _ = RunRecord(tmp_path, "r").manifest
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", "\x00", '{"id": "r"}'])
@pytest.mark.parametrize("kind", ["run", "log"])
def test_what_is_no_manifest_is_one_line(kind: str, text: str, tmp_path: Path) -> None:
    folder = tmp_path / f"{kind}s" / "r"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(text)

    def opened() -> object:
        return LogRecord.open(folder) if kind == "log" else RunRecord(tmp_path, "r").manifest

    with pytest.raises(LogError, match=f"^{kind} r: expected a manifest.*; got .*; try") as told:
        opened()
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize(("read", "told"), [(run_of_json, RUN), (log_of_json, LOG)])
def test_a_newer_format_is_refused_by_its_number(
    read: Callable[[str, Any], object], told: dict[str, Any]
) -> None:
    assert read("r", told)
    with pytest.raises(LogError, match=r"expected a manifest of format \d or older; got format 99"):
        read("r", {**told, "format": 99})


def test_a_damaged_part_is_named_when_it_is_read() -> None:
    run = run_of_json("r", _changed(RUN, "streams", 0, "outputs", 0, "rows", to="2"))
    assert run.streams[0].outputs.numbers == [0]
    with pytest.raises(ManifestError, match="with rows: a whole number; got '2'"):
        _ = run.streams[0].outputs[0]


def test_an_error_travels_to_another_process() -> None:
    with pytest.raises(ManifestError) as told:
        run_of_json("r", {**RUN, "chunk": "ten"})
    assert str(pickle.loads(pickle.dumps(told.value))) == str(told.value)


def test_what_a_newer_version_states_is_written_back_at_its_place() -> None:
    told = {"first": [1], **_changed(RUN, "streams", 0, "outputs", 0, "new", to={"b": 1})}
    told["streams"][0] = {"newer": None, **told["streams"][0], "newest": "x"}
    told["options"]["deeper"] = 5
    run = run_of_json("r", told)
    assert json.dumps(run.json()) == json.dumps(told)
    changed = replace(run, status="failed", erasures=("e",))
    assert json.dumps(changed.json()) == json.dumps({**told, "status": "failed", "erasures": ["e"]})


def test_what_an_older_version_did_not_state_is_not_written() -> None:
    log = log_of_json("5f0c", LOG)
    assert (log.erased, log.events.by, log.case, log.digest) == ((), None, None, None)
    assert json.dumps(log.json()) == json.dumps(LOG)
    told = {**LOG, "digest": "sha256:0", "erased": [[1, 2]]}
    assert replace(log, erased=((1, 2),), digest="sha256:0").json() == told


def _part(number: int) -> PartInfo:
    return PartInfo(part=number, rows=1, first=number, last=number, digest="sha256:0")


def test_a_longer_list_of_parts_leaves_the_shorter_one_as_it_was() -> None:
    short = Parts.of([_part(0), _part(1)])
    long = short.with_more(Parts.of([_part(2)]))
    other = short.with_more(Parts.of([_part(9)]))
    assert [parts.numbers for parts in (short, long, other)] == [[0, 1], [0, 1, 2], [0, 1, 9]]
    assert [part.part for part in long.since(1)] == [1, 2]
    assert long[-1] == _part(2)
    assert long[:2] == short
    assert short != other
    with pytest.raises(IndexError):
        _ = short[2]


def test_parts_are_not_copied_or_read_when_a_list_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(told: object) -> None:
        raise AssertionError(told)

    monkeypatch.setattr(PartInfo, "read", read)
    stream = StreamInfo.new("a", "a", 0, StreamRole.OUTPUT, 1)
    rows = stream.outputs.json()
    for number in range(1_000):
        new = replace(stream, outputs=Parts.of([_part(number)]), length=number)
        stream = stream.with_more(new)
        assert stream.outputs.json() is rows
    assert len(stream.outputs) == len(stream.outputs.numbers) == 1_000


def test_roles_answer_by_methods() -> None:
    assert [role for role in StreamRole if role.has_events] == [
        *(StreamRole.OUTPUT, StreamRole.STEP, StreamRole.INNER, StreamRole.CHOICES)
    ]
    assert [role for role in StreamRole if role.is_pipe] == [StreamRole.OUTPUT, StreamRole.STEP]
    for role in StreamRole:
        assert [each for each in StreamRole if getattr(each, f"is_{role.value}")] == [role]


def test_a_run_describes_itself_in_json() -> None:
    run: RunManifest = run_of_json("r", RUN)
    assert run.describes({"logs": {"log": "5f0c"}, "options": {"tracked": True, "where": None}})
    assert not run.describes({"logs": {}})
    assert not run.describes({"stream": {"from": "here"}})
