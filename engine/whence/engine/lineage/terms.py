"""Walk explanation terms: flatten them to input events, list alternatives, draw the graph.

Nothing here recurses: a chain of a million events is walked with a stack of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from whence.engine.language.events import Either, Event, Part, Position, Term
from whence.engine.lineage.witnesses import WITNESS_LIMIT, witness_sets

__all__ = ["Alternatives", "Edge", "Inputs", "alternatives", "edges_below", "flatten", "stands"]

Asked = frozenset[str] | None
Inputs = dict[tuple[str, Position], frozenset[str] | None]
"""Input events by (log, position), each with the fields that matter; ``None``: the whole event."""


def flatten(term: Term, *, support: bool = False) -> Inputs:
    """Follow a term up to the input events: the first witness, or the support.

    Args:
        term: an event, or any term.
        support: follow what supports instead of what explains.
    """
    found: Inputs = {}
    seen: set[tuple[int, Asked]] = set()
    stack: list[tuple[Term, Asked]] = [(term, None)]
    while stack:
        item, asked = stack.pop()
        if item is None:
            continue
        if isinstance(item, Either):
            stack.append((item[0], asked))
        elif isinstance(item, tuple):
            if len(item) > 2 or (item and type(item[0]) is tuple):
                mark = (id(item), asked)
                if mark in seen:
                    continue
                seen.add(mark)
            for child in item:
                stack.append((child, asked))
        else:
            if isinstance(item, Part):
                # A copy is asked for what its reader asks: Part(whole) stops that.
                event, asked = item.event, item.fields
            else:
                event = item
            stream = event.stream
            if stream is not None and stream.is_log:
                place = (stream.name, event.position)
                if asked and not isinstance(event.value, Mapping):
                    asked = None  # a plain value has no fields; `value` is all of it
                if place not in found:
                    found[place] = asked
                else:
                    known = found[place]
                    if known is not None:
                        found[place] = None if asked is None else known | asked
                continue
            mark = (id(event), asked)
            if mark in seen:
                continue
            seen.add(mark)
            below = asked if stream is not None and stream.copies else None
            if support:
                stack.append((event.exists, None))
                stack.append((event.why if event.support is None else event.support, below))
            else:
                stack.append((event.why, below))
    return found


def stands(
    term: Term, corrupt: Collection[tuple[str, Position]], known: dict[int, bool] | None = None
) -> bool:
    """Whether an event keeps its value, whatever some input events should have been.

    It does if none of them is in its support. With all alternatives kept, one untouched support of
    any of them is enough, at every choice on the way.

    Args:
        term: an event, or any term.
        corrupt: input events by (log, position).
        known: what was found out about other terms of the run for the same input events.
    """
    touched: dict[int, bool] = {} if known is None else known
    stack: list[Term] = [term]
    while stack:
        item = stack[-1]
        if id(item) in touched:
            stack.pop()
            continue
        below: tuple[Term, ...] = ()
        if isinstance(item, Part):
            below = (item.event,)
        elif isinstance(item, tuple):
            below = item
        elif item is not None:
            stream = item.stream
            if stream is not None and stream.is_log:
                touched[id(item)] = (stream.name, item.position) in corrupt
                continue
            below = (item.why if item.support is None else item.support, item.exists)
        waiting = [each for each in below if id(each) not in touched]
        if waiting:
            stack.extend(waiting)
            continue
        met = [touched[id(each)] for each in below]
        touched[id(item)] = bool(met) and (all(met) if isinstance(item, Either) else any(met))
        stack.pop()
    return not touched[id(term)]


@dataclass(frozen=True)
class Alternatives:
    """All witnesses of an output, the first one first.

    Attributes:
        sets: each a set of input events (log, position).
        cut: whether there were more than are kept.
    """

    sets: tuple[frozenset[tuple[str, Position]], ...]
    cut: bool


def alternatives(term: Term, limit: int = WITNESS_LIMIT) -> Alternatives:
    """List every witness: without sets that contain another one, except that the first stays first.

    Only choices (`Either`) are worked on set by set; what lies between them is walked once.

    Args:
        term: an event, or any term.
        limit: how many sets are kept.
    """
    sets, cut = witness_sets(
        Either((term,)),
        lambda choice: [_region(option) for option in _options(choice)],
        id,
        limit,
    )
    return Alternatives(sets, cut)


def _options(choice: Either) -> Iterator[Term]:
    """The options of a choice in order, choices among them opened up (they may nest deeply)."""
    stack: list[Term] = list(reversed(choice))
    while stack:
        item = stack.pop()
        if isinstance(item, Either):
            stack.extend(reversed(item))
        else:
            yield item


def _region(term: Term) -> tuple[frozenset[tuple[str, Position]], list[Either]]:
    """The events that a term always needs, and the choices that it meets on the way."""
    leaves: set[tuple[str, Position]] = set()
    choices: dict[int, Either] = {}
    seen: set[int] = set()
    stack: list[Term] = [term]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Either):
            choices[id(item)] = item
        elif isinstance(item, tuple):
            stack.extend(item)
        else:
            event = item.event if isinstance(item, Part) else item
            if event.stream is not None and event.stream.is_log:
                leaves.add((event.stream.name, event.position))
            elif isinstance(item, Part):
                stack.append(event)
            else:
                stack.append(event.why)
    return frozenset(leaves), list(choices.values())


@dataclass(frozen=True, slots=True)
class Edge:
    """One step of an explanation: an event and one that it derives from.

    Attributes:
        target: the event below.
        fields: the fields of it that matter; ``None`` for the whole event.
        witness: the choices that lead here, each as the choice's number among those of the event
            above and the number of the option; empty without alternatives.
    """

    target: Event
    fields: frozenset[str] | None
    witness: tuple[tuple[int, int], ...]


def edges_below(term: Term, *, first: bool = True) -> list[Edge]:
    """The events that a term names directly, without going through them.

    Args:
        term: usually the ``why`` or the ``support`` of an event.
        first: only the first option of every choice.
    """
    edges: list[Edge] = []
    seen: set[tuple[int, tuple[tuple[int, int], ...]]] = set()
    choices: dict[int, int] = {}
    stack: list[tuple[Term, tuple[tuple[int, int], ...]]] = [(term, ())]
    while stack:
        item, witness = stack.pop()
        if item is None or (id(item), witness) in seen:
            continue
        seen.add((id(item), witness))
        if isinstance(item, Either):
            options = list(_options(item))
            if first:
                options = options[:1]
            choice = choices.setdefault(id(item), len(choices))
            for number, option in reversed(list(enumerate(options))):
                stack.append((option, witness if first else (*witness, (choice, number))))
        elif isinstance(item, tuple):
            stack.extend((child, witness) for child in reversed(item))
        elif isinstance(item, Part):
            edges.append(Edge(item.event, item.fields, witness))
        else:
            edges.append(Edge(item, None, witness))
    return edges
