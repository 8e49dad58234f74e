"""Walk explanation terms: flatten them to input events, list alternatives, draw the graph.

Nothing here recurses: a chain of a million events is walked with a stack of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from whence.engine.events import Either, Event, Part, Position, Term

__all__ = ["Alternatives", "Edge", "Inputs", "alternatives", "edges_below", "flatten"]

Asked = frozenset[str] | None
Inputs = dict[tuple[str, Position], frozenset[str] | None]
"""Input events by (log, position), each with the fields that matter; ``None``: the whole event."""

WITNESS_LIMIT = 64
_WORK_LIMIT = 512
"""How many sets are kept while working: more than are shown, since smaller ones may yet come."""


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


@dataclass(frozen=True)
class Alternatives:
    """All witnesses of an output, the first one first.

    Attributes:
        sets: each a set of input events (log, position).
        cut: whether there were more than are kept.
    """

    sets: tuple[frozenset[tuple[str, Position]], ...]
    cut: bool


_Sets = list[frozenset[tuple[str, Position]]]


Place = Callable[[Event], tuple[str, Position] | None]
"""Where an event is named in an answer; ``None`` if the way goes on through it."""


def input_place(event: Event) -> tuple[str, Position] | None:
    """Name input events, and go through all others."""
    stream = event.stream
    return (stream.name, event.position) if stream is not None and stream.is_log else None


def alternatives(
    term: Term, limit: int = WITNESS_LIMIT, place: Place = input_place
) -> Alternatives:
    """List every witness: without sets that contain another one, except that the first stays first.

    Only choices (`Either`) are worked on set by set; what lies between them is walked once.

    Args:
        term: an event, or any term.
        limit: how many sets are kept.
        place: which events a witness names.
    """
    done: dict[int, tuple[_Sets, bool]] = {}
    root = Either((term,))
    stack: list[Either] = [root]
    regions: dict[int, list[tuple[frozenset[tuple[str, Position]], list[Either]]]] = {}
    while stack:
        choice = stack[-1]
        if id(choice) in done:
            stack.pop()
            continue
        if id(choice) not in regions:
            regions[id(choice)] = [_region(option, place) for option in _options(choice)]
        waiting = [
            inner for _, inners in regions[id(choice)] for inner in inners if id(inner) not in done
        ]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        options: _Sets = []
        cut = False
        for leaves, inners in regions.pop(id(choice)):
            product: _Sets = [leaves]
            for inner in inners:
                inner_sets, inner_cut = done[id(inner)]
                cut = cut or inner_cut
                product, was_cut = _minimal(
                    (left | right for left in product for right in inner_sets), _WORK_LIMIT
                )
                cut = cut or was_cut
            options.extend(product)
        sets, was_cut = _minimal(iter(options), _WORK_LIMIT)
        done[id(choice)] = (sets, cut or was_cut)
    sets, cut = done[id(root)]
    return Alternatives(tuple(sets[:limit]), cut or len(sets) > limit)


def _options(choice: Either) -> Iterator[Term]:
    """The options of a choice in order, choices among them opened up (they may nest deeply)."""
    stack: list[Term] = list(reversed(choice))
    while stack:
        item = stack.pop()
        if isinstance(item, Either):
            stack.extend(reversed(item))
        else:
            yield item


def _region(term: Term, place: Place) -> tuple[frozenset[tuple[str, Position]], list[Either]]:
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
            named = place(event)
            if named is not None:
                leaves.add(named)
            elif isinstance(item, Part):
                stack.append(event)
            else:
                stack.append(event.why)
    return frozenset(leaves), list(choices.values())


def _minimal(sets: Iterator[frozenset[tuple[str, Position]]], limit: int) -> tuple[_Sets, bool]:
    """Drop what contains another set; the first stays first. Bounded, and says when it was cut."""
    ordered = list(dict.fromkeys(islice(sets, limit * WITNESS_LIMIT)))
    cut = len(ordered) > limit or next(sets, None) is not None
    ordered = ordered[:limit]
    first, rest = ordered[0], ordered[1:]
    kept: _Sets = []
    for candidate in sorted(rest, key=len):
        if not any(other <= candidate for other in kept) and not first <= candidate:
            kept.append(candidate)
    order = {s: n for n, s in enumerate(ordered)}
    return [first, *sorted(kept, key=order.__getitem__)], cut


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
