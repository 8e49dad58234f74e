"""What the report of a figure needs: dictionary, completeness, timeliness, adjustments, dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.lineage.positions import count
from whence.engine.lineage.words import value_text
from whence.exporters.evidence.asking import Asked
from whence.exporters.model import Run
from whence.store import Connection
from whence.store.questions import Comparison, InputRange, compare
from whence.store.questions.output_pairs import Said

__all__ = ["difference_of", "reporting"]

_OWNER = "owner"


def reporting(
    run: Run,
    metadata: Mapping[str, Any],
    counted: Sequence[Mapping[str, Any]],
    scope: Mapping[str, Any],
) -> dict[str, Any]:
    """Dictionary, completeness, timeliness and adjustments.

    Args:
        run: the run.
        metadata: what is known of the processing; ``owner.NAME`` is who owns one processor, stream
            or log, ``owner`` who owns the rest.
        counted: the counts that reconcile.
        scope: the run and its logs.
    """

    def owner(*names: str) -> str:
        given = (metadata.get(f"{_OWNER}.{name}") for name in names)
        return str(next((each for each in given if each), metadata.get(_OWNER, "not stated")))

    dictionary = [
        {"name": log.name, "kind": "log", "events": log.count or "", "owner": owner(log.name)}
        for log in run.logs
    ]
    dictionary += [
        {"name": each.id, "kind": each.kind or "processor", "events": "", "owner": owner(each.id)}
        for each in run.processors
    ]
    dictionary += [
        {
            "name": s.place,
            "kind": f"stream ({s.role})",
            "events": s.count or "",
            "owner": owner(s.place, s.processor),
        }
        for s in run.streams
    ]
    completeness = [
        {
            "log": each["log"],
            "used": f"{each['count'] - each['never_matters']:,} of {each['count']:,}",
            "reason": f"{each['never_matters']:,} never matter: no output of the chain leans on "
            f"them; {each['rejected']:,} rows were rejected when the log was read",
        }
        for each in counted
    ]
    return {
        "dictionary": dictionary,
        "completeness": completeness,
        "timeliness": _timeliness(scope),
        "adjustments": [
            {
                "log": log.name,
                "who": log.adjusted.who,
                "time": log.adjusted.time.isoformat().replace("+00:00", "Z"),
                "values": log.adjusted.count,
                "reason": log.adjusted.reason or "not stated",
                "corrects": log.revises or "not known",
            }
            for log in run.logs
            if log.adjusted is not None
        ],
    }


def _timeliness(scope: Mapping[str, Any]) -> dict[str, str]:
    last = max((log["last"] for log in scope["logs"] if log["last"]), default=None)
    told = {
        "run started": scope["started"],
        "run ended": scope["ended"],
        "last event": last or "not known",
    }
    if last is None or scope["ended"] is None:
        return {**told, "from the last event to the end of the run": "not known"}
    lag = datetime.fromisoformat(scope["ended"]) - datetime.fromisoformat(last)
    return {**told, "from the last event to the end of the run": str(lag)}


def difference_of(connection: Connection, asked: Asked, before: str) -> dict[str, Any]:
    """What differs from an earlier reporting date: another run of the chain.

    Args:
        connection: where the graph is.
        asked: the question and its answer.
        before: the id of the earlier run.

    Raises:
        ParameterError: it is the same run.
    """
    output = asked.outputs[0] if asked.outputs else None
    found = compare(
        connection, before, asked.graph.id, most=1, record=asked.record.root, only=output
    )
    if found.runs[0] == found.runs[1]:
        msg = f"--against: expected an earlier run; got {before!r}, the same one; try runs list"
        raise ParameterError(msg)
    return {
        "against": found.runs[0],
        "words": _words(found, output),
        "logs": [
            {
                "log": log.log,
                "same": log.same,
                "changed": count(log.changed),
                "removed": count(log.removed),
                "added": count(log.added),
            }
            for log in found.logs
        ],
        "outputs": [
            {
                "output": pipe.output,
                "before": pipe.lengths[0],
                "now": pipe.lengths[1],
                "alike": pipe.same,
                "changed": pipe.changed,
                "appeared": pipe.appeared,
                "vanished": pipe.vanished,
            }
            for pipe in found.pipes
        ],
        "figure": [
            {
                "output": f"{each.output}@{said.position if (said := each.new) else '-'}",
                "how": each.how,
                "before": _value(each.old),
                "now": _value(each.new),
                "because of, before": _ranges(each.old_inputs),
                "because of, now": _ranges(each.new_inputs),
            }
            for each in found.outputs
        ],
    }


def _words(found: Comparison, output: tuple[str, int] | None) -> str:
    causes = {
        "the chain": found.chain_changed,
        "the events": found.logs_changed,
        "whether the log is closed": found.closed_changed,
    }
    changed = " and ".join(word for word, is_so in causes.items() if is_so) or "nothing"
    words = f"Between run {found.runs[0]} and run {found.runs[1]} changed: {changed}. "
    words += f"{found.count:,} outputs differ."
    if output is None:
        return words
    name = f"{output[0]}@{output[1]}"
    if not found.outputs:
        return f"{words} {name} is as it was."
    (each,) = found.outputs
    reasons = _ranges(each.new_inputs) or _ranges(each.old_inputs) or "no input event"
    return (
        f"{words} {name} was {_value(each.old)} and is {_value(each.new)}; the difference is "
        f"explained by {reasons}."
    )


def _value(said: Said | None) -> str:
    if said is None:
        return "not there"
    return said.kind if said.kind in ("missing", "erased") else value_text(said.value, most=1000)


def _ranges(inputs: Sequence[InputRange]) -> str:
    return ", ".join(
        f"{each.log}@{each.lo}" + ("" if each.lo == each.hi else f"-{each.hi}") for each in inputs
    )
