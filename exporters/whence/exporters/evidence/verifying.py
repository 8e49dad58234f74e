"""Verify a pack: what its own script checks, who signed it, and all that can be made again."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whence.engine.errors import EvidenceError, WhenceError
from whence.engine.record.root import root_of
from whence.exporters.evidence.attesting import check_signature, opened
from whence.exporters.evidence.checking_alone import recheck_alone
from whence.exporters.evidence.committing import check_commit
from whence.exporters.evidence.keys import PublicKey, public_key
from whence.exporters.evidence.rechecking import NOTE, OPEN, State
from whence.exporters.evidence.timestamping import check_token, time_of
from whence.exporters.evidence.verify import (
    ATTESTATION,
    BAG,
    DERIVED_SINCE,
    TOKEN,
    Finding,
    PackError,
    check,
    read_pack,
    strict_json,
)
from whence.exporters.validating import validate

__all__ = ["ORIGIN", "Verified", "verify_pack"]

ORIGIN = "the origin is not proved: no --key was given, and anybody may have signed it"


@dataclass(frozen=True)
class Verified:
    """What holds of a pack and what does not, in words.

    Attributes:
        findings: what was checked, and whether it holds.
        notes: what such a pack does not let anybody check.
        unproved: what could not be checked this time, and would have to be before it is relied on.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether all that was checked holds."""
        return all(holds for holds, _ in self.findings)

    @property
    def proved(self) -> bool:
        """Whether all of it holds, and nothing is left that should have been checked."""
        return self.holds and not self.unproved


def verify_pack(
    path: Path, key: Path | None = None, tsa_certificate: Path | None = None
) -> Verified:
    """Verify a pack, offline.

    Args:
        path: the pack.
        key: the public key of the expected signer.
        tsa_certificate: the certificates, in PEM, that times are traced to.

    Raises:
        EvidenceError: it is no pack, not safe to look into, or of a newer version.
        ParameterError: the key is none, or there is no certificate.
    """
    given = None if key is None else public_key(key)
    try:
        files, whole = read_pack(path)
        found = list(check(files, whole))
        told = strict_json(files[f"{BAG}data/evidence.json"])
        format = told["format"]
    except PackError as error:
        raise EvidenceError(str(error)) from error
    whole_so_far = all(holds for holds, _ in found)
    found.append(_signature(files, given))
    found += [_prov(files, name, told.get("validation")) for name in ("prov.json", "prov.nq")]
    states: list[State] = []
    if format < DERIVED_SINCE:
        states.append(
            (
                OPEN,
                f"this pack is of format {format}, older than {DERIVED_SINCE}: that report, "
                "tables, picture and PROV say what was found cannot be checked; ask for a new one",
            )
        )
    elif whole_so_far:  # else it is refused in any case
        states += recheck_alone(path)
        states += _times(files, tsa_certificate)
    found += [(holds == "holds", words) for holds, words in states if holds not in (NOTE, OPEN)]
    unproved = [words for state, words in states if state == OPEN]
    if given is None:
        unproved.append(ORIGIN)
    notes = tuple(words for state, words in states if state == NOTE)
    return Verified(tuple(found), notes, tuple(unproved))


def _signature(files: dict[str, bytes], given: PublicKey | None) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "key.pub")
        path.write_bytes(files.get(f"{BAG}data/key.pub", b""))
        try:
            within = public_key(path)
        except WhenceError:
            return False, f"signature: {BAG}data/key.pub is no public key"
    return check_signature(files.get(ATTESTATION, b""), within, given)


def _prov(files: dict[str, bytes], name: str, said: Any) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(files.get(f"{BAG}data/{name}", b""))
        try:
            checked = validate(path)
        except WhenceError as error:
            return False, f"PROV: {BAG}data/{name} cannot be read: {error}"
    if not checked.valid:
        return False, f"PROV: {BAG}data/{name} is not valid by PROV-CONSTRAINTS"
    try:
        same = said["files"][name] == {"valid": True, "statements": checked.statements}
    except (KeyError, TypeError):
        same = False
    if not same:
        return (
            False,
            f"PROV: {name} has {checked.statements:,} statements, but the pack states others",
        )
    return True, f"PROV: {name} is valid, {checked.statements:,} statements"


def _times(files: Mapping[str, bytes], certificate: Path | None) -> Iterator[State]:
    """What was committed when the run ended, who signed it, and which times are vouched for."""
    try:
        told = strict_json(files[f"{BAG}data/evidence.json"])
        root = strict_json(files[f"{BAG}data/root.json"])
        attested = opened(files[ATTESTATION])
        signed = attested.predicate
        of_pack = {"run": told["scope"]["run"], "format": told["format"]}
        of_pack |= {"profile": told["profile"], "question": told["question"]}
        of_pack["root"] = root_of(root["parts"])
        if any(signed.get(name) != value for name, value in of_pack.items()):
            yield "FAILS", "attestation: it names another run, question or root"
        yield from _commits(root, told["scope"]["run"], attested.keyid, certificate)
    except (KeyError, TypeError, ValueError, AttributeError, WhenceError) as error:
        yield "FAILS", f"root: what was committed cannot be read: {error}"
        return
    yield from _time("the pack", files.get(TOKEN), files[ATTESTATION], certificate)


def _commits(
    root: Mapping[str, Any], run: str, key: str | None, certificate: Path | None
) -> Iterator[State]:
    commits = root["commits"]
    if not commits:
        yield (
            NOTE,
            "root: it was not committed when the run ended; only the signer of the pack vouches "
            "that nothing was changed since then",
        )
        return
    for commit in commits:
        predicate = check_commit(commit, run).predicate
        what, when = f"root: {commit['root']}, {predicate['why']}", predicate["signed"]
        if commit["keyid"] is None:
            yield NOTE, f"{what}: in the journal, not signed, {when}"
        elif commit["keyid"] != key:
            yield NOTE, f"{what}: signed by another key, {commit['keyid']}, {when}"
        else:
            yield "holds", f"{what}: signed by key {commit['keyid']}, {when}"
        token = commit["timestamp"]
        data = None if token is None else base64.b64decode(token, validate=True)
        yield from _time("the root", data, str(commit["envelope"]).encode(), certificate)
    if commits[-1]["root"] != root_of(root["parts"]):
        yield "FAILS", "root: the parts of the run are not those that were committed"


def _time(what: str, token: bytes | None, data: bytes, certificate: Path | None) -> Iterator[State]:
    if token is None:
        state = NOTE if certificate is None else OPEN
        yield state, f"time: that of {what} is claimed by who signed, and not proved"
        return
    try:
        if certificate is None:
            when = time_of(token, data)
            yield (
                NOTE,
                f"time: a token says {when} of {what}; without --tsa-certificate that is claimed, "
                "and not proved",
            )
        else:
            when = check_token(token, data, certificate)
            yield "holds", f"time: {what} was there at {when}, by {certificate.name}"
    except EvidenceError as error:
        yield "FAILS", f"time of {what}: {error}"
