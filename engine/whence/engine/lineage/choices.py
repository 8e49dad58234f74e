"""Read choices back: every witness of an event, worked out from the rows that lead from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.positions import Intervals, count, minus, positions, union
from whence.engine.lineage.rows import RowIndex
from whence.engine.lineage.witnesses import witness_sets

__all__ = ["InputSet", "RowWitnesses"]

Node = tuple[str, int]
"""An event, or a choice: a stream and a position there."""


@dataclass(frozen=True)
class InputSet:
    """Some input events, as ranges of positions by log.

    >>> few, more = InputSet.of({"a": ((0, 1),)}), InputSet.of({"a": ((0, 4),), "b": ((7, 7),)})
    >>> few <= more, more <= few, len(few | more)
    (True, False, 6)
    """

    logs: tuple[tuple[str, Intervals], ...] = ()

    @classmethod
    def of(cls, ranges: Mapping[str, Intervals]) -> InputSet:
        """The same set is always written the same way."""
        return cls(tuple(sorted(ranges.items())))

    def __or__(self, other: InputSet) -> InputSet:
        """Both together."""
        ranges = dict(self.logs)
        for log, places in other.logs:
            ranges[log] = union(ranges.get(log, ()), places)
        return InputSet.of(ranges)

    def __le__(self, other: InputSet) -> bool:
        """Whether the other contains this one."""
        known = dict(other.logs)
        return all(not minus(places, known.get(log, ())) for log, places in self.logs)

    def __len__(self) -> int:
        """How many events."""
        return sum(count(places) for _, places in self.logs)


class RowWitnesses:
    """The rows that an explanation rests on, all alternatives included.

    Args:
        rows: those that explain.
        options: how many options each choice has, by stream and position.
    """

    def __init__(self, rows: Iterable[Association], options: Mapping[Node, int]) -> None:
        """Sort the rows by where they come from."""
        self.options = options
        self._rows = RowIndex(rows)

    def of(self, stream: str, position: int) -> tuple[tuple[InputSet, ...], bool]:
        """Every witness of an event, the first one first, and whether there were more."""
        begin = [(stream, ((position, position),))]

        def opened(choice: Node) -> list[tuple[InputSet, list[Node]]]:
            return [self._region(begin)] if choice == ("", 0) else list(self._open(choice))

        return witness_sets(("", 0), opened, lambda choice: choice)

    def _open(self, choice: Node) -> Iterator[tuple[InputSet, list[Node]]]:
        """The options of a choice in order; one that is but a choice again is opened at once."""
        stack = [(choice, option) for option in reversed(range(self.options[choice]))]
        while stack:
            node, option = stack.pop()
            leads = [
                (row.to, places) for row, places in self._rows.leads(*node) if _is_of(row, option)
            ]
            own, below = self._region(leads)
            if len(below) == 1 and not len(own):
                stack.extend((below[0], n) for n in reversed(range(self.options[below[0]])))
            else:
                yield own, below

    def _region(self, leads: Iterable[tuple[str, Intervals]]) -> tuple[InputSet, list[Node]]:
        """The inputs that are needed in any case, and the choices that are met on the way."""
        inputs: dict[str, Intervals] = {}
        choices: dict[Node, None] = {}
        seen: set[Node] = set()
        stack = list(leads)
        while stack:
            name, places = stack.pop()
            if name.startswith(LOG_PREFIX):
                log = name.removeprefix(LOG_PREFIX)
                inputs[log] = union(inputs.get(log, ()), places)
                continue
            for node in [(name, position) for position in positions(places)]:
                if node in seen:
                    continue
                seen.add(node)
                if node in self.options:
                    choices[node] = None
                else:
                    stack.extend((row.to, reached) for row, reached in self._rows.leads(*node))
        return InputSet.of(inputs), list(choices)


def _is_of(row: Association, option: int) -> bool:
    return row.witness is None or option in row.witness
