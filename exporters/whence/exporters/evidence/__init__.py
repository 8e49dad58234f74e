"""Evidence packs: made from a run, sealed, and verified by anybody."""

from __future__ import annotations

from whence.exporters.evidence.facts import Wanted
from whence.exporters.evidence.keys import KeyPair, create_keys, find_keys
from whence.exporters.evidence.packing import create_pack
from whence.exporters.evidence.sections import PROFILES
from whence.exporters.evidence.verifying import Verified, verify_pack

__all__ = [
    "PROFILES",
    "KeyPair",
    "Verified",
    "Wanted",
    "create_keys",
    "create_pack",
    "find_keys",
    "verify_pack",
]
