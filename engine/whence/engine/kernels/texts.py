"""Texts as numbers: every text of a run is numbered once, and columns hold the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["Texts"]

Codes = npt.NDArray[np.int64]


class _Codes(dict[str, int]):
    """Numbers texts when they are first asked for."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        super().__init__()
        self.known: list[str] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self.known)
        self.known.append(text)
        return number


class Texts:
    """All texts of a run by number; equal texts have equal numbers.

    Attributes:
        known: the texts, in the order of their numbers.

    >>> texts = Texts()
    >>> texts.code("a"), texts.code("b"), texts.code("a")
    (0, 1, 0)
    """

    __slots__ = ("_codes", "_ranks", "known")

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Begin with some texts, in this order."""
        self._codes = _Codes()
        self.known = self._codes.known
        for text in known:
            self.code(text)
        self._ranks: Codes | None = None

    def __len__(self) -> int:
        """How many there are."""
        return len(self.known)

    def code(self, text: str) -> int:
        """The number of a text; a new one is numbered now."""
        return self._codes[text]

    def codes(self, texts: Sequence[str | None]) -> Codes:
        """The numbers of several texts; 0 where there is none."""
        code = self._codes.__getitem__
        if None in texts:
            return np.fromiter((0 if t is None else code(t) for t in texts), np.int64, len(texts))
        return np.fromiter(map(code, texts), np.int64, len(texts))  # type: ignore[arg-type]

    def from_arrow(self, array: pa.Array) -> Codes:
        """The numbers of a text array, each distinct text looked up once; 0 where there is none."""
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        places = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        if not len(array.dictionary):
            return np.zeros(len(array), np.int64)
        table = self.codes(array.dictionary.to_pylist())
        found: Codes = table[places]
        return found

    def ranks(self) -> Codes:
        """For every number its place in the order of code points."""
        if self._ranks is None or len(self._ranks) != len(self.known):
            order = sorted(range(len(self.known)), key=self.known.__getitem__)
            self._ranks = np.empty(len(order), np.int64)
            self._ranks[order] = np.arange(len(order))
        return self._ranks
