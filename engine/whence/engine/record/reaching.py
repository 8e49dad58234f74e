"""What the outputs of a run lead to all together, from its record, on whole arrays.

The graph answers the same for any outputs; for all of a long run its edges would have to be read
one by one. Here every association is a row of four numbers: outputs from one position to another
lead to positions from one to another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from whence.engine.associations import LOG_PREFIX
from whence.engine.compact import Block, Ints, flat_ranges
from whence.engine.intervals import Intervals
from whence.engine.record.compact import from_compact_table
from whence.engine.record.runs import RunRecord
from whence.engine.record.schema import associations_of

__all__ = ["Reaching"]

_END = 2**62
_EXPLAINS, _SUPPORTS = ("explains", "trigger"), ("explains", "supports")

Rows = Ints
"""Columns: first output, last output, first position, last position."""
Ranges = Ints
"""Columns: first and last position; in order, and apart."""


class Reaching:
    """The associations of a run, and what is reached by following them.

    Args:
        run: the run; of alternatives the first one counts.
    """

    def __init__(self, run: RunRecord) -> None:
        """Read every association."""
        self._streams = run.manifest["streams"]
        self._rows: dict[tuple[str, str], dict[str, Rows]] = {}
        for stream in self._streams:
            self._read(run, stream)

    def explaining(self) -> dict[str, Intervals]:
        """The events of each log that explain an output of the chain."""
        return self._logs(self._outputs(), _EXPLAINS)

    def supporting(self) -> dict[str, Intervals]:
        """The events of each log that an output of the chain leans on."""
        return self._logs(self._outputs(), _SUPPORTS)

    def open(self) -> dict[str, Intervals]:
        """The events of each log that the end of an output pipe leans on."""
        ends = (stream["name"] for stream in self._streams if stream["role"] == "end")
        return self._logs({name: np.zeros((1, 2), np.int64) for name in ends}, _SUPPORTS)

    def _outputs(self) -> dict[str, Ranges]:
        return {
            stream["name"]: np.array([[0, stream["length"] - 1]], np.int64)
            for stream in self._streams
            if stream["role"] == "output" and stream["length"]
        }

    def _read(self, run: RunRecord, stream: Mapping[str, Any]) -> None:
        found: dict[tuple[str, str], list[Rows]] = {}
        zones: dict[tuple[str, str], list[Rows]] = {}
        for part in stream["associations"]:
            table = run.associations(stream["name"], part["part"])
            if "back" in table.schema.names:
                for block in from_compact_table(table, stream["name"]).blocks:
                    into = zones if block.kind == "zones" else found
                    into.setdefault((block.relation, block.to), []).append(_of_block(block))
                continue
            for row in associations_of(table, stream["name"]):
                if row.witness is not None and 0 not in row.witness:
                    continue
                last = stream["length"] - 1 if row.hi is None else row.hi
                at = np.arange(row.lo, last + 1, dtype=np.int64)
                if row.kind == "zone":
                    end = _END if row.hi is None else row.hi
                    made = [[row.lo, end, each, each] for each in row.inputs]
                    zones.setdefault((row.relation, row.to), []).append(_array(made))
                elif row.kind == "list":
                    made = [[row.lo, row.lo, each, each] for each in row.inputs]
                    found.setdefault((row.relation, row.to), []).append(_array(made))
                else:
                    band = np.stack([at, at, at * row.sa + row.a, at * row.sb + row.b], axis=1)
                    found.setdefault((row.relation, row.to), []).append(band)
        for key, several in zones.items():
            found.setdefault(key, []).append(_ended(np.concatenate(several)))
        for (relation, to), several in found.items():
            rows = np.concatenate(several)
            rows = rows[rows[:, 2] <= rows[:, 3]]
            order = np.argsort(rows[:, 0], kind="stable")
            self._rows.setdefault((stream["name"], relation), {})[to] = rows[order]

    def _logs(
        self, start: Mapping[str, Ranges], relations: tuple[str, ...]
    ) -> dict[str, Intervals]:
        seen: dict[str, Ranges] = {}
        waiting = dict(start)
        while waiting:
            name, ranges = waiting.popitem()
            new = _minus(ranges, seen.get(name))
            if not len(new):
                continue
            seen[name] = _union([new, *([seen[name]] if name in seen else [])])
            for relation in relations:
                for to, rows in self._rows.get((name, relation), {}).items():
                    reached = _led_to(rows, new)
                    if len(reached):
                        more = [waiting[to]] if to in waiting else []
                        waiting[to] = _union([reached, *more])
        return {
            name.removeprefix(LOG_PREFIX): tuple((lo, hi) for lo, hi in ranges.tolist())
            for name, ranges in seen.items()
            if name.startswith(LOG_PREFIX)
        }


def _array(rows: list[list[int]]) -> Rows:
    return np.array(rows, np.int64).reshape(-1, 4)


def _of_block(block: Block) -> Rows:
    if block.kind == "zones":
        last = np.where(block.more < 0, _END, block.outputs + block.more * block.step)
        return np.stack([block.outputs, last, block.inputs, block.inputs], axis=1)
    output, lo, hi = block.leads()
    return np.stack([output, output, lo, hi], axis=1)


def _ended(zones: Rows) -> Rows:
    """Zones that one part began and another ended, each once and with its end."""
    zones = zones[np.lexsort((zones[:, 1], zones[:, 0], zones[:, 2]))]
    fresh = np.ones(len(zones), bool)
    fresh[1:] = (zones[1:, [0, 2]] != zones[:-1, [0, 2]]).any(axis=1)
    return zones[fresh]


def _led_to(rows: Rows, new: Ranges) -> Ranges:
    """Where the outputs of some ranges lead to."""
    if len(new) * 8 < len(rows) and bool((rows[:, 0] == rows[:, 1]).all()):
        begins = np.searchsorted(rows[:, 0], new[:, 0])
        ends = np.searchsorted(rows[:, 0], new[:, 1], side="right")
        places, _ = flat_ranges(begins, ends - begins)
        return _union([rows[places, 2:]])
    at = np.searchsorted(new[:, 1], rows[:, 0])
    hit = at < len(new)
    hit[hit] = new[at[hit], 0] <= rows[hit, 1]
    return _union([rows[hit, 2:]])


def _union(several: Iterable[Ranges]) -> Ranges:
    ranges = np.concatenate(list(several))
    if not len(ranges):
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    last = np.maximum.accumulate(ranges[:, 1])
    fresh = np.ones(len(ranges), bool)
    fresh[1:] = ranges[1:, 0] > last[:-1] + 1
    firsts = np.flatnonzero(fresh)
    ends = np.append(firsts[1:], len(ranges)) - 1
    return np.stack([ranges[firsts, 0], last[ends]], axis=1)


def _minus(ranges: Ranges, seen: Ranges | None) -> Ranges:
    """What is in the first and not in the second; both in order, and each apart."""
    if seen is None or not len(seen):
        return _union([ranges])
    ranges = _union([ranges])
    # Every place where something begins or ends, and what holds from there on.
    marks = np.concatenate([ranges[:, 0], ranges[:, 1] + 1, seen[:, 0], seen[:, 1] + 1])
    marks = np.unique(marks)
    inside = _contains(ranges, marks) & ~_contains(seen, marks)
    left = np.flatnonzero(inside[:-1])
    return _union([np.stack([marks[left], marks[left + 1] - 1], axis=1)])


def _contains(ranges: Ranges, positions: Ints) -> np.ndarray:
    at = np.searchsorted(ranges[:, 0], positions, side="right") - 1
    return np.asarray((at >= 0) & (positions <= ranges[np.maximum(at, 0), 1]))
