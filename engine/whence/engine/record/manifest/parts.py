"""The parts of a stream, as its manifest lists them: read one by one, when they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from whence.engine.record.manifest.stated import ManifestError, Stated

__all__ = ["PartInfo", "Parts"]


@dataclass(frozen=True, kw_only=True)
class PartInfo(Stated):
    """A complete part of a stream.

    Attributes:
        part: its number.
        rows: how many rows it has.
        first: the first output in it, or that one of its rows speaks of.
        last: the last one.
        digest: of its file; ``None`` in records of versions that took none.
        tracked: of a run with ``where``: how many of its events have associations.
    """

    part: int
    rows: int
    first: int
    last: int
    digest: str | None = None
    tracked: int | None = None


_PLACE = ("part", "first", "last")


class Parts(Sequence[PartInfo]):
    """Parts in their order; there may be hundreds of thousands, so that each is read when needed.

    A longer list shares what it has with the one that it was made from: to add parts takes as long
    as there are new ones. What was made before stays as it was.
    """

    __slots__ = ("_count", "_rows")

    def __init__(self, rows: list[dict[str, Any]] | None = None, count: int | None = None) -> None:
        """Take JSON rows, which only get more.

        Args:
            rows: as the manifest lists them.
            count: how many of them count; all, unless given.
        """
        self._rows: list[dict[str, Any]] = [] if rows is None else rows
        self._count = len(self._rows) if count is None else count

    @classmethod
    def read(cls, told: Any) -> Parts:
        """Read a list; of each part only its number and its range."""
        if isinstance(told, cls):
            return told
        if not isinstance(told, list):
            raise ManifestError("", "a list", repr(told)[:60])
        for number, row in enumerate(told):
            if type(row) is not dict or any(type(row.get(name)) is not int for name in _PLACE):
                raise ManifestError(str(number), "a part with its place", repr(row)[:60])
        return cls(told)

    @classmethod
    def of(cls, parts: Iterable[PartInfo]) -> Parts:
        """Parts that were made here."""
        return cls([part.json() for part in parts])

    def json(self) -> list[dict[str, Any]]:
        """As the manifest lists them; not to be changed."""
        return self._rows if self._count == len(self._rows) else self._rows[: self._count]

    @property
    def numbers(self) -> list[int]:
        """The numbers of the parts, in their order, without reading more of them."""
        return [row["part"] for row in self.json()]

    @property
    def ranges(self) -> list[tuple[int, int, int]]:
        """The first and last position and the number of each part, as `numbers`."""
        return [(row["first"], row["last"], row["part"]) for row in self.json()]

    def with_more(self, more: Parts) -> Parts:
        """These, then others."""
        rows = self._rows
        if self._count != len(rows):
            rows = rows[: self._count]  # somebody has made another list of the same beginning
        rows.extend(more.json())
        return Parts(rows)

    def merged(self, others: Parts) -> Parts:
        """These and others, in the order of their numbers."""
        return Parts(sorted((*self.json(), *others.json()), key=lambda row: row["part"]))

    def since(self, count: int) -> Parts:
        """Those after the first ones."""
        return Parts(self._rows[count : self._count])

    def __len__(self) -> int:
        """How many parts there are."""
        return self._count

    @overload
    def __getitem__(self, at: int) -> PartInfo: ...
    @overload
    def __getitem__(self, at: slice) -> Parts: ...
    def __getitem__(self, at: int | slice) -> PartInfo | Parts:
        """One part, or some of them."""
        if isinstance(at, slice):
            return Parts(self._rows[: self._count][at])
        if not -self._count <= at < self._count:
            raise IndexError(at)
        return PartInfo.read(self._rows[at if at >= 0 else self._count + at])

    def __iter__(self) -> Iterator[PartInfo]:
        """Each part, read."""
        for at in range(self._count):
            yield PartInfo.read(self._rows[at])

    def __eq__(self, other: object) -> bool:
        """Whether the same parts are listed."""
        if not isinstance(other, Parts):
            return NotImplemented
        if self._rows is other._rows:
            return self._count == other._count
        return self.json() == other.json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """How many there are."""
        return f"Parts({self._count})"
