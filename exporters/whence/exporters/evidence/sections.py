"""The contents of a pack in words and tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.words import value_text
from whence.engine.values.columns import from_canonical
from whence.exporters.evidence.page import Report, Section

__all__ = [
    "MOST_ROUTE",
    "NOT",
    "PROFILES",
    "SOUGHT",
    "event_rows",
    "in_route_order",
    "report",
    "route_rows",
]

PROFILES = {
    "gdpr-access": "Copy and source of personal data (GDPR Art. 15)",
    "gdpr-erasure": "Erasure of personal data (GDPR Art. 17)",
    "gdpr-decision": "Logic of an automated decision (GDPR Art. 15(1)(h), 22)",
    "bcbs239": "Lineage of a reported figure (BCBS 239)",
}
"""What each profile is for."""

SOUGHT = {
    "controller": "controller",
    "purpose": "purpose",
    "legal_basis": "legal basis",
    "categories": "categories of data",
    "recipients": "recipients",
    "retention": "retention",
    "owner": "owner",
}
"""What a pack states of a run, if it is known."""

_NAMES = (
    "NAME@POSITION is one event of the log, processor or output of that name; positions count from "
    "0 in the order in which events came."
)

NOT = (
    "This pack is evidence, not a legal opinion. It shows what one run of one chain of processors "
    "computed from one log, and which events explain the result. It does not say that the log was "
    "complete or true, that the chain was the right one, or that the processing was lawful."
)


MOST_ROUTE = 1000
"""Associations of a route that are shown."""


def event_rows(
    told: Mapping[str, Any], *, for_people: bool = False
) -> tuple[list[str], list[list[str]]]:
    """The events of the answer as a table; for programs the values are one JSON object."""
    rows = [
        [
            each["log"],
            str(each["position"]),
            "all" if each["fields"] is None else ", ".join(each["fields"]) or "(is there)",
            _values(each["values"], for_people=for_people),
            each["reference"],
        ]
        for each in told["events"]
    ]
    return ["log", "position", "fields", "values", "reference"], rows


def _values(values: Mapping[str, str], *, for_people: bool) -> str:
    """Values, each of which is JSON already."""
    if for_people:
        return ", ".join(
            f"{name} = {value_text(from_canonical(text), most=1000)}"
            for name, text in sorted(values.items())
        )
    pairs = (f"{json.dumps(name, ensure_ascii=False)}: {values[name]}" for name in sorted(values))
    return "{" + ", ".join(pairs) + "}" if values else ""


def in_route_order(route: Sequence[Association], most: int = MOST_ROUTE) -> list[Association]:
    """The associations of a route in the order in which they are shown, and no more than these."""
    return sorted(route, key=lambda each: (each.stream, each.lo, each.to))[:most]


def route_rows(
    route: Sequence[Association], widths: Mapping[str, int] | None = None
) -> tuple[list[str], list[list[str]]]:
    """The way from the output to the inputs, step by step.

    Args:
        route: the associations, in order.
        widths: for people: of streams inside a Slice, how many positions each one outside has.
    """

    def at(stream: str, position: int) -> str:
        whole, more = divmod(position, (widths or {}).get(stream, 1))
        return f"{whole}:{more}" if more else str(whole)

    rows = []
    for row in route:
        last = row.lo if row.kind == "list" else row.hi
        reached = row.reaches(row.lo, row.lo if last is None else last)
        to = row.to.removeprefix(LOG_PREFIX) if row.to.startswith(LOG_PREFIX) else row.to
        rows.append(
            [
                f"{row.stream}@{at(row.stream, row.lo)}"
                + ("" if last == row.lo else "-" if last is None else f"-{at(row.stream, last)}"),
                row.relation,
                f"{to}@"
                + ", ".join(
                    at(row.to, a) if a == b else f"{at(row.to, a)}-{at(row.to, b)}"
                    for a, b in reached
                ),
                ", ".join(row.fields or ()),
            ]
        )
    return ["from", "relation", "to", "fields"], rows


def report(told: Mapping[str, Any], route: tuple[list[str], list[list[str]]]) -> Report:
    """The report of a pack.

    Args:
        told: the facts, as ``evidence.json`` has them, and the events.
        route: the table of the route.
    """
    scope = told["scope"]
    sections = [
        Section("Question", [_asked(told["question"]), f"{PROFILES[told['profile']]}.", _NAMES]),
        Section("Answer", [told["answer"]["words"]], picture=True),
        *_steps(told["answer"]["steps"]),
        _table(
            "Events that the answer rests on",
            event_rows(told, for_people=True),
            told["redaction"]["words"],
        ),
        *_route(route),
        *_tried(told["what_if"]),
        Section(
            "Scope and period",
            [
                f"Run {scope['run']}, from {scope['started']} to {scope['ended']}.",
                f"Chain, as SHA-256 of its definition: {scope['chain_digest']}. The definition "
                "itself is in chain.json.",
                f"Coverage: {told['coverage']['words']}.",
            ],
            ["log", "events", "first time", "last time", "source", "digest"],
            [
                [
                    log["name"],
                    f"{log['count']:,}",
                    log["first"] or "not known",
                    log["last"] or "not known",
                    log["source"] or "not known",
                    log["digest"] or "not known",
                ]
                for log in scope["logs"]
            ],
        ),
        Section(
            "Responsible",
            columns=["what", "value"],
            rows=[
                [str(SOUGHT.get(word, word)), str(value)]
                for word, value in told["metadata"].items()
            ]
            or [["not provided", ""]],
        ),
        Section(
            "Counts that reconcile",
            [
                "Every input event is counted once: it explains an output, or else supports one, "
                "or else is open, or else never matters. Rejected rows never became events."
            ],
            ["log", "events in", "explained", "support only", "open", "never matters", "rejected"],
            [
                [each["log"]]
                + [
                    f"{each[word]:,}"
                    for word in (
                        *("count", "explained", "support_only", "open"),
                        *("never_matters", "rejected"),
                    )
                ]
                for each in told["reconciliation"]
            ],
        ),
    ]
    if "erasure" in told:
        sections += _erased(told["erasure"])
    if "difference" in told:
        sections += _differences(told["difference"])
    if told["profile"] == "bcbs239":
        sections += _bcbs(told)
    sections += [
        Section("Known gaps", told["gaps"] or ["None is known."]),
        Section(
            "How it was made",
            [
                f"Command: {told['made']['command']}",
                f"Versions: {told['made']['versions']}",
                f"Merkle root of the run: {told['merkle']['root']}",
                f"PROV: {told['validation']['words']}",
                "Check it with: whence evidence verify PACK.zip --key KEY.pub, or, with Python "
                "alone: python3 verify.py PACK.zip (verify.py is in pack/data).",
            ],
        ),
        Section("What it is not", [NOT]),
    ]
    return Report(f"Evidence: {told['question']}", sections)


def _asked(question: str) -> str:
    """The question for a person, and as it was requested."""
    word, _, rest = question.partition(" ")
    meant = {
        "explain": f"Why does the output {rest} have its value?",
        "case": f"Which data about case {rest} were used, and for which results?",
        "erasure": f"What was erased with erasure {rest}?",
    }
    return f"{meant.get(word, question)} (Requested as: {question})"


def _steps(sentences: Sequence[str]) -> list[Section]:
    if not sentences:
        return []
    return [Section("Step by step, from the output back", [f"{each}." for each in sentences])]


def _route(route: tuple[list[str], list[list[str]]]) -> list[Section]:
    """The events that each event is derived from; answers about a case or an erasure have none."""
    words = (
        "From the output back to the input events: each event, and one that it is derived from. "
        "Explains: part of the reason. Trigger: part of the reason, but its values do not matter."
    )
    return [_table("Route", route, words)] if route[1] else []


def _tried(rows: Sequence[Mapping[str, Any]]) -> list[Section]:
    """How other inputs would have changed the result."""
    if not rows:
        return []
    changed = sum(bool(row["changes"]) for row in rows)
    return [
        Section(
            "How other inputs would have changed the result",
            [
                f"{len(rows)} other values were tried, one at a time, by running the chain again: "
                f"{changed} of them change the result."
            ],
            ["field", "value tried", "result"],
            [[row["place"], row["value"], row["result"]] for row in rows],
        )
    ]


def _erased(erasure: Mapping[str, Any]) -> list[Section]:
    return [
        Section(
            "What was erased",
            [
                f"Begun {erasure['begun']} by {erasure['who']}, done {erasure['done']}. Reason: "
                f"{erasure['reason']}.",
                "Steps that were done: " + "; ".join(erasure["steps"]) + ".",
            ],
            ["in", "name", "events", "positions"],
            [[str(cell) for cell in row.values()] for row in erasure["erased"]],
        ),
        Section("What could not be reached", erasure["unreached"] or ["Nothing is known."]),
    ]


def _differences(found: Mapping[str, Any]) -> list[Section]:
    figure = found["figure"]
    return [
        Section(
            f"Difference from run {found['against']}",
            [found["words"]],
            list(figure[0]) if figure else (),
            [[str(cell) for cell in row.values()] for row in figure],
        ),
        Section(
            "Outputs, then and now",
            columns=list(found["outputs"][0]) if found["outputs"] else (),
            rows=[[str(cell) for cell in row.values()] for row in found["outputs"]],
        ),
    ]


def _bcbs(told: Mapping[str, Any]) -> list[Section]:
    times = told["timeliness"]
    return [
        Section(
            "Dictionary",
            columns=["name", "kind", "events", "owner"],
            rows=[[str(cell) for cell in row.values()] for row in told["dictionary"]],
        ),
        Section(
            "Completeness",
            columns=["log", "share used", "reason of the rest"],
            rows=[[row["log"], row["used"], row["reason"]] for row in told["completeness"]],
        ),
        Section("Timeliness", [f"{name}: {value}" for name, value in times.items()]),
        Section(
            "Manual adjustments",
            [] if told["adjustments"] else ["None is recorded of the logs of this run."],
            list(told["adjustments"][0]) if told["adjustments"] else (),
            [[str(cell) for cell in row.values()] for row in told["adjustments"]],
        ),
    ]


def _table(title: str, table: tuple[list[str], list[list[str]]], words: str) -> Section:
    columns, rows = table
    return Section(title, [words], columns if rows else (), rows)
