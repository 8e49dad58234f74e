"""All rows from one to the end of its run, as linked elements: the mirror of `so_far`.

An element leads to what its row adds and to the element of the next row, so that each costs the
same however many follow. They are recorded from the last row of a run to its first, so that every
element leads back to one that is there already.
"""

from __future__ import annotations

import numpy as np

from whence.engine.kernels.columns.column import Ints
from whence.engine.kernels.kernel import Place
from whence.engine.kernels.trails.composing import reaching
from whence.engine.kernels.trails.linked_stream import LinkedStream
from whence.engine.kernels.trails.reasons import Reasons, all_of, together
from whence.engine.kernels.trails.trail import Line, Nothing, Trail

__all__ = ["SuffixTrails"]


class SuffixTrails:
    """What the rows of runs lead to, each together with those after it.

    Args:
        place: where the kernel that asks stands.
        suffix: the name of the helper stream, if one is needed: ``until/onward``.
    """

    def __init__(self, place: Place, suffix: str = "onward") -> None:
        self.place = place
        self.stream = LinkedStream(place, suffix)

    def of(self, ends: Ints, moment: Ints, reasons: Reasons) -> Reasons:
        """Where all rows from each to the end of its run lead.

        Args:
            ends: for every row the last row of its run.
            moment: when each appears; a run appears at once.
            reasons: what each adds.
        """
        count = len(ends)
        rows = np.arange(count)
        if not self.place.run.tracked or not count or (ends == rows).all():
            return reasons
        if self.place.window or (_is_line(reasons.why) and _is_line(reasons.sup)):
            return together(lambda trail: reaching(trail, rows, ends), reasons)
        # Runs are neighbours: their first rows are where the end changes.
        begins = np.flatnonzero(np.diff(ends, prepend=-1))
        first = np.repeat(begins, np.diff(np.append(begins, count)))
        backwards = first + ends - rows
        places = self.stream.positions(moment)
        link = self.stream.link(np.where(rows > first, np.roll(places, 1), -1))
        element = all_of(reasons.take(backwards), Reasons.of(link))
        return Reasons.of(self.stream.add(moment, element).take(backwards))


def _is_line(trail: Trail) -> bool:
    if isinstance(trail, Nothing):
        return True
    return isinstance(trail, Line) and trail.sa == trail.sb == 1 and trail.b >= trail.a
