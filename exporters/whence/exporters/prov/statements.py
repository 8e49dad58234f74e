"""PROV statements, before any syntax: what all writers write.

One table says for each kind of statement what PROV-JSON and PROV-O call its parts. Writers read
the table; nothing about a kind is written down a second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from whence.engine.errors import ParameterError
from whence.exporters.prov.identifiers import PROV, RDF, Name, Namespace

if TYPE_CHECKING:
    from whence.exporters.prov.rows import Names, Rows, Value

__all__ = [
    "END_TIME",
    "KINDS",
    "RDF_TYPE",
    "START_TIME",
    "TYPE",
    "VALUE",
    "Attributes",
    "Bundle",
    "Document",
    "Kind",
    "Literal",
    "Statement",
    "Typed",
    "clean",
    "double_text",
    "time_text",
    "triples",
]


class Typed(NamedTuple):
    """A literal of a datatype that Python has no type for."""

    text: str
    datatype: Name


Literal = str | bool | int | float | datetime | Typed
Attributes = tuple[tuple[Name, Name | Literal], ...]

TYPE = Name(PROV, "type")
VALUE = Name(PROV, "value")
START_TIME = Name(PROV, "startTime")
END_TIME = Name(PROV, "endTime")


@dataclass(frozen=True)
class Kind:
    """One kind of statement.

    Attributes:
        word: PROV's word for it: its section in PROV-JSON, and in RDF the plain property.
        roles: what its ends are called, in the order of PROV-N.
        qualified: in RDF, the property that points to the qualified form; none if it has none.
        type: in RDF, the class of the statement itself, or of its qualified form.
        properties: in RDF, what leads from the qualified form to each end but the first.
        rest: how many more arguments PROV-N has for it, which are left out.
        plain: in RDF, the plain property, if it is not the word.
    """

    word: str
    roles: tuple[str, ...] = ()
    qualified: str | None = None
    type: str = ""
    properties: tuple[str, ...] = ()
    rest: int = 0
    plain: str = ""

    @cached_property
    def names(self) -> _KindNames:
        """Its name in RDF; made once, because every statement needs it."""
        return _KindNames(
            Name(PROV, self.plain or self.word),
            None if self.qualified is None else Name(PROV, self.qualified),
            Name(PROV, self.type),
            tuple(Name(PROV, property_) for property_ in self.properties),
        )


class _KindNames(NamedTuple):
    plain: Name
    qualified: Name | None
    type: Name
    properties: tuple[Name, ...]


KINDS = {
    kind.plain or kind.word: kind
    for kind in (
        Kind("entity", type="Entity"),
        Kind("activity", type="Activity"),
        Kind("agent", type="Agent"),
        Kind("wasGeneratedBy", ("entity", "activity"),
             "qualifiedGeneration", "Generation", ("activity",), rest=1),
        Kind("used", ("activity", "entity"), "qualifiedUsage", "Usage", ("entity",), rest=1),
        Kind("wasStartedBy", ("activity", "trigger", "starter"),
             "qualifiedStart", "Start", ("entity", "hadActivity"), rest=1),
        Kind("wasInvalidatedBy", ("entity", "activity"),
             "qualifiedInvalidation", "Invalidation", ("activity",), rest=1),
        Kind("wasAssociatedWith", ("activity", "agent", "plan"),
             "qualifiedAssociation", "Association", ("agent", "hadPlan")),
        Kind("wasAttributedTo", ("entity", "agent"),
             "qualifiedAttribution", "Attribution", ("agent",)),
        Kind("actedOnBehalfOf", ("delegate", "responsible", "activity"),
             "qualifiedDelegation", "Delegation", ("agent", "hadActivity")),
        Kind("wasDerivedFrom", ("generatedEntity", "usedEntity", "activity"),
             "qualifiedDerivation", "Derivation", ("entity", "hadActivity"), rest=2),
        Kind("wasDerivedFrom", ("generatedEntity", "usedEntity"),
             "qualifiedRevision", "Revision", ("entity",), rest=3, plain="wasRevisionOf"),
        Kind("wasInfluencedBy", ("influencee", "influencer"),
             "qualifiedInfluence", "Influence", ("influencer",)),
        Kind("specializationOf", ("specificEntity", "generalEntity"), type="Specialization"),
        Kind("alternateOf", ("alternate1", "alternate2"), type="Alternate"),
        Kind("hadMember", ("collection", "entity"), type="Membership"),
    )
}  # fmt: skip


class Statement(NamedTuple):
    """One statement.

    Attributes:
        kind: what it says.
        id: its own name; a membership has none.
        ends: what it is about, in the order of the kind's roles; ``None`` if absent.
        attributes: further attributes; the order is that of the export.
    """

    kind: Kind
    id: Name | None
    ends: tuple[Name | None, ...] = ()
    attributes: Attributes = ()

    @property
    def plain(self) -> bool:
        """Whether RDF has the plain form too."""
        return True


def triples(
    statement: Statement | Rows,
) -> Iterator[tuple[Name | Names, Name, Value]]:
    """Statements in RDF, in the plain and in the qualified form."""
    names, ends, subject = statement.kind.names, statement.ends, statement.id
    if ends:
        first, *others = ends
        assert first is not None
        if others[0] is not None and statement.plain:
            yield first, names.plain, others[0]
        if names.qualified is None:
            return
        assert subject is not None
        yield first, names.qualified, subject
        yield subject, RDF_TYPE, names.type
        for property_, end in zip(names.properties, others, strict=False):
            if end is not None:
                yield subject, property_, end
    else:
        assert subject is not None
        yield subject, RDF_TYPE, names.type
    for key, value in statement.attributes:
        if key != TYPE or value != names.type:
            yield subject, _PROPERTIES.get(key, key), value


RDF_TYPE = Name(RDF, "type")
_PROPERTIES = {
    TYPE: RDF_TYPE,
    START_TIME: Name(PROV, "startedAtTime"),
    END_TIME: Name(PROV, "endedAtTime"),
}
"""Attributes whose property in PROV-O has another name."""


@dataclass(frozen=True)
class Bundle:
    """A named set of statements.

    Attributes:
        name: of the bundle; in RDF, of its graph.
        statements: gives them, the same ones in the same order each time.
    """

    name: Name
    statements: Callable[[], Iterable[Statement | Rows]]


@dataclass(frozen=True)
class Document:
    """All that goes into one file.

    Attributes:
        namespaces: every namespace that the statements use.
        top: the statements outside bundles.
        bundles: one for each run or answer.
    """

    namespaces: tuple[Namespace, ...]
    top: tuple[Statement, ...] = ()
    bundles: tuple[Bundle, ...] = field(default=())


def clean(text: str) -> str:
    r"""Text that every syntax can hold: half a surrogate pair, which is no character, is escaped.

    >>> clean("caf\u00e9 \ud800")
    'café \\ud800'
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def double_text(value: float) -> str:
    """A float as XML Schema writes it: every digit, and its own words for what is not finite."""
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def time_text(time: datetime) -> str:
    """A time as PROV writes it: in UTC, with a ``Z``.

    >>> time_text(datetime(2026, 3, 1, 12, tzinfo=UTC))
    '2026-03-01T12:00:00Z'
    """
    if time.tzinfo is None:
        msg = f"a time: expected one with its zone; got {time.isoformat()}; try tzinfo=UTC"
        raise ParameterError(msg)
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
