"""Constraints 22 to 29: statements about the same thing become one, or contradict.

What a statement leaves open (an argument that is not said, an identifier it does not have) stands
for something unknown, and takes the value that another statement about the same thing says. Merging
goes in steps, each linear: by identifier; what derivations imply; influences; by what is unique.
No step brings work for an earlier one: an identifier is never filled in by another statement with a
different one, and what the last step fills in (triggers and times) is no part of any key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from whence.exporters.prov.reading.instance import Instance, Origin, Table
from whence.exporters.prov.reading.kinds import KINDS
from whence.exporters.validating.report import Violations

__all__ = ["Normal", "declared", "normalize"]

Normal = dict[str, Table]
"""Every kind of statement after merging."""

_UNIQUE = {
    "wasGeneratedBy": (0, 1, "C24"),
    "wasInvalidatedBy": (0, 1, "C25"),
    "wasStartedBy": (0, 2, "C26"),
    "wasEndedBy": (0, 2, "C27"),
    "used": (0, 1, "usage"),
}
"""Which two arguments settle which event it is, and by which constraint."""


def normalize(instance: Instance, found: Violations) -> Normal:
    """Merge statements about the same thing; report contradictions."""
    merging = _Merging(instance, found)
    normal = {}
    for word, kind in KINDS.items():
        table = instance.table(word)
        rule = "C22" if kind.element else "C23"
        normal[word] = merging.merged(table, table.ids, rule) if kind.named else table
    merging.implied(normal)
    merging.influences(normal)
    for word, (first, second, rule) in _UNIQUE.items():
        table, size = normal[word], len(instance.texts)
        keys = [
            x * size + y if x and y else 0
            for x, y in zip(table.slots[first], table.slots[second], strict=True)
        ]
        merged = merging.merged(table, keys, rule)
        if rule != "usage":  # by the standard, usages of one entity by one activity stay several
            normal[word] = merged
    merging.times_of_activities(normal, "wasStartedBy", 0, "C28")
    merging.times_of_activities(normal, "wasEndedBy", 1, "C29")
    merging.mentions(normal["mentionOf"])
    return normal


def declared(normal: Normal) -> dict[int, Origin]:
    """Every entity that is declared, and why; what is said of the general holds of the specific."""
    table = normal["entity"]
    found = {entity: table.origin(row) for row, entity in enumerate(table.ids)}
    specific: dict[int, list[tuple[int, Origin]]] = {}
    for word in ("specializationOf", "mentionOf"):
        table = normal[word]
        for row, (one, general) in enumerate(zip(table.slots[0], table.slots[1], strict=True)):
            specific.setdefault(general, []).append((one, table.origin(row)))
    waiting = [entity for entity in specific if entity in found]
    while waiting:
        for one, origin in specific.get(waiting.pop(), ()):
            if one not in found:
                found[one] = origin
                waiting.append(one)
    return found


class _Merging:
    """Merges the statements of one instance."""

    def __init__(self, instance: Instance, found: Violations) -> None:
        self.instance, self.found = instance, found
        self.times = instance.document.times

    def merged(self, table: Table, keys: Sequence[int], rule: str) -> Table:
        """A table in which each key occurs once; 0 is no key."""
        used = [key for key in keys if key]
        if len(set(used)) == len(used):
            return table
        made = Table(table.kind)
        made.origins = []
        rows: dict[int, int] = {}
        for row, key in enumerate(keys):
            at = rows.get(key)
            if at is not None:
                self.unify(made, at, table, row, rule)
                continue
            if key:
                rows[key] = len(made)
            self.append(made, table, row)
        return made

    def append(self, made: Table, table: Table, row: int) -> None:
        """Take a row over as it is."""
        made.add(table.ids[row], [c[row] for c in table.slots], [c[row] for c in table.times])
        assert made.origins is not None
        made.origins.append(table.origin(row))

    def unify(self, made: Table, at: int, table: Table, row: int, rule: str) -> None:
        """Merge two rows into one."""
        kind = made.kind
        origins = (made.origin(at), table.origin(row))
        one, other = made.ids[at], table.ids[row]
        if one and other and one != other:
            self.clash(rule, "identifier", origins, standard=rule != "usage")
        made.ids[at] = one or other
        open_end = kind.word == "wasDerivedFrom" and not made.slots[2][at]
        for number, (mine, theirs) in enumerate(zip(made.slots, table.slots, strict=True)):
            one, other = mine[at], theirs[row]
            if one == other:
                continue
            fixed = number in kind.fixed or (open_end and number > 2)
            if (one and other) or fixed:
                loose = kind.word == "actedOnBehalfOf" and not (one and other)
                self.clash("delegation" if loose else rule, kind.slots[number], origins,
                           standard=not loose)  # fmt: skip
            mine[at] = one or other
        for number, (mine, theirs) in enumerate(zip(made.times, table.times, strict=True)):
            one, other = mine[at], theirs[row]
            if one and other and not self.times.same(one, other):
                self.clash(rule, kind.times[number], origins, standard=rule != "usage")
            mine[at] = one or other

    def clash(
        self, rule: str, what: str, origins: Iterable[Origin], *, standard: bool = True
    ) -> None:
        """Report two statements that cannot both hold."""
        if self.found.full(rule):
            shown: list[str] = []
        else:
            shown = [self.instance.shown(origin) for origin in origins]
        self.found.add(
            rule,
            f"two statements about the same thing, but {what} differs",
            shown,
            bundle=self.instance.name,
            standard=standard,
        )

    def influences(self, normal: Normal) -> None:
        """Every relation is an influence of the same identifier: its two ends are those."""
        kinds = bytearray(len(self.instance.texts))
        words = [word for word, kind in KINDS.items() if kind.named and not kind.element]
        shared: list[tuple[int, str, str]] = []
        for code, word in enumerate(words, start=1):
            for id in normal[word].ids:
                if id and kinds[id] not in (0, code):
                    shared.append((id, words[kinds[id] - 1], word))
                elif id:
                    kinds[id] = code
        loose = ("wasDerivedFrom", "wasInfluencedBy")
        pairs = [each for each in shared if each[2] in loose]
        wanted = {id for id, _, _ in pairs}
        if not wanted:
            return
        rows: dict[tuple[str, int], int] = {}
        for word in {word for _, *both in pairs for word in both}:
            if normal[word] is self.instance.tables.get(word):
                normal[word] = normal[word].copy()
            ids = normal[word].ids
            rows.update({(word, id): row for row, id in enumerate(ids) if id in wanted})
        for id, first, second in pairs:
            at, row = rows[first, id], rows[second, id]
            table, other = normal[first], normal[second]
            for number in (0, 1):
                mine, theirs = table.slots[number][at], other.slots[number][row]
                if mine and theirs and mine != theirs:
                    origins = (table.origin(at), other.origin(row))
                    self.clash("C23", "what influences what", origins)
                table.slots[number][at] = mine or theirs

    def implied(self, normal: Normal) -> None:
        """A derivation by an activity implies that it used the one and generated the other."""
        derived = normal["wasDerivedFrom"]
        rows = [row for row, activity in enumerate(derived.slots[2]) if activity]
        if not rows:
            return
        for word, own, entity, order in (
            ("wasGeneratedBy", 3, 0, (0, 1)),
            ("used", 4, 1, (1, 0)),
        ):
            table = normal[word].copy()
            assert table.origins is not None
            for row in rows:
                ends = (derived.slots[entity][row], derived.slots[2][row])
                table.add(derived.slots[own][row], [ends[number] for number in order], (0,))
                table.origins.append(derived.origin(row))
            normal[word] = self.merged(table, table.ids, "C23")

    def times_of_activities(self, normal: Normal, word: str, which: int, rule: str) -> None:
        """The time of an activity's start or end is the one that the activity itself has."""
        activities, events = normal["activity"], normal[word]
        if not len(events):
            return
        rows = {id: row for row, id in enumerate(activities.ids)}
        known: dict[int, tuple[int, Origin]] = {}
        for row, activity in enumerate(events.slots[0]):
            at = rows.get(activity)
            if at is None:
                continue
            if activity not in known and activities.times[which][at]:
                known[activity] = (activities.times[which][at], activities.origin(at))
            time = events.times[0][row]
            if not time:
                continue
            if activity not in known:
                known[activity] = (time, events.origin(row))
            elif not self.times.same(known[activity][0], time):
                what = KINDS["activity"].times[which]
                self.clash(rule, what, (known[activity][1], events.origin(row)))

    def mentions(self, table: Table) -> None:
        """An entity mentions one entity of one bundle."""
        first: dict[int, int] = {}
        same: Callable[[int, int], bool] = lambda one, other: all(  # noqa: E731
            column[one] == column[other] for column in table.slots
        )
        for row, entity in enumerate(table.slots[0]):
            at = first.setdefault(entity, row)
            if not same(at, row):
                origins = (table.origin(at), table.origin(row))
                self.clash("mention", "what is mentioned", origins, standard=False)
