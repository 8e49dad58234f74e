"""A Merkle tree over the events of a log or stream (RFC 6962's hashing), in one piece of memory."""

from __future__ import annotations

import hashlib

__all__ = ["SIZE", "Tree"]

SIZE = 32
"""Bytes of a digest."""


class Tree:
    """A tree over leaves that lie one behind the other.

    >>> import hashlib
    >>> a, b = hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest()
    >>> Tree(a + b).path(0) == [b]
    True

    Attributes:
        count: how many leaves there are.
        root: the root; of a tree without leaves, the digest of nothing.
    """

    def __init__(self, leaves: bytes) -> None:
        """Work out every level."""
        self.count = len(leaves) // SIZE
        self._levels = [leaves]
        sha256 = hashlib.sha256
        level = leaves
        while len(level) > SIZE:
            pairs = len(level) // (2 * SIZE) * (2 * SIZE)
            above = b"".join(
                [
                    sha256(b"\x01" + level[at : at + 2 * SIZE]).digest()
                    for at in range(0, pairs, 2 * SIZE)
                ]
            )
            level = above + level[pairs:]  # one that has no neighbour goes up as it is
            self._levels.append(level)
        self.root = level or sha256(b"").digest()

    def leaf(self, index: int) -> bytes:
        """One leaf."""
        return self._levels[0][index * SIZE : (index + 1) * SIZE]

    def path(self, index: int) -> list[bytes]:
        """What leads from a leaf to the root, the nearest first."""
        found = []
        for level in self._levels[:-1]:
            other = (index ^ 1) * SIZE
            if other < len(level):
                found.append(level[other : other + SIZE])
            index >>= 1
        return found
