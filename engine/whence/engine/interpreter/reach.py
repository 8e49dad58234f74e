"""What a term reaches among the events that are kept, as compact sets of positions."""

from __future__ import annotations

from collections.abc import Callable

from whence.engine.language.events import Either, Event, Part, Term
from whence.engine.lineage.positions import Intervals, union

__all__ = ["PASS", "Key", "Reach", "Reacher"]

PASS = frozenset({"*"})
"""Asked of a copy: whatever fields its reader asks for."""

Asked = frozenset[str] | None
Key = tuple[str, Asked]
"""A stream and the fields that matter there."""
Reach = dict[Key, Intervals]

_Mark = tuple[int, bool, Asked]


class Reacher:
    """Follows terms up to kept events and remembers what it found, term by term.

    A prefix of a million events is a million linked pairs, each of which reaches one interval: each
    is looked at once.
    """

    def __init__(
        self,
        place: Callable[[Event], tuple[str, int] | None],
        choice: Callable[[Either], tuple[str, int]] | None = None,
    ) -> None:
        """Begin.

        Args:
            place: where an event is kept, as stream name and position; ``None`` if it is not kept,
                and the way goes on through it.
            choice: likewise where a choice is kept; else the way goes on through its first option.
        """
        self.place = place
        self.choice = choice
        self.known: dict[_Mark, Reach] = {}
        self.held: list[Term] = []

    def reach(self, term: Term, asked: Asked, *, support: bool) -> Reach:
        """What a term reaches.

        Args:
            term: what to follow.
            asked: the fields asked for.
            support: follow what supports instead of what explains.
        """
        if term is None:
            return {}
        stack: list[tuple[Term, Asked]] = [(term, asked)]
        while stack:
            item, fields = stack[-1]
            mark = (id(item), support, fields)
            if mark in self.known:
                stack.pop()
                continue
            direct = self.direct(item, fields, support)
            if direct is not None:
                self._keep(mark, item, direct)
                stack.pop()
                continue
            below = self._below(item, fields, support)
            waiting = [b for b in below if (id(b[0]), support, b[1]) not in self.known]
            if waiting:
                stack.extend(waiting)
                continue
            found: Reach = {}
            for child, child_fields in below:
                for key, places in self.known[id(child), support, child_fields].items():
                    found[key] = union(found[key], places) if key in found else places
            self._keep(mark, item, found)
            stack.pop()
        return self.known[id(term), support, asked]

    def _keep(self, mark: _Mark, item: Term, found: Reach) -> None:
        self.known[mark] = found
        self.held.append(item)  # an id is only unique while its object lives

    def direct(self, item: Term, asked: Asked, support: bool) -> Reach | None:
        """What a term reaches without following any other."""
        if isinstance(item, Either) and self.choice is not None:
            name, number = self.choice(item)
            return {(name, asked): ((number, number),)}
        event, fields = (item.event, item.fields) if isinstance(item, Part) else (item, asked)
        if not isinstance(event, Event) or event.stream is None:
            return None
        kept = self.place(event)
        if kept is None:
            return None
        name, position = kept
        return {(name, fields): ((position, position),)}

    def _below(self, item: Term, asked: Asked, support: bool) -> list[tuple[Term, Asked]]:
        if isinstance(item, Either):
            return [(item[0], asked)]
        if isinstance(item, tuple):
            return [(child, asked) for child in item if child is not None]
        event, fields = (item.event, item.fields) if isinstance(item, Part) else (item, asked)
        assert isinstance(event, Event)
        return self.below_event(event, fields, support)

    def below_event(self, event: Event, asked: Asked, support: bool) -> list[tuple[Term, Asked]]:
        """Where the way goes on from an event that is not kept, or that is being told of."""
        inherited = asked if event.stream is not None and event.stream.copies else None
        if not support:
            return [] if event.why is None else [(event.why, inherited)]
        terms: list[tuple[Term, Asked]] = []
        enough = event.why if event.support is None else event.support
        if enough is not None:
            terms.append((enough, inherited))
        if event.exists is not None:
            terms.append((event.exists, None))
        return terms
