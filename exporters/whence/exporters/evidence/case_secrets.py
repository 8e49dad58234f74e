"""A secret for each case of a log, or for each event where there are no cases.

They lie beside the log, for its owner alone. An event that was erased has none any more.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.lineage.positions import Intervals, positions
from whence.engine.record import LogRecord
from whence.engine.record.erased import within
from whence.exporters.evidence.hashing import Work
from whence.exporters.evidence.merkle import SIZE

__all__ = ["Secrets", "secrets_file"]


def secrets_file(log: LogRecord) -> Path:
    """Where the secrets of a log are."""
    return log.folder / (log.manifest.secrets or "secrets.bin")


class Secrets:
    """The secrets of a log, by case; the cases are numbered as they appear.

    Args:
        log: the log.
        held: the secrets one after the other.
    """

    def __init__(self, log: LogRecord, held: bytes) -> None:
        self._length = log.length
        self._numbers = _numbers(log)
        self._held = held
        count = int(self._numbers.max(initial=-1)) + 1 if _has_cases(log) else log.length
        if len(held) != count * SIZE:
            msg = (
                f"{secrets_file(log)}: expected {count:,} secrets; got {len(held) // SIZE:,}; "
                "try the record's copy: without them no proof can be made"
            )
            raise LogError(msg)

    @classmethod
    def of(cls, log: LogRecord) -> Secrets | None:
        """The secrets that exist; none if none was needed yet."""
        path = secrets_file(log)
        return cls(log, path.read_bytes()) if path.exists() else None

    @classmethod
    def made(cls, log: LogRecord) -> Secrets:
        """Those that there are, made when they are first needed."""
        path = secrets_file(log)
        if not path.exists():
            numbers = _numbers(log)
            count = int(numbers.max(initial=-1)) + 1 if _has_cases(log) else log.length
            _make(path, count)
        return cls(log, path.read_bytes())

    @cached_property
    def _list(self) -> list[int]:
        found: list[int] = self._numbers.tolist()
        return found

    def number(self, position: int) -> int | None:
        """The number of an event's secret; ``None`` if the event was erased."""
        found = self._list[position]
        return None if found < 0 else found

    def secret(self, number: int) -> bytes:
        return self._held[number * SIZE : (number + 1) * SIZE]

    def event(self, moment: int) -> int:
        """The event after which an output appeared; the first, if it was before any."""
        return max(0, min(moment, self._length - 1))

    def work(
        self,
        files: Sequence[Path],
        columns: Mapping[str, str],
        place: str,
        erased: Intervals,
        salts: Mapping[int, bytes] | None = None,
    ) -> Work:
        """How the leaves of a log or stream are worked out.

        Args:
            files: its parts.
            columns: the kinds of their columns.
            place: what it is called in proofs.
            erased: its events that were erased.
            salts: the salts of its events that have no secret.
        """
        gone = np.fromiter(positions(erased), np.int64)
        several = {} if salts is None else salts
        return Work(tuple(files), columns, place, self._numbers, self._held, gone, several)

    def without(self, then: LogRecord) -> tuple[bytes, set[int]]:
        """The secrets when more events are erased, and the numbers of those that stay.

        Args:
            then: the log as its manifest will describe it; its events still have their values.
        """
        numbers = _numbers(then)
        there = numbers >= 0
        stay = self._numbers[there]
        if not _has_cases(then):
            kept = np.frombuffer(self._held, np.uint8).reshape(-1, SIZE).copy()
            kept[~there] = 0
            return kept.tobytes(), set(stay.tolist())
        order = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
        order[numbers[there]] = stay
        return b"".join(self.secret(n) for n in order.tolist()), set(stay.tolist())


def _has_cases(log: LogRecord) -> bool:
    return log.manifest.case in log.columns


def _numbers(log: LogRecord) -> np.ndarray:
    """The number of each event's secret; -1 if the event was erased."""
    there = ~within(np.arange(log.length, dtype=np.int64), log.manifest.erased)
    if not _has_cases(log):
        return np.where(there, np.arange(log.length, dtype=np.int64), -1)
    column = log.manifest.case
    pieces = [log.part(n).column(column) for n in range(log.manifest.parts)]
    whole = pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks])
    coded = whole.filter(pa.array(there)).combine_chunks()
    coded = coded.dictionary_encode(null_encoding="encode")
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    found = np.full(log.length, -1, np.int64)
    found[there] = coded.indices.to_numpy(zero_copy_only=False)
    return found


def _make(path: Path, count: int) -> None:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(count * SIZE))
    try:
        os.link(beside, path)  # never replaces what another process has just made
    except FileExistsError:
        pass
    finally:
        beside.unlink()
