"""Find a name that occurs twice, in time that grows with the number of names."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["repeated"]


def repeated(names: Iterable[str]) -> str | None:
    """The first name that occurs a second time.

    >>> repeated(["a", "b", "c", "b", "a"]), repeated(["a", "b"])
    ('b', None)
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
