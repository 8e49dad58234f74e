"""Legal holds: a run that must stay as it is, whoever asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from whence.engine.errors import LogError
from whence.engine.record.files import read_json, write_json
from whence.engine.record.runs import RunRecord, now
from whence.engine.record.user import process_user

__all__ = ["Hold", "check_not_held", "hold_of", "hold_run", "release_run"]

_FILE = "hold.json"


@dataclass(frozen=True)
class Hold:
    """A hold on a run.

    Attributes:
        run: the run's id.
        since: when it was laid.
        who: the user of the machine.
        reason: why, in the user's words.
    """

    run: str
    since: str
    who: str
    reason: str


def hold_of(run: RunRecord) -> Hold | None:
    """The hold on a run, if there is one."""
    path = run.folder / _FILE
    return Hold(**read_json(path)) if path.exists() else None


def hold_run(run: RunRecord, reason: str) -> Hold:
    """Lay a hold on a run: nothing of it is erased or removed until it is released.

    Raises:
        LogError: there is one already.
    """
    found = hold_of(run)
    if found is not None:
        msg = (
            f"run {run.id}: expected one without a hold; got one held since {found.since} "
            f"({found.reason}); try whence runs release {run.id} first"
        )
        raise LogError(msg)
    hold = Hold(run.id, now(), process_user()[0], reason)
    write_json(run.folder / _FILE, asdict(hold))
    return hold


def release_run(run: RunRecord) -> Hold:
    """Release a run; give the hold that it had.

    Raises:
        LogError: there is none.
    """
    found = hold_of(run)
    if found is None:
        msg = f"run {run.id}: expected one that is held; got one that is not; try whence runs show"
        raise LogError(msg)
    (run.folder / _FILE).unlink()
    return found


def check_not_held(root: Path, runs: Iterable[str], what: str) -> None:
    """Refuse what would take something of a run that is held.

    Args:
        root: the record's place.
        runs: those that it would touch.
        what: what is refused, for the error.

    Raises:
        LogError: one of them is held.
    """
    for id in runs:
        held = hold_of(RunRecord(root, id))
        if held is not None:
            msg = (
                f"{what}: expected runs without a legal hold; got run {id}, held since "
                f"{held.since} by {held.who} ({held.reason}); try whence runs release {id} when "
                "the hold is over"
            )
            raise LogError(msg)
