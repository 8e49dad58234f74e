"""From PROV relations back to associations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whence.engine.lineage.association import Association, Relation
from whence.exporters.importing.statements import Relation as Statement
from whence.exporters.importing.statements import Statements, each_type

__all__ = ["associations"]

MOST_REACHED = 50_000_000
"""Positions that all ranges of a file may stand for: each takes memory, its range does not."""


def associations(
    stated: Statements, places: Mapping[str, str], belongs: Mapping[str, str]
) -> Iterator[Association]:
    """The associations of a bundle.

    Args:
        stated: the bundle.
        places: the log or stream that each collection is, by the name that relations use.
        belongs: the place that each event is in.
    """
    reader = _Reader(stated, places, belongs)
    for statement in stated.relations:
        kinds = set(each_type(statement.said))
        if kinds & {"Explains", "Trigger", "Supports"}:
            yield reader.row(statement, kinds)


class _Reader:
    def __init__(
        self, stated: Statements, places: Mapping[str, str], belongs: Mapping[str, str]
    ) -> None:
        self.things, self.places, self.belongs = stated.things, places, belongs
        self._left = MOST_REACHED

    def row(self, statement: Statement, kinds: set[str]) -> Association:
        relation: Relation = "supports" if "Supports" in kinds else "explains"
        if "Trigger" in kinds:
            relation = "trigger"
        said = statement.said
        fields = tuple(sorted(said["field"])) if "field" in said else None
        witness = tuple(sorted(said["witness"])) if "witness" in said else None
        marks: Any = {
            "fields": () if said.get("presence") == [True] else fields,
            "copy": said.get("copy") == [True],
            "witness": witness,
        }
        if statement.first in self.belongs:
            stream, at = self._event(statement.first)
            if statement.second in self.belongs:
                to, position = self._event(statement.second)
                reached: tuple[int, ...] = (position,)
            else:
                to, lo, hi = self._range(statement.second)
                reached = self._positions(lo, hi)
            return Association(stream, relation, "list", at, at, to, reached, **marks)
        stream, lo, hi = self._range(statement.first)
        if "Band" in kinds:
            to, _, _ = self._range(statement.second)
            numbers: Any = {
                mine: said[theirs][0]
                for mine, theirs in (
                    ("a", "from"),
                    ("b", "to"),
                    ("sa", "fromFactor"),
                    ("sb", "toFactor"),
                )
            }
            return Association(stream, relation, "band", lo, hi, to, **numbers, **marks)
        to, position = self._event(statement.second)
        return Association(stream, relation, "zone", lo, hi, to, (position,), **marks)

    def _positions(self, lo: int, hi: int | None) -> tuple[int, ...]:
        assert hi is not None
        self._left -= max(0, hi - lo + 1)
        if self._left < 0:
            msg = f"ranges of more than {MOST_REACHED:,} positions"
            raise ValueError(msg)
        return tuple(range(lo, hi + 1))

    def _event(self, iri: str) -> tuple[str, int]:
        return self.belongs[iri], self.things[iri]["position"][0]

    def _range(self, iri: str) -> tuple[str, int, int | None]:
        known = self.things[iri]
        return self.places[known["of"][0]], known["first"][0], known.get("last", [None])[0]
