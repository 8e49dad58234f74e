"""Impact: which outputs hold if some events are wrong?"""

from __future__ import annotations

from collections.abc import Sequence

from whence.engine.errors import FormulaError, ParameterError
from whence.engine.lineage.positions import Intervals, count
from whence.store.catalog import RunGraph
from whence.store.questions import Impact, OutputShare, Selection
from whence.store.questions import impact as ask
from whence.store.questions.naming import parse_positions
from whence.web.asking import Asker
from whence.web.html import Html, Inside, el, shown
from whence.web.pieces import field
from whence.web.strips import Lane, strip
from whence.web.view import Asked, Part, link, number, plural, prov_takes
from whence.web.views.never_matters import percent
from whence.web.views.overview import head

__all__ = ["FIELDS", "answer_of", "impact", "selection_of"]

FIELDS = ("inputs", "case", "activity", "since", "until", "filter")
DOUBTS = (
    ("keys", "their case (slice key)"),
    ("order", "their place in the log"),
    ("missing", "whether values are missing"),
)
GROUPS = (
    ("unaffected", "hold", "Guaranteed: none of the events in question is needed for these."),
    ("possibly", "may change", "These depend on an event in question."),
    (
        "explained",
        "explained by these events",
        "Of those that may change: an event in question is among the few that explain these.",
    ),
    ("untracked", "not known", "These outputs were not tracked; nothing is known of them."),
)
RANGES = 40


def selection_of(asked: Asked) -> Selection:
    """Which input events a request means."""
    positions = asked.text("inputs")
    case, activity, since, until, where = (asked.text(name) or None for name in FIELDS[1:])
    return Selection(
        parse_positions(positions) if positions else None, case, activity, since, until, where
    )


def answer_of(asked: Asked, asker: Asker, run: RunGraph) -> Impact:
    """The answer to what a request asks."""
    chosen = selection_of(asked)
    doubts = {f"{name}_corrupt": bool(asked.text(name)) for name, _ in DOUBTS}
    key = ("impact", tuple(asked.text(n) for n in FIELDS), tuple(doubts.values()))
    return asker.kept(
        run, key, lambda: ask(asker.graph(), run.id, chosen, record=asker.record, **doubts)
    )


def impact(asked: Asked) -> Part:
    """The form, and the three groups."""
    asker = asked.asker
    run = asker.run(asked.run)
    body: list[Inside] = [
        head(run, "/impact", el("h1", "If some events were wrong")),
        el(
            "p",
            "Choose the events that you doubt, or ",
            el(
                "a",
                "mark them in the log",
                href=link(f"/run/{run.id}/log", marked=asked.text("inputs")),
            ),
            ". The page then shows which outputs are guaranteed unchanged, which may change, and "
            "which of those these events explain.",
            class_="lead",
        ),
        _form(asked, run),
    ]
    try:
        if selection_of(asked).empty:
            return Part(f"If some events were wrong, run {run.id}", body)
        answer = answer_of(asked, asker, run)
    except (FormulaError, ParameterError) as refusal:
        body.append(el("p", str(refusal), class_="problem", role="alert"))
        return Part(f"If some events were wrong, run {run.id}", body)
    body += [_asked(answer), *_answer(run, answer)]
    query = {name: asked.text(name) for name in (*FIELDS, *(n for n, _ in DOUBTS))}
    takes = [
        ("Groups as CSV", link(f"/take/run/{run.id}/impact.csv", **query)),
        *prov_takes(f"/take/run/{run.id}/impact", **query),
    ]
    return Part(f"If some events were wrong, run {run.id}", body, answer.cypher, takes)


def _form(asked: Asked, run: RunGraph) -> Html:
    roles = {role for log in run.logs for role in log.mapped}
    needs = {"case": "case", "activity": "activity", "since": "time", "until": "time"}
    hints = {
        "inputs": "3,17-20",
        "case": "a case",
        "activity": "what was done",
        "since": "2026-03-01",
        "until": "2026-03-31",
        "filter": "amount > 100",
    }
    words = {"inputs": "Positions", "filter": "Where"}
    fields = [
        field(words.get(name, name.capitalize()), name, asked.text(name), hints[name])
        for name in FIELDS
        if needs.get(name, "") in ("", *roles)
    ]
    boxes = [
        el(
            "label",
            el("input", type="checkbox", name=name, value="1", checked=bool(asked.text(name))),
            words,
            class_="check",
        )
        for name, words in DOUBTS
    ]
    return el(
        "form",
        el("div", fields, class_="fields"),
        el("fieldset", el("legend", "Besides their values, could also be wrong:"), boxes),
        el("button", "Which outputs hold?", type="submit"),
        class_="filter tall",
        method="get",
        action=f"/run/{run.id}/impact",
    )


def _asked(answer: Impact) -> Inside:
    many = sum(share.count for share in answer.inputs)
    strips = [
        strip(
            f"in question: {plural(share.count, 'event')} of {share.log}",
            share.length,
            [Lane("in question", "doubted", share.ranges)],
        )
        for share in answer.inputs
        if share.count
    ]
    return el("section", el("h2", f"{plural(many, 'event')} in question"), strips)


def _answer(run: RunGraph, answer: Impact) -> list[Inside]:
    cards = []
    for name, words, meaning in GROUPS:
        shares: Sequence[OutputShare] = getattr(answer, name)
        many, whole = sum(s.count for s in shares), sum(s.length for s in shares)
        if name == "untracked" and not many:
            continue
        cards.append(
            el(
                "div",
                el("b", number(many)),
                el("span", words),
                el("small", f"{percent(many, whole)} of {number(whole)}. {meaning}"),
                class_=f"figure {name}",
            )
        )
    body: list[Inside] = [el("section", el("h2", "Outputs"), el("div", cards, class_="figures"))]
    for pipe in run.outputs:
        ranges = {
            name: next((s.ranges for s in getattr(answer, name) if s.output == pipe.name), ())
            for name, _, _ in GROUPS
        }
        lanes = [Lane(words, name, ranges[name]) for name, words, _ in GROUPS[:3]]
        lists = [
            el(
                "details",
                el("summary", f"{words}: {number(count(ranges[name]))}"),
                _links(run, pipe.name, ranges[name]),
                open=name == "explained",
            )
            for name, words, _ in GROUPS[:3]
            if ranges[name]
        ]
        body.append(
            el(
                "section",
                el("h3", shown(pipe.name, 60)),
                strip(f"outputs of {pipe.name}", pipe.length, lanes),
                lists,
            )
        )
    appear = ", ".join(answer.may_appear)
    body.append(
        el(
            "p",
            f"Outputs could appear that do not exist now: {appear}."
            if appear
            else "No output could appear that does not exist now.",
            class_="note",
        )
    )
    body.append(el("p", f"Coverage: {answer.coverage}.", class_="note"))
    return body


def _links(run: RunGraph, pipe: str, ranges: Intervals) -> Inside:
    links: list[Inside] = []
    for lo, hi in ranges[:RANGES]:
        text = number(lo) if lo == hi else f"{lo:,} to {hi:,}"
        links.append(
            el("li", el("a", text, href=link(f"/run/{run.id}/why", output=f"{pipe}@{lo}")))
        )
    left = len(ranges) - RANGES
    if left > 0:
        links.append(el("li", f"… {number(left)} more ranges, in the CSV"))
    return el("ul", links, class_="ranges")
