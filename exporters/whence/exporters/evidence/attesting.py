"""An in-toto statement about a pack, in a DSSE envelope."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whence.exporters.evidence.keys import KeyPair, PublicKey
from whence.exporters.evidence.verify import BAG, Finding, strict_json

__all__ = [
    "PAYLOAD_TYPE",
    "PREDICATE_TYPE",
    "Opened",
    "check_signature",
    "envelope",
    "opened",
    "pae",
    "sealed",
]

PAYLOAD_TYPE = "application/vnd.in-toto+json"
PREDICATE_TYPE = "urn:whence:evidence:v1"
_STATEMENT = "https://in-toto.io/Statement/v1"


def pae(payload_type: str, payload: bytes) -> bytes:
    """What is signed: the pre-authentication encoding of DSSE.

    >>> pae("t", b"body")
    b'DSSEv1 1 t 4 body'
    """
    return b"DSSEv1 %d %s %d %s" % (
        len(payload_type.encode()),
        payload_type.encode(),
        len(payload),
        payload,
    )


def envelope(
    files: Mapping[str, bytes], root: str, predicate: Mapping[str, Any], keys: KeyPair
) -> bytes:
    """Sign a statement about the manifests of a bag and the Merkle root of its run.

    Args:
        files: the bag.
        root: the Merkle root, in hex.
        predicate: statements about the pack, including the time of signing.
        keys: the keys to sign with.
    """
    subjects = {
        name: hashlib.sha256(files[BAG + name]).hexdigest()
        for name in ("manifest-sha256.txt", "tagmanifest-sha256.txt")
    }
    return sealed({**subjects, "merkle-root": root}, PREDICATE_TYPE, predicate, keys)


def sealed(
    subjects: Mapping[str, str], kind: str, predicate: Mapping[str, Any], keys: KeyPair | None
) -> bytes:
    """A statement about digests in an envelope; without keys it has no signature.

    Args:
        subjects: the digests, SHA-256 in hex, by name.
        kind: what kind of statement it is.
        predicate: statements about them.
        keys: the keys to sign with.
    """
    statement = {
        "_type": _STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": hex}} for name, hex in subjects.items()],
        "predicateType": kind,
        "predicate": dict(predicate),
    }
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    signatures = []
    if keys is not None:
        signature = base64.b64encode(keys.sign(pae(PAYLOAD_TYPE, payload))).decode("ascii")
        signatures.append({"keyid": keys.public.id, "sig": signature})
    return _written(
        {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(payload).decode("ascii"),
            "signatures": signatures,
        }
    )


@dataclass(frozen=True)
class Opened:
    """An envelope that was opened; its signature was not looked at.

    Attributes:
        payload: what was signed.
        kind: what kind of statement it is.
        subjects: the digests that it names, by name.
        predicate: its statements about them.
        keyid: the stated key of the signature; ``None`` if there is no signature.
        signature: the signature.
    """

    payload: bytes
    kind: str
    subjects: Mapping[str, str]
    predicate: Mapping[str, Any]
    keyid: str | None
    signature: bytes

    def signed_by(self, key: PublicKey) -> bool:
        """Whether it is signed with this key."""
        if self.keyid != key.id:
            return False
        return key.verifies(self.signature, pae(PAYLOAD_TYPE, self.payload))


def opened(data: bytes) -> Opened:
    """Open an envelope of exactly the form that is written here.

    One signature at most, of Ed25519: there is no field that could name another algorithm, and one
    that is put in is refused.

    Raises:
        ValueError: it is of another form.
    """
    try:
        found = strict_json(data)
        payload = base64.b64decode(found["payload"], validate=True)
        statement = strict_json(payload)
        signatures = found["signatures"]
        if set(found) != {"payload", "payloadType", "signatures"} or len(signatures) > 1:
            msg = "it has more in it than one statement and one signature"
            raise ValueError(msg)
        if any(set(each) != {"keyid", "sig"} for each in signatures):
            msg = "its signature says more than its key"
            raise ValueError(msg)
        if found["payloadType"] != PAYLOAD_TYPE or statement["_type"] != _STATEMENT:
            msg = "it is a statement of another type"
            raise ValueError(msg)
        subjects = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
        keyid = str(signatures[0]["keyid"]) if signatures else None
        signature = base64.b64decode(signatures[0]["sig"], validate=True) if signatures else b""
        kind, predicate = str(statement["predicateType"]), dict(statement["predicate"])
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(repr(error)) from error
    if _written(found) != data:
        msg = "it is not written as it was"
        raise ValueError(msg)
    return Opened(payload, kind, subjects, predicate, keyid, signature)


def check_signature(data: bytes, within: PublicKey, given: PublicKey | None) -> Finding:
    """Check the envelope of a pack.

    Args:
        data: the envelope.
        within: the key that the pack names as its own.
        given: the key of the expected signer, if the reader has it.
    """
    try:
        found = opened(data)
        when = str(found.predicate["signed"])
    except (KeyError, ValueError) as error:
        return False, f"signature: the attestation cannot be read: {error}"
    if found.kind != PREDICATE_TYPE:
        return False, f"signature: expected a statement about a pack; got {found.kind}"
    if found.keyid is None:
        return False, "signature: missing"
    if found.keyid != within.id:
        return False, f"signature: it claims the key {found.keyid}, not {within.id}"
    if not found.signed_by(within):
        return False, "signature: it is not of this attestation; either of them was changed"
    if given is None:
        return True, f"signature: valid, signer not verified: by key {within.id}, {when}"
    if given.id != within.id:
        return False, f"signature: it is by key {within.id}, not by the one given, {given.id}"
    return True, f"signature: by the key given, {given.id}, {when}"


def _written(envelope: Mapping[str, Any]) -> bytes:
    return json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode() + b"\n"
