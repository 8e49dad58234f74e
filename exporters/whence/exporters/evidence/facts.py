"""What a pack states: the facts about a question, its answer, and the run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from whence.engine.record import LogRecord
from whence.engine.values.arrow_compute import pc
from whence.exporters.evidence.asking import Asked
from whence.exporters.evidence.counterfactuals import not_tried
from whence.exporters.evidence.deriving import files_of
from whence.exporters.evidence.found import to_json
from whence.exporters.evidence.proving import Proved
from whence.exporters.evidence.reconciling import Reconciled
from whence.exporters.evidence.reporting import reporting
from whence.exporters.evidence.sections import NOT, SOUGHT, in_route_order
from whence.exporters.evidence.verify import FORMAT
from whence.exporters.evidence.wording import (
    NOT_SAID,
    NOT_TRIED,
    coverage_in_words,
    erasure_facts,
    known_gaps,
    redaction_in_words,
)
from whence.exporters.recorded import run_of
from whence.store.questions import Impact, Why

__all__ = ["Wanted", "facts_of"]


@dataclass(frozen=True)
class Wanted:
    """The requested contents of a pack.

    Attributes:
        run: the run's id, or ``latest``.
        question: the question; see `ask`.
        profile: one of `PROFILES`.
        reveal: the fields whose values are revealed for every event.
        subject: the case whose events are revealed completely.
        metadata: what is known of the processing beside what the run says of itself.
        against: an earlier run, such as that of the last reporting date, to compare with.
        allow: modules whose functions the chain may call when it is run again.
    """

    run: str
    question: str
    profile: str = "gdpr-decision"
    reveal: tuple[str, ...] = ()
    subject: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    against: str | None = None
    allow: tuple[str, ...] = ()


def facts_of(
    asked: Asked,
    wanted: Wanted,
    subject: str | None,
    proved: Proved,
    counted: Sequence[Reconciled],
    answer: Why | Impact,
    tries: Sequence[Mapping[str, Any]] | None,
    difference: Mapping[str, Any] | None = None,
    said: Sequence[str] | None = None,
) -> dict[str, Any]:
    """All contents of a pack, for programs; the page is made of them.

    Args:
        asked: the question and its answer.
        wanted: the requested contents.
        subject: the case whose events are revealed completely.
        proved: the proofs.
        counted: the counts that reconcile.
        answer: the answer as far as it may be revealed.
        tries: how other inputs would have changed the result, if that was tried.
        difference: what differs from an earlier reporting date, if requested.
        said: the steps from the output to the events, a sentence each, if they are known.
    """
    manifest = asked.record.manifest
    stated = {**wanted.metadata, **manifest.metadata}
    metadata = {word: stated[word] for word in SOUGHT if stated.get(word)}
    metadata |= {word: value for word, value in sorted(stated.items()) if word not in SOUGHT}
    run = run_of(asked.record)
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
        "found": {"answer": to_json(answer), "run": to_json(run), "route": _route(asked)},
        "redaction": {
            "reveal": list(wanted.reveal),
            "subject": subject,
            "words": redaction_in_words(list(wanted.reveal), subject),
        },
        "scope": {
            "run": asked.graph.id,
            "started": manifest.started,
            "ended": manifest.ended,
            "chain_digest": manifest.chain_digest,
            "logs": [_log(name, log) for name, log in asked.logs.items()],
        },
        "metadata": metadata,
        "coverage": {**asdict(asked.coverage), "words": coverage_in_words(asked.coverage)},
        "reconciliation": [asdict(each) for each in counted],
        "what_if": [dict(each) for each in tries or ()],
        "gaps": _gaps(asked, metadata, tries is not None, said is not None),
        "merkle": proved.merkle,
        "made": {
            "command": _command(asked, wanted),
            "whence": version("whence"),
            "reportlab": version("reportlab"),
            "versions": f"this pack by whence {version('whence')}; the run by "
            + ", ".join(f"{what} {which}" for what, which in sorted(manifest.versions.items())),
        },
        "not": NOT,
    }
    if asked.erasure is not None:
        told["erasure"] = erasure_facts(asked.erasure)
    if difference is not None:
        told["difference"] = dict(difference)
    told |= reporting(run, metadata, told["reconciliation"], told["scope"])
    return {**told, "files": files_of(told)}


def _route(asked: Asked) -> dict[str, Any]:
    """The associations of the route, and how positions inside a Slice are counted."""
    route = in_route_order(asked.route)
    widths = {each.name: each.w for each in asked.record.manifest.streams}
    named = {each.stream for each in route} | {each.to for each in route}
    return {
        "associations": [to_json(each) for each in route],
        "widths": {name: w for name, w in sorted(widths.items()) if name in named},
    }


def _log(name: str, log: LogRecord) -> dict[str, Any]:
    first, last = _times(log)
    return {
        "name": name,
        "id": log.id,
        "count": log.length,
        "plain": log.manifest.plain,
        "columns": log.columns,
        "digest": log.manifest.digest,
        "source": log.manifest.source or None,
        "first": first,
        "last": last,
    }


def _times(log: LogRecord) -> tuple[str | None, str | None]:
    """The first and the last time of a log's events."""
    column = log.manifest.time
    if column is None or log.columns.get(column) != "instant":
        return None, None
    found = []
    for number in range(log.manifest.parts):
        ends = pc.min_max(log.part(number).column(column)).as_py()
        found += [each for each in ends.values() if each is not None]
    if not found:
        return None, None
    return min(found).isoformat(), max(found).isoformat()


def _gaps(
    asked: Asked, metadata: Mapping[str, Any], were_tried: bool, were_said: bool
) -> list[str]:
    manifest = asked.record.manifest
    gaps = known_gaps(metadata, asked.coverage, manifest.erasures, imported=manifest.imported)
    if isinstance(asked.answer, Why) and not were_tried:
        gaps.append(
            f"{NOT_TRIED}, as {not_tried(asked)}. "
            f"To try a value: whence what-if {asked.graph.id} --set LOG@POSITION.FIELD=VALUE"
        )
    if isinstance(asked.answer, Why) and not were_said:
        gaps.append(NOT_SAID)
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
