"""A Merkle tree over the events of a log or stream (RFC 6962's hashing), in one piece of memory."""

from __future__ import annotations

from whence.exporters.evidence.hashing import BRANCH, NOTHING, SIZE, above, top

__all__ = ["BRANCH", "SIZE", "Tree"]


class Tree:
    """A tree over leaves that lie one behind the other.

    Its branches are the trees over 1,024 leaves each. With the stored nodes on top of them,
    only branches with requested leaves are computed.

    >>> import hashlib
    >>> a, b = hashlib.sha256(b"a").digest(), hashlib.sha256(b"b").digest()
    >>> Tree(a + b).path(0) == [b]
    True

    Attributes:
        leaves: the leaves.
        count: how many there are.
        tops: what is on top of each branch.
        root: the root; of a tree without leaves, the digest of nothing.
    """

    def __init__(self, leaves: bytes, tops: bytes | None = None) -> None:
        """Work out what is above the branches.

        Args:
            leaves: the leaves.
            tops: what is on top of the branches, if that is known.
        """
        self.leaves, self.count = leaves, len(leaves) // SIZE
        self._branches: dict[int, list[bytes]] = {}
        starts = range(0, len(leaves), BRANCH * SIZE)
        if tops is None:
            tops = b"".join(top(leaves[at : at + BRANCH * SIZE]) for at in starts)
        self.tops = tops
        self._above = _levels(tops)
        self.root = self._above[-1] or NOTHING

    @staticmethod
    def branches(count: int) -> int:
        """How many branches a tree of so many leaves has."""
        return -(-count // BRANCH)

    def leaf(self, index: int) -> bytes:
        return self.leaves[index * SIZE : (index + 1) * SIZE]

    def fits(self, index: int) -> bool:
        """Whether what is on top of a leaf's branch is what its leaves give."""
        at = index // BRANCH * SIZE
        return self._branch(index)[-1] == self.tops[at : at + SIZE]

    def path(self, index: int) -> list[bytes]:
        """What leads from a leaf to the root, the nearest first."""
        within = _path(self._branch(index), index % BRANCH)
        return within + _path(self._above, index // BRANCH)

    def _branch(self, index: int) -> list[bytes]:
        """The levels of a leaf's branch."""
        number = index // BRANCH
        if number not in self._branches:
            begin = number * BRANCH * SIZE
            self._branches[number] = _levels(self.leaves[begin : begin + BRANCH * SIZE])
        return self._branches[number]


def _levels(level: bytes) -> list[bytes]:
    found = [level]
    while len(level) > SIZE:
        level = above(level)
        found.append(level)
    return found


def _path(levels: list[bytes], index: int) -> list[bytes]:
    found = []
    for level in levels[:-1]:
        other = (index ^ 1) * SIZE
        if other < len(level):
            found.append(level[other : other + SIZE])
        index >>= 1
    return found
