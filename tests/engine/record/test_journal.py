"""A manifest that grows is read with all that was added to it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from whence.engine.errors import LogError
from whence.engine.record import journal as journals
from whence.engine.record.journal import Following, Journal, read_manifest, remove_journals
from whence.engine.record.manifest import RunManifest, StreamInfo, StreamRole, run_of_json


def _part(number: int) -> dict[str, Any]:
    digest = f"sha256:{number:064d}"
    return {"part": number, "rows": 10, "first": number, "last": number, "digest": digest}


def _manifest() -> dict[str, Any]:
    stated = {"id": "r", "status": "running", "started": "2026-01-01T00:00:00.000Z", "logs": {}}
    options = {"runner": "stream", "options": {}, "versions": {}, "metadata": {}, "chunk": 10}
    return {**stated, **options, "streams": [_stream("a")]}


def _stream(name: str) -> dict[str, Any]:
    stream = StreamInfo.new(name, name, 0, StreamRole.OUTPUT, 1).json()
    return {**stream, "outputs": [], "associations": []}


def _typed(manifest: dict[str, Any]) -> RunManifest:
    return run_of_json("r", copy.deepcopy(manifest))


def _read(folder: Path) -> dict[str, Any]:
    return read_manifest(folder).json()


def test_every_publication_is_read(tmp_path: Path) -> None:
    manifest = _manifest()
    journal = Journal(tmp_path)
    following: Following | None = None
    given: list[tuple[RunManifest, dict[str, Any]]] = []
    for number in range(5):
        first, *others = manifest["streams"]
        first["outputs"].append(_part(number))
        first["length"] += 10
        if number == 2:
            manifest["streams"].append(_stream("b"))
        for other in others:
            other["associations"].append(_part(number))
        published = copy.deepcopy(manifest)
        journal.publish(_typed(manifest))
        assert _read(tmp_path) == published
        following = following or Following(tmp_path)
        assert following.now().json() == published
        assert following.now() is following.now()
        given.append((following.now(), published))
        first["tracked"] += 1  # what was not published yet is not read
        journal.publish(_typed(manifest))
    assert all(then.json() == published for then, published in given)  # is not changed afterwards


def test_who_follows_reads_only_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "_LEAST", 1_000)
    read: list[int] = []
    parsed = json.loads

    def counted(text: bytes | str) -> Any:
        read.append(len(text))
        return parsed(text)

    monkeypatch.setattr(json, "loads", counted)
    manifest = _manifest()
    journal = Journal(tmp_path)
    journal.publish(_typed(manifest))
    following = Following(tmp_path)
    for number in range(400):
        manifest["streams"][0]["outputs"].append(_part(number))
        journal.publish(_typed(manifest))
        assert following.now().json()["streams"] == manifest["streams"]
    assert sum(read) < 6 * len(json.dumps(manifest))


def test_who_follows_waits_for_the_end_of_a_line(tmp_path: Path) -> None:
    manifest = _manifest()
    journal = Journal(tmp_path)
    journal.publish(_typed(manifest))
    following = Following(tmp_path)
    before = following.now()
    (path,) = tmp_path.glob("added-*.jsonl")
    line = json.dumps([{**_stream("a"), "outputs": [_part(0)], "length": 10}])
    with path.open("a") as file:
        file.write(line[:20])
        file.flush()
        assert following.now() is before
        file.write(line[20:] + "\n")
    (stream,) = following.now().streams
    assert (stream.outputs.json(), stream.length, stream.tracked) == ([_part(0)], 10, 0)
    assert following.now() == read_manifest(tmp_path)


def test_who_follows_sees_a_manifest_that_was_replaced(tmp_path: Path) -> None:
    manifest = _manifest()
    Journal(tmp_path).publish(_typed(manifest))
    following = Following(tmp_path)
    following.now()
    (path,) = tmp_path.glob("added-*.jsonl")
    whole = {**manifest, "status": "complete"}
    (tmp_path / "manifest.new").write_text(json.dumps(whole))
    (tmp_path / "manifest.new").replace(tmp_path / "manifest.json")
    path.unlink()
    assert following.now().json() == whole


def test_the_whole_manifest_is_written_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "_LEAST", 1_000)
    manifest = _manifest()
    journal = Journal(tmp_path)
    names, written = set(), 0
    for number in range(0, 200, 2):
        manifest["streams"][0]["outputs"] += [_part(number), _part(number + 1)]
        journal.publish(_typed(manifest))
        (path,) = tmp_path.glob("added-*.jsonl")
        if path.name not in names:
            names.add(path.name)
            written += (tmp_path / "manifest.json").stat().st_size
    size = len(json.dumps(manifest))
    assert _read(tmp_path) == manifest
    assert 3 < len(names) < 9
    assert written < 4 * size


def test_a_line_that_was_not_written_whole_is_not_read(tmp_path: Path) -> None:
    manifest = _manifest()
    journal = Journal(tmp_path)
    journal.publish(_typed(manifest))
    manifest["streams"][0]["outputs"].append(_part(0))
    journal.publish(_typed(manifest))
    published = copy.deepcopy(manifest)
    (path,) = tmp_path.glob("added-*.jsonl")
    with path.open("a") as file:
        file.write('[{"name": "a", "outp')
    assert _read(tmp_path) == published


def test_a_journal_that_is_gone_is_told(tmp_path: Path) -> None:
    Journal(tmp_path).publish(_typed(_manifest()))
    remove_journals(tmp_path)
    with pytest.raises(LogError, match=r"expected the file added-\w+.jsonl .*; got none; try"):
        read_manifest(tmp_path)


def test_a_journal_that_goes_while_it_is_followed_is_told(tmp_path: Path) -> None:
    Journal(tmp_path).publish(_typed(_manifest()))
    following = Following(tmp_path)
    following.now()
    remove_journals(tmp_path)
    with pytest.raises(LogError, match=r"expected the file added-\w+.jsonl .*; got none; try"):
        following.now()


def test_nothing_is_written_when_nothing_was_added(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.publish(_typed(_manifest()))
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    journal.publish(_typed(_manifest()))
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
