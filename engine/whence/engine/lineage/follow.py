"""The one follower: everything that some events lead to, up to what explains or down from there.

What leads from one stream to another is `Links`, a few columns made from blocks. Streams mostly
lead to each other in one direction; in that order each is followed once, when all that is reached
of it is known. Streams that lead around are followed until nothing is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from whence.engine.lineage.association import Relation
from whence.engine.lineage.block import Block
from whence.engine.lineage.links import Links
from whence.engine.lineage.positions import NONE, Positions

__all__ = ["EXPLAINS", "SUPPORTS", "Label", "Lineage", "Place", "Way", "follow"]

EXPLAINS: tuple[Relation, ...] = ("explains", "trigger")
SUPPORTS: tuple[Relation, ...] = ("explains", "supports")

Label = frozenset[str] | None
"""The fields that are asked of events; ``None`` for all of an event."""
Place = tuple[str, Label]
"""A log or stream, and the fields that are asked of its events."""


class Way(NamedTuple):
    """Everything of one kind that leads from a stream to a log or stream.

    Attributes:
        to: where it leads to.
        links: from where to where.
        asks: the fields that it asks for.
        copies: it passes on what was asked of it instead.
    """

    to: str
    links: Links
    asks: Label = None
    copies: bool = False

    def label(self, label: Label) -> Label:
        """What is asked where it leads to, if this was asked where it begins."""
        return label if self.copies else self.asks


Ways = Callable[[str], Sequence[Way]]


def follow(start: Mapping[Place, Positions], ways: Ways) -> dict[Place, Positions]:
    """Everything that some events lead to, they themselves included.

    Args:
        start: the events.
        ways: what leads on from a log or stream.
    """
    rank = _ranks(dict.fromkeys(name for name, _ in start), ways)
    seen: dict[Place, Positions] = {}
    waiting = dict(start)
    while waiting:
        place = min(waiting, key=lambda place: rank[place[0]])
        name, label = place
        new = waiting.pop(place).minus(seen.get(place, NONE))
        if not new:
            continue
        further = [(way, (way.to, way.label(label))) for way in ways(name)]
        own = [way.links for way, to in further if to == place]
        if own:
            new = new.union(Links.together(own).within(new)).minus(seen.get(place, NONE))
        seen[place] = new.union(seen.get(place, NONE))
        for way, to in further:
            if to != place and (reached := way.links.reached(new)):
                waiting[to] = reached.union(waiting.get(to, NONE))
    return seen


def _ranks(begin: Iterable[str], ways: Ways) -> dict[str, int]:
    """An order in which streams come before those that they lead to, unless they lead around."""
    done: dict[str, int] = {}
    open_: set[str] = set()
    stack = [(name, False) for name in begin]
    while stack:
        name, over = stack.pop()
        if over:
            done[name] = -len(done)
        elif name not in open_:
            open_.add(name)
            stack.append((name, True))
            stack += [(way.to, False) for way in ways(name) if way.to not in open_]
    return done


class Lineage:
    """What leads where, in blocks: what the questions of a run begin with.

    Args:
        streams: the names of the streams.
        blocks: everything that is said of a stream's outputs; read when it is first needed.
        every: whether all alternatives count, and not only the first one.
    """

    def __init__(
        self,
        streams: Iterable[str],
        blocks: Callable[[str], Iterable[Block]],
        *,
        every: bool = False,
    ) -> None:
        """Read nothing yet."""
        self._streams = frozenset(streams)
        self._read = blocks
        self._every = every
        self._blocks: dict[str, tuple[Block, ...]] = {}
        self._links: dict[tuple[str, Relation], dict[tuple[str, Label, bool], Links]] = {}
        self._known: dict[tuple[str, bool, bool], list[Way]] = {}
        self._back: dict[bool, dict[str, list[Way]]] = {}

    def blocks(self, stream: str) -> tuple[Block, ...]:
        """What counts of what is said of a stream's outputs."""
        if stream not in self._blocks:
            found = self._read(stream) if stream in self._streams else ()
            self._blocks[stream] = tuple(b for b in found if self._every or b.is_first)
        return self._blocks[stream]

    def links(self, stream: str, relation: Relation) -> dict[tuple[str, Label, bool], Links]:
        """What leads from a stream by a relation: by target, fields and whether it copies."""
        found = self._links.get((stream, relation))
        if found is None:
            alike: dict[tuple[str, Label, bool], list[Block]] = {}
            for block in self.blocks(stream):
                if block.relation == relation:
                    fields = None if block.fields is None else frozenset(block.fields)
                    alike.setdefault((block.to, fields, block.copy), []).append(block)
            found = {kind: Links.of(several) for kind, several in alike.items()}
            self._links[stream, relation] = found
        return found

    def _ways(self, *, support: bool, fields: bool) -> Ways:
        def ways(stream: str) -> list[Way]:
            found = self._known.get((stream, support, fields))
            if found is None:
                alike: dict[tuple[str, Label, bool], list[Links]] = {}
                for relation in SUPPORTS if support else EXPLAINS:
                    for (to, asks, copies), links in self.links(stream, relation).items():
                        kind = (to, asks, copies) if fields else (to, None, False)
                        alike.setdefault(kind, []).append(links)
                found = self._known[stream, support, fields] = [
                    Way(to, Links.together(several), asks, copies)
                    for (to, asks, copies), several in alike.items()
                ]
            return found

        return ways

    def up(self, start: Mapping[str, Positions], *, support: bool = False) -> dict[str, Positions]:
        """Everything that explains, or supports, some events; they themselves are part of it.

        Args:
            start: the events, by stream.
            support: follow what supports instead of what explains.
        """
        begin: dict[Place, Positions] = {(name, None): at for name, at in start.items()}
        found = follow(begin, self._ways(support=support, fields=False))
        return {name: places for (name, _), places in found.items()}

    def up_fields(
        self, start: Mapping[str, Positions], *, support: bool = False
    ) -> dict[Place, Positions]:
        """The same with the fields that are asked on the way."""
        begin: dict[Place, Positions] = {(name, None): at for name, at in start.items()}
        return follow(begin, self._ways(support=support, fields=True))

    def down(
        self, start: Mapping[str, Positions], *, support: bool = False
    ) -> dict[str, Positions]:
        """Everything that some events explain, or support; they themselves are part of it."""
        back = self._back.get(support)
        if back is None:
            back = self._back[support] = {}
            forth = self._ways(support=support, fields=False)
            for stream in sorted(self._streams):
                for way in forth(stream):
                    back.setdefault(way.to, []).append(Way(stream, way.links.turned()))
        begin: dict[Place, Positions] = {(name, None): at for name, at in start.items()}
        found = follow(begin, lambda name: back.get(name, ()))
        return {name: places for (name, _), places in found.items()}
