"""Relations from event to event, in columns."""

from __future__ import annotations

from collections.abc import Iterator

from whence.engine.compact import Ints
from whence.exporters.describing import range_rows
from whence.exporters.identifiers import Namespace, link
from whence.exporters.marks import HOW, Marks
from whence.exporters.rows import AT_ONCE, Names, Rows

__all__ = ["pair_rows"]


def pair_rows(
    relation: str,
    source: Namespace,
    target: Namespace,
    marks: Marks,
    outputs: Ints,
    inputs: Ints,
    *,
    stands_for: bool,
) -> Iterator[Rows]:
    """Relations from each output to its input, some at a time.

    Args:
        relation: how the outputs rest on the inputs.
        source: the namespace of the outputs.
        target: that of the inputs.
        marks: what else is said of every pair.
        outputs: positions.
        inputs: positions, as many.
        stands_for: the inputs are no events, so that a range of one position stands for each.
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
        ends = (Names.numbered(source, "e", some), reached)
        yield Rows(kind, len(some), Names.numbered(source, *parts), ends, attributes)
