"""What explains some rows, what supports them, and what their existence rests on, as one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.trails.composing import joined, lasting, union
from whence.engine.kernels.trails.entries import WHOLE
from whence.engine.kernels.trails.trail import Nothing, Trail

__all__ = ["Reasons", "all_of", "joined_reasons", "together"]


class Reasons(NamedTuple):
    """The trails of some rows.

    Where what explains is also what supports, both are the very same object: then it is followed,
    compared and written once. All methods keep that.

    Attributes:
        why: what explains each row.
        sup: what supports each, its existence included.
        exists: what the existence of each rests on; ``None`` if on nothing.
    """

    why: Trail
    sup: Trail
    exists: Trail | None = None

    @property
    def agree(self) -> bool:
        """Whether what explains is what supports."""
        return self.sup is self.why

    def each(self, change: Callable[[Trail], Trail]) -> Reasons:
        """The same with every trail changed."""
        why = change(self.why)
        sup = why if self.sup is self.why else change(self.sup)
        return Reasons(why, sup, None if self.exists is None else change(self.exists))

    def take(self, rows: Ints) -> Reasons:
        """Those of some rows; a row below 0 leads nowhere."""
        return self.each(lambda trail: trail.take(rows))

    def slice(self, start: int, stop: int) -> Reasons:
        """Those of some neighbouring rows."""
        return self.each(lambda trail: trail.slice(start, stop))

    def lasting(self) -> Reasons:
        """The same, holding on to no batch."""
        return self.each(lasting)

    def ask(self, fields: int = WHOLE) -> Reasons:
        """What explains and supports some fields; the existence is left out."""
        return together(lambda trail: trail.ask(fields), self)

    def leaning(self, *more: Trail | None) -> Reasons:
        """Supported by these too; whatever exists rests on what it did."""
        given = [trail for trail in more if trail is not None]
        return self._replace(sup=union(self.sup, *given) or self.sup) if given else self

    def existing(self, exists: Trail | None) -> Reasons:
        """Resting on that, which supports them too, and on nothing else."""
        if exists is None:
            return self if self.exists is None else Reasons(self.why, self.sup)
        return Reasons(self.why, union(self.sup, exists) or self.sup, exists)

    @classmethod
    def of(cls, trail: Trail, exists: Trail | None = None) -> Reasons:
        """One trail explains and supports."""
        return cls(trail, trail, exists)

    @classmethod
    def nothing(cls, count: int) -> Reasons:
        """Rows that lead nowhere."""
        return cls.of(Nothing(count))


def together(make: Callable[..., Trail], *parts: Reasons) -> Reasons:
    """One of several, what explains by what explains and what supports by what supports."""
    if len(parts) == 1:
        ((own, other, _),) = parts
        why = make(own)
        return Reasons(why, why if other is own else make(other))
    why = make(*[part.why for part in parts])
    same = all([part.sup is part.why for part in parts])
    return Reasons(why, why if same else make(*[part.sup for part in parts]))


def all_of(*parts: Reasons | None, each: Callable[[Trail], Trail] = lambda trail: trail) -> Reasons:
    """All of these at once, of at least one; their existence is left out.

    Args:
        parts: the reasons; ``None`` is nothing.
        each: what is done with every trail of them first.
    """

    def united(*trails: Trail) -> Trail:
        found = union(*map(each, trails))
        assert found is not None
        return found

    return together(united, *[part for part in parts if part is not None])


def joined_reasons(parts: Sequence[Reasons]) -> Reasons:
    """The rows of one after those of the other."""
    found = together(lambda *trails: joined(trails), *parts)
    if all(part.exists is None for part in parts):
        return found
    exists = [Nothing(len(p.why)) if p.exists is None else p.exists for p in parts]
    return found._replace(exists=joined(exists))
