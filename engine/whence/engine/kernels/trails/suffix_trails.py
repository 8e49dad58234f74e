"""All rows from one to the end of its run, as linked elements: the mirror of `so_far`.

An element leads to what its row adds and to the element of the next row, so that each costs the
same however many follow. They are recorded from the last row of a run to its first, so that every
element leads back to one that is there already.
"""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.kernel import Kept, Place
from whence.engine.kernels.trails.composing import reaching, union
from whence.engine.kernels.trails.entries import WHOLE
from whence.engine.kernels.trails.trail import Line, Nothing, Spans, Trail

__all__ = ["SuffixTrails"]


class SuffixTrails:
    """What the rows of runs lead to, each together with those after it.

    Args:
        place: where the kernel that asks stands.
        suffix: the name of the helper stream, if one is needed: ``until/onward``.
    """

    def __init__(self, place: Place, suffix: str = "onward") -> None:
        """Nothing is kept yet."""
        self.place = place
        self.suffix = suffix
        self.kept: Kept | None = None

    def save(self) -> str | None:
        """The name of the helper stream, if there is one."""
        return None if self.kept is None else self.kept.name

    def load(self, name: str | None) -> None:
        """Go on with that stream; the run knows it already."""
        self.kept = None if name is None else self.place.run.kept[name]

    def of(self, ends: Ints, moment: Ints, why: Trail, sup: Trail) -> tuple[Trail, Trail]:
        """Where all rows from each to the end of its run lead.

        Args:
            ends: for every row the last row of its run.
            moment: when each appears; a run appears at once.
            why: what each adds as explanation.
            sup: what each adds as support.
        """
        count = len(ends)
        rows = np.arange(count)
        if not self.place.run.tracked or not count or (ends == rows).all():
            return why, sup
        if self.place.window or (_is_line(why) and (sup is why or _is_line(sup))):
            found = reaching(why, rows, ends)
            return found, found if sup is why else reaching(sup, rows, ends)
        if self.kept is None:
            self.kept = self.place.chain(self.suffix)
            assert self.kept is not None
        # Runs are neighbours: their first rows are where the end changes.
        begins = np.flatnonzero(np.diff(ends, prepend=-1))
        first = np.repeat(begins, np.diff(np.append(begins, count)))
        backwards = first + ends - rows
        top = self.place.top(moment)
        places = self.kept.positions(top)
        parent = np.where(rows > first, np.roll(places, 1), -1)
        link = Spans.points(self.kept.target, WHOLE, parent)
        own_why = union(why.take(backwards), link)
        own_sup = own_why if sup is why else union(sup.take(backwards), link)
        assert own_why is not None
        assert own_sup is not None
        trail = self.kept.add(top, None, own_why, own_sup).take(backwards)
        return trail, trail


def _is_line(trail: Trail) -> bool:
    if isinstance(trail, Nothing):
        return True
    return isinstance(trail, Line) and trail.sa == trail.sb == 1 and trail.b >= trail.a
