"""The verdict once more, from the values that a pack reveals, as far as they suffice.

If every value of the logs is revealed, the chain is run over them. If some are left out, it is
run over a log that has others in their places: where the support of the output then lies within
what is revealed, the verdict is the same whatever the values are that are left out. Nothing less is
called recomputed. Functions of a module that the chain names are never loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from whence.engine.errors import WhenceError
from whence.engine.interpreter import Output, interpret
from whence.engine.language.definition import chain_from_tree
from whence.engine.lineage.terms import flatten
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.values import Value
from whence.engine.values.columns import canonical, from_canonical
from whence.exporters.evidence.counterfactuals import (
    GONE,
    REFUSED,
    UNCHANGED,
    UNTOLD,
    WORK,
    would_be,
)
from whence.exporters.evidence.deriving import Found
from whence.store.questions import Why

__all__ = ["recomputed"]

MOST = 20_000
"""Events that a chain is run over; it is the pack's chain, and may be slow on purpose."""

_OWN = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
"""What may name a function of a module; a text that only looks so counts as well."""

_FILLS: tuple[Mapping[str, Value], ...] = (
    {
        "text": "a text",
        "integer": 1,
        "float": 1.0,
        "boolean": True,
        "instant": datetime(2000, 1, 1, tzinfo=UTC),
        "duration": timedelta(1),
    },
    {
        "text": "",
        "integer": 0,
        "float": 0.0,
        "boolean": False,
        "instant": datetime(1970, 1, 1, tzinfo=UTC),
        "duration": timedelta(0),
    },
)
"""Values of each kind, in the places of those that are left out; any that show it will do."""

_WORD = (
    "not recomputed, stated by the signer: the Merkle root of the run, counts that reconcile, "
    "steps in words, fields on the route, first and last times, differences from another run, what "
    "was erased or adjusted, what is stated of the processing, how the pack was made"
)
_NOT_EXPLAINED = (
    "explanation: not recomputed; which events explain the output and are enough for it, and what "
    "other values would give, is stated by the signer"
)
_NO_VERDICT = (
    "verdict: none to recompute; which events the question is about, and what they explain, is "
    "stated by the signer"
)

Told = dict[tuple[str, int], dict[str, str]]
"""The revealed fields of an input event, as canonical JSON, by log and position."""


def recomputed(
    told: Mapping[str, Any],
    found: Found,
    proofs: Mapping[str, Any],
    chain: Any,
    options: Mapping[str, Any],
) -> Iterator[tuple[str, str]]:
    """Whether the verdict follows; and what of the pack is its signer's word alone.

    Args:
        told: the facts.
        found: what was found.
        proofs: the proofs, with the revealed values.
        chain: the definition of the chain.
        options: the options of the run.
    """
    yield "note", _WORD
    if not isinstance(found.answer, Why):
        yield "note", _NO_VERDICT
        return
    known: Told = {
        (each["name"], each["position"]): {
            name: field["value"] for name, field in each["fields"].items() if "value" in field
        }
        for each in proofs["events"]
        if each["kind"] == "input" and "fields" in each
    }
    why_not = _why_not(told, known, chain)
    if why_not is not None or not _all_told(told["scope"]["logs"], known):
        yield "note", _NOT_EXPLAINED
    if why_not is None:
        yield from _run(told, found.answer, known, proofs, chain, bool(options.get("closed")))
        return
    yield "note", f"verdict: not recomputed, as {why_not}"


def _why_not(told: Mapping[str, Any], known: Told, chain: Any) -> str | None:
    logs = told["scope"]["logs"]
    if not isinstance(chain, dict) or "job" in chain:
        return "it is not of a chain"
    if any(_OWN.search(text) for text in _texts(chain)):
        return "the chain may name functions of a module, which are never loaded here"
    if sum(log["count"] for log in logs) > MOST:
        return f"the logs have more than {MOST:,} events"
    if told["coverage"]["erased"]:
        return "values were erased"
    if _all_told(logs, known):
        return None
    if "slice" in _words(chain):
        return "some values are left out, and the chain sorts events by one of them"
    if any(kind not in _FILLS[0] for log in logs for kind in log["columns"].values()):
        return "values are left out that are of no simple kind"
    return None


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for name, value in part.items():
            yield name
            yield from _texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _texts(value)


def _words(part: Any) -> set[str]:
    """The names of all objects' members."""
    if isinstance(part, Mapping):
        return set(part).union(*(_words(value) for value in part.values()))
    return set().union(*map(_words, part)) if isinstance(part, list) else set()


def _all_told(logs: Sequence[Mapping[str, Any]], known: Told) -> bool:
    return all(
        set(log["columns"]) == set(known.get((log["name"], at), ()))
        for log in logs
        for at in range(log["count"])
    )


def _run(
    told: Mapping[str, Any],
    answer: Why,
    known: Told,
    proofs: Mapping[str, Any],
    chain: Any,
    closed: bool,
) -> Iterator[tuple[str, str]]:
    logs = told["scope"]["logs"]
    label = answer.output.label
    (proof,) = (each for each in proofs["events"] if each["kind"] == "output")
    stated = str(proof["fields"]["value"]["value"])
    whole = _all_told(logs, known)
    condition = "from the whole log"
    if not whole:
        condition = (
            "whatever the values are that are left out, as long as each is there and of its kind"
        )
    why_not = "values that it depends on are left out"
    for fill in _FILLS[:1] if whole else _FILLS:
        try:
            output = _output(answer, logs, known, chain, fill, closed=closed)
        except WhenceError as error:
            why_not = f"the chain refuses the values stated: {error}"
            continue
        if not whole and (output is None or not _enough(output, known, logs)):
            continue
        gives = "no such output" if output is None else canonical(output.value)
        if gives != stated:
            yield (
                "FAILS",
                f"verdict: the chain gives {label} as {gives[:60]}; the pack states {stated[:60]}",
            )
        elif output is not None and output.moment != answer.output.moment:
            yield "FAILS", f"verdict: {label} appears after position {output.moment}, as run again"
        else:
            yield "holds", f"verdict: recomputed, {label} is {gives[:60]}, {condition}"
            if whole and output is not None:
                yield from _explained(answer, output)
                yield from _tried(told, answer, stated, known, chain, closed=closed)
        return
    yield "note", f"verdict: not recomputed, as {why_not}"


def _output(
    answer: Why,
    logs: Sequence[Mapping[str, Any]],
    known: Told,
    chain: Any,
    fill: Mapping[str, Value],
    *,
    closed: bool,
) -> Output | None:
    """What the chain gives in the place of the output, over a log with other values in it."""
    events = {
        log["name"]: [_event(log, at, known, fill) for at in range(log["count"])] for log in logs
    }
    return _interpreted(answer, chain, events, closed=closed)


def _interpreted(
    answer: Why, chain: Any, events: Mapping[str, Sequence[Value]], *, closed: bool
) -> Output | None:
    result = interpret(chain_from_tree(chain), events, tracker=MemoryTracker(), closed=closed)
    place = (answer.output.name, answer.output.position)
    return next((each for each in result.outputs if (each.name, each.position) == place), None)


def _explained(answer: Why, output: Output) -> Iterator[tuple[str, str]]:
    """Whether the events that explain the output, and those that are enough for it, are these."""
    wrong = False
    for what, ranges, support in (
        ("explain", answer.inputs, False),
        ("are enough for", answer.support, True),
    ):
        if ranges is None:
            continue
        stated = {
            (each.log, at): None if each.fields is None else frozenset(each.fields)
            for each in ranges
            for at in range(each.lo, each.hi + 1)
        }
        if stated != flatten(output.event, support=support):
            wrong = True
            yield "FAILS", f"explanation: other events {what} {answer.output.label}, as run again"
    if not wrong:
        yield "holds", "explanation: its events are those of the chain run again"


def _tried(
    told: Mapping[str, Any],
    answer: Why,
    stated: str,
    known: Told,
    chain: Any,
    *,
    closed: bool,
) -> Iterator[tuple[str, str]]:
    """Whether other values give the stated results."""
    logs = told["scope"]["logs"]
    rows = told["what_if"]
    if not rows or any(row["value"] == UNTOLD for row in rows):
        return
    if len(rows) * sum(log["count"] for log in logs) > WORK:
        yield "note", "other values: not tried again, as the log is long"
        return
    wrong = False
    for row in rows:
        name, _, rest = row["place"].rpartition("@")
        at, _, field = rest.partition(".")
        changed = {**known[name, int(at)], field or "value": row["value"]}
        try:
            output = _output(
                answer, logs, {**known, (name, int(at)): changed}, chain, {}, closed=closed
            )
        except WhenceError:
            result = REFUSED
        else:
            result = GONE if output is None else would_be(output.value)
            if output is not None and canonical(output.value) == stated:
                result = UNCHANGED
        if row["result"] != result:
            wrong = True
            yield "FAILS", f"other values: {row['place']} as {row['value'][:60]}: {result}"
    if not wrong:
        yield "holds", f"other values: all {len(rows)} give the stated result, tried again"


def _event(log: Mapping[str, Any], at: int, known: Told, fill: Mapping[str, Value]) -> Value:
    own = known.get((log["name"], at), {})
    record = {
        name: from_canonical(own[name]) if name in own else fill[kind]
        for name, kind in log["columns"].items()
    }
    return record["value"] if log["plain"] else record


def _enough(output: Output, known: Told, logs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether all that an output depends on is revealed."""
    columns = {log["name"]: set(log["columns"]) for log in logs}
    return all(
        isinstance(at, int)
        and (columns[log] if fields is None else set(fields)) <= set(known.get((log, at), ()))
        for (log, at), fields in flatten(output.event, support=True).items()
    )
