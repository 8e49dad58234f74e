"""What is done when a run has ended: its root is committed; see `whence.api`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.record import RunRecord

if TYPE_CHECKING:
    from whence.exporters.evidence.committing import Committed
    from whence.exporters.evidence.keys import KeyPair

__all__ = ["Committing"]


@dataclass(frozen=True)
class Committing:
    """How the root of a run is to be committed.

    Attributes:
        keys: what it is signed with; ``None`` for what is configured.
        timestamp: a server of RFC 3161 to ask for the time.
    """

    keys: KeyPair | None = None
    timestamp: str | None = None

    @classmethod
    def given(cls, sign_with: str | Path | None, timestamp: str | None) -> Committing:
        """What a caller says, refused before the run begins if it cannot be.

        Raises:
            ParameterError: there is no such key, or this is no address.
        """
        if timestamp is not None:
            from whence.exporters.evidence.timestamping import check_address

            check_address(timestamp)
        if sign_with is None:
            return cls(None, timestamp)
        from whence.exporters.evidence.keys import find_keys

        return cls(find_keys(sign_with), timestamp)

    def commit(self, run: RunRecord) -> Committed | None:
        """Commit the root of a run, if it has come to its end."""
        if not run.manifest.is_complete:
            return None
        from whence.exporters.evidence.committing import commit_run

        return commit_run(run, keys=self.keys, timestamp=self.timestamp)
