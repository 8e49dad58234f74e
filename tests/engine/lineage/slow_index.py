"""What outputs reach, row by row: the plain and slow way that the follower is compared with."""

from __future__ import annotations

from collections.abc import Iterable

from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.positions import Intervals, minus, union

__all__ = ["AssociationIndex"]


class AssociationIndex:
    """Rows in memory, with the question that everything is built on: what do these outputs reach?

    It looks at every row of a stream in each round. The follower, the graph and the exports are
    compared with it.
    """

    def __init__(self, rows: Iterable[Association]) -> None:
        """Sort the rows by stream; later rows of an open zone say where it ends."""
        self.by_stream: dict[str, list[Association]] = {}
        ended: dict[tuple[str, str, tuple[int, ...], int], Association] = {}
        for row in rows:
            if row.kind == "zone":
                key = (row.stream, row.to, row.inputs, row.lo)
                if key not in ended or ended[key].hi is None:
                    ended[key] = row
            else:
                self.by_stream.setdefault(row.stream, []).append(row)
        for row in ended.values():
            self.by_stream.setdefault(row.stream, []).append(row)

    def up(self, stream: str, position: int, *, support: bool = False) -> dict[str, Intervals]:
        """The log positions that an output reaches, by log.

        Args:
            stream: the output's stream.
            position: its position.
            support: follow what supports instead of what explains.
        """
        seen = self.reached(stream, position, support=support)
        return {
            name.removeprefix(LOG_PREFIX): places
            for name, places in seen.items()
            if name.startswith(LOG_PREFIX)
        }

    def reached(self, stream: str, position: int, *, support: bool = False) -> dict[str, Intervals]:
        """All that an output reaches, itself included, by log and stream.

        Args:
            stream: the output's stream.
            position: its position.
            support: follow what supports instead of what explains.
        """
        wanted = ("explains", "supports") if support else ("explains", "trigger")
        seen: dict[str, Intervals] = {}
        waiting: list[tuple[str, Intervals]] = [(stream, ((position, position),))]
        while waiting:
            name, places = waiting.pop()
            new = minus(places, seen.get(name, ()))
            if not new:
                continue
            seen[name] = union(seen.get(name, ()), new)
            for row in self.by_stream.get(name, ()):
                if row.relation in wanted and (row.witness is None or 0 in row.witness):
                    for lo, hi in new:
                        reached = row.reaches(lo, hi)
                        if reached:
                            waiting.append((row.to, reached))
        return seen
