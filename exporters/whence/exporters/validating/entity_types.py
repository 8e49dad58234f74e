"""Constraints 50, 55 and 56: what each name is, and what it therefore cannot be."""

from __future__ import annotations

import numpy as np

from whence.exporters.prov.reading.instance import Instance, Origin
from whence.exporters.prov.reading.kinds import ACTIVITY, ELEMENTS, ENTITY, KINDS
from whence.exporters.validating.report import KEPT, Violations
from whence.exporters.validating.uniqueness import Normal

__all__ = ["check_types"]

_BOTH = ENTITY | ACTIVITY


def check_types(instance: Instance, normal: Normal, found: Violations) -> None:
    """Give every name the types that its statements imply, and report what does not go together."""
    flags = bytearray(len(instance.texts))
    for table in normal.values():
        kind = table.kind
        columns = [table.ids] if kind.element else table.slots
        for column, type_ in zip(columns, kind.types, strict=True):
            if type_:
                for name in column:
                    flags[name] |= type_
    flags[0] = 0
    both = np.flatnonzero((np.frombuffer(flags, np.uint8) & _BOTH) == _BOTH).tolist()
    if both:
        _overlap(instance, normal, both, found)
    _empty(instance, found)


def _overlap(instance: Instance, normal: Normal, names: list[int], found: Violations) -> None:
    """Constraint 55; if a type was not stated, it follows by constraint 50."""
    shown = set(names[:KEPT])
    reasons: dict[int, dict[int, tuple[Origin, bool]]] = {name: {} for name in shown}
    for word in KINDS:
        table = normal[word]
        kind = table.kind
        columns = [table.ids] if kind.element else table.slots
        for column, type_ in zip(columns, kind.types, strict=True):
            if not type_ & _BOTH:
                continue
            for row, name in enumerate(column):
                if name in shown:
                    why = (table.origin(row), word in ELEMENTS)
                    reasons[name].setdefault(type_ & _BOTH, why)
    for name in names:
        if name not in shown:
            found.add("C55", "", bundle=instance.name)
            continue
        because = reasons[name]
        stated = all(said for _, said in because.values())
        text = instance.document.short(instance.texts[name])
        found.add(
            "C55" if stated else "C50",
            f"{text} is both an entity and an activity",
            [instance.shown(origin) for origin, _ in because.values()],
            also=() if stated else ("C55",),
            bundle=instance.name,
        )


def _empty(instance: Instance, found: Violations) -> None:
    """Constraint 56; a specialization has all the types of what it specializes."""
    members = instance.table("hadMember")
    if not instance.empty or not len(members):
        return
    empty = dict.fromkeys(instance.empty, -1)
    specific: dict[int, list[tuple[int, Origin]]] = {}
    for word in ("specializationOf", "mentionOf"):
        table = instance.table(word)
        for row, (one, general) in enumerate(zip(table.slots[0], table.slots[1], strict=True)):
            specific.setdefault(general, []).append((one, (word, row)))
    because: dict[int, Origin] = {}
    waiting = list(empty)
    while waiting:
        for one, origin in specific.get(waiting.pop(), ()):
            if one not in empty:
                empty[one], because[one] = 0, origin
                waiting.append(one)
    for row, collection in enumerate(members.slots[0]):
        if collection in empty:
            origins = [("hadMember", row)]
            if collection in because:
                origins.append(because[collection])
            name = instance.document.short(instance.texts[collection])
            found.add(
                "C56",
                f"{name} is an empty collection and has a member",
                [instance.shown(origin) for origin in origins],
                bundle=instance.name,
            )
