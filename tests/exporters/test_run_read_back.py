"""A whole run, exported and read again by other readers, says what the record says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.engine.lineage.slow_index import AssociationIndex
from tests.engine.random_chains import random_case
from tests.exporters._support.independent_readers import (
    read_file,
    rows_of,
)
from tests.exporters._support.recorded_runs import RUNS, recorded
from whence.engine.errors import WhenceError
from whence.engine.interpreter import extract
from whence.engine.record import RunRecord
from whence.exporters import save_run

FILES = ("run.json", "run.nq", "run.trig")
CASES = 400 if os.environ.get("WHENCE_TEST_PROFILE") == "full" else 40


def exported(record: RunRecord, folder: Path, name: str) -> Path:
    return save_run(record.root, record.id, folder / name)


def reached(rows: AssociationIndex, record: RunRecord) -> dict[Any, Any]:
    """What every output, and every end, rests on."""
    found = {}
    for stream in record.manifest.streams:
        if stream.role.is_heads:
            continue
        length = 1 if stream.role.is_end else stream.length
        for position in range(length):
            for support in (False, True):
                key = (stream.name, position, support)
                found[key] = rows.up(stream.name, position, support=support)
    return found


def clipped(found: dict[Any, Any], record: RunRecord) -> dict[Any, Any]:
    """Bands may lead past the ends of a log; what is not there is left out."""
    lengths = {name: record.log(name).length for name in record.manifest.logs}
    return {
        key: {
            log: tuple((max(0, lo), min(hi, lengths[log] - 1)) for lo, hi in places)
            for log, places in logs.items()
        }
        for key, logs in found.items()
    }


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("name", RUNS)
def test_what_each_output_rests_on_is_read_back_from_every_format(
    name: str, detail: str, tmp_path: Path
) -> None:
    record = RUNS[name](tmp_path / "record", detail=detail, chunk=64)
    expected = clipped(reached(AssociationIndex(record.rows()), record), record)
    assert any(logs for logs in expected.values())
    for file in FILES:
        read = read_file(exported(record, tmp_path, file))
        assert clipped(reached(AssociationIndex(rows_of(read)), record), record) == expected, file


def test_random_nested_chains_are_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = 0
    for seed in range(CASES):
        # The logs are short: only so are there bands and heads among their associations.
        monkeypatch.setattr(extract, "LITERAL", (16, 2)[seed // 2 % 2])
        case = random_case(seed)
        root = tmp_path / str(seed)
        try:
            detail = ("ends", "steps")[seed % 2]
            chain = case.chain()
            logs = {name: case.logs[name] for name in chain.inputs}
            record = recorded(root, chain, logs, detail=detail, closed=case.closed, chunk=5)
        except WhenceError:
            continue  # the chain fails on this log
        if len(set(record.manifest.logs.values())) < len(logs):
            continue  # two logs with the same events are one log: tried below
        expected = clipped(reached(AssociationIndex(record.rows()), record), record)
        read = read_file(exported(record, tmp_path, "run.nq"))
        found = clipped(reached(AssociationIndex(rows_of(read)), record), record)
        assert found == expected, seed
        also = read_file(exported(record, tmp_path, "run.json"))
        assert also.pairs("wasDerivedFrom") == read.pairs("wasDerivedFrom")
        assert also.pairs("wasInfluencedBy") == read.pairs("wasInfluencedBy")
        done += 1
    assert done > CASES / 2
