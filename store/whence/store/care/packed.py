"""The packed edges of chunks against the relationships, spans and heads of the graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import numpy as np

from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.reading_back import heads_in_graph, in_order
from whence.store.packed import HEADS, Group, Ints, Packing, bounds_of, unpack
from whence.store.places import key_of

__all__ = ["PackedCheck"]


class PackedCheck:
    """Compares chunk by chunk, and heads at the end: one chunk begins them, another ends them."""

    def __init__(self, connection: Connection) -> None:
        """Begin with none.

        Args:
            connection: where the graph is.
        """
        self._connection = connection
        self._heads: dict[int, list[Ints]] = {}

    def problem(self, id: str, seen: Packing) -> str | None:
        """What is wrong with what a chunk's marker has packed, if anything is.

        Args:
            id: the chunk's.
            seen: the chunk's edges and spans, as the graph has them.
        """
        rows = self._connection.read_values(cypher("packed_read"), ids=[id])
        packed, bounds = rows[0][1:] if rows else (None, None)
        if packed is None or bounds is None:
            return "expected its edges packed; got none; try whence load"
        try:
            groups = list(unpack(bytes(packed)))
        except (ValueError, KeyError, OSError, TypeError) as broken:
            return f"expected its edges packed; got {type(broken).__name__}: {broken}"
        for group in groups:
            if group.type == HEADS:
                lo, inner, hi = group.columns
                rows_of = np.stack([inner + key_of(group.target, 0), lo, hi], axis=1)
                self._heads.setdefault(group.source, []).append(rows_of)
        if bounds_of(bounds) != [group.bounds for group in groups]:
            return "expected the bounds of its packed edges; got others"
        edges = (group for group in groups if group.type != HEADS)
        if not _alike(edges, seen.groups()):
            return "expected its edges packed as they are; got others"
        return None

    def of_heads(self) -> Iterator[tuple[int, str]]:
        """The streams whose packed heads are not those of the graph, by number."""
        for no, several in sorted(self._heads.items()):
            rows = in_order(np.concatenate(several))
            wanted = rows[np.append(rows[1:, 0] != rows[:-1, 0], True)]
            got = heads_in_graph(self._connection, no)
            if not np.array_equal(wanted, got):
                yield no, f"expected {len(wanted):,} heads as they are packed; got others"


def _alike(some: Iterable[Group], others: Iterable[Group]) -> bool:
    one, other = ({_name(group): group.columns for group in each} for each in (some, others))
    if one.keys() != other.keys():
        return False
    return all(
        all(np.array_equal(a, b) for a, b in zip(one[name], other[name], strict=True))
        for name in one
    )


def _name(group: Group) -> tuple[str, str, int, int]:
    told = json.dumps(dict(group.properties), sort_keys=True)
    return group.type, told, group.source, group.target
