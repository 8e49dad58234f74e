"""Work in other threads: what follows from it comes in order, and nothing follows from a fault."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from whence.engine.runners.write_behind import Behind


def test_what_follows_comes_in_the_order_of_the_calls() -> None:
    behind, seen, later = Behind(), list[int](), threading.Event()

    def first() -> int:
        assert later.wait(60)
        return 1

    def second() -> int:
        later.set()  # it is done before the first one
        return 2

    behind.do(first, seen.append)
    behind.do(second, seen.append)
    behind.follow(lambda: seen.append(3))
    behind.wait()
    assert seen == [1, 2, 3]
    behind.end()


def test_nothing_follows_after_a_fault_and_every_call_raises_it() -> None:
    behind, seen = Behind(), list[int]()

    def broken() -> int:
        msg = "no room"
        raise OSError(msg)

    behind.do(lambda: 1, seen.append)
    behind.do(broken, seen.append)
    with pytest.raises(OSError, match="no room"):
        behind.wait()
    with pytest.raises(OSError, match="no room"):
        behind.do(lambda: 2, seen.append)
    with pytest.raises(OSError, match="no room"):
        behind.follow(seen.clear)
    behind.end()
    assert seen == [1]


def test_what_is_dropped_is_neither_begun_nor_followed() -> None:
    behind, seen, held = Behind(), list[int](), threading.Event()
    begun = threading.Semaphore(0)

    def hold() -> int:
        begun.release()
        assert held.wait(60)
        return 1

    for _ in range(2):  # as many as work at a time
        behind.do(hold, seen.append)
    begun.acquire()
    begun.acquire()
    behind.do(lambda: seen.append(2))
    ending = threading.Thread(target=lambda: behind.end(drop=True))
    ending.start()
    while not behind._dropped:
        pass
    held.set()
    ending.join(60)
    assert seen == []


def test_what_waits_is_done_when_it_is_not_dropped() -> None:
    behind, seen = Behind(most=2), list[int]()
    for number in range(9):
        behind.do(partial(int, number), seen.append)
    behind.end()
    behind.end()
    assert seen == list(range(9))
