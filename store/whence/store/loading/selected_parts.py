"""The parts of a run with ``where=`` in the order in which they come into the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from whence.store.connection import Connection
from whence.store.loading.ancestry import Ancestry
from whence.store.loading.content import ChunkContent
from whence.store.loading.parts import Part, RecordParts
from whence.store.loading.selected_heads import SelectedHeads

__all__ = ["SelectedParts"]


class SelectedParts:
    """Knows what the parts before brought, since a part brings only what is new."""

    def __init__(self) -> None:
        """Nothing is known of the run yet."""
        self._ancestry: Ancestry | None = None
        self._heads = SelectedHeads()

    def contents(
        self, parts: RecordParts, every: Sequence[Part], there: AbstractSet[str]
    ) -> Iterator[tuple[str, ChunkContent]]:
        """What each part writes, with the id of its chunk; it is taken to be written then.

        Args:
            parts: the record, as far as it has come.
            every: all its parts.
            there: the ids of those that are in the graph; those that were given count as well.
        """
        ancestry = self._followed(parts, every, there)
        left = [part for part in every if parts.id(part) not in there]
        before = len(left) + 1
        while len(left) < before:  # an end may refer to parts that come later
            before, waiting, left = len(left), left, []
            for part in waiting:
                brought = parts.brought(part, ancestry)
                if brought is None:
                    continue
                if all(parts.id(Part(*need)) in there for need in brought.needs):
                    yield parts.id(part), parts.selected_content(brought)
                    ancestry.know(brought)
                else:
                    left.append(part)

    def tell_heads(self, connection: Connection, parts: RecordParts) -> None:
        """Tell of the heads that what was given leans on, as far as they are known by now."""
        if self._ancestry is not None:
            self._heads.write(connection, parts.directory, self._ancestry)

    def _followed(
        self, parts: RecordParts, every: Sequence[Part], there: AbstractSet[str]
    ) -> Ancestry:
        """Follows the ways up; what is in the graph already it knows."""
        if self._ancestry is None:
            self._ancestry = parts.ancestry()
            for part in every:
                if parts.id(part) in there:
                    self._ancestry.know(self._ancestry.bring(part.owner, part.number))
        self._ancestry.streams = parts.streams
        return self._ancestry
