"""Constraints 51 to 54, and PROV-DM's own grammar: statements that can never hold."""

from __future__ import annotations

from whence.exporters.prov.reading.instance import Instance, Origin
from whence.exporters.prov.reading.kinds import ELEMENTS, KINDS
from whence.exporters.validating.components import components
from whence.exporters.validating.report import Violations
from whence.exporters.validating.uniqueness import Normal, declared

__all__ = ["check_grammar", "check_impossible"]

_LOOSE = ("wasDerivedFrom", "wasInfluencedBy")
"""Relations that may share an identifier with another: less precise forms of it."""


def check_grammar(instance: Instance, found: Violations) -> None:
    """Required statements exist, and impossible ones do not."""
    for origin, what in instance.faults:
        _add(instance, found, "syntax", what, [origin])
    for word, table in instance.tables.items():
        kind = table.kind
        if kind.element and 0 in table.ids:
            row = table.ids.index(0)
            _add(instance, found, "syntax", f"{word} has no identifier", [(word, row)])
        for number in range(kind.needed):
            column = table.slots[number]
            if 0 in column:
                for row in (row for row, value in enumerate(column) if not value):
                    what = f"{word} does not say its {kind.slots[number]}"
                    _add(instance, found, "syntax", what, [(word, row)])
    derived = instance.table("wasDerivedFrom")
    for row, (activity, generation, usage) in enumerate(zip(*derived.slots[2:], strict=True)):
        if (generation or usage) and not activity:
            what = "a derivation names its " + ("generation" if generation else "usage")
            _add(instance, found, "C51", what + " but no activity", [("wasDerivedFrom", row)])


def check_impossible(instance: Instance, normal: Normal, found: Violations) -> None:
    """Identifiers mean one thing; nothing is a specialization of itself."""
    _overlaps(instance, normal, found)
    _specializations(instance, found)


def _overlaps(instance: Instance, normal: Normal, found: Violations) -> None:
    words = [word for word, kind in KINDS.items() if kind.named and not kind.element]
    codes = bytearray(len(instance.texts))
    for code, word in enumerate(words, start=1):
        for row, id in enumerate(normal[word].ids):
            if not id:
                continue
            if not codes[id]:
                codes[id] = code
            elif codes[id] != code and word not in _LOOSE:
                what = "names two kinds of relation"
                _shared(
                    instance,
                    normal,
                    found,
                    "C53",
                    id,
                    what,
                    words[codes[id] - 1],
                    normal[word].origin(row),
                )
    for word in ELEMENTS:
        table = normal[word]
        found_here = {id: table.origin(row) for row, id in enumerate(table.ids) if codes[id]}
        if word == "entity":
            found_here = {id: why for id, why in declared(normal).items() if codes[id]}
        for id, origin in found_here.items():
            what = f"names an {word} and a relation"
            _shared(instance, normal, found, "C54", id, what, words[codes[id] - 1], origin)


def _shared(
    instance: Instance,
    normal: Normal,
    found: Violations,
    rule: str,
    id: int,
    what: str,
    other: str,
    at: Origin,
) -> None:
    """Report an identifier that two statements have which cannot share one."""
    origins = []
    if not found.full(rule):
        first = normal[other]
        origins = [first.origin(first.ids.index(id)), at]
    name = instance.document.short(instance.texts[id])
    _add(instance, found, rule, f"{name} {what}", origins)


def _specializations(instance: Instance, found: Violations) -> None:
    edges: list[tuple[int, int, Origin]] = []
    for word in ("specializationOf", "mentionOf"):
        table = instance.table(word)
        edges += [
            (specific, general, (word, row))
            for row, (specific, general) in enumerate(
                zip(table.slots[0], table.slots[1], strict=True)
            )
            if specific and general
        ]
    group = components([(one, other) for one, other, _ in edges])
    reported: set[int] = set()
    for one, other, origin in edges:
        if one == other:
            _add(instance, found, "C52", "an entity is a specialization of itself", [origin])
        elif group[one] == group[other] and group[one] not in reported:
            reported.add(group[one])
            round_trip: list[Origin] = []
            if not found.full("C52"):
                round_trip = [o for a, b, o in edges if group[a] == group[b] == group[one]]
            what = "entities are specializations of each other, and so each of itself"
            _add(instance, found, "C52", what, round_trip)


def _add(
    instance: Instance, found: Violations, rule: str, what: str, origins: list[Origin]
) -> None:
    shown = [] if found.full(rule) else [instance.shown(origin) for origin in origins]
    found.add(rule, what, shown, bundle=instance.name)
