"""Relations from event to event, in columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from whence.engine.lineage.positions import Ints
from whence.exporters.describing import range_rows
from whence.exporters.marks import HOW, Marks
from whence.exporters.prov.identifiers import Name, Namespace, link
from whence.exporters.prov.rows import AT_ONCE, Names, Rows
from whence.exporters.prov.statements import KINDS

__all__ = ["Told", "pair_rows", "said_once"]

Told = tuple[str, Marks, Ints, Ints]
"""A relation, its marks, and the pairs of output and input that it holds between."""


def said_once(told: Iterable[Told]) -> Iterator[tuple[Told, bool]]:
    """The same, and whether the plain form is to be written.

    An input may explain an output both as a trigger and not: two relations of one plain form.
    """
    several = list(told)
    first = [
        (outputs, inputs) for relation, _, outputs, inputs in several if relation == "explains"
    ]
    if not first or all(each[0] != "trigger" for each in several):
        yield from ((each, True) for each in several)
        return
    known = np.concatenate([_keys(*pairs) for pairs in first])
    for relation, marks, outputs, inputs in several:
        if relation == "trigger":
            again = np.isin(_keys(outputs, inputs), known)
            yield (relation, marks, outputs[again], inputs[again]), False
            outputs, inputs = outputs[~again], inputs[~again]
        yield (relation, marks, outputs, inputs), True


def _keys(outputs: Ints, inputs: Ints) -> np.ndarray:
    both = np.stack((outputs, inputs), axis=1)
    return np.ascontiguousarray(both).view([("output", np.int64), ("input", np.int64)]).ravel()


def pair_rows(
    relation: str,
    source: Namespace,
    target: Namespace,
    marks: Marks,
    outputs: Ints,
    inputs: Ints,
    *,
    stands_for: bool,
    work: Name | None = None,
    plain: bool = True,
) -> Iterator[Rows]:
    """Relations from each output to its input, some at a time.

    Args:
        relation: how the outputs rest on the inputs.
        source: the namespace of the outputs.
        target: that of the inputs.
        marks: further statements about every pair.
        outputs: positions.
        inputs: positions, as many.
        stands_for: the inputs are no events, so that a range of one position represents each.
        work: what made the outputs from the inputs in one step, if it was one.
        plain: whether RDF has the plain form too.
    """
    letter, kind, type_ = HOW[relation]
    attributes = marks.attributes(type_)
    for start in range(0, len(outputs), AT_ONCE):
        some, others = outputs[start : start + AT_ONCE], inputs[start : start + AT_ONCE]
        parts = (letter, some, f"-{link(target)}-", others)
        reached = Names.numbered(target, "e", others)
        if stands_for:
            reached = Names.numbered(source, "h", *parts)
            yield range_rows(reached, target.name("all"), others, others)
        ends: tuple[Name | Names, ...] = (Names.numbered(source, "e", some), reached)
        if work is not None and kind is KINDS["wasDerivedFrom"]:
            ends += (work,)
        yield Rows(kind, len(some), Names.numbered(source, *parts), ends, attributes, plain)
