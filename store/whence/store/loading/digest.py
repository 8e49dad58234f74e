"""The digest of a chunk: of what it wrote, in any order, so that the graph can tell it too."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ChunkDigest"]

Ints = npt.NDArray[np.int64]


class ChunkDigest:
    """Collects keys and edges in any order and any pieces; values are not part of it.

    Heads are not part of it either: the chunk that ends one changes what another chunk wrote.

    >>> one, other = ChunkDigest(), ChunkDigest()
    >>> one.edges("wasDerivedFrom", {}, [7, 7], [1, 2])
    >>> other.edges("wasDerivedFrom", {}, [7], [2])
    >>> other.edges("wasDerivedFrom", {}, [7], [1])
    >>> one.text() == other.text(), one.text() == ChunkDigest().text()
    (True, False)
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rows: dict[str, list[Ints]] = {}

    def events(self, keys: Iterable[int]) -> None:
        """Add events."""
        self._add("event", np.fromiter(keys, np.int64).reshape(-1, 1))

    def edges(
        self, type: str, properties: Mapping[str, Any], source: Sequence[int], target: Sequence[int]
    ) -> None:
        """Add edges of one type with the same properties, each from a key to a key."""
        pairs = np.stack([np.asarray(source, np.int64), np.asarray(target, np.int64)], axis=1)
        self._add(_kind(type, properties), pairs)

    def bands(
        self, type: str, properties: Mapping[str, Any], rows: Sequence[Sequence[int]]
    ) -> None:
        """Add spans with their bands, each (no, lo, hi, number it leads to, a, b, sa, sb)."""
        kind = _kind(f"{type} band", properties)
        self._add(kind, np.asarray(rows, np.int64).reshape(-1, 8))

    def _add(self, kind: str, rows: Ints) -> None:
        if len(rows):
            self._rows.setdefault(kind, []).append(rows)

    def text(self) -> str:
        """The digest, with the name of how it was made."""
        found = hashlib.sha256()
        for kind in sorted(self._rows):
            rows = np.concatenate(self._rows[kind])
            rows = rows[np.lexsort(rows.T[::-1])]
            found.update(f"{kind} {len(rows)}\n".encode())
            found.update(np.ascontiguousarray(rows.astype("<i8")).tobytes())
        return f"sha256:{found.hexdigest()}"


def _kind(type: str, properties: Mapping[str, Any]) -> str:
    return f"{type} {json.dumps(dict(properties), sort_keys=True, separators=(',', ':'))}"
