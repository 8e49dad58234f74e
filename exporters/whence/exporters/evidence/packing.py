"""Make a pack: gather, describe, prove, seal."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.record import RunRecord
from whence.engine.record.remote import RemotePath
from whence.engine.record.root import root_of
from whence.engine.record.verifying import require_unchanged
from whence.exporters.evidence.asking import Asked, ask, positions_of
from whence.exporters.evidence.attesting import envelope
from whence.exporters.evidence.committing import committed_of, head_now
from whence.exporters.evidence.counterfactuals import tried
from whence.exporters.evidence.deriving import derived, json_bytes, prov_files
from whence.exporters.evidence.facts import Wanted, facts_of
from whence.exporters.evidence.hashing_pool import HashingPool
from whence.exporters.evidence.keys import KeyPair
from whence.exporters.evidence.leaves import RunLeaves
from whence.exporters.evidence.proving import prove, revealable
from whence.exporters.evidence.reconciling import reconcile
from whence.exporters.evidence.reporting import difference_of
from whence.exporters.evidence.sections import PROFILES
from whence.exporters.evidence.stepping import said_in_words
from whence.exporters.evidence.timestamping import check_address, stamped
from whence.exporters.evidence.verify import ATTESTATION, BAG, FORMAT, TOKEN, archive
from whence.exporters.evidence.wording import validation_in_words
from whence.exporters.prov.saving import write_pieces
from whence.exporters.validating import validate
from whence.store import Connection
from whence.store.allowing import load_own_functions
from whence.store.catalog import find_run
from whence.store.questions import Impact, Why
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
    timestamp: str | None = None,
) -> Path:
    """Write a sealed pack; the same but for the attestation, whenever it is made.

    Args:
        connection: where the graph is.
        root: the record's place.
        wanted: what it shall hold.
        path: the file.
        keys: the keys that it is signed with.
        now: the time of signing, if it is not now.
        timestamp: a server of RFC 3161 to ask for the time.
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
    if timestamp is not None:
        check_address(timestamp)
    graph = find_run(connection, wanted.run, root)
    require_whole(graph)
    record = RunRecord(root, graph.id)
    load_own_functions(record.manifest.chain, wanted.allow)
    logs = {log.name: record.log(log.name) for log in graph.logs}
    require_unchanged(record)
    committed = committed_of(record)
    with HashingPool() as hands:
        leaves = RunLeaves.begun(record, logs, [each.name for each in graph.outputs], hands)
        asked = ask(connection, graph, record, wanted.question)
        content, merkle_root = _content_of(connection, asked, wanted, leaves, committed)
    files = _bag({**content, "key.pub": keys.public.pem.encode()})
    signed = (now or datetime.now(UTC)).isoformat(timespec="seconds").replace("+00:00", "Z")
    predicate = {
        "run": asked.graph.id,
        "profile": wanted.profile,
        "question": asked.question,
        "format": FORMAT,
        "signed": signed,
        "root": root_of(committed["parts"]),
        "journal": head_now(record.root),
    }
    files[ATTESTATION] = envelope(files, merkle_root, predicate, keys)
    if timestamp is not None:
        files[TOKEN] = stamped(files[ATTESTATION], timestamp)
    return write_pieces(path, [archive(files)])


def _content_of(
    connection: Connection,
    asked: Asked,
    wanted: Wanted,
    leaves: RunLeaves,
    committed: Mapping[str, Any],
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
    answer = _shown(asked, wanted, own)
    difference = None
    if wanted.against is not None:
        difference = difference_of(connection, asked, wanted.against)
    tries = tried(asked, wanted.reveal)
    said = said_in_words(connection, asked, wanted.reveal, own)
    proved = prove(asked, leaves, wanted.reveal, own)
    told = facts_of(asked, wanted, subject, proved, counted, answer, tries, difference, said)
    chain = json.dumps(asked.record.manifest.chain, indent=2, sort_keys=True)
    own_files = {
        "chain.json": chain.encode() + b"\n",
        "proofs.json": json_bytes({"events": proved.proofs}),
        "root.json": json_bytes(committed),
        "verify.py": (_HERE / "verify.py").read_bytes(),
    }
    return {**_with_prov(told), **own_files}, proved.merkle["root"]


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


def _shown(asked: Asked, wanted: Wanted, own: frozenset[tuple[str, int]]) -> Why | Impact:
    """The answer as far as it may be revealed."""
    told = {
        word: any(log.manifest.column_of(word) in wanted.reveal for log in asked.logs.values())
        for word in ("case", "activity", "time")
    }
    found: Why | Impact = asked.redacted(told, own)
    return found


def _with_prov(facts: Mapping[str, Any]) -> dict[str, bytes]:
    """All files that are made from the facts, and the facts, completed by what PROV is found to be.

    They are made from the facts as read back, as the verifier will make them.
    """
    told: dict[str, Any] = json.loads(json_bytes(facts))
    prov = prov_files(told)
    told["validation"] = _validation(prov)
    return {**derived(told), **prov, "evidence.json": json_bytes(told)}


def _validation(prov: Mapping[str, bytes]) -> dict[str, Any]:
    """The checker's findings on the PROV files."""
    reports = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in prov.items():
            path = Path(folder, name)
            path.write_bytes(data)
            checked = validate(path)
            if not checked.valid:
                msg = f"{name}: expected valid PROV; got {checked}; try reporting it"
                raise ParameterError(msg)
            reports[name] = {"valid": True, "statements": checked.statements}
    return {"words": validation_in_words(reports["prov.json"]["statements"]), "files": reports}


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
