"""Answers in a notebook: the sentence, the few events as a table, on a timeline and as a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from whence.engine.drawing import Lane, Mark, Timeline, picture_of_steps, svg, timeline
from whence.engine.drawing.cell import cell, details, line, table
from whence.engine.errors import WhenceError
from whence.engine.language.definition import chain_from_tree
from whence.engine.lineage.steps import NOT_TOLD, Step, StepEdge, Steps
from whence.engine.lineage.words import in_words, value_text
from whence.engine.values.printable import printable
from whence.store.questions import Impact, NeverMatters, Why, steps_recorded
from whence.store.questions.in_record import input_values

if TYPE_CHECKING:
    from whence.engine.record import RunRecord
    from whence.store.questions import InputEvent, InputRange, LogShare

__all__ = ["cell_of_answer", "text_of_answer"]

EVENTS = 20
"""Maximum number of events listed."""
COMPUTED = 100_000
"""Up to this many input events, the steps are recomputed at once, in a second or two."""


def text_of_answer(found: Any) -> str:
    """An answer in one line."""
    if isinstance(found, Why):
        events = "1 input event" if found.count == 1 else f"{found.count:,} input events"
        value = "missing" if found.output.kind == "missing" else value_text(found.output.value)
        return printable(f"{found.output.label} is {value} because of {events}")
    if isinstance(found, NeverMatters):
        never = sum(share.count for share in found.certain)
        every = sum(share.length for share in found.certain)
        return f"{never:,} of {every:,} input events certainly never mattered"
    if isinstance(found, Impact):
        stand = sum(share.count for share in found.unaffected)
        every = sum(share.length for share in found.unaffected)
        wrong = sum(share.count for share in found.inputs)
        return f"if {wrong:,} input events were wrong, {stand:,} of {every:,} outputs would hold"
    return repr(found)


def cell_of_answer(found: Any, record: RunRecord) -> str:
    """An answer as HTML.

    Args:
        found: the answer.
        record: the run's record, for values and steps.
    """
    if isinstance(found, Why):
        parts = _why(found, record)
    elif isinstance(found, NeverMatters):
        parts = _never_matters(found)
    elif isinstance(found, Impact):
        parts = _impact(found)
    else:
        parts = iter(())
    covered = getattr(found, "coverage", None)
    last = [] if covered is None else [line(f"coverage: {covered}")]
    return cell(line(text_of_answer(found), strong=True), *parts, *last)


def _why(why: Why, record: RunRecord) -> Iterator[str]:
    shown = why.events[:EVENTS]
    values = input_values(why.run, [(e.log, e.position) for e in shown], record.root)
    yield table(
        ["event", "fields", "case", "activity", "time", "value"],
        [_event_row(event, values.get((event.log, event.position))) for event in shown],
    )
    if why.count > len(shown):
        yield line(f"… {why.count - len(shown):,} more")
    for witness in (why.alternatives or ())[1:EVENTS]:
        yield line("or else: " + ", ".join(f"{e.log}@{e.position}" for e in witness.events[:8]))
    yield timeline(Timeline(f"what explains {why.output.label}", tuple(_lanes(why, record))))
    try:
        found = steps_recorded(record, why, most=COMPUTED)
    except WhenceError as error:  # a job without a chain, or one that is too long to run again
        yield svg(picture_of_steps(_ends(why, values)))
        yield line(f"without the steps between: {error}")
        return
    yield svg(picture_of_steps(found))
    yield details("in words", "\n".join(map(line, _words(found, record))))


def _ends(why: Why, values: Mapping[tuple[str, int], Any]) -> Steps:
    """From the output straight to the input events."""
    output = why.output.label
    steps = {output: Step(output, why.output.name, why.output.value)}
    edges: list[StepEdge] = []
    for each in why.inputs:
        many = each.hi - each.lo + 1
        name = f"{each.log}@{each.lo}" + (f"-{each.hi}" if many > 1 else "")
        value = values.get((each.log, each.lo), NOT_TOLD) if many == 1 else NOT_TOLD
        steps[name] = Step(name, None, value, many)
        edges.append(StepEdge(output, name, each.fields))
    return Steps(output, steps, {output: tuple(edges)})


def _words(found: Steps, record: RunRecord) -> list[str]:
    return in_words(found, chain_from_tree(record.manifest.chain))


def _event_row(event: InputEvent, value: Any) -> dict[str, Any]:
    fields = None if event.fields is None else ", ".join(event.fields) or "(is there)"
    told = None if value is None else value_text(value, event.fields or None)
    return {
        "event": f"{event.log}@{event.position}",
        "fields": fields,
        "case": event.case,
        "activity": event.activity,
        "time": None if event.time is None else str(event.time),
        "value": told,
    }


def _lanes(why: Why, record: RunRecord) -> Iterator[Lane]:
    for name in record.manifest.logs:
        labels = tuple(
            (event.position, str(event.activity or event.position))
            for event in why.events[:EVENTS]
            if event.log == name
        )
        marks = [] if why.support is None else [Mark(_ranges(why.support, name), "soft")]
        marks.append(Mark(_ranges(why.inputs, name), "strong", labels))
        yield Lane(name, record.log(name).length, tuple(marks))


def _ranges(inputs: tuple[InputRange, ...], log: str) -> tuple[tuple[int, int], ...]:
    return tuple((each.lo, each.hi) for each in inputs if each.log == log)


def _never_matters(found: NeverMatters) -> Iterator[str]:
    yield table(
        ["", "log", "events", "of"],
        [
            {"": words, "log": share.log, "events": share.count, "of": share.length}
            for words, shares in (
                ("certain: change them, nothing changes", found.certain),
                ("unused: they explain no output", found.softer),
            )
            for share in shares
        ],
    )
    by_log = {share.log: share for share in found.softer}
    yield timeline(
        Timeline(
            "which events never mattered",
            tuple(
                Lane(
                    share.log,
                    share.length,
                    (Mark(by_log[share.log].ranges, "soft"), Mark(share.ranges, "safe")),
                )
                for share in found.certain
            ),
        )
    )
    if found.groups:
        yield table(
            [str(found.by), "events", "certain", "unused"],
            [
                {
                    str(found.by): "(none)" if group.group is None else str(group.group),
                    "events": group.length,
                    "certain": "given" if group.given else group.certain,
                    "unused": "given" if group.given else group.softer,
                }
                for group in found.groups[:EVENTS]
            ],
        )


def _impact(found: Impact) -> Iterator[str]:
    words = {
        "unaffected": "unaffected (guaranteed)",
        "possibly": "may change",
        "explained": "explained by these events",
        "untracked": "not tracked, so unknown",
    }
    yield table(
        ["", "output", "outputs", "of"],
        [
            {"": told, "output": share.output, "outputs": share.count, "of": share.length}
            for name, told in words.items()
            for share in getattr(found, name)
            if name != "untracked" or share.count
        ],
    )
    lanes = [_wrong(share) for share in found.inputs]
    explained = {share.output: share.ranges for share in found.explained}
    possibly = {share.output: share.ranges for share in found.possibly}
    for share in found.unaffected:
        name = share.output
        marks = (
            Mark(share.ranges, "safe"),
            Mark(possibly.get(name, ()), "soft"),
            Mark(explained.get(name, ()), "strong"),
        )
        lanes.append(Lane(f"outputs of {name}", share.length, marks))
    yield timeline(Timeline("what stands", tuple(lanes)))
    appear = ", ".join(found.may_appear)
    yield line(
        f"outputs could appear that do not exist now: {appear}"
        if appear
        else "no output could appear that does not exist now"
    )


def _wrong(share: LogShare) -> Lane:
    return Lane(f"{share.log}, in doubt", share.length, (Mark(share.ranges, "strong"),))
