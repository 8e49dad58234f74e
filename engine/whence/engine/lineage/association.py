"""How explanations are kept: rows that say what some outputs of a stream lead to.

Three kinds cover everything. A *list* leads from one output to some positions. A *zone* leads from
the outputs lo..hi to one and the same event. A *band* leads from each output o of lo..hi to the
positions ``o*sa + a`` to ``o*sb + b``. An output that builds on an earlier one of its own stream
leads to that one, and reachability does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from whence.engine.errors import EventError
from whence.engine.lineage.positions import Intervals, of_positions

__all__ = [
    "INNER_WIDTH",
    "LOG_PREFIX",
    "Association",
    "Relation",
    "too_many_inside",
]

Relation = Literal["explains", "trigger", "supports"]
LOG_PREFIX = "log:"
INNER_WIDTH = 2**24
"""How many events a stream inside a Slice may have at one position of the whole stream.

At the end of a closed log every slice may give some. Positions are 64 bits wide: that leaves room
for 5·10^11 events of the log.
"""


def too_many_inside(processor: str, stream: str, position: int, w: int) -> EventError:
    """The error of a stream inside a Slice with more events at one position than have numbers."""
    return EventError(
        f"{processor}, position {position}: expected at most {w} events of {stream!r} at one "
        f"position; got more; try a chain whose slices give fewer outputs at once, "
        "such as those at the end of a closed log"
    )


@dataclass(frozen=True, slots=True)
class Association:
    """One row; see the page on the record for what each column means."""

    stream: str
    relation: Relation
    kind: Literal["list", "zone", "band"]
    lo: int
    hi: int | None
    to: str
    inputs: tuple[int, ...] = ()
    a: int = 0
    b: int = 0
    sa: int = 0
    sb: int = 0
    fields: tuple[str, ...] | None = None
    copy: bool = False
    witness: tuple[int, ...] | None = None

    def reaches(self, lo: int, hi: int) -> Intervals:
        """Where the outputs lo..hi lead to by this row."""
        first = max(lo, self.lo)
        last = hi if self.hi is None else min(hi, self.hi)
        if first > last:
            return ()
        if self.kind != "band":
            return of_positions(self.inputs)
        if self.sa == self.sb == 1 and self.b - self.a + 1 < 1:
            return ()
        low = min(first * self.sa + self.a, last * self.sa + self.a)
        high = max(first * self.sb + self.b, last * self.sb + self.b)
        if self.sa == self.sb == 1 or first == last or self.sa == 0 or self.sb == 0:
            # Neighbouring outputs' bands overlap or touch, so that together they have no gap.
            return ((low, high),) if low <= high else ()
        return of_positions(
            p
            for o in range(first, last + 1)
            for p in range(o * self.sa + self.a, o * self.sb + self.b + 1)
        )
