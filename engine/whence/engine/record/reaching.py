"""What the outputs of a run lead to all together, from its record, on whole arrays.

The graph answers the same for any outputs; for all of a long run its edges would have to be read
one by one. Here every association is a row of four numbers: outputs from one position to another
lead to positions from one to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from whence.engine.associations import LOG_PREFIX
from whence.engine.compact import Block
from whence.engine.intervals import Intervals
from whence.engine.record.along import reached_within
from whence.engine.record.compact import from_compact_table
from whence.engine.record.ranges import (
    Ranges,
    Rows,
    as_intervals,
    as_ranges,
    led_to,
    union_of,
    without,
)
from whence.engine.record.runs import RunRecord
from whence.engine.record.schema import associations_of

__all__ = ["Reaching"]

_END = 2**62
_EXPLAINS, _SUPPORTS = ("explains", "trigger"), ("explains", "supports")


class Reaching:
    """The associations of a run, and what is reached by following them.

    Args:
        run: the run.
        every: whether all alternatives count, and not only the first one.
    """

    def __init__(self, run: RunRecord, *, every: bool = False) -> None:
        """Read every association."""
        self._streams = run.manifest["streams"]
        self._every = every
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

    def explained_by(self, events: Mapping[str, Intervals]) -> dict[str, Ranges]:
        """What some events of logs explain, by stream; the end of a stream may be far beyond it.

        Args:
            events: their positions, by the log's name.
        """
        led: dict[str, dict[str, list[Rows]]] = {}
        for (stream, relation), several in self._rows.items():
            if relation in _EXPLAINS:
                for to, rows in several.items():
                    led.setdefault(to, {}).setdefault(stream, []).append(rows[:, [2, 3, 0, 1]])
        back = {
            to: {stream: _in_order(np.concatenate(rows)) for stream, rows in several.items()}
            for to, several in led.items()
        }
        start = {LOG_PREFIX + name: as_ranges(at) for name, at in events.items() if at}
        found = _followed(start, lambda name: back.get(name, {}).items())
        return {name: at for name, at in found.items() if not name.startswith(LOG_PREFIX)}

    def told(self, stream: str) -> Ranges:
        """The outputs of a stream of which something is known."""
        several = [
            rows[:, :2]
            for (name, _), by_target in self._rows.items()
            if name == stream
            for rows in by_target.values()
        ]
        return union_of([np.empty((0, 2), np.int64), *several])

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
                if row.witness is not None and 0 not in row.witness and not self._every:
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
            self._rows.setdefault((stream["name"], relation), {})[to] = _in_order(rows)

    def _logs(
        self, start: Mapping[str, Ranges], relations: tuple[str, ...]
    ) -> dict[str, Intervals]:
        def leads(name: str) -> Iterator[tuple[str, Rows]]:
            for relation in relations:
                yield from self._rows.get((name, relation), {}).items()

        return {
            name.removeprefix(LOG_PREFIX): as_intervals(ranges)
            for name, ranges in _followed(start, leads).items()
            if name.startswith(LOG_PREFIX)
        }


def _followed(
    start: Mapping[str, Ranges], leads: Callable[[str], Iterable[tuple[str, Rows]]]
) -> dict[str, Ranges]:
    """All that is reached, the start included."""
    seen: dict[str, Ranges] = {}
    waiting = dict(start)
    while waiting:
        name, ranges = waiting.popitem()
        new = without(ranges, seen.get(name))
        if not len(new):
            continue
        further = list(leads(name))
        own = [rows for to, rows in further if to == name]
        along = reached_within(np.concatenate(own), new) if own else None
        if along is not None:
            new = without(union_of([new, along]), seen.get(name))
            further = [(to, rows) for to, rows in further if to != name]
        seen[name] = union_of([new, *([seen[name]] if name in seen else [])])
        for to, rows in further:
            reached = led_to(rows, new)
            if len(reached):
                waiting[to] = union_of([reached, *([waiting[to]] if to in waiting else [])])
    return seen


def _in_order(rows: Rows) -> Rows:
    return rows[np.argsort(rows[:, 0], kind="stable")]


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
