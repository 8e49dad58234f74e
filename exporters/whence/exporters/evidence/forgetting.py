"""Forget the secrets of cases, so that the digests of their events reveal nothing.

If an event's secret is destroyed, its digest in the tree stays: then the tree keeps its root, and
older packs match it. If the secret stays, because other events of the case do, what
stood for the event is replaced: else values could be tried out against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whence.engine.lineage.positions import Intervals, positions, union
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.erasing.logs import overwrite
from whence.engine.record.files import whole_file
from whence.exporters.evidence.leaves import (
    LEAVES,
    Secrets,
    kept_salts,
    log_place,
    read_leaves,
    salt_of,
    salts_file,
    secrets_file,
    stream_file,
    stream_place,
    tombstone,
    write_leaves,
    write_salts,
)
from whence.exporters.evidence.merkle import SIZE

__all__ = ["drop_old_secrets", "forget_in_log", "forget_in_run"]


def forget_in_log(log: LogRecord, places: Intervals, erasure: str) -> None:
    """Write the secrets anew, without those that go; may be done again.

    Nothing is forgotten before the log's manifest names their file, and `drop_old_secrets`.

    Args:
        log: the log, as it is before anything is erased.
        places: the events that are to be erased.
        erasure: the id of the erasure.
    """
    old = Secrets.of(log)
    if old is None:
        return
    new, kept = old.without(_then(log, places))
    tree = log.folder / LEAVES
    if tree.exists():
        stays = [at for at in positions(places) if old.number(at) in kept]
        _replace_leaves(tree, log_place(log), {at: at for at in stays})
    name = f"secrets-{erasure}.bin"
    _private(log.folder / name, new)


def drop_old_secrets(log: LogRecord) -> None:
    """Remove every file of secrets but the one that the manifest names."""
    now = secrets_file(log)
    for path in log.folder.glob("secrets*.bin"):
        if path != now:
            overwrite(path)


def forget_in_run(
    run: RunRecord, streams: Mapping[str, Intervals], logs: Mapping[str, Intervals]
) -> None:
    """Bring the trees of a run's streams in line; before the logs change, and may be done again.

    Args:
        run: the run.
        streams: the events of its streams that are to be erased.
        logs: the events of logs that are to be erased, by the log's id.
    """
    names = list(run.manifest.logs)
    log = run.log(names[0]) if names else None
    secrets = None if log is None else Secrets.of(log)
    if log is None or secrets is None:
        return
    _, kept = secrets.without(_then(log, logs.get(log.id, ())))
    for stream in run.manifest.streams:
        name = stream.name
        tree = stream_file(run, name)
        if not tree.exists():
            continue
        gone = set(positions(streams.get(name, ())))
        gone_in_all = gone | set(positions(stream.erased))
        salts = kept_salts(run, name)
        replaced: dict[int, int] = {}
        index = 0
        for part in stream.outputs:
            table = run.outputs(name, part.part)
            pairs = zip(*(table.column(c).to_pylist() for c in ("position", "moment")), strict=True)
            for position, moment in pairs:
                number = secrets.number(secrets.event(moment))
                stays = number in kept or position in salts
                if position in gone and stays:
                    replaced[index] = position
                    salts.pop(position, None)
                elif position not in gone_in_all and not stays and number is not None:
                    salts[position] = salt_of(
                        secrets.secret(number), stream_place(run, name), position
                    )
                index += 1
        _replace_leaves(tree, stream_place(run, name), replaced)
        if salts or salts_file(run, name).exists():
            write_salts(salts_file(run, name), salts)


def _then(log: LogRecord, places: Intervals) -> LogRecord:
    """The log as its manifest will describe it."""
    erased = union(log.manifest.erased, places)
    return LogRecord(log.folder, replace(log.manifest, erased=erased))


def _replace_leaves(path: Path, place: str, at: Mapping[int, int]) -> None:
    """Replace some of the leaves by ones that reveal nothing: by index, the position.

    What is above them is left out: the next pack works it out.
    """
    if not at:
        return
    leaves = bytearray(read_leaves(path)[0])
    for index, position in at.items():
        leaves[index * SIZE : (index + 1) * SIZE] = tombstone(place, position)
    write_leaves(path, bytes(leaves))


def _private(path: Path, data: bytes) -> None:
    def write(beside: Path) -> None:
        beside.touch(0o600)  # at a URI it is not there yet
        beside.write_bytes(data)

    whole_file(path, write)
