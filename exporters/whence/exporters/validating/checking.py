"""Check a document: each bundle on its own by the standard, then all of it together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from whence.exporters.prov.reading.instance import Document, Instance
from whence.exporters.prov.reading.kinds import KINDS
from whence.exporters.prov.reading.opening import format_of, read_document
from whence.exporters.validating.clock import check_clock
from whence.exporters.validating.entity_types import check_types
from whence.exporters.validating.events import Events
from whence.exporters.validating.impossibility import check_grammar, check_impossible
from whence.exporters.validating.ordering import Order, check_order, order_of
from whence.exporters.validating.report import Report, Violations
from whence.exporters.validating.uniqueness import Normal, normalize

__all__ = ["check", "validate"]


class _Part(NamedTuple):
    """A bundle whose events have an order, with every entity taken as generated."""

    instance: Instance
    normal: Normal
    events: Events
    order: Order


def validate(path: str | Path, format: str | None = None, *, beyond: bool = True) -> Report:
    """Check a file by W3C PROV-CONSTRAINTS, and beyond.

    Args:
        path: the file; with ``.gz`` behind its name, or packed without, it is unpacked.
        format: one of `FORMATS`, if neither the name nor the beginning of the file says it.
        beyond: check also what the standard does not ask for: cycles across bundles, clock times.

    Raises:
        WhenceError: the file cannot be read, or is no PROV.
    """
    path = Path(path)
    chosen = format_of(path, format)
    return check(read_document(path, chosen), chosen, beyond=beyond)


def check(document: Document, format: str, *, beyond: bool = True) -> Report:
    """The verdict on a document.

    Args:
        document: what was read.
        format: from which syntax.
        beyond: check also what the standard does not ask for.
    """
    found = Violations()
    parts = [part for each in document.instances if each.tables for part in _alone(each, found)]
    if beyond:
        _together(document, parts, found)
    kept = [each for each in found.kept if beyond or each.standard]
    return Report(
        format,
        len(document),
        len(document.bundles),
        tuple(kept),
        {rule: many for rule, many in found.counts.items() if any(k.rule == rule for k in kept)},
        found.standard,
        dict(document.unchecked),
    )


def _alone(instance: Instance, found: Violations) -> list[_Part]:
    """Check one bundle by the standard; none if its events have no order."""
    check_grammar(instance, found)
    normal = normalize(instance, found)
    check_types(instance, normal, found)
    check_impossible(instance, normal, found)
    events = Events(instance, normal)
    order = order_of(events)
    if check_order(events, order, found):
        return []
    if not events.complete:
        events = Events(instance, normal, assume=True)
        order = order_of(events)
    return [_Part(instance, normal, events, order)]


def _together(document: Document, parts: Sequence[_Part], found: Violations) -> None:
    """Check what no bundle shows by itself: cycles, and clock times."""
    shared = _shared(parts)
    joined = []
    for part in parts:
        if any(name in shared for name in _names(part, shared)):
            joined.append(part)
        else:
            check_order(part.events, part.order, found, "cycle")
            check_clock(part.events, part.order, found)
    if joined:
        whole, normal = _union(document, joined)
        events = Events(whole, normal, assume=True)
        order = order_of(events)
        check_order(events, order, found, "cycle")
        check_clock(events, order, found)


def _shared(parts: Sequence[_Part]) -> set[str]:
    """The names that occur in more than one bundle and have an event in one of them."""
    if len(parts) < 2:
        return set()
    *small, largest = sorted(parts, key=lambda part: len(part.instance.texts))
    seen: Counter[str] = Counter()
    for part in small:
        seen.update(part.instance.texts[1:])
    several = {n for n, many in seen.items() if many > 1 or largest.instance.known(n)}
    return {n for p in parts for n in _names(p, several) if n in several and p.events.touched(n)}


def _names(part: _Part, wanted: set[str]) -> Iterable[str]:
    """The names of a bundle, or those that are wanted and occur in it: whichever are fewer."""
    texts = part.instance.texts
    if len(wanted) < len(texts):
        return (name for name in wanted if part.instance.known(name))
    return islice(texts, 1, None)


def _union(document: Document, parts: Sequence[_Part]) -> tuple[Instance, Normal]:
    """All statements of several bundles, each merged by itself, as one."""
    whole = Instance(document)
    for part in parts:
        numbers = [whole.number(text) for text in part.instance.texts]
        for word, table in part.normal.items():
            columns = [[numbers[name] for name in column] for column in table.slots]
            for row, id in enumerate(table.ids):
                slots = [column[row] for column in columns]
                whole.add(word, numbers[id], slots, [column[row] for column in table.times])
    return whole, {word: whole.table(word) for word in KINDS}
