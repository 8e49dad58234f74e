"""What an event of a pipe can depend on: cells of the logs, as sets of positions by field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["THERE", "Item", "Mask", "Pipe", "add", "joined", "read", "told_by"]

Mask = dict[tuple[str, str | None], int]
"""Positions, a bit each, by log and field; ``None`` stands for whole events."""

THERE = ""
"""The field of an event that only has to be there."""


@dataclass
class Item:
    """One event of a pipe, over all inputs.

    Attributes:
        raw: the input events that it may be a copy of, by log.
        value: what its value can depend on, apart from these.
        exists: what it can depend on that it is there, at its position.
        why: what can explain its value, apart from the raw events.
    """

    raw: dict[str, int] = field(default_factory=dict)
    value: Mask = field(default_factory=dict)
    exists: Mask = field(default_factory=dict)
    why: Mask = field(default_factory=dict)


Pipe = list[Item]
"""Every event that a pipe can have, at most, in order."""


def add(into: Mask, *others: Mask) -> Mask:
    """Put more into a mask."""
    for other in others:
        for cell, bits in other.items():
            into[cell] = into.get(cell, 0) | bits
    return into


def read(item: Item, asked: str | None) -> Mask:
    """What the value of a field, or the whole event, can depend on."""
    found = dict(item.value)
    if asked != THERE:
        add(found, {(log, asked): bits for log, bits in item.raw.items()})
    return found


def told_by(item: Item, asked: str | None) -> Mask:
    """What can explain the value of a field, or the whole event."""
    found = dict(item.why)
    return add(found, {(log, asked): bits for log, bits in item.raw.items()})


def joined(items: Iterable[Item]) -> Item:
    """An event that may be any of these."""
    found = Item()
    for each in items:
        for log, bits in each.raw.items():
            found.raw[log] = found.raw.get(log, 0) | bits
        add(found.value, each.value)
        add(found.exists, each.exists)
        add(found.why, each.why)
    return found
