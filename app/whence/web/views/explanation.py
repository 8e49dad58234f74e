"""Why: which few events made this output what it is?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whence.engine.drawing import Picture, svg
from whence.engine.errors import RunnerError, StoreError
from whence.engine.lineage.steps import Steps
from whence.engine.lineage.words import in_words
from whence.engine.record.erasing import ERASED
from whence.engine.values import Value
from whence.engine.values.columns import from_canonical
from whence.store.catalog import RunGraph
from whence.store.questions import Why, chain_of, explain, kept_steps, since_event, steps
from whence.store.questions.answers import InputRange
from whence.web.asking import Asker
from whence.web.events import LogEvent, cell, event_name, events_of, events_table
from whence.web.expanding import expanded
from whence.web.html import Html, Inside, el, raw, shown
from whence.web.view import PNG, Asked, Part, link, number, plural, prov_takes
from whence.web.views.overview import head
from whence.web.views.timeline import timelines

__all__ = ["Answer", "answer_of", "explanation", "graph", "graph_picture"]

LISTED = 100
"""Events in the table; the CSV has all of them."""
NAMED = 4
"""Events that the sentence names."""
HEADLINE = 80
SLOW = 5_000
"""A run with detail ``ends`` is rerun up to the output; beyond this size only on request."""


@dataclass(frozen=True)
class Answer:
    """An explanation, and how it was requested."""

    run: RunGraph
    why: Why
    output: str

    @property
    def value(self) -> Value:
        told = self.why.output
        if told.kind is None:
            return told.value
        if told.kind == ERASED:
            return ERASED
        try:
            return from_canonical(told.value)
        except ValueError:
            return f"{told.value}…"


def answer_of(asked: Asked) -> Answer:
    """The explanation that a request means."""
    asker = asked.asker
    run = asker.run(asked.run)
    output = asked.text("output") or f"{run.outputs[0].name}@0"
    support = bool(asked.text("support"))
    why = asker.kept(
        run,
        ("why", output, support),
        lambda: explain(
            asker.graph(), run.id, output, support=support, most=LISTED, record=asker.record
        ),
    )
    return Answer(run, why, output)


def explanation(asked: Asked) -> Part:
    """The sentence, the events, the timeline, the graph."""
    asker, found = asked.asker, answer_of(asked)
    run, why = found.run, found.why
    label = why.output.label
    events = events_of(asker, run, why.events)
    body: list[Inside] = [
        head(run, "/outputs"),
        _sentence(found, events),
        _around(asked, found),
        timelines(asker, run, why),
        el("section", el("h2", "The events that matter"), _events(run, why, events)),
        el("section", el("h2", "Graph"), _switch(asked, found), _graph(asked, found)),
        _words(asked, found),
        _alternatives(why),
        el("p", f"Coverage: {why.coverage}.", class_="note"),
    ]
    asks = {
        "output": label,
        "steps": asked.text("steps"),
        "support": asked.text("support"),
        "open": asked.query.getlist("open"),
    }
    base = f"/take/run/{run.id}"
    takes = [
        ("Events as CSV", link(f"{base}/why.csv", output=label)),
        ("Graph as SVG", link(f"{base}/why.svg", **asks)),
        ("Graph as PNG", PNG + link(f"{base}/why.svg", **asks)),
        *prov_takes(f"{base}/why", output=label),
        ("Evidence pack", link(f"{base}/evidence.zip", output=label)),
    ]
    return Part(f"Why is {label} what it is? Run {run.id}", body, why.cypher, takes)


def _sentence(found: Answer, events: Sequence[LogEvent]) -> Inside:
    run, why = found.run, found.why
    lengths = {log.name: log.length for log in run.logs}
    of = sum(lengths[name] for name in {each.log for each in why.inputs}) or sum(lengths.values())
    verdict = el(
        "h1",
        el("span", why.output.label, class_="name"),
        " is ",
        el("span", _short(found.value), class_="verdict"),
    )
    if not why.count:
        return [
            verdict,
            el(
                "p",
                "No input event explains it: it has this value for any log.",
                class_="sentence",
            ),
        ]
    named: list[Inside] = []
    for place, event in enumerate(events[:NAMED]):
        if place:
            last = place == len(events[:NAMED]) - 1 and why.count <= NAMED
            named.append(" and " if last else ", ")
        named.append(event_name(run, event))
    left = why.count - min(len(events), NAMED)
    if left > 0:
        named.append(f" and {number(left)} more")
    return [
        verdict,
        el(
            "p",
            "because of ",
            el("b", f"{plural(why.count, 'event')}"),
            f" of {number(of)}: ",
            named,
            ".",
            class_="sentence",
        ),
        el("p", _when(why.output.moment), class_="note"),
    ]


def _when(moment: int) -> str:
    return f"It appeared after input {number(moment)}." if moment >= 0 else ""


def _short(value: Value) -> Html:
    """A value in the headline; of a long text the graph has the beginning only."""
    if isinstance(value, str) and len(value) > HEADLINE:
        return shown(f"{value[:HEADLINE]}…")
    return cell(value)


def _around(asked: Asked, found: Answer) -> Inside:
    """Links to the neighbours, and further questions."""
    run, told = found.run, found.why.output
    stream = next(s for s in run.streams if s.name == told.name)
    path = f"/run/{run.id}/why"
    steps_on, support_on = asked.text("steps"), asked.text("support")

    def to(place: int, words: str, rel: str) -> Inside:
        if stream.w != 1 or not 0 <= place < stream.length:
            return None
        return el(
            "a",
            words,
            href=link(path, output=stream.label(place), steps=steps_on, support=support_on),
            rel=rel,
            class_="button",
        )

    support = link(
        path,
        output=told.label,
        steps=steps_on,
        support="" if support_on else "1",
        open=asked.query.getlist("open"),
    )
    return el(
        "nav",
        to(told.position - 1, "← Previous output", "prev"),
        to(told.position + 1, "Next output →", "next"),
        el(
            "a", "All outputs", href=link(f"/run/{run.id}/outputs", pipe=told.name), class_="button"
        ),
        el(
            "a",
            "Hide sufficient events" if support_on else "Show sufficient events",
            href=support,
            class_="button",
            data_follows="open",
        ),
        el(
            "a",
            "What if these were wrong?",
            href=link(f"/run/{run.id}/impact", inputs=_positions(found.why.inputs)),
            class_="button",
        )
        if found.why.inputs
        else None,
        class_="around",
        aria_label="Around this output",
    )


def _positions(inputs: Sequence[InputRange], most: int = 200) -> str:
    """Input events for the view of impact; a link has its limits."""
    return ",".join(
        f"{each.log}:{each.lo}" + (f"-{each.hi}" if each.hi > each.lo else "")
        for each in inputs[:most]
    )


def _events(run: RunGraph, why: Why, events: Sequence[LogEvent]) -> Inside:
    if not events:
        return el("p", "No input event explains it.", class_="empty")
    rest = why.count - len(events)
    note = None
    if rest > 0:
        note = el(
            "p",
            f"These are the first {number(len(events))} of {number(why.count)} events; "
            "the timeline shows all of them, the graph puts them together, and the "
            "CSV below lists each.",
            class_="note aggregated",
            role="note",
        )
    whole = all(event.value is None for event in events)
    hint = (
        el(
            "p",
            "The record is not here, so only what the graph knows of them is shown.",
            class_="note",
        )
        if whole
        else None
    )
    return [note, hint, events_table(run, events)]


def _switch(asked: Asked, found: Answer) -> Inside:
    path, label = f"/run/{found.run.id}/why", found.why.output.label
    support = asked.text("support")
    on = bool(asked.text("steps"))
    return el(
        "nav",
        el(
            "a",
            "Output and inputs",
            href=link(path, output=label, support=support),
            aria_current=None if on else "true",
        ),
        el(
            "a",
            "Every step",
            href=link(path, output=label, support=support, steps="1"),
            aria_current="true" if on else None,
        ),
        class_="chips",
        aria_label="Amount of detail",
    )


def steps_of(asked: Asked, found: Answer) -> Steps:
    """The events of the graph: as far as the graph kept them, or every step."""
    asker, run, why = asked.asker, found.run, found.why
    every = bool(asked.text("steps"))
    work = _every_step if every else _kept_steps
    return asker.kept(
        run,
        ("steps", why.output.label, every),
        lambda: work(asker, why),
    )


def _every_step(asker: Asker, why: Why) -> Steps:
    return steps(asker.graph(), why, record=asker.record, allow=asker.allow)


def _kept_steps(asker: Asker, why: Why) -> Steps:
    return kept_steps(asker.graph(), why, record=asker.record)


def graph_picture(asked: Asked, found: Answer) -> tuple[Picture, frozenset[str]]:
    """The graph as far as it is opened, and what can be opened."""
    return expanded(steps_of(asked, found), set(asked.query.getlist("open")))


def graph(asked: Asked) -> Part:
    """The graph alone, for a box that was opened."""
    return Part("", _drawn(*graph_picture(asked, answer_of(asked))))


def _drawn(picture: Picture, can: frozenset[str]) -> Inside:
    return raw(svg(picture, inside=True, buttons=can))


def _graph(asked: Asked, found: Answer) -> Inside:
    try:
        drawn = _drawn(*graph_picture(asked, found))
    except (StoreError, RunnerError) as fault:
        if not asked.text("steps"):
            raise
        return el("p", str(fault), class_="problem", role="alert")
    return [
        el(
            "p",
            "Click a box marked + to open it, and again to close it.",
            class_="note",
        ),
        el(
            "div",
            drawn,
            class_="drawing",
            id="graph",
            data_opens=f"/part/run/{found.run.id}/graph",
            role="region",
            aria_label="graph of the explanation",
        ),
    ]


def _words(asked: Asked, found: Answer) -> Inside:
    """The steps in words: of few events quickly, else when every step is asked for."""
    run, why, asker = found.run, found.why, asked.asker
    again = run.options.detail != "steps" and why.output.moment > SLOW
    if not why.count or (again and not asked.text("steps")):
        return None

    def say() -> list[str]:
        found_steps = _every_step(asker, why)
        since = since_event(asker.graph(), why)
        return in_words(found_steps, chain_of(asker.graph(), run.id), since=since)

    try:
        told = asker.kept(run, ("words", why.output.label), say)
    except (StoreError, RunnerError):
        return None
    return el(
        "section",
        el("h2", "In words, step by step"),
        el("ol", [el("li", shown(line, 600)) for line in told], class_="words"),
    )


def _alternatives(why: Why) -> Inside:
    others = (why.alternatives or ())[1:]
    if not others:
        return None
    lines = [
        el(
            "li",
            ", ".join(
                f"{r.log}@{r.lo}" + (f"-{r.hi}" if r.hi > r.lo else "") for r in each.ranges[:12]
            ),
            " …" if len(each.ranges) > 12 else "",
        )
        for each in others[:12]
    ]
    left = len(others) - len(lines)
    more = el("p", f"and {number(left)} more", class_="note") if left > 0 else None
    return el(
        "section",
        el("h2", "Alternatives"),
        el("p", "Each of these alone would explain it as well.", class_="note"),
        el("ul", lines),
        more,
    )
