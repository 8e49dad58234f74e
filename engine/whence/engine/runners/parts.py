"""Cut the events of a run into the parts of its record, as far as the run has come."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

import pyarrow as pa

from whence.engine.interpreter import Interpreter
from whence.engine.interpreter.extract import Detail, Extractor, KeptStream
from whence.engine.language.events import Event
from whence.engine.lineage.association import Association
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.run_writer import RunWriter
from whence.engine.record.schema import OUTPUTS
from whence.engine.values import kind_of
from whence.engine.values.columns import canonical
from whence.engine.values.limits import RunLimits
from whence.engine.values.slice_limits import MapRoom

__all__ = ["PartCutter"]


def _outer_position(event: Event) -> int:
    position = event.position
    while not isinstance(position, int):
        position = position[0]
    return position


class PartCutter:
    """Writes parts that are complete, and at the end the rest.

    A part n of a stream holds the positions n*chunk to (n+1)*chunk - 1; inside a Slice the position
    in the whole stream counts.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        detail: Detail,
        where: Callable[[Event], bool] | None,
        chunk: int,
        limits: RunLimits,
    ) -> None:
        self.interpreter = interpreter
        self.where = where
        self.chunk = chunk
        self.extractor = Extractor(interpreter, detail, where)
        self._written = dict.fromkeys((kept.name for kept in self.extractor.streams), 0)
        self._moments: dict[int, list[int]] = {id(kept): [] for kept in self.extractor.streams}
        self._zones: dict[str, list[Association]] = {}
        self._taken: dict[str, int] = {}
        self._rooms = {kept.name: MapRoom(kept.name, limits) for kept in self.extractor.streams}

    def streams(self) -> list[StreamInfo]:
        """The streams as the manifest lists them at the start."""
        return [
            StreamInfo.new(kept.name, kept.processor, kept.pipe, kept.role, kept.w)
            for kept in self.extractor.streams
        ]

    def saw(self, moment: int) -> None:
        """Note, after an input, at which moment the new events appeared."""
        for kept in self.extractor.streams:
            if kept.shelf is not None and not kept.role.is_inner:
                moments = self._moments[id(kept)]
                moments.extend([moment] * (len(kept.shelf.events) - len(moments)))

    def write(self, writer: RunWriter, *, last: bool = False) -> bool:
        """Write every part that is complete, at the end all; say whether there was any."""
        wrote = False
        for kept in self.extractor.streams:
            if kept.role.is_choices:
                continue  # written with the parts of the stream that meets them
            if kept.role.is_end:
                if last:
                    rows = [r for r in self.extractor.end_rows() if r.stream == kept.name]
                    writer.add(kept.name, 0, None, rows)
                continue
            for part, events, rows in self._ready(kept, last):
                told = sum(1 for e in events if self._is_told(kept, e))
                writer.add(kept.name, part, self._table(kept, events), rows, told)
                self._write_choices(writer, kept, part)
                wrote = True
        return wrote

    def _write_choices(self, writer: RunWriter, kept: KeptStream, part: int) -> None:
        """The choices that the events of a part were the first to meet."""
        told = self.extractor.choices(kept)
        if not told:
            return
        events = {
            "position": [choice.number for choice in told],
            "moment": self._moments_of(kept, [choice.owner for choice in told]),
            "kind": ["integer"] * len(told),
            "value": [canonical(choice.options) for choice in told],
        }
        table = pa.Table.from_pydict(events, schema=OUTPUTS)
        rows = [row for choice in told for row in choice.rows]
        writer.add(f"{kept.name}/choices", part, table, rows, len(told))

    def _is_told(self, kept: KeptStream, event: Event) -> bool:
        return not kept.role.is_output or self.where is None or self.where(event)

    def _ready(
        self, kept: KeptStream, last: bool
    ) -> Iterator[tuple[int, list[Event], list[Association]]]:
        if kept.shelf is not None and not kept.role.is_inner:
            events = kept.shelf.events
            done = self._written[kept.name]
            while len(events) - done >= self.chunk or (last and len(events) > done):
                part = events[done : done + self.chunk]
                yield done // self.chunk, part, list(self.extractor.rows(kept, part))
                done += len(part)
                self._written[kept.name] = done
            return
        reached = self._outer(kept)
        if kept.shelf is None:
            self._zones.setdefault(kept.name, []).extend(self.extractor.head_rows(kept.processor))
        while reached > (self._written[kept.name] + 1) * self.chunk or last:
            part_no = self._written[kept.name]
            limit = (part_no + 1) * self.chunk
            if kept.shelf is None:
                due: list[Association] = []
                later: list[Association] = []
                for zone in self._zones[kept.name]:
                    changed = zone.lo if zone.hi is None else zone.hi + 1
                    (due if changed < limit or last else later).append(zone)
                self._zones[kept.name] = later
                yield part_no, [], due
            else:
                yield from self._inner_part(kept, part_no, limit)
            self._written[kept.name] = part_no + 1
            if last and limit >= reached:
                return

    def _inner_part(
        self, kept: KeptStream, part_no: int, limit: int
    ) -> Iterator[tuple[int, list[Event], list[Association]]]:
        assert kept.shelf is not None
        events, first = kept.shelf.events, self._taken.get(kept.name, 0)
        end = bisect_left(events, limit, lo=first, key=_outer_position)
        self._taken[kept.name] = end
        part = events[first:end]
        if part:
            yield part_no, part, list(self.extractor.rows(kept, part))

    def _outer(self, kept: KeptStream) -> int:
        """How far the Slice that a stream belongs to has come."""
        for step, machine in zip(self.interpreter.steps, self.interpreter.machines, strict=True):
            if kept.processor == step.name or kept.processor.startswith(f"{step.name}/"):
                return machine.count
        return 0

    def _table(self, kept: KeptStream, events: list[Event]) -> pa.Table | None:
        if kept.shelf is None:
            return None
        positions = [self.extractor.position(kept, event) for event in events]
        for event in events:
            self._rooms[kept.name].take(event.value)
        return pa.Table.from_pydict(
            {
                "position": positions,
                "moment": self._moments_of(kept, positions),
                "kind": [kind_of(event.value) for event in events],
                "value": [canonical(event.value) for event in events],
            },
            schema=OUTPUTS,
        )

    def _moments_of(self, kept: KeptStream, positions: list[int]) -> list[int]:
        if kept.role.is_inner:
            return [position // kept.w for position in positions]
        known = self._moments[id(kept)]
        return [known[position] for position in positions]
