"""The answer in words: made of the findings alone, so that the verifier can rebuild it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from whence.engine.lineage.positions import Intervals, count
from whence.engine.record.erasing import ERASED, Erasure
from whence.exporters.evidence.sections import SOUGHT
from whence.store.questions import Coverage, Impact, Why

__all__ = [
    "IMPORTED",
    "NOT_SAID",
    "NOT_TRIED",
    "answer_in_words",
    "coverage_in_words",
    "erasure_facts",
    "known_gaps",
    "ranges_text",
    "redaction_in_words",
    "validation_in_words",
]


IMPORTED = (
    "The run was imported from a file: its outputs, and what explains them, are as that file says. "
    "Whoever signed the pack did not compute them."
)
NOT_TRIED = "How other inputs would have changed the result was not tried"
NOT_SAID = (
    "The steps are not described in words, because the log is long, values were erased, or the "
    "chain calls functions of a module that was not allowed. The route shows them."
)


def answer_in_words(
    question: str, answer: Why | Impact, erasure: Mapping[str, Any] | None = None
) -> str:
    """The answer in a sentence or two.

    Args:
        question: the question in its normal form.
        answer: the graph's answer.
        erasure: the erasure in question, as `erasure_facts` describes it.
    """
    if isinstance(answer, Why):
        return _why(answer)
    many = sum(count(share.ranges) for share in answer.inputs)
    if erasure is not None:
        return _erasure(answer.run, many, erasure)
    case = question.partition(" ")[2]
    explained = sum(share.count for share in answer.explained)
    possibly = sum(share.count for share in answer.possibly)
    return (
        f"Run {answer.run} read {many:,} events of case {case}. They explain {explained:,} "
        f"outputs; {possibly:,} could change if these events had different values."
    )


def _why(why: Why) -> str:
    kind = why.output.kind
    value = kind if kind in ("missing", ERASED) else _told(why.output.value)
    events = "1 input event" if why.count == 1 else f"{why.count:,} input events"
    moment = why.output.moment
    when = f"after input position {moment}" if moment >= 0 else "before any input"
    return (
        f"{why.output.label} of run {why.run} is {value}. It appeared {when}, and {events} "
        "explain it."
    )


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _erasure(run: str, many: int, erasure: Mapping[str, Any]) -> str:
    gone = sum(row["events"] for row in erasure["erased"] if row["in"] == f"run {run}")
    return (
        f"Erasure {erasure['id']} took the values of {many:,} events that run {run} read, and of "
        f"{gone:,} events of its streams that may reveal them. It began {erasure['begun']} by "
        f"{erasure['who']} and done {erasure['done']}; reason: {erasure['reason']}. Positions "
        "and explanations stay."
    )


def erasure_facts(erasure: Erasure) -> dict[str, Any]:
    """All that is known of an erasure, which is nothing of what was erased."""
    places = [("log", id, places) for id, places in erasure.logs.items()]
    places += [
        (f"run {run}", name, places)
        for run, several in erasure.streams.items()
        for name, places in several.items()
    ]
    return {
        "id": erasure.id,
        "who": erasure.who,
        "reason": erasure.reason,
        "begun": erasure.begun,
        "done": erasure.done,
        "erased": [
            {"in": where, "name": name, "events": count(at), "positions": ranges_text(at)}
            for where, name, at in places
        ],
        "steps": list(erasure.steps),
        "unreached": list(erasure.unreached),
    }


def ranges_text(places: Intervals) -> str:
    """Ranges for a person."""
    return ", ".join(str(lo) if lo == hi else f"{lo}-{hi}" for lo, hi in places)


def known_gaps(
    metadata: Mapping[str, Any],
    coverage: Coverage,
    erasures: Sequence[str],
    *,
    imported: bool = False,
) -> list[str]:
    """The gaps that follow from the other facts about the run.

    Args:
        metadata: what is stated of the processing.
        coverage: how much of the run the answer rests on.
        erasures: the ids of the erasures that took values of the run.
        imported: whether the run came in a file.
    """
    gaps = [IMPORTED] if imported else []
    gaps += [
        f"Not stated for this run: {words}."
        for word, words in SOUGHT.items()
        if word not in metadata
    ]
    if coverage.tracked < coverage.outputs:
        gaps.append(f"Only {coverage.tracked:,} of {coverage.outputs:,} outputs were tracked.")
    if coverage.detail == "ends":
        gaps.append("The run stored inputs and outputs only, not each processor's events.")
    if coverage.witnesses == "first":
        gaps.append("One explanation is shown; others may hold as well.")
    if coverage.erased:
        gone = "; ".join(f"{count(at):,} of {name}" for name, at in coverage.erased)
        ids = ", ".join(erasures) or "an earlier erasure"
        gaps.append(f"The values of some events were erased ({gone}), with {ids}.")
    return gaps


def coverage_in_words(coverage: Coverage) -> str:
    """How much of the run the answer rests on; a pack made earlier has the same words."""
    return coverage.in_words(f"; detail {coverage.detail}")


def redaction_in_words(reveal: list[str], subject: str | None) -> str:
    """What is revealed, and that nothing else is."""
    clear = []
    if reveal:
        fields = "field" if len(reveal) == 1 else "fields"
        clear.append(f"the {fields} {', '.join(reveal)}")
    if subject is not None:
        clear.append(f"all fields of the events of case {subject}")
    words = f"In clear: {'; '.join(clear)}. All other values" if clear else "Values"
    return words + " are left out; each event is named by a salted reference."


def validation_in_words(statements: int) -> str:
    """The findings of the PROV checker."""
    return f"valid by W3C PROV-CONSTRAINTS, {statements:,} statements, checked when it was made"
