"""What a pack says beside its answer agrees with the answer, the proofs, the chain and the root.

Who signs a pack can write facts that derive every file anew. So facts that follow from others are
held against them here: the route leads from the output to the events, the gaps follow from the
coverage, other values were tried of events that explain, streams and options are those of the root.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from whence.engine.language.stream_roles import StreamRole
from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.lineage.follow import EXPLAINS
from whence.engine.lineage.positions import Intervals, minus, union
from whence.engine.values.columns import canonical
from whence.exporters.describing import facts
from whence.exporters.evidence.counterfactuals import MOST_TRIES, UNCHANGED, UNTOLD
from whence.exporters.evidence.deriving import Found
from whence.exporters.evidence.sections import MOST_ROUTE
from whence.exporters.evidence.wording import NOT_SAID, NOT_TRIED, known_gaps
from whence.exporters.recorded import agents_of, json_text, processors_of
from whence.store.questions import Why

__all__ = ["disagreeing"]


def disagreeing(
    told: Mapping[str, Any],
    found: Found,
    proofs: Sequence[Mapping[str, Any]],
    parts: Mapping[str, Any],
    chain: Any,
) -> Iterator[str]:
    """What does not agree, in words.

    Args:
        told: the facts.
        found: what was found.
        proofs: the proofs of events.
        parts: what the run's root covers.
        chain: the definition of the chain.
    """
    answer = found.answer
    inputs = {(p["name"], p["position"]): p for p in proofs if p["kind"] == "input"}
    said = {
        "the values in clear are not those that the pack declares": _told_in_clear(told, inputs),
        "the columns are not those of the events": _columns(told, inputs),
        "the gaps are not those of this run": _gaps(told, found, parts),
        "the streams, processors and options are not those of the run": _run(found, parts, chain),
        "the stated processing details differ from those of the run": _stated(told, found),
        "the coverage is not that of this run": _coverage(found, parts),
        "the trees are not of these logs and outputs": _trees(told, parts),
    }
    if isinstance(answer, Why):
        said["the route does not lead from the output to these events"] = _route(found, answer)
        said["the events one by one are others"] = _one_by_one(told, answer, inputs)
        said["other explanations were not looked for in this run"] = answer.not_of is None and (
            answer.alternatives is None or answer.coverage.witnesses == "all"
        )
    elif found.route:
        yield "there is a route, but the question names no output"
    said["the values tried are not of these events"] = _tries(told, isinstance(answer, Why))
    yield from (words for words, holds in said.items() if not holds)


def _told_in_clear(
    told: Mapping[str, Any], inputs: Mapping[tuple[str, int], Mapping[str, Any]]
) -> bool:
    """Of each event the revealed fields, or all of them of the subject's; nothing else."""
    reveal, subject = set(told["redaction"]["reveal"]), told["redaction"]["subject"]
    for proof in inputs.values():
        fields = proof.get("fields", {})
        clear = {name for name, field in fields.items() if "value" in field}
        if clear != reveal & set(fields) and (subject is None or clear != set(fields)):
            return False
    return True


def _columns(told: Mapping[str, Any], inputs: Mapping[tuple[str, int], Mapping[str, Any]]) -> bool:
    columns = {log["name"]: set(log["columns"]) for log in told["scope"]["logs"]}
    return all(
        set(proof["fields"]) == columns[name]
        for (name, _), proof in inputs.items()
        if "fields" in proof
    )


def _gaps(told: Mapping[str, Any], found: Found, parts: Mapping[str, Any]) -> bool:
    known = known_gaps(
        told["metadata"],
        found.answer.coverage,
        parts["erasures"],
        imported=bool(parts.get("imported")),
    )
    is_why = isinstance(found.answer, Why)
    rest = list(told["gaps"][len(known) :])
    tried = not is_why or told["what_if"] or (rest and rest.pop(0).startswith(NOT_TRIED))
    said = not is_why or told["answer"]["steps"] or (rest and rest.pop(0) == NOT_SAID)
    return bool(tried and said) and told["gaps"][: len(known)] == known and not rest


def _run(found: Found, parts: Mapping[str, Any], chain: Any) -> bool:
    run, options = found.run, parts["options"]
    named = [(row["name"], row["role"]) for row in parts["streams"]]
    return (
        [(s.place, s.role) for s in run.streams] == named
        and all(
            one.count in (None, other["events"]) and one.place.startswith(one.processor)
            for one, other in zip(run.streams, parts["streams"], strict=True)
        )
        and tuple(processors_of(chain or {}, run.streams)) == run.processors
        and set(facts(options=json_text(options))) <= set(run.facts)
        and run.single_steps == (options.get("detail") == "steps")
        and all(found.widths.get(s.place, s.width) == s.width for s in run.streams)
        and set(parts["erasures"]) <= {each.id for each in run.erased}
    )


def _stated(told: Mapping[str, Any], found: Found) -> bool:
    of_run = {name.local: value for name, value in found.run.facts}
    stated: Mapping[str, Any] = json.loads(str(of_run.get("metadata", "{}")))
    return found.run.agents == agents_of(stated) and all(
        told["metadata"].get(word) == value for word, value in stated.items() if value
    )


def _coverage(found: Found, parts: Mapping[str, Any]) -> bool:
    coverage, options = found.answer.coverage, parts["options"]
    outputs = {
        row["name"]: row["events"] for row in parts["streams"] if row["role"] == StreamRole.OUTPUT
    }
    tracked = {s.place: s.tracked for s in found.run.streams}
    many, followed = sum(outputs.values()), coverage.tracked
    if isinstance(found.answer, Why):
        name = found.answer.output.name
        many, followed = outputs.get(name, -1), tracked.get(name) or 0
    return (coverage.outputs, coverage.tracked) == (many, followed) and all(
        getattr(coverage, word) == options[word]
        for word in ("detail", "witnesses", "where")
        if word in options
    )


def _trees(told: Mapping[str, Any], parts: Mapping[str, Any]) -> bool:
    named = [f"log/{id}" for id in dict.fromkeys(each["id"] for each in parts["logs"])]
    named += [
        f"run/{parts['run']}/{row['name']}"
        for row in parts["streams"]
        if row["role"] == StreamRole.OUTPUT
    ]
    return sorted(named) == sorted(each["place"] for each in told["merkle"]["trees"])


def _route(found: Found, answer: Why) -> bool:
    """Following the route from the output reaches these events, and passes all of it."""
    if len(found.route) >= MOST_ROUTE:
        return True  # it was cut
    reached = _reached(found.route, answer.output.name, answer.output.position)
    wanted: dict[str, Intervals] = {}
    for each in answer.inputs:
        place = LOG_PREFIX + each.log
        wanted[place] = union(wanted.get(place, ()), ((each.lo, each.hi),))
    logs = {place: at for place, at in reached.items() if place.startswith(LOG_PREFIX)}
    return logs == wanted and all(_passed(row, reached) for row in found.route)


def _reached(route: Iterable[Association], stream: str, position: int) -> dict[str, Intervals]:
    """What an output reaches by the rows of a pack, whose numbers may be of any size."""
    rows: dict[str, list[Association]] = {}
    for row in route:
        if row.relation in EXPLAINS and (row.witness is None or 0 in row.witness):
            rows.setdefault(row.stream, []).append(row)
    seen: dict[str, Intervals] = {}
    waiting: list[tuple[str, Intervals]] = [(stream, ((position, position),))]
    while waiting:
        name, places = waiting.pop()
        new = minus(places, seen.get(name, ()))
        if new:
            seen[name] = union(seen.get(name, ()), new)
            reached = ((row.to, row.reaches(*each)) for row in rows.get(name, ()) for each in new)
            waiting += [(to, at) for to, at in reached if at]
    return seen


def _passed(row: Association, reached: Mapping[str, Intervals]) -> bool:
    places = reached.get(row.stream, ())
    if not places or row.relation not in ("explains", "trigger"):
        return False
    own = ((row.lo, places[-1][1] if row.hi is None else row.hi),)
    return minus(own, places) != own


def _one_by_one(
    told: Mapping[str, Any],
    answer: Why,
    inputs: Mapping[tuple[str, int], Mapping[str, Any]],
) -> bool:
    """The events are those that explain, and their own facts agree with those stated."""
    cited = [(e["log"], e["position"], e["fields"]) for e in told["events"]]
    shown = [
        (e.log, e.position, None if e.fields is None else list(e.fields)) for e in answer.events
    ]
    if shown != cited or any(
        e.erased != ("leaf" in inputs[e.log, e.position]) for e in answer.events
    ):
        return False
    return all(
        detail is None or canonical(detail) in each["values"].values()
        for event, each in zip(answer.events, told["events"], strict=False)
        for detail in (event.case, event.activity, event.time)
    )


def _tries(told: Mapping[str, Any], is_why: bool) -> bool:
    """Other values were tried of fields that explain, and what changes is what is said to."""
    rows, reveal = told["what_if"], set(told["redaction"]["reveal"])
    if not is_why:
        return not rows
    plain = {log["name"] for log in told["scope"]["logs"] if log["plain"]}
    places = {}
    for each in told["events"]:
        place = f"{each['log']}@{each['position']}"
        if each["log"] in plain:
            places[place] = "value"
        else:
            places |= {f"{place}.{field}": field for field in each["fields"] or ()}
    return len(rows) <= MOST_TRIES and all(
        row["place"] in places
        and (row["value"] == UNTOLD) != (places[row["place"]] in reveal)
        and row["changes"] == (row["result"] != UNCHANGED)
        for row in rows
    )
