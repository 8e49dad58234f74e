"""Compare: what differs between two runs, side by side?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whence.engine.lineage.positions import Intervals, count
from whence.engine.values.columns import from_canonical
from whence.store.cypher import cypher
from whence.store.questions import ChangedOutput, Comparison, InputRange, compare
from whence.store.questions.output_pairs import Said
from whence.web.asking import Asker
from whence.web.events import cell
from whence.web.html import Html, Inside, el, shown
from whence.web.pieces import table
from whence.web.strips import Lane, strip
from whence.web.view import Asked, Part, link, number, plural
from whence.web.views.runs import facts

__all__ = ["answer_of", "comparing"]

LISTED = 40
RUNS = 300


def answer_of(asker: Asker, first: str, second: str) -> Comparison:
    """The answer; cached as long as both runs are unchanged."""
    one, other = asker.run(first), asker.run(second)
    key = ("compare", other.id, tuple(other.by_no), other.status)
    return asker.kept(
        one, key, lambda: compare(asker.graph(), one.id, other.id, most=LISTED, record=asker.record)
    )


def comparing(asked: Asked) -> Part:
    asker = asked.asker
    rows = asker.graph().read(cypher("runs_read"))
    known = {row["id"]: facts(asker, row["id"], row) for row in list(reversed(rows))[:RUNS]}
    first, second = asked.text("first"), asked.text("second")
    body: list[Inside] = [
        el(
            "nav",
            el("a", "Runs", href="/"),
            el("span", "/", aria_hidden="true"),
            el("span", "Compare"),
            class_="crumbs",
            aria_label="Where you are",
        ),
        el("h1", "Compare two runs"),
        _form(known, first, second),
    ]
    if not (first and second):
        body.append(
            el(
                "p",
                "Choose two runs to see the outputs that differ, with the events that explain "
                "the difference.",
                class_="lead",
            )
        )
        return Part("Compare two runs", body, {"runs_read": cypher("runs_read")})
    answer = answer_of(asker, first, second)
    body += [_verdict(answer), _facts(asker, answer), _logs(asker, answer), _changed(answer)]
    takes = [("These differences as CSV", link("/take/compare.csv", first=first, second=second))]
    return Part("Compare two runs", body, answer.cypher, takes)


def _form(runs: Mapping[str, Mapping[str, Any]], first: str, second: str) -> Html:
    def choice(name: str, words: str, chosen: str) -> Html:
        options = [el("option", "choose a run", value="")]
        if chosen and chosen not in runs:
            options.append(el("option", chosen, value=chosen, selected=True))
        options += [
            el(
                "option",
                f"{id}: {known['outputs'][:40]}, {known['count']} outputs",
                value=id,
                selected=id == chosen,
            )
            for id, known in runs.items()
        ]
        return el("label", words, el("select", options, name=name))

    return el(
        "form",
        choice("first", "First run", first),
        choice("second", "Second run", second),
        el("button", "Compare", type="submit"),
        class_="filter",
        method="get",
        action="/compare",
    )


def _verdict(answer: Comparison) -> Inside:
    cards = [
        el("div", el("b", number(many)), el("span", words), class_=f"figure {kind}")
        for kind, words, many in (
            ("unaffected", "the same", sum(p.same for p in answer.pipes)),
            ("explained", "changed", sum(p.changed for p in answer.pipes)),
            ("possibly", "only in the second", sum(p.appeared for p in answer.pipes)),
            ("possibly", "only in the first", sum(p.vanished for p in answer.pipes)),
        )
    ]
    return el("section", el("h2", "Outputs"), el("div", cards, class_="figures"))


def _facts(asker: Asker, answer: Comparison) -> Inside:
    same, other = "the same in both", "different"
    rows = [
        ("Run", *answer.runs),
        (
            "Outputs",
            *(" and ".join(f"{p.output} {p.lengths[n]:,}" for p in answer.pipes) for n in (0, 1)),
        ),
        ("Coverage", *map(str, answer.coverage)),
        ("Chain", *([other] * 2 if answer.chain_changed else [same] * 2)),
        ("Logs", *([other] * 2 if answer.logs_changed else [same] * 2)),
    ]
    lines = []
    for name, one, two in rows:
        cells = [
            el("td", el("a", text, href=f"/run/{text}", class_="name") if name == "Run" else text)
            for text in (one, two)
        ]
        lines.append(el("tr", el("th", name, scope="row"), cells))
    return table(("", "First", "Second"), lines, "the two runs")


def _logs(asker: Asker, answer: Comparison) -> Inside:
    drawn: list[Inside] = []
    for log in answer.logs:
        if log.same:
            continue
        lengths = [asker.run(run).log_named(log.log).length for run in answer.runs]
        sides = (
            (lengths[0], log.changed, log.removed, "removed"),
            (lengths[1], log.now, log.added, "added"),
        )
        both = zip(("first", "second"), sides, strict=True)
        drawn.append(el("div", [_side_of_log(log.log, *each) for each in both], class_="two"))
    return el("section", el("h2", "Logs"), drawn) if drawn else None


def _side_of_log(log: str, which: str, side: tuple[int, Intervals, Intervals, str]) -> Html:
    length, changed, other, word = side
    words = f"{log} of the {which} run: {count(changed):,} changed, {count(other):,} {word}"
    lanes = [Lane("changed", "doubted", changed), Lane(word, "possibly", other)]
    return strip(words, length, lanes)


def _changed(answer: Comparison) -> Inside:
    if not answer.outputs:
        return el("p", "Every output is the same.", class_="empty")
    rows = [
        el(
            "tr",
            el("th", shown(each.output, 40), el("small", each.how), scope="row"),
            _side(answer, 0, each, each.old, each.old_inputs),
            _side(answer, 1, each, each.new, each.new_inputs),
        )
        for each in answer.outputs
    ]
    left = answer.count - len(rows)
    note = (
        el(
            "p",
            f"The first {number(len(rows))} of {number(answer.count)}; the counts above "
            "are of all.",
            class_="note",
        )
        if left > 0
        else None
    )
    columns = ("Output", f"First run, {answer.runs[0]}", f"Second run, {answer.runs[1]}")
    shown_rows = table(columns, rows, "what differs")
    return el("section", el("h2", "What differs"), shown_rows, note)


def _side(
    answer: Comparison,
    side: int,
    each: ChangedOutput,
    said: Said | None,
    inputs: Sequence[InputRange],
) -> Html:
    if said is None:
        return el("td", el("span", "not there", class_="missing"))
    value = said.value if said.kind is None else from_canonical(said.value)
    name = f"{each.output}@{said.position}"
    reasons = ", ".join(f"{r.log}@{r.lo}" + (f"-{r.hi}" if r.hi > r.lo else "") for r in inputs[:3])
    none = f"none of its reasons was changed or {('removed', 'added')[side]}"
    many = sum(r.hi - r.lo + 1 for r in inputs)
    return el(
        "td",
        el("a", name, href=link(f"/run/{answer.runs[side]}/why", output=name), class_="name"),
        " ",
        cell(value),
        el(
            "small",
            f"because of {reasons}"
            + (f" … {plural(many, 'event')} in all" if len(inputs) > 3 else "")
            if inputs
            else none
            if answer.logs_changed
            else None,
        ),
    )
