"""Run a chain over a log that is in memory already, and measure its speed.

Speeds are by the time of the processor, which is one core's: kernels use no threads.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from bench.suites._queries import BATCH, Arrays
from whence.engine import Chain, MemoryTracker, interpret
from whence.engine.kernels.columns.column import Column, from_arrow, records
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.head_zones import HeadChanges
from whence.engine.kernels.trails.encoding import Widths, encode
from whence.engine.kernels.work import KernelWork
from whence.engine.lineage.block import LITERAL, Block
from whence.engine.lineage.positions import flat_ranges
from whence.engine.runners import CHUNK

__all__ = ["Level", "feed", "interpreted", "run"]

Level = Literal["untracked", "compact", "rows"]
"""``compact`` makes the associations as a writer takes them, ``rows`` then spreads them: a row
for every output and input, where an output has few."""


def run(
    chain: Chain, arrays: Arrays, count: int, level: Level = "compact", before: int = 0
) -> float:
    """Events per second of a chain; a log that is too short is read again and again.

    Args:
        chain: what to run.
        arrays: the log; if it is read again, its length is a multiple of the batch's.
        count: how many events.
        level: what is made of the associations.
        before: how many events come before those, in no time; a multiple of the batch's length.
    """
    work = KernelWork(chain, tracked=level != "untracked")
    zones: dict[str, HeadChanges] = {}
    for _ in feed(work, arrays, before, zones):
        pass
    gc.collect()
    started = time.process_time()
    for block in feed(work, arrays, before + count, zones, before):
        if level == "rows":
            _rows(block)
    return count / (time.process_time() - started)


def feed(
    work: KernelWork,
    arrays: Arrays,
    end: int,
    zones: dict[str, HeadChanges] | None = None,
    first: int = 0,
) -> Iterator[Block]:
    """Let events arrive batch by batch; give what a writer takes after each.

    Args:
        work: what takes them.
        arrays: the log.
        end: up to which event.
        zones: the heads that continue from the events before; none, unless given.
        first: the event to begin with.
    """
    zones = {} if zones is None else zones
    (log,) = work.chain.inputs
    for start in range(first, end, BATCH):
        work.feed({log: _columns(arrays, start, min(start + BATCH, end), work)})
        yield from _taken(work, zones)


def _taken(work: KernelWork, zones: dict[str, HeadChanges]) -> list[Block]:
    """What a writer takes after a batch."""
    blocks: list[Block] = []
    kept_streams = work.run.kept.values()
    widths = {kept.target: kept.w for kept in kept_streams if kept.w > 1}
    for kept in kept_streams:
        parts, kept.parts = kept.parts, []
        for part in parts if work.run.tracked else ():
            own = Widths(kept.w, widths)
            blocks += encode(part.why, part.sup, part.positions, work.run.names, own)
    for name, heads in work.run.heads.items():
        ended = zones.setdefault(name, HeadChanges(heads)).take(work.run.names, CHUNK)
        blocks += [block for _, block in ended]
    return blocks


def _rows(block: Block) -> tuple[Any, Any]:
    """Outputs and inputs one by one; a zone of heads and what is longer stay intervals."""
    if block.kind == "zones":
        return block.outputs, block.inputs
    leads = block.leads()
    leads = leads.where(leads.hi - leads.lo < LITERAL)
    inputs, which = flat_ranges(leads.lo, leads.hi - leads.lo + 1)
    return leads.output[which], inputs


def _columns(arrays: Arrays, start: int, stop: int, work: KernelWork) -> Column:
    length = len(next(iter(arrays.values())))
    first = start % length
    last = first + stop - start
    columns = {name: _column(a[first:last], work.run.texts) for name, a in arrays.items()}
    if list(columns) == ["value"]:
        return columns["value"]
    return records(columns, stop - start, work.run.texts)


def _column(values: Any, texts: Texts) -> Column:
    if not isinstance(values, np.ndarray):
        return from_arrow(values, "text", texts)
    kind = {"b": "boolean", "i": "integer", "f": "float"}[values.dtype.kind]
    return Column(kind, values, None, texts)


def interpreted(chain: Chain, arrays: Arrays, count: int) -> float:
    """Events per second of the interpreter, tracked."""
    lists = {name: array[:count].tolist() for name, array in arrays.items()}
    log = lists.get("value") or [
        dict(zip(lists, event, strict=True)) for event in zip(*lists.values(), strict=True)
    ]
    gc.collect()
    started = time.process_time()
    interpret(chain, log, tracker=MemoryTracker())
    return count / (time.process_time() - started)
