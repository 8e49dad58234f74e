"""The attributes of a relation beyond its two ends."""

from __future__ import annotations

from typing import NamedTuple

from whence.engine.lineage.block import Block
from whence.exporters.prov.identifiers import Name
from whence.exporters.prov.statements import KINDS, TYPE, Attributes, Kind, clean
from whence.exporters.vocabulary import term

__all__ = ["HOW", "Marks"]

HOW: dict[str, tuple[str, Kind, Name]] = {
    "explains": ("d", KINDS["wasDerivedFrom"], term("Explains")),
    "trigger": ("t", KINDS["wasDerivedFrom"], term("Trigger")),
    "supports": ("i", KINDS["wasInfluencedBy"], term("Supports")),
}
"""Of each relation: the letter of its names, the statement that it is, and its type."""


class Marks(NamedTuple):
    """The columns of an association that are neither relation nor place."""

    fields: tuple[str, ...] | None = None
    copy: bool = False
    witness: tuple[int, ...] | None = None

    @classmethod
    def of(cls, block: Block) -> Marks:
        """Those of the items of a block."""
        return cls(block.fields, block.copy, block.witness)

    def also(self, other: Marks) -> Marks:
        """The marks of two associations between the same events, taken together."""
        fields = witness = None
        if self.fields is not None and other.fields is not None:
            fields = tuple(sorted({*self.fields, *other.fields}))
        if self.witness is not None and other.witness is not None:
            witness = tuple(sorted({*self.witness, *other.witness}))
        return Marks(fields, self.copy or other.copy, witness)

    def attributes(self, type_: Name) -> Attributes:
        """The same as attributes of a relation of this type."""
        known: Attributes = ((TYPE, type_),)
        if self.fields is not None:
            known += tuple((term("field"), clean(each)) for each in self.fields)
            if not self.fields:
                known += ((term("presence"), True),)
        if self.copy:
            known += ((term("copy"), True),)
        return known + tuple((term("witness"), each) for each in self.witness or ())
