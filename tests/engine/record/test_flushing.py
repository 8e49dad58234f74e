"""A part is on the disk before anything says that it is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.engine.runners._support.stopped_runs import run
from whence.engine.record import RunRecord
from whence.engine.record.files import file_digest
from whence.engine.record.manifest import LISTS


def test_parts_are_flushed_before_a_manifest_lists_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: set[str] = set()
    late: list[str] = []
    listed: set[str] = set()
    fsync, place = os.fsync, Path.replace

    def noted(handle: int) -> None:
        flushed.add(os.readlink(f"/proc/self/fd/{handle}"))
        fsync(handle)

    def replace(self: Path, target: Any) -> Path:
        found = place(self, target)
        if Path(target).name == "manifest.json" and "runs" in Path(target).parts:
            record = RunRecord(tmp_path, "the-run")
            for stream in record.manifest.streams:
                for what in LISTS:
                    for part in stream.parts(what).numbers:
                        path = str(record.path(what, stream.name, part))
                        listed.add(path)
                        late.extend([] if path in flushed else [path])
        return found

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(Path, "replace", replace)
    record = run(tmp_path, "lifecycle")
    assert not late
    there = set(map(str, record.folder.rglob("part-*.parquet")))
    assert listed == there
    assert len(there) > 20
    for stream in record.manifest.streams:
        for part in stream.associations:
            path = record.path("associations", stream.name, part.part)
            assert part.digest == file_digest(path)
