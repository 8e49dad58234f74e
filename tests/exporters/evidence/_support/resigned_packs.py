"""Packs that somebody changed who owns the signer's key, and so mends everything behind them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from whence.exporters.evidence import KeyPair
from whence.exporters.evidence.attesting import envelope
from whence.exporters.evidence.deriving import json_bytes
from whence.exporters.evidence.verify import ATTESTATION, BAG, archive, read_pack

__all__ = ["DATA", "facts_of", "resigned"]

DATA = f"{BAG}data/"


def facts_of(pack: Path) -> dict[str, object]:
    """The facts of a pack."""
    told: dict[str, object] = json.loads(read_pack(pack)[0][f"{DATA}evidence.json"])
    return told


def resigned(
    pack: Path, keys: KeyPair, changes: Mapping[str, bytes | None], *, named: bool = False
) -> bytes:
    """The pack with other files, mended digests and a signature that is of it.

    Args:
        pack: the pack.
        keys: the signer's own.
        changes: the files, by name in ``data``; ``None`` leaves one out.
        named: whether ``evidence.json`` names what files there are, too.
    """
    files, _ = read_pack(pack)
    for name, data in changes.items():
        files.pop(DATA + name, None)
        if data is not None:
            files[DATA + name] = data
    if named:
        told = json.loads(files[f"{DATA}evidence.json"])
        told["files"] = sorted(n.removeprefix(DATA) for n in files if n.startswith(DATA))
        files[f"{DATA}evidence.json"] = json_bytes(told)
    data_files = {n.removeprefix(BAG): d for n, d in files.items() if n.startswith(DATA)}
    files[f"{BAG}manifest-sha256.txt"] = _manifest(data_files)
    size = sum(map(len, data_files.values()))
    info = files[f"{BAG}bag-info.txt"].decode().splitlines()
    info[0] = f"Payload-Oxum: {size}.{len(data_files)}"
    files[f"{BAG}bag-info.txt"] = ("\n".join(info) + "\n").encode()
    tags = ("bagit.txt", "bag-info.txt", "manifest-sha256.txt")
    files[f"{BAG}tagmanifest-sha256.txt"] = _manifest({tag: files[BAG + tag] for tag in tags})
    statement = json.loads(base64.b64decode(json.loads(files[ATTESTATION])["payload"]))
    root = json.loads(files[f"{DATA}evidence.json"])["merkle"]["root"]
    files[ATTESTATION] = envelope(files, root, statement["predicate"], keys)
    return archive(files)


def _manifest(files: Mapping[str, bytes]) -> bytes:
    lines = (
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())
    )
    return "".join(lines).encode()
