"""From PROV relations back to associations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whence.engine.associations import Association, Relation
from whence.exporters.importing.told import Relation as Statement
from whence.exporters.importing.told import Told, each_type

__all__ = ["associations"]


def associations(
    told: Told, places: Mapping[str, str], belongs: Mapping[str, str]
) -> Iterator[Association]:
    """The associations of a bundle.

    Args:
        told: the bundle.
        places: the log or stream that each collection is, by the name that relations use.
        belongs: the place that each event is in.
    """
    reader = _Reader(told, places, belongs)
    for statement in told.relations:
        kinds = set(each_type(statement.said))
        if kinds & {"Explains", "Trigger", "Supports"}:
            yield reader.row(statement, kinds)


class _Reader:
    def __init__(self, told: Told, places: Mapping[str, str], belongs: Mapping[str, str]) -> None:
        self.things, self.places, self.belongs = told.things, places, belongs

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
                assert hi is not None
                reached = tuple(range(lo, hi + 1))
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

    def _event(self, iri: str) -> tuple[str, int]:
        return self.belongs[iri], self.things[iri]["position"][0]

    def _range(self, iri: str) -> tuple[str, int, int | None]:
        known = self.things[iri]
        return self.places[known["of"][0]], known["first"][0], known.get("last", [None])[0]
