"""What the outputs of a run lead to all together, from its record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.block import Block
from whence.engine.lineage.follow import Lineage
from whence.engine.lineage.positions import Intervals, Positions
from whence.engine.record.runs import RunRecord

__all__ = ["Reaching", "lineage_of"]


def lineage_of(run: RunRecord, *, every: bool = False) -> Lineage:
    """What leads where in a run.

    Args:
        run: the run.
        every: whether all alternatives count, and not only the first one.
    """
    parts = {stream.name: list(stream.associations.numbers) for stream in run.manifest.streams}

    def blocks(stream: str) -> Iterator[Block]:
        for part in parts[stream]:
            yield from run.blocks(stream, part).blocks

    return Lineage(parts, blocks, every=every)


class Reaching:
    """What is reached by following the associations of a run.

    Args:
        run: the run.
        every: whether all alternatives count, and not only the first one.
    """

    def __init__(self, run: RunRecord, *, every: bool = False) -> None:
        """Read nothing yet."""
        self._streams = run.manifest.streams
        self._lineage = lineage_of(run, every=every)

    def up(self, stream: str, position: int, *, support: bool = False) -> dict[str, Intervals]:
        """The events of each log that explain an output.

        Args:
            stream: the output's stream.
            position: its position.
            support: what supports instead of what explains.
        """
        start = {stream: Positions.one(position, position)}
        return _of_logs(self._lineage.up(start, support=support))

    def explaining(self) -> dict[str, Intervals]:
        """The events of each log that explain an output of the chain."""
        return _of_logs(self._lineage.up(self._outputs()))

    def supporting(self) -> dict[str, Intervals]:
        """The events of each log that an output of the chain leans on."""
        return _of_logs(self._lineage.up(self._outputs(), support=True))

    def open(self) -> dict[str, Intervals]:
        """The events of each log that the end of an output pipe leans on."""
        ends = (stream.name for stream in self._streams if stream.role.is_end)
        at_end = {name: Positions.one(0, 0) for name in ends}
        return _of_logs(self._lineage.up(at_end, support=True))

    def explained_by(self, events: Mapping[str, Intervals]) -> dict[str, Positions]:
        """What some events of logs explain, by stream; the end of a stream may be far beyond it.

        Args:
            events: their positions, by the log's name.
        """
        start = {LOG_PREFIX + name: Positions.of_intervals(at) for name, at in events.items() if at}
        found = self._lineage.down(start)
        return {name: at for name, at in found.items() if not name.startswith(LOG_PREFIX)}

    def told(self, stream: str) -> Positions:
        """The outputs of a stream of which something is known."""
        return Positions.united(self._told(self._lineage.blocks(stream)))

    def _told(self, blocks: Iterable[Block]) -> Iterator[Positions]:
        for block in blocks:
            if block.kind == "zones":
                yield Positions.joined(block.outputs, block.ends)
            else:
                yield Positions.of(block.leads().output)

    def _outputs(self) -> dict[str, Positions]:
        return {
            stream.name: Positions.one(0, stream.length - 1)
            for stream in self._streams
            if stream.role.is_output and stream.length
        }


def _of_logs(found: Mapping[str, Positions]) -> dict[str, Intervals]:
    return {
        name.removeprefix(LOG_PREFIX): places.intervals
        for name, places in found.items()
        if name.startswith(LOG_PREFIX)
    }
