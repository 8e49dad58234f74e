"""How much of the machine loading may take during the run."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Literal

from whence.engine.errors import ParameterError

__all__ = ["PRIORITIES", "Pace", "Priority", "pace"]

Priority = Literal["low", "normal", "high"]


@dataclass(frozen=True)
class Pace:
    """What a priority means.

    Attributes:
        writers: how many transactions are written at a time.
        share: the part of the time that each of them writes; it rests for the other part, so that
            the server rests as well. Once the run is over nobody rests.
        nice: how far the loader's process stands back behind others (Unix).
        stream_share: the same share beside a stream, which waits for its events and leaves the
            machine to others meanwhile.
    """

    writers: int
    share: float
    nice: int
    stream_share: float = 1.0

    def beside(self, *, followed: bool, ended: bool) -> Pace:
        """The pace beside a run.

        >>> PRIORITIES["normal"].beside(followed=True, ended=False).share
        1.0

        Args:
            followed: whether the run follows a stream.
            ended: whether it is over.
        """
        share = 1.0 if ended else self.stream_share if followed else self.share
        return replace(self, share=share)

    def rest(self, busy: float, most: float = 5.0) -> None:
        """Rest after so many seconds of writing."""
        if self.share < 1.0:
            time.sleep(min(busy * (1.0 - self.share) / self.share, most))


# One writer more than a small server has cores: neighbouring parts lead to some of the same events,
# so that one of them waits at its end until the other is done.
PRIORITIES: dict[Priority, Pace] = {
    "low": Pace(writers=1, share=0.25, nice=15, stream_share=0.25),
    "normal": Pace(writers=3, share=0.7, nice=5),
    "high": Pace(writers=3, share=1.0, nice=0),
}


def pace(priority: Priority, writers: int | None = None) -> Pace:
    """What a priority means, with another number of writers if one is given.

    >>> pace("low", 3)
    Pace(writers=3, share=0.25, nice=15, stream_share=0.25)
    """
    if priority not in PRIORITIES:
        msg = f"a priority: expected {', '.join(PRIORITIES)}; got {priority!r}; try 'normal'"
        raise ParameterError(msg)
    if writers is not None and writers < 1:
        msg = f"writers: expected at least 1; got {writers}; try 2"
        raise ParameterError(msg)
    chosen = PRIORITIES[priority]
    return chosen if writers is None else replace(chosen, writers=writers)
