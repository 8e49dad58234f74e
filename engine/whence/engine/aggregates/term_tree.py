"""Terms over slots, kept in a tree, so that one changed slot costs a logarithm and no more.

A Slice under ``and`` with 100,000 true slices is explained by all of their heads, at every output.
The tree shares everything but the path to the slot that changed.
"""

from __future__ import annotations

from collections.abc import Callable

from whence.engine.language.events import Either, Term

__all__ = ["TermTree", "all_of", "either_of", "first_of"]


def all_of(left: Term, right: Term) -> Term:
    """Both."""
    return (left, right)


def first_of(left: Term, right: Term) -> Term:
    """The one whose slot appeared first."""
    return left


def either_of(left: Term, right: Term) -> Term:
    """Any one of the two, the one whose slot appeared first preferred."""
    return Either((left, right))


class TermTree:
    """A term per slot, and what they give together in the order of slots.

    >>> tree = TermTree(first_of)
    >>> tree.set(2, ("late",)); tree.set(0, ("early",)); tree.root
    ('early',)
    >>> tree.set(0, None); tree.root
    ('late',)
    """

    __slots__ = ("merge", "nodes", "size")

    def __init__(self, merge: Callable[[Term, Term], Term]) -> None:
        """Begin empty."""
        self.merge = merge
        self.size = 1
        self.nodes: list[Term] = [None, None]

    @property
    def root(self) -> Term:
        """What all slots give together; ``None`` if no slot has a term."""
        return self.nodes[1]

    def set(self, slot: int, term: Term) -> None:
        """Change one slot; ``None`` empties it."""
        while slot >= self.size:
            self._grow()
        nodes, merge = self.nodes, self.merge
        place = slot + self.size
        nodes[place] = term
        place >>= 1
        while place:
            left, right = nodes[2 * place], nodes[2 * place + 1]
            nodes[place] = right if left is None else left if right is None else merge(left, right)
            place >>= 1

    def _grow(self) -> None:
        leaves = self.nodes[self.size :]
        self.size *= 2
        self.nodes = [None] * self.size + leaves + [None] * (self.size - len(leaves))
        for place in range(self.size - 1, 0, -1):
            left, right = self.nodes[2 * place], self.nodes[2 * place + 1]
            self.nodes[place] = (
                right if left is None else left if right is None else self.merge(left, right)
            )
