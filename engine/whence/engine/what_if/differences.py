"""Two runs of a pipe, output by output: which changed, which appeared, which vanished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.engine.lineage.positions import Intervals, count, of_positions
from whence.engine.record.runs import RunRecord
from whence.engine.values import Value
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import from_canonical

__all__ = ["OutputChange", "PipeDifference", "differences"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OutputChange:
    """An output that is not as it was.

    Attributes:
        output: the pipe's name.
        position: its position there.
        how: ``changed``, ``appeared`` or ``vanished``.
        before: its value in the first run; ``None`` if it is missing, or was not there.
        after: its value in the second run, likewise.
    """

    output: str
    position: int
    how: Literal["changed", "appeared", "vanished"]
    before: Value
    after: Value


@dataclass(frozen=True)
class PipeDifference:
    """What differs between two runs of one pipe, position by position.

    Attributes:
        output: the pipe's name.
        lengths: how many outputs there were, and are.
        changed: the positions of outputs with another value.
        first: the first outputs that are not as they were, changed ones before the others.
    """

    output: str
    lengths: tuple[int, int]
    changed: Intervals
    first: tuple[OutputChange, ...]

    @property
    def same(self) -> int:
        """How many outputs are as they were."""
        return min(self.lengths) - count(self.changed)

    @property
    def appeared(self) -> int:
        """How many outputs there are more, at the end of the pipe."""
        return max(self.lengths[1] - self.lengths[0], 0)

    @property
    def vanished(self) -> int:
        """How many outputs there are less, at the end of the pipe."""
        return max(self.lengths[0] - self.lengths[1], 0)

    @property
    def count(self) -> int:
        """How many outputs are not as they were."""
        return count(self.changed) + self.appeared + self.vanished


def differences(
    old: RunRecord, new: RunRecord, most: int = 1000, also: tuple[str, int] | None = None
) -> tuple[PipeDifference, ...]:
    """Compare two runs of the same chain, pipe by pipe, position by position.

    Args:
        old: the first run.
        new: the second run.
        most: maximum number of outputs that differ to list with their values, per pipe.
        also: a pipe and a position: listed in any case, if that output differs.
    """
    names = [stream.name for stream in old.manifest.outputs]
    wanted = {} if also is None else {also[0]: also[1]}
    return tuple(
        _difference(name, _values(old, name), _values(new, name), most, wanted.get(name))
        for name in names
    )


def _values(record: RunRecord, name: str) -> pa.ChunkedArray:
    """The values of a pipe as canonical text, in order."""
    numbers = record.manifest.by_name[name].outputs.numbers
    parts = [record.outputs(name, part).column("value") for part in numbers]
    return pa.chunked_array(chain.from_iterable(p.chunks for p in parts), pa.string())


def _difference(
    name: str, old: pa.ChunkedArray, new: pa.ChunkedArray, most: int, also: int | None
) -> PipeDifference:
    both = min(len(old), len(new))
    changed = _changed(old.slice(0, both), new.slice(0, both))
    listed = changed[:most].tolist()
    at = -1 if also is None else int(np.searchsorted(changed, also))
    if at >= most and at < len(changed) and changed[at] == also:
        listed.append(also)
    told = chain(
        (OutputChange(name, at, "changed", _read(old, at), _read(new, at)) for at in listed),
        _ends(name, old, new, both),
    )
    first = tuple(each for _, each in zip(range(max(most, len(listed))), told, strict=False))
    return PipeDifference(name, (len(old), len(new)), of_positions(changed.tolist()), first)


def _changed(old: pa.ChunkedArray, new: pa.ChunkedArray) -> Ints:
    """The positions at which two pipes differ."""
    other: Ints = pc.indices_nonzero(pc.not_equal(old, new)).to_numpy().astype(np.int64)
    if not len(other):
        return other
    # Written differently is not yet different: 1 and 1.0 are equal. Each pair is looked at once.
    texts = pa.concat_arrays([*old.take(other).chunks, *new.take(other).chunks]).dictionary_encode()
    values = [from_canonical(text) for text in texts.dictionary.to_pylist()]
    codes = texts.indices.to_numpy().astype(np.int64).reshape(2, -1)
    pairs, which = np.unique(codes[0] * len(values) + codes[1], return_inverse=True)
    lefts, rights = np.divmod(pairs, len(values))
    differ = [
        not _equal(values[left], values[right])
        for left, right in zip(lefts.tolist(), rights.tolist(), strict=True)
    ]
    found: Ints = other[np.array(differ, np.bool_)[which]]
    return found


def _ends(
    name: str, old: pa.ChunkedArray, new: pa.ChunkedArray, both: int
) -> Iterator[OutputChange]:
    for at in range(both, len(old)):
        yield OutputChange(name, at, "vanished", _read(old, at), None)
    for at in range(both, len(new)):
        yield OutputChange(name, at, "appeared", None, _read(new, at))


def _read(values: pa.ChunkedArray, at: int) -> Value:
    return from_canonical(values[at].as_py())


def _equal(left: Value, right: Value) -> bool:
    """Equal as outputs are: numbers by value, never a boolean with a number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)
