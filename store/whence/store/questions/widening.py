"""What else may be affected if more than the values of input events is in doubt.

The guarantee takes order, existence and raw slice keys of the input events as given, and that what
is present stays present. A caller may say that these are corrupt too; then what they could touch
is possibly affected. An output that appeared before a corrupt event arrived is not touched by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from whence.engine.language.chain import Chain
from whence.engine.language.expression import Field, Input
from whence.engine.language.processor import Processor
from whence.engine.lineage.positions import Intervals
from whence.engine.processors.slice import Slice
from whence.store.catalog import RunGraph
from whence.store.connection import Connection
from whence.store.places import Places
from whence.store.questions.moments import first_from

__all__ = ["Doubts", "Widened", "key_fields", "widen"]


@dataclass(frozen=True)
class Doubts:
    """What of the corrupt events is in doubt, beside their values.

    Attributes:
        keys: their slice keys: they may belong to other slices.
        order: their places: they may stand anywhere else in their log.
        missing: whether they are there: values may be missing, or numbers that are not finite.
    """

    keys: bool = False
    order: bool = False
    missing: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What is in doubt, as the command line calls it."""
        given = {"keys": self.keys, "order": self.order, "missing": self.missing}
        return tuple(name for name, doubted in given.items() if doubted)


@dataclass(frozen=True)
class Widened:
    """What doubts add to an answer.

    Attributes:
        start: the events whose values are in doubt: with the order, all of their logs.
        outputs: outputs that are possibly affected, by the pipe's number.
        may_appear: pipes on which outputs could appear.
    """

    start: Places
    outputs: Mapping[int, Intervals]
    may_appear: frozenset[str]


def widen(
    connection: Connection, run: RunGraph, chain: Chain, start: Places, doubts: Doubts
) -> Widened:
    """Work out what doubts add.

    Args:
        connection: where the graph is.
        run: the run.
        chain: its chain.
        start: the corrupt events.
        doubts: what of them is in doubt.
    """
    if doubts.order:
        # Whatever stands between an event and its right place stands elsewhere too, with its key,
        # and what it lacks.
        lengths = {log.no: log.length for log in run.logs}
        start = {no: ((0, lengths[no] - 1),) for no in start}
    touched: set[str] = set()
    if doubts.keys or doubts.order:
        touched |= set(_behind(chain, _slices_by_given_key))
    if doubts.missing or doubts.order:
        touched |= set(_behind(chain, _multiplies))
    outputs: dict[int, Intervals] = {}
    first = min((ranges[0][0] for ranges in start.values() if ranges), default=0)
    for pipe in run.outputs:
        if pipe.name in touched and pipe.length:
            at = first_from(connection, pipe, first)
            if at < pipe.length:
                outputs[pipe.no] = ((at, pipe.length - 1),)
    closed = run.options.closed
    traits = chain.output_traits(chain.input_traits(), closed)
    may = {
        name
        for name, known in zip(chain.outputs, traits, strict=True)
        if name in touched and (not known.regular or (closed and chain.closes))
    }
    return Widened(start, outputs, frozenset(may))


def key_fields(chain: Chain) -> set[str]:
    """Fields of input events that are slice keys, and so taken as given."""
    return {
        processor.key.name
        for _, processor in chain.processors()
        if isinstance(processor, Slice) and isinstance(processor.key, Field)
    }


def _behind(chain: Chain, wanted: Callable[[Processor], bool]) -> Iterator[str]:
    """The output pipes that something of a kind lies before."""
    known: dict[str, bool] = dict.fromkeys(chain.inputs, False)
    for connection in chain.ordered:
        processor = connection.processor
        before = [chain.source(name, processor.id).name for name in connection.sources]
        known[processor.id] = _holds(processor, wanted) or any(known[name] for name in before)
    for name in chain.outputs:
        if known[chain.source(name, "output").name]:
            yield name


def _holds(processor: Processor, wanted: Callable[[Processor], bool]) -> bool:
    inside = (each for chain in processor.holds for _, each in chain.processors())
    return wanted(processor) or any(wanted(each) for each in inside)


def _slices_by_given_key(processor: Processor) -> bool:
    """A key that is computed is part of the support anyway."""
    return isinstance(processor, Slice) and isinstance(processor.key, (Field, Input))


def _multiplies(processor: Processor) -> bool:
    """Where a zero alone would support a product; the word is enough, more is safe."""
    return "product" in json.dumps(processor.parameters(), default=str)
