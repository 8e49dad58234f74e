"""Relations from event to event, in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from whence.engine.lineage.block import Block
from whence.engine.lineage.positions import Ints
from whence.exporters.describing import range_rows
from whence.exporters.marks import HOW, Marks
from whence.exporters.prov.identifiers import Name, Namespace, link
from whence.exporters.prov.rows import AT_ONCE, Names, Rows
from whence.exporters.prov.statements import KINDS

__all__ = ["pair_rows", "said_once"]


def said_once(several: Sequence[Block]) -> Iterator[tuple[Block, bool]]:
    """The same pairs, and whether the plain form is to be written.

    An input may explain an output both as a trigger and not: two relations of one plain form.
    """
    first = [block for block in several if block.relation == "explains"]
    if not first or all(block.relation != "trigger" for block in several):
        yield from ((block, True) for block in several)
        return
    known = np.concatenate([_keys(block.outputs, block.inputs) for block in first])
    for block in several:
        rest = block
        if block.relation == "trigger":
            again = np.isin(_keys(block.outputs, block.inputs), known)
            yield block.where(again), False
            rest = block.where(~again)
        yield rest, True


def _keys(outputs: Ints, inputs: Ints) -> np.ndarray:
    both = np.stack((outputs, inputs), axis=1)
    return np.ascontiguousarray(both).view([("output", np.int64), ("input", np.int64)]).ravel()


def pair_rows(
    block: Block,
    source: Namespace,
    target: Namespace,
    *,
    stands_for: bool,
    work: Name | None = None,
    plain: bool = True,
) -> Iterator[Rows]:
    """Relations from each output to its input, some at a time.

    Args:
        block: single outputs, each with one input.
        source: the namespace of the outputs.
        target: that of the inputs.
        stands_for: the inputs are no events, so that a range of one position stands for each.
        work: what made the outputs from the inputs in one step, if it was one.
        plain: whether RDF has the plain form too.
    """
    letter, kind, type_ = HOW[block.relation]
    attributes, outputs, inputs = Marks.of(block).attributes(type_), block.outputs, block.inputs
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
