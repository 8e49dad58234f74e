"""Verify a pack: what its own script checks, who signed it, and whether its PROV is valid."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from whence.engine.errors import EvidenceError, WhenceError
from whence.exporters.evidence.attesting import check_signature
from whence.exporters.evidence.keys import PublicKey, public_key
from whence.exporters.evidence.verify import (
    ATTESTATION,
    BAG,
    Finding,
    PackError,
    check,
    read_pack,
)
from whence.exporters.validating import validate

__all__ = ["Verified", "verify_pack"]


@dataclass(frozen=True)
class Verified:
    """What holds of a pack and what does not, in words."""

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether all of it holds."""
        return all(holds for holds, _ in self.findings)


def verify_pack(path: Path, key: Path | None = None) -> Verified:
    """Verify a pack, offline.

    Args:
        path: the pack.
        key: the public key of whoever is said to have made it.

    Raises:
        EvidenceError: it is no pack, not safe to look into, or of a newer version.
        ParameterError: the key is none.
    """
    given = None if key is None else public_key(key)
    try:
        files, whole = read_pack(path)
        found = list(check(files, whole))
    except PackError as error:
        raise EvidenceError(str(error)) from error
    found.append(_signature(files, given))
    found += [_prov(files, name) for name in ("prov.json", "prov.nq")]
    return Verified(tuple(found))


def _signature(files: dict[str, bytes], given: PublicKey | None) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "key.pub")
        path.write_bytes(files.get(f"{BAG}data/key.pub", b""))
        try:
            within = public_key(path)
        except WhenceError:
            return False, f"signature: {BAG}data/key.pub is no public key"
    return check_signature(files.get(ATTESTATION, b""), within, given)


def _prov(files: dict[str, bytes], name: str) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(files.get(f"{BAG}data/{name}", b""))
        try:
            checked = validate(path)
        except WhenceError as error:
            return False, f"PROV: {BAG}data/{name} cannot be read: {error}"
    if not checked.valid:
        return False, f"PROV: {BAG}data/{name} is not valid by PROV-CONSTRAINTS"
    return True, f"PROV: {name} is valid, {checked.statements:,} statements"
