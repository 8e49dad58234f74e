"""Log: the events as they were read; those in doubt can be marked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from whence.engine.errors import ParameterError
from whence.engine.lineage.positions import Intervals, contains, joined, minus, of_positions
from whence.store.catalog import RunGraph, StoredLog
from whence.store.cypher import cypher
from whence.store.questions.answers import InputRange
from whence.store.questions.events import input_events
from whence.store.questions.naming import parse_positions
from whence.web.events import LogEvent, events_of, events_table
from whence.web.html import Html, Inside, el, shown
from whence.web.paging import LogPages
from whence.web.pieces import search_field
from whence.web.strips import Lane, strip
from whence.web.view import Asked, Part, link, number, plural
from whence.web.views.overview import head

__all__ = ["log", "marks_of"]

PAGE = 50


def log(asked: Asked) -> Part:
    """A page of a log, with boxes to mark events."""
    asker = asked.asker
    run = asker.run(asked.run)
    chosen = run.log_named(asked.text("log") or run.logs[0].name)
    marked = _marked(asked, chosen)
    search = asked.text("search")
    kept = asker.recorded(run.id)
    page = asked.whole("page")
    if kept is None:
        total = chosen.length
        lo = page * PAGE
        span = InputRange(chosen.name, lo, min(lo + PAGE, total) - 1)
        found = input_events(asker.graph(), run, [span] if lo < total else [], PAGE)
        events = events_of(asker, run, found)
    else:
        table = LogPages(kept.log(chosen.name))
        counts = asker.kept(run, ("log", chosen.name, search), lambda: table.counts(search))
        total = sum(counts)
        page = min(page, max((total - 1) // PAGE, 0))
        events = [
            LogEvent(chosen.name, at, value)
            for at, value in table.page(counts, search, page * PAGE, PAGE)
        ]
    body: list[Inside] = [
        head(
            run,
            "/log",
            el("h1", shown(chosen.name, 60), el("small", plural(chosen.length, "event"))),
        ),
        _logs(run, chosen),
        _form(asked, run, chosen, marked, search),
        _marking(run, chosen, events, marked, search, page, total),
    ]
    return Part(
        f"{chosen.name[:60]}: log of run {run.id}",
        body,
        {name: cypher(name) for name in ("run_read", "inputs_read")},
    )


def marks_of(asked: Asked) -> str:
    """All marks of a request, as positions: those of other pages, and the boxes of the last one."""
    log = asked.text("log")
    return ",".join(
        f"{log}:{lo}" + (f"-{hi}" if hi > lo else "") for lo, hi in _ranges(asked, {log, None})
    )


def _ranges(asked: Asked, names: Collection[str | None]) -> Intervals:
    text = asked.text("marked")
    try:
        given: Mapping[str | None, list[tuple[int, int]]] = parse_positions(text) if text else {}
    except ParameterError:
        given = {}
    ranges = joined(
        piece
        for name, several in given.items()
        if name is None or name in names
        for piece in several
    )
    seen = of_positions(int(word) for word in asked.text("seen").split(",") if word.isdecimal())
    ticked = of_positions(int(word) for word in asked.query.getlist("mark") if word.isdecimal())
    return joined((*minus(ranges, seen), *ticked))


def _marked(asked: Asked, log: StoredLog) -> Intervals:
    """What is marked: on other pages as the link says, on the last one as its boxes say."""
    kept = _ranges(asked, {None, *log.names})
    whole: Intervals = ((0, log.length - 1),) if log.length else ()
    return minus(kept, minus(kept, whole))


def _text(log: StoredLog, ranges: Intervals) -> str:
    return ",".join(f"{log.name}:{lo}" + (f"-{hi}" if hi > lo else "") for lo, hi in ranges)


def _logs(run: RunGraph, chosen: StoredLog) -> Inside:
    if len(run.logs) < 2:
        return None
    return el(
        "nav",
        [
            el(
                "a",
                shown(each.name, 40),
                href=link(f"/run/{run.id}/log", log=each.name),
                aria_current="true" if each is chosen else None,
            )
            for each in run.logs
        ],
        class_="chips",
        aria_label="Logs",
    )


def _form(asked: Asked, run: RunGraph, log: StoredLog, marked: Intervals, search: str) -> Html:
    return el(
        "form",
        search_field(search, "text in any column"),
        el("input", type="hidden", name="log", value=log.name),
        el("input", type="hidden", name="marked", value=_text(log, marked)) if marked else None,
        el("button", "Show", type="submit"),
        class_="filter",
        method="get",
        action=f"/run/{run.id}/log",
        role="search",
    )


def _marking(
    run: RunGraph,
    log: StoredLog,
    events: list[LogEvent],
    marked: Intervals,
    search: str,
    page: int,
    total: int,
) -> Html:
    """The table in a form: every button of it takes the marks along."""
    last = max((total - 1) // PAGE, 0)
    many = sum(hi - lo + 1 for lo, hi in marked)
    path = f"/run/{run.id}/log"

    def turn(words: str, to: int, rel: str) -> Inside:
        off = not 0 <= to <= last
        return el("button", words, type="submit", name="page", value=to, disabled=off, data_rel=rel)

    if not events:
        return el("p", "No matching events.", class_="empty")
    marks = {event.position: contains(marked, event.position) for event in events}
    where = (
        strip(f"{plural(many, 'event')} marked", log.length, [Lane("marked", "doubted", marked)])
        if marked
        else None
    )
    return el(
        "form",
        el("input", type="hidden", name="log", value=log.name),
        el("input", type="hidden", name="search", value=search) if search else None,
        el("input", type="hidden", name="marked", value=_text(log, marked)),
        el("input", type="hidden", name="seen", value=",".join(str(e.position) for e in events)),
        el(
            "div",
            el(
                "button",
                "Show affected outputs",
                type="submit",
                name="ask",
                value="1",
                class_="main",
            ),
            el(
                "span",
                f"{number(many)} marked on all pages"
                if many
                else "mark events, then see which outputs they affect",
                class_="note",
            ),
            class_="asking",
        ),
        where,
        events_table(run, events, marks=marks),
        el(
            "nav",
            turn("← Previous", page - 1, "prev"),
            el(
                "span",
                f"{page * PAGE + 1:,} to {min((page + 1) * PAGE, total):,} of {total:,}",
                class_="here",
            ),
            turn("Next →", page + 1, "next"),
            class_="pages",
            aria_label="Pages",
        ),
        method="get",
        action=path,
        class_="marking",
    )
