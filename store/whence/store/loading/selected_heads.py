"""The heads of slices that selected outputs lean on: told after their events, again when they end.

They belong to no chunk. To tell of them twice changes nothing, so that whoever was interrupted
tells of all of them again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whence.engine.errors import StoreError
from whence.engine.lineage.block import OPEN
from whence.engine.lineage.positions import Ints
from whence.store.connection import Connection
from whence.store.cypher import cypher
from whence.store.loading.ancestry import Ancestry
from whence.store.loading.chunks import ROWS
from whence.store.loading.content import Directory, Row
from whence.store.places import key_of

__all__ = ["SelectedHeads", "head_rows", "heads_asked_for"]


def heads_asked_for(ancestry: Ancestry, directory: Directory) -> Iterator[tuple[str, Ints]]:
    """Of each stream of heads, the heads that matter: key, first and last output."""
    for name, outputs in ancestry.heads.items():
        for to, zones in ancestry.zones(name).items():
            met = zones.meeting(outputs)
            if len(met.event):
                keys = met.event + key_of(directory.numbers[to], 0)
                yield name, np.stack([keys, met.lo, met.hi], axis=1)


def head_rows(no: int, heads: Ints) -> list[Row]:
    """Heads as a chunk writes them."""
    return [
        {"key": key, "span": {"no": no, "lo": lo} | ({} if hi == OPEN else {"hi": hi})}
        for key, lo, hi in heads.tolist()
    ]


class SelectedHeads:
    """Knows what was told."""

    def __init__(self) -> None:
        """Nothing was."""
        self._told: dict[int, int] = {}

    def write(self, connection: Connection, directory: Directory, ancestry: Ancestry) -> None:
        """Tell of every head that is new or has ended.

        Raises:
            StoreError: an event is not there, or the head of something else.
        """
        for name, heads in heads_asked_for(ancestry, directory):
            fresh = [self._told.get(key) != hi for key, _, hi in heads.tolist()]
            rows = head_rows(directory.numbers[name], heads[np.array(fresh, np.bool_)])
            for at in range(0, len(rows), ROWS):
                some = rows[at : at + ROWS]
                (written,) = connection.write(cypher("write_heads"), rows=some)
                if written["written"] != len(some):
                    msg = (
                        f"the graph: expected {len(some)} heads of {name}; got "
                        f"{written['written']}; try whence store check"
                    )
                    raise StoreError(msg)
            self._told.update((key, hi) for key, _, hi in heads.tolist())
