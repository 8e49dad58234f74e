"""Which part works for which operator."""

from __future__ import annotations

from whence.engine.language.formula.temporal import AGGREGATES
from whence.engine.rules.aggregate import Aggregate
from whence.engine.rules.ahead import End, Eventually, Next
from whence.engine.rules.back import Before, Once, Since
from whence.engine.rules.case import Case
from whence.engine.rules.part import Part
from whence.engine.rules.plain import Atom, Connective, FunctionOf, Trigger, Whole
from whence.engine.rules.spec import Spec
from whence.engine.rules.until import Until

__all__ = ["part_of"]

_KINDS: dict[str, type[Part]] = {
    "atom": Atom,
    "trigger": Trigger,
    "connective": Connective,
    "call": FunctionOf,
    "whole": Whole,
    "F": Eventually,
    "G": Eventually,
    "X": Next,
    "N": Next,
    "U": Until,
    "end": End,
    "O": Once,
    "H": Once,
    "S": Since,
    "Y": Before,
    "Z": Before,
    **dict.fromkeys(AGGREGATES, Aggregate),
}


def part_of(case: Case, spec: Spec, trigger: int) -> Part:
    """A fresh part for a spec."""
    return _KINDS[spec.kind](case, spec, trigger)
