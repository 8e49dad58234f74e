"""What an export says of erased events: which activity invalidated them, who did it, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from whence.exporters.describing import facts
from whence.exporters.model import Erased, Run
from whence.exporters.names import RunNames
from whence.exporters.prov.identifiers import PROV, Name, link
from whence.exporters.prov.rows import AT_ONCE, Names, Rows
from whence.exporters.prov.statements import (
    END_TIME,
    KINDS,
    START_TIME,
    TYPE,
    Attributes,
    Statement,
)
from whence.exporters.vocabulary import term

__all__ = ["about_erasures"]


def about_erasures(
    run: Run, names: RunNames, told: Callable[[str, int], bool] | None = None
) -> Iterator[Statement | Rows]:
    """The erasures that took something of a run, and the events that they invalidated.

    When an event was invalidated is when the erasure was: it is stated there, and only there.

    Args:
        run: the run.
        names: its names.
        told: whether an event, by place and position, is included; ``None`` if all are.
    """
    people: set[Name] = set(names.people.values())
    for each in run.erased:
        ranges = [piece for piece in each.ranges if told is None or _some(piece, told)]
        if not ranges:
            continue
        space, agent = names.erasures[each.id]
        activity = space.name("erasure")
        yield _activity(each, activity)
        if agent not in people:
            people.add(agent)
            person = ((TYPE, Name(PROV, "Person")), *facts(name=each.who))
            yield Statement(KINDS["agent"], agent, (), person)
        yield Statement(
            KINDS["wasAssociatedWith"], space.name("association"), (activity, agent, None)
        )
        for place, first, last in ranges:
            for lo in range(first, last + 1, AT_ONCE):
                positions = np.arange(lo, min(lo + AT_ONCE, last + 1), dtype=np.int64)
                if told is not None:
                    kept = [at for at in positions.tolist() if told(place, at)]
                    positions = np.array(kept, np.int64)
                yield _invalidated(names, place, positions, activity)


def _some(piece: tuple[str, int, int], told: Callable[[str, int], bool]) -> bool:
    place, first, last = piece
    return any(told(place, at) for at in range(first, last + 1))


def _activity(each: Erased, name: Name) -> Statement:
    times: Attributes = ((START_TIME, each.begun),)
    if each.done is not None:
        times += ((END_TIME, each.done),)
    said = facts(name=each.id, reason=each.reason)
    return Statement(KINDS["activity"], name, (), (*times, (TYPE, term("Erasure")), *said))


def _invalidated(names: RunNames, place: str, positions: np.ndarray, activity: Name) -> Rows:
    events = Names.numbered(names.at(place), "e", positions)
    own = Names.numbered(activity.space, f"i-{link(names.at(place))}-", positions)
    return Rows(KINDS["wasInvalidatedBy"], len(positions), own, (events, activity))
