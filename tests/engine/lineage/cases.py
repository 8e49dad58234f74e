"""How many random cases the tests of lineage take: a few in `make test`, 10^5 in `make lineage`."""

from __future__ import annotations

import os

__all__ = ["cases"]

MOST = 100_000


def cases(few: int) -> int:
    """All of them with the full profile, else only a few."""
    return MOST if os.environ.get("WHENCE_TEST_PROFILE") == "full" else few
