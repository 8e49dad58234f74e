"""Never matters: which events of the log does no output need?"""

from __future__ import annotations

from whence.engine.errors import ParameterError
from whence.engine.lineage.positions import Intervals, minus
from whence.engine.lineage.words import share_text
from whence.store.catalog import RunGraph
from whence.store.questions import GroupShare, NeverMatters, never_matters
from whence.store.questions.never_matters import By
from whence.web.asking import Asker
from whence.web.events import cell
from whence.web.html import Html, Inside, el
from whence.web.pieces import table
from whence.web.strips import Lane, strip
from whence.web.view import Asked, Part, link, number, prov_takes
from whence.web.views.overview import head

__all__ = ["answer_of", "never", "percent"]

GROUPS = 200
KINDS: tuple[By, ...] = ("case", "activity", "field")


def answer_of(asker: Asker, run: RunGraph, by: str) -> NeverMatters:
    """The answer, perhaps by case, activity or field."""
    chosen: By | None = None
    if by:
        if by not in KINDS:
            msg = f"by: expected {', '.join(KINDS)}; got {by!r}; try field"
            raise ParameterError(msg)
        chosen = KINDS[KINDS.index(by)]
    return asker.kept(
        run,
        ("never", by),
        lambda: never_matters(asker.graph(), run.id, by=chosen, record=asker.record),
    )


def percent(part: int, whole: int) -> str:
    """How much of a whole some are."""
    return share_text(part / whole if whole else 0.0)


def never(asked: Asked) -> Part:
    """The strip over each log, and the same by case, activity or field."""
    asker = asked.asker
    run = asker.run(asked.run)
    by = asked.text("by")
    answer = answer_of(asker, run, by)
    body: list[Inside] = [
        head(run, "/never-matters", el("h1", "What never mattered")),
        el(
            "p",
            "Events that no output of this run needs. The first strip is a guarantee: these "
            "events could have any other values, and no output would change.",
            class_="lead",
        ),
    ]
    for sure, soft in zip(answer.certain, answer.softer, strict=True):
        body.append(
            el(
                "section",
                el("h2", sure.log),
                _numbers(sure.count, soft.count, sure.length),
                _strip(sure.log, sure.length, sure.ranges, soft.ranges),
                _overlap(sure.ranges, soft.ranges),
            )
        )
    path = f"/run/{run.id}/never-matters"
    body.append(
        el(
            "nav",
            el("span", "By", class_="label"),
            [
                el("a", kind, href=link(path, by=kind), aria_current="true" if by == kind else None)
                for kind in KINDS
                if kind == "field" or any(kind in log.mapped for log in run.logs)
            ],
            class_="chips",
            aria_label="By",
        )
    )
    if by:
        body.append(_groups(answer.groups, by))
    body.append(el("p", f"Coverage: {answer.coverage}.", class_="note"))
    takes = [
        ("Positions as CSV", f"/take/run/{run.id}/never-matters.csv"),
        *prov_takes(f"/take/run/{run.id}/never-matters"),
    ]
    return Part(f"What never mattered, run {run.id}", body, answer.cypher, takes)


def _overlap(sure: Intervals, soft: Intervals) -> Inside:
    """Why an event can be in the first strip and not in the second."""
    if not minus(sure, soft):
        return None
    return el(
        "p",
        "Some events are certain although they explain an output: it would be the same without "
        "them.",
        class_="note",
    )


def _numbers(sure: int, soft: int, length: int) -> Html:
    return el(
        "div",
        [
            el(
                "div",
                el("b", percent(many, length)),
                el("span", words),
                el("small", f"{number(many)} of {number(length)}"),
                class_=f"figure {kind}",
            )
            for kind, many, words in (
                ("certain", sure, "certainly never mattered (guaranteed)"),
                ("softer", soft, "explain no output (no guarantee)"),
                ("mattered", length - soft, "explain some output"),
            )
        ],
        class_="figures",
    )


def _strip(log: str, length: int, sure: Intervals, soft: Intervals) -> Html:
    whole: Intervals = ((0, length - 1),) if length else ()
    lanes = [
        Lane("certainly never mattered", "certain", sure),
        Lane("explain no output", "softer", soft),
        Lane("explain some output", "explains", minus(whole, soft)),
    ]
    return strip(f"{log}, from its first to its last event", length, lanes)


def _groups(groups: tuple[GroupShare, ...], by: str) -> Inside:
    several = len({group.log for group in groups}) > 1
    ordered = sorted(groups, key=lambda g: (-g.certain / max(g.length, 1), -g.length))
    rows = [
        el(
            "tr",
            el("th", f"{g.log}: " if several else "", cell(g.group), scope="row"),
            el(
                "td",
                "taken as given, it is a slice key" if g.given else percent(g.certain, g.length),
                class_="n",
            ),
            el("td", "" if g.given else percent(g.softer, g.length), class_="n"),
            el("td", number(g.length), class_="n"),
        )
        for g in ordered[:GROUPS]
    ]
    heads = [by.capitalize(), "Certainly never mattered", "Explain no output", "Events"]
    left = len(ordered) - len(rows)
    note = (
        el("p", f"The first {GROUPS} of {number(len(ordered))}.", class_="note") if left else None
    )
    return [table(heads, rows, f"by {by}", numbers=(1, 2, 3)), note]
