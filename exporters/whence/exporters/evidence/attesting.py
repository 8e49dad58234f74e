"""An in-toto statement about a pack, in a DSSE envelope."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from whence.exporters.evidence.keys import KeyPair, PublicKey
from whence.exporters.evidence.verify import BAG, Finding

__all__ = ["PAYLOAD_TYPE", "PREDICATE_TYPE", "check_signature", "envelope", "pae"]

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
        predicate: what is said of the pack, the time of signing among it.
        keys: the keys to sign with.
    """
    subjects = [
        {"name": name, "digest": {"sha256": hashlib.sha256(files[BAG + name]).hexdigest()}}
        for name in ("manifest-sha256.txt", "tagmanifest-sha256.txt")
    ]
    statement = {
        "_type": _STATEMENT,
        "subject": [*subjects, {"name": "merkle-root", "digest": {"sha256": root}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": dict(predicate),
    }
    payload = json.dumps(statement, sort_keys=True, separators=(",", ":")).encode()
    signature = keys.sign(pae(PAYLOAD_TYPE, payload))
    return _written(
        {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(payload).decode("ascii"),
            "signatures": [
                {"keyid": keys.public.id, "sig": base64.b64encode(signature).decode("ascii")}
            ],
        }
    )


def check_signature(data: bytes, within: PublicKey, given: PublicKey | None) -> Finding:
    """Check an envelope.

    Args:
        data: the envelope.
        within: the key that the pack names as its own.
        given: the key of whoever is said to have made the pack, if the reader has it.
    """
    try:
        found = json.loads(data)
        (one,) = found["signatures"]
        payload = base64.b64decode(found["payload"], validate=True)
        signature = base64.b64decode(one["sig"], validate=True)
        kind, keyid = str(found["payloadType"]), one["keyid"]
        when = json.loads(payload)["predicate"]["signed"]
    except (KeyError, TypeError, ValueError) as error:
        return False, f"signature: the attestation cannot be read: {error!r}"
    if _written(found) != data:
        return False, "signature: the attestation was changed"
    if kind != PAYLOAD_TYPE or keyid != within.id:
        return False, f"signature: it is said to be of key {keyid}, the pack is of {within.id}"
    if not within.verifies(signature, pae(kind, payload)):
        return False, "signature: it is not of this attestation; either of them was changed"
    if given is None:
        return True, f"signature: intact, origin unproven: by key {within.id}, {when}"
    if given.id != within.id:
        return False, f"signature: it is by key {within.id}, not by the one given, {given.id}"
    return True, f"signature: by the key given, {given.id}, {when}"


def _written(envelope: Mapping[str, Any]) -> bytes:
    return json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode() + b"\n"
