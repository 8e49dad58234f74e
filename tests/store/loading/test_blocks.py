"""Edges that are made from columns are those that the rows of the same associations give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.runners._support.stream_runs import CHAINS, EVENTS
from whence.engine import Chain
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.record import ingest
from whence.engine.record.compact import from_compact_table
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store.loading.content import ChunkContent, stream_content
from whence.store.loading.parts import RecordParts

LISTS = ("derived", "influenced", "end", "derived_spans", "influenced_spans", "heads")


def told(content: ChunkContent) -> dict[str, list[str]]:
    return {name: sorted(repr(_listed(row)) for row in getattr(content, name)) for name in LISTS}


def _listed(row: Any) -> Any:
    """The same row, whether it says where it leads to as a range or one by one."""
    to = row.get("to") if isinstance(row, dict) else None
    return {**row, "to": list(to)} if isinstance(to, range) else row


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("name", CHAINS)
def test_columns_and_rows_give_the_same_edges(tmp_path: Path, name: str, detail: str) -> None:
    chain = Chain.of(CHAINS[name]())
    log = ingest(tmp_path, chain.inputs[0], EVENTS, chunk=70)
    options = RunOptions(detail=detail, closed=True, chunk=70)  # type: ignore[arg-type]
    run = run_kernels(tmp_path, chain, {chain.inputs[0]: log}, options)
    streams = run.manifest.streams
    numbers = {stream.name: 2 + n for n, stream in enumerate(streams)}
    parts = RecordParts(run, run.manifest, {LOG_PREFIX + chain.inputs[0]: 1, **numbers})
    edges = 0
    for stream in streams:
        for part in stream.associations:
            table = run.associations(stream.name, part.part)
            compact = from_compact_table(table, stream.name)
            by_columns = stream_content(stream, parts.directory, None, compact)
            rows = list(compact.rows())
            by_rows = stream_content(stream, parts.directory, None, rows)
            assert told(by_columns) == told(by_rows)
            assert by_columns.digest() == by_rows.digest()
            edges += by_columns.edges
    assert edges > 0
