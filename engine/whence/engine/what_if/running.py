"""Run a recorded run again with corrected values; nothing is stored unless requested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from whence.engine.errors import LogError, WhenceError
from whence.engine.functions import LOADED
from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.lineage.positions import count
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.record.runs import now
from whence.engine.record.user import process_user
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import RunOptions
from whence.engine.values import Value
from whence.engine.what_if.corrected import CorrectedLog
from whence.engine.what_if.corrections import Correction, named_corrections, read_corrections
from whence.engine.what_if.differences import PipeDifference, differences

__all__ = ["WhatIf", "what_if"]


@dataclass(frozen=True)
class WhatIf:
    """What a run would have output with other values.

    Attributes:
        run: the run's id.
        corrections: the values, old and new.
        outputs: old and new, pipe by pipe.
        kept: the id of the new run, if it was stored.
    """

    run: str
    corrections: tuple[Correction, ...]
    outputs: tuple[PipeDifference, ...]
    kept: str | None

    @property
    def count(self) -> int:
        """How many outputs are not as they were."""
        return sum(each.count for each in self.outputs)


def what_if(
    record: RunRecord,
    corrections: Iterable[str] | Mapping[str, Value],
    *,
    keep: bool = False,
    most: int = 1000,
    also: tuple[str, int] | None = None,
    by: str | None = None,
    reason: str = "",
) -> WhatIf:
    """Run a chain again over its logs with some values corrected.

    Positions stay as they are: which events there are, and in which order, is taken as given.

    Args:
        record: the run.
        corrections: ``log@41.amount=100`` and so on, or values by place.
        keep: put the corrected logs, as revisions, and the new run into the record.
        by: who corrects them; stored with the corrected logs.
        reason: why, in words; stored with it.
        most: maximum number of outputs that differ to list with their values, per pipe.
        also: a pipe and a position: listed in any case, if that output differs.

    Raises:
        ParameterError: a correction says what the log does not have.
        LogError: the run did not come to its end, or events of its logs were erased.
        RunnerError: the chain calls functions of the user's own that this process has not loaded.
        WhenceError: the chain refuses the corrected values; then nothing is stored.
    """
    manifest = record.manifest
    if not manifest.is_complete:
        msg = (
            f"run {record.id}: expected one that is complete; got one that is "
            f"{manifest.status}; try the same whence run again"
        )
        raise LogError(msg)
    logs = {name: record.log(name) for name in manifest.logs}
    gone = sum(count(log.manifest.erased) for log in logs.values())
    if gone:
        msg = (
            f"run {record.id}: expected logs with all their values, to run the chain again; got "
            f"{gone:,} erased events; try a new run over what is left"
        )
        raise LogError(msg)
    chain = chain_from_tree(manifest.chain, own=LOADED)
    if isinstance(corrections, Mapping):
        wanted = named_corrections(corrections, logs)
    else:
        wanted = read_corrections(corrections, logs)
    with TemporaryDirectory(prefix="whence-what-if-") as place:
        again = _run(Path(place), record, chain, logs, wanted, tracked=False)
        outputs = differences(record, again, most, also)
    told = None
    if by is not None:  # which is what is claimed; whose process it was stands beside it
        user, uid = process_user()
        told = {"who": by, "user": user, "uid": uid, "reason": reason, "time": now()}
    kept = None
    if keep:
        kept = _run(record.root, record, chain, logs, wanted, tracked=True, adjustment=told)
    return WhatIf(record.id, tuple(wanted), outputs, None if kept is None else kept.id)


def _run(
    root: Path,
    record: RunRecord,
    chain: Chain,
    logs: Mapping[str, LogRecord],
    corrections: list[Correction],
    *,
    tracked: bool,
    adjustment: Mapping[str, Any] | None = None,
) -> RunRecord:
    """Take the corrected logs into a record, and run the chain over them."""
    corrected = {}
    for name, log in logs.items():
        mine = [each for each in corrections if each.log == name]
        if not mine and root == record.root:
            corrected[name] = log
            continue
        chunk = log.manifest.chunk
        revises = log.id if mine else None
        source = CorrectedLog(log, mine)
        said = {**adjustment, "count": len(mine)} if adjustment and mine else None
        corrected[name] = ingest(
            root, name, source, chunk=chunk, revision_of=revises, adjustment=said
        )
    manifest = record.manifest
    then = RunOptions.of(manifest)
    options = replace(
        then,
        tracked=tracked and then.tracked,
        witnesses=then.witnesses if tracked else "first",
        where=then.where if tracked else None,
        metadata={**then.metadata, "what_if": record.id},
    )
    try:
        return run_kernels(root, chain, corrected, options)
    except WhenceError as error:
        msg = f"with the corrected values: {error}"
        raise type(error)(msg) from error
