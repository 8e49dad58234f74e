"""Make a pack: gather, tell, prove, seal."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whence.engine.associations import LOG_PREFIX
from whence.engine.errors import ParameterError
from whence.engine.record import RunRecord
from whence.engine.record.remote import RemotePath
from whence.exporters.answers import answer_of, run_about
from whence.exporters.evidence.asking import Asked, ask, positions_of
from whence.exporters.evidence.attesting import envelope
from whence.exporters.evidence.facts import Wanted, facts_of
from whence.exporters.evidence.hands import Hands
from whence.exporters.evidence.keys import KeyPair
from whence.exporters.evidence.leaves import RunLeaves
from whence.exporters.evidence.page import html_page
from whence.exporters.evidence.picture import picture_of, svg
from whence.exporters.evidence.printing import pdf
from whence.exporters.evidence.proving import Proved, prove, revealable
from whence.exporters.evidence.reconciling import reconcile
from whence.exporters.evidence.reporting import difference_of
from whence.exporters.evidence.stepping import said_in_words
from whence.exporters.evidence.telling import NOT, PROFILES, event_rows, report, route_rows
from whence.exporters.evidence.trying import tried
from whence.exporters.evidence.verify import ATTESTATION, BAG, FORMAT, archive
from whence.exporters.model import Event
from whence.exporters.recorded import run_of
from whence.exporters.saving import write_pieces
from whence.exporters.shipping import save
from whence.exporters.validating import validate
from whence.store import Connection
from whence.store.catalog import find_run
from whence.store.questions import Impact
from whence.store.questions.whole import require_whole

__all__ = ["create_pack"]

_HERE = Path(__file__).parent


def create_pack(
    connection: Connection,
    root: Path,
    wanted: Wanted,
    path: Path,
    keys: KeyPair,
    *,
    now: datetime | None = None,
) -> Path:
    """Write a sealed pack; the same but for the attestation, whenever it is made.

    Args:
        connection: where the graph is.
        root: the record's place.
        wanted: what it shall hold.
        path: the file.
        keys: the keys that it is signed with.
        now: the time of signing, if it is not now.
    """
    if wanted.profile not in PROFILES:
        msg = (
            f"a profile: expected one of {', '.join(PROFILES)}; got {wanted.profile!r}; "
            "try gdpr-decision"
        )
        raise ParameterError(msg)
    if isinstance(root, RemotePath):
        msg = f"{root}: expected a record on this machine; got a URI; try a copy of it here"
        raise ParameterError(msg)
    graph = find_run(connection, wanted.run, root)
    require_whole(graph)
    record = RunRecord(root, graph.id)
    logs = {log.name: record.log(log.name) for log in graph.logs}
    with Hands() as hands:
        leaves = RunLeaves.begun(record, logs, [each.name for each in graph.outputs], hands)
        asked = ask(connection, graph, record, wanted.question)
        content, merkle_root = _content_of(connection, asked, wanted, leaves)
    files = _bag({**content, "key.pub": keys.public.pem.encode()})
    signed = (now or datetime.now(UTC)).isoformat(timespec="seconds").replace("+00:00", "Z")
    predicate = {
        "run": asked.graph.id,
        "profile": wanted.profile,
        "question": asked.question,
        "format": FORMAT,
        "signed": signed,
    }
    files[ATTESTATION] = envelope(files, merkle_root, predicate, keys)
    return write_pieces(path, [archive(files)])


def _content_of(
    connection: Connection, asked: Asked, wanted: Wanted, leaves: RunLeaves
) -> tuple[dict[str, bytes], str]:
    """The files of a pack, and the root of the run.

    What is proved comes last, as others are at work on the leaves.
    """
    if (wanted.profile == "gdpr-erasure") != (asked.erasure is not None):
        msg = (
            "an erasure: expected the profile gdpr-erasure with a question 'erasure ID'; got "
            f"profile {wanted.profile} and {asked.question!r}; try --question 'erasure latest'"
        )
        raise ParameterError(msg)
    known = revealable(asked.logs)
    for name in wanted.reveal:
        if name not in known:
            msg = (
                f"--reveal: expected a field of the log; got {name!r}; "
                f"try {', '.join(known) or 'none: the log has no fields'}"
            )
            raise ParameterError(msg)
    subject = asked.subject if wanted.subject is None else wanted.subject
    own = _subject(asked, subject)
    counted = reconcile(asked.graph, asked.record)
    with tempfile.TemporaryDirectory() as folder:
        prov, validation = _prov(asked, wanted, own, Path(folder))
    difference = None
    if wanted.against is not None:
        difference = difference_of(connection, asked, wanted.against)
    tries = tried(asked, wanted.reveal)
    said = said_in_words(connection, asked, wanted.reveal, own)
    proved = prove(asked, leaves, wanted.reveal, own)
    told = facts_of(asked, wanted, subject, proved, counted, validation, tries, difference, said)
    return {**_content(asked, told, proved), **prov}, proved.merkle["root"]


def _subject(asked: Asked, subject: str | None) -> frozenset[tuple[str, int]]:
    """The events of the answer that are the subject's."""
    if subject is None:
        return frozenset()
    cited = {(each.log, each.position) for each in asked.cited}
    own = frozenset(
        (name, at) for name, log in asked.logs.items() for at in positions_of(log, subject)
    )
    if not own:
        msg = (
            f"--subject: expected a case of the log; got {subject!r}; "
            "try whence logs inspect, and look whether the log declares its case"
        )
        raise ParameterError(msg)
    return own & cited


def _prov(
    asked: Asked, wanted: Wanted, own: frozenset[tuple[str, int]], folder: Path
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The answer as PROV, of exactly this scope, and what the checker says of it."""
    shown = {
        word: any(log.manifest.get(word) in wanted.reveal for log in asked.logs.values())
        for word in ("case", "activity", "time")
    }
    answer = asked.redacted(shown, own)
    if asked.erasure is not None:
        events = tuple(Event(LOG_PREFIX + each.log, each.position) for each in asked.cited)
        answer = replace(answer_of(answer, run_about(asked.record)), events=events)
    found, reports = {}, {}
    for name in ("prov.json", "prov.nq"):
        path = save(answer, folder / name, about=asked.record)
        found[name] = path.read_bytes()
        checked = validate(path)
        if not checked.valid:
            msg = f"{name}: expected valid PROV; got {checked}; try reporting it"
            raise ParameterError(msg)
        reports[name] = {"valid": True, "statements": checked.statements}
    statements = reports["prov.json"]["statements"]
    words = f"valid by W3C PROV-CONSTRAINTS, {statements:,} statements, checked when it was made"
    return found, {"words": words, "files": reports}


def _content(asked: Asked, told: dict[str, Any], proved: Proved) -> dict[str, bytes]:
    names = [f"{each.log}@{each.position}" for each in asked.cited]
    processors = [p.id for p in run_of(asked.record).processors if p.definition is not None]
    output = asked.question.partition(" ")[2]
    if isinstance(asked.answer, Impact):
        many = sum(share.count for share in asked.answer.explained)
        output = f"{many:,} outputs"
    picture = picture_of(names, processors, output)
    route = route_rows(asked.route)
    widths = {each["name"]: each["w"] for each in asked.record.manifest["streams"]}
    page = report(told, route_rows(asked.route, widths))
    chain = json.dumps(asked.record.manifest.get("chain"), indent=2, sort_keys=True)
    counts = [list(each.values()) for each in told["reconciliation"]]
    return {
        "README.txt": _readme(told).encode(),
        "report.html": html_page(page, svg(picture)).encode(),
        "report.pdf": pdf(page, picture),
        "explanation.svg": svg(picture).encode(),
        "evidence.json": _json({k: v for k, v in told.items() if k != "events"}),
        "events.csv": _csv(*event_rows(told)),
        "route.csv": _csv(*route),
        "reconciliation.csv": _csv(list(told["reconciliation"][0]) if counts else ["log"], counts),
        "what-if.csv": _csv(
            ["place", "value", "changes", "result"], [list(row.values()) for row in told["what_if"]]
        ),
        "dictionary.csv": _csv(
            ["name", "kind", "events", "owner"], [list(row.values()) for row in told["dictionary"]]
        ),
        **_more_tables(told),
        "chain.json": chain.encode() + b"\n",
        "proofs.json": _json({"events": proved.proofs}),
        "verify.py": (_HERE / "verify.py").read_bytes(),
    }


def _more_tables(told: Mapping[str, Any]) -> dict[str, bytes]:
    """Tables that only some packs have."""
    several = {
        "erased.csv": told.get("erasure", {}).get("erased", ()),
        "adjustments.csv": told["adjustments"],
        "difference.csv": told.get("difference", {}).get("figure", ()),
    }
    return {
        name: _csv(list(rows[0]), [list(row.values()) for row in rows])
        for name, rows in several.items()
        if rows
    }


def _readme(told: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            f"Evidence: {told['question']}",
            "",
            told["answer"]["words"],
            "",
            "report.html, report.pdf   the question, the answer and what they rest on, to read",
            "evidence.json, *.csv      the same for programs",
            "prov.json, prov.nq        the same as W3C PROV",
            "proofs.json               that the events shown are events of the run",
            "chain.json                what computed the answer",
            "verify.py                 python3 verify.py PACK.zip checks the pack",
            "",
            NOT,
            "",
        ]
    )


def _json(content: Any) -> bytes:
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return made.getvalue().encode()


def _bag(content: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a BagIt bag (RFC 8493)."""
    data = {f"data/{name}": content[name] for name in sorted(content)}
    size = sum(len(each) for each in data.values())
    tags = {
        "bagit.txt": b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "bag-info.txt": f"Payload-Oxum: {size}.{len(data)}\n"
        f"Bag-Software-Agent: whence {version('whence')}\n".encode(),
        "manifest-sha256.txt": _manifest(data),
    }
    tags["tagmanifest-sha256.txt"] = _manifest(tags)
    return {BAG + name: each for name, each in {**data, **tags}.items()}


def _manifest(files: Mapping[str, bytes]) -> bytes:
    return "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())
    ).encode()
