"""Work on several things at once and hand the results on in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order"]

T = TypeVar("T")
U = TypeVar("U")


def in_order(work: Callable[[T], U], items: Iterable[T], *, workers: int = 0) -> Iterator[U]:
    """Work on the items in threads; never be ahead by more items than there are threads.

    >>> list(in_order(str.upper, "abc"))
    ['A', 'B', 'C']

    Args:
        work: what to do with each; worth it where it lets other threads run, as Arrow does.
        items: taken in this thread, only as fast as results are taken.
        workers: how many threads; 0 for one a core, at most 8.
    """
    items = iter(items)
    waiting: deque[Future[U]] = deque()
    count = workers or min(8, os.cpu_count() or 1)
    pool = ThreadPoolExecutor(count)
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
