"""What a pack tells: the facts about a question, its answer, and the run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from whence.engine.arrow_compute import pc
from whence.engine.intervals import Intervals, count
from whence.engine.record import LogRecord
from whence.engine.record.erasing import Erasure
from whence.exporters.evidence.asking import Asked
from whence.exporters.evidence.proving import Proved
from whence.exporters.evidence.reconciling import Reconciled
from whence.exporters.evidence.reporting import reporting
from whence.exporters.evidence.telling import NOT, SOUGHT
from whence.exporters.evidence.trying import not_tried
from whence.exporters.evidence.verify import FORMAT
from whence.store.questions import Why

__all__ = ["Wanted", "facts_of"]


@dataclass(frozen=True)
class Wanted:
    """What a pack is asked to hold.

    Attributes:
        run: the run's id, or ``latest``.
        question: what is asked; see `ask`.
        profile: one of `PROFILES`.
        reveal: the fields whose values are told of every event.
        subject: the case of whose events all is told.
        metadata: what is known of the processing beside what the run says of itself.
        against: an earlier run, such as that of the last reporting date, to compare with.
    """

    run: str
    question: str
    profile: str = "gdpr-decision"
    reveal: tuple[str, ...] = ()
    subject: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    against: str | None = None


def facts_of(
    asked: Asked,
    wanted: Wanted,
    subject: str | None,
    proved: Proved,
    counted: Sequence[Reconciled],
    validation: Mapping[str, Any],
    tries: Sequence[Mapping[str, Any]] | None,
    difference: Mapping[str, Any] | None = None,
    said: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Everything that a pack says, for programs; the page is made of it.

    Args:
        asked: the question and its answer.
        wanted: what the pack is asked to hold.
        subject: the case of whose events all is told.
        proved: the proofs.
        counted: the counts that reconcile.
        validation: what the checker says of the PROV files.
        tries: how other inputs would have changed the result, if that was tried.
        difference: what differs from an earlier reporting date, if that is asked.
        said: the steps from the output to the events, a sentence each, if they are known.
    """
    manifest = asked.record.manifest
    stated = {**wanted.metadata, **manifest["metadata"]}
    metadata = {word: stated[word] for word in SOUGHT if stated.get(word)}
    metadata |= {word: value for word, value in sorted(stated.items()) if word not in SOUGHT}
    told: dict[str, Any] = {
        "format": FORMAT,
        "profile": wanted.profile,
        "question": asked.question,
        "answer": {"words": asked.words, "count": len(asked.cited), "steps": list(said or ())},
        "events": [
            {
                "log": each.log,
                "position": each.position,
                "fields": None if each.fields is None else list(each.fields),
                "values": proved.values.get((each.log, each.position), {}),
                "reference": proved.references[each.log, each.position],
            }
            for each in asked.cited
        ],
        "redaction": _redaction(wanted, subject),
        "scope": {
            "run": asked.graph.id,
            "started": manifest["started"],
            "ended": manifest["ended"],
            "chain_digest": manifest.get("chain_digest"),
            "logs": [_log(name, log) for name, log in asked.logs.items()],
        },
        "metadata": metadata,
        "coverage": {**asdict(asked.coverage), "words": str(asked.coverage)},
        "reconciliation": [asdict(each) for each in counted],
        "what_if": [dict(each) for each in tries or ()],
        "gaps": _gaps(asked, metadata, tries is not None, said is not None),
        "merkle": proved.merkle,
        "validation": dict(validation),
        "made": {
            "command": _command(asked, wanted),
            "versions": f"this pack by whence {version('whence')}; the run by "
            + ", ".join(f"{what} {which}" for what, which in sorted(manifest["versions"].items())),
        },
        "not": NOT,
    }
    if asked.erasure is not None:
        told["erasure"] = _erasure(asked.erasure)
    if difference is not None:
        told["difference"] = dict(difference)
    return {**told, **reporting(asked, metadata, counted, told["scope"])}


def _erasure(erasure: Erasure) -> dict[str, Any]:
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


def _redaction(wanted: Wanted, subject: str | None) -> dict[str, Any]:
    clear = []
    if wanted.reveal:
        fields = "field" if len(wanted.reveal) == 1 else "fields"
        clear.append(f"the {fields} {', '.join(wanted.reveal)}")
    if subject is not None:
        clear.append(f"all fields of the events of case {subject}")
    words = f"In clear: {'; '.join(clear)}. All other values" if clear else "Values"
    words += " are left out; each event is named by a salted reference."
    return {"reveal": list(wanted.reveal), "subject": subject, "words": words}


def _log(name: str, log: LogRecord) -> dict[str, Any]:
    first, last = _times(log)
    return {
        "name": name,
        "id": log.id,
        "count": log.length,
        "digest": log.manifest.get("digest"),
        "source": log.manifest.get("source") or None,
        "first": first,
        "last": last,
    }


def _times(log: LogRecord) -> tuple[str | None, str | None]:
    """The first and the last time of a log's events."""
    column = log.manifest.get("time")
    if column is None or log.columns.get(column) != "instant":
        return None, None
    found = []
    for number in range(log.manifest["parts"]):
        ends = pc.min_max(log.part(number).column(column)).as_py()
        found += [each for each in ends.values() if each is not None]
    if not found:
        return None, None
    return min(found).isoformat(), max(found).isoformat()


def _gaps(
    asked: Asked, metadata: Mapping[str, Any], were_tried: bool, were_said: bool
) -> list[str]:
    coverage = asked.coverage
    gaps = [
        f"Not stated for this run: {words}."
        for word, words in SOUGHT.items()
        if word not in metadata
    ]
    if coverage.tracked < coverage.outputs:
        gaps.append(f"Only {coverage.tracked:,} of {coverage.outputs:,} outputs were tracked.")
    if coverage.detail == "ends":
        gaps.append("The run kept the ends of explanations, not each processor's events.")
    if coverage.witnesses == "first":
        gaps.append("One explanation is shown; others may hold as well.")
    if coverage.erased:
        gone = "; ".join(f"{count(at):,} of {name}" for name, at in coverage.erased)
        ids = ", ".join(asked.record.manifest.get("erasures", ())) or "an earlier erasure"
        gaps.append(f"The values of some events were erased ({gone}), with {ids}.")
    if isinstance(asked.answer, Why) and not were_tried:
        gaps.append(
            f"How other inputs would have changed the result was not tried, as {not_tried(asked)}. "
            f"To try a value: whence what-if {asked.graph.id} --set LOG@POSITION.FIELD=VALUE"
        )
    if isinstance(asked.answer, Why) and not were_said:
        gaps.append(
            "The steps are not told in words, as the log is long or values were erased; the route "
            "has them."
        )
    return gaps


def _command(asked: Asked, wanted: Wanted) -> str:
    words = ["whence", "evidence", "create", "--run", asked.graph.id]
    words += ["--question", asked.question, "--profile", wanted.profile]
    words += [word for name in wanted.reveal for word in ("--reveal", name)]
    if wanted.subject is not None:
        words += ["--subject", wanted.subject]
    if wanted.against is not None:
        words += ["--against", wanted.against]
    return shlex.join(words)
