"""The timeline of an explanation: where, in the whole log, the events are that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from whence.engine.lineage.positions import Intervals, count, joined
from whence.engine.lineage.words import value_text
from whence.store.catalog import RunGraph, StoredLog
from whence.store.questions import InputRange, Why
from whence.store.questions.in_record import input_values
from whence.web.asking import Asker
from whence.web.html import Inside, el
from whence.web.strips import LIGHTS, Lane, strip
from whence.web.view import number, plural

__all__ = ["timelines"]


def _ranges(inputs: Sequence[InputRange], log: str) -> Intervals:
    return joined((each.lo, each.hi) for each in inputs if each.log == log)


def timelines(asker: Asker, run: RunGraph, why: Why) -> Inside:
    """Each log from its first to its last event, those lit that explain the output."""
    drawn = []
    for log in run.logs:
        lit = _ranges(why.inputs, log.name)
        lanes = [Lane("explain it", "explains", lit)]
        if why.support is not None:
            lanes.append(Lane("are sufficient for it", "supports", _ranges(why.support, log.name)))
        many = count(lit)
        places = [p for lo, hi in lit for p in range(lo, hi + 1)] if many <= LIGHTS else []
        words = f"{log.name}: {plural(log.length, 'event')}, {many:,} highlighted"
        drawn.append(
            strip(
                words,
                log.length,
                lanes,
                lights=[(p, f"{log.name}@{p}") for p in places],
                moment=why.output.moment if len(run.logs) == 1 else None,
                ends=asker.kept(run, ("ends", log.name), partial(_ends, asker, run, log)),
            )
        )
    note = None
    if why.support is not None:
        enough = sum(each.hi - each.lo + 1 for each in why.support)
        note = el(
            "p",
            f"{plural(enough, 'event')} are sufficient for it: as long as "
            "these stay as they are, nothing else in the log can change it.",
            class_="note",
        )
    return el("section", el("h2", "On the log"), drawn, note)


def _ends(asker: Asker, run: RunGraph, log: StoredLog) -> tuple[str, str] | None:
    """Labels below the ends of a log: positions, and the times there if they are known."""
    if not log.length or "time" not in log.mapped:
        return None
    places = (0, log.length - 1)
    found = input_values(run.id, [(log.name, at) for at in places], asker.record)
    said = []
    for at in places:
        event = found.get((log.name, at))
        time = event.get(log.mapped["time"]) if isinstance(event, Mapping) else None
        said.append(number(at) + (f" · {value_text(time)[:10]}" if time is not None else ""))
    return said[0], said[1]
