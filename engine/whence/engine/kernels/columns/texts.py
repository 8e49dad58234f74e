"""Texts as numbers: every text of a run is numbered once, and columns hold the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.engine.kernels.columns.text_table import TextTable
from whence.engine.values.jit import is_compiled

__all__ = ["Texts"]

Codes = npt.NDArray[np.int64]

_MANY = 2**13
"""So many texts at once are numbered as bytes, by a compiled loop."""


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


class _Bytes(dict[str, int]):
    """The same where the texts are in a table: what was asked for one by one is remembered."""

    __slots__ = ("known", "table")

    def __init__(self, known: list[str]) -> None:
        super().__init__()
        self.table = TextTable()
        self.table.number_bytes([_encoded(text) for text in known])
        self.known: list[str] = known

    def __missing__(self, text: str) -> int:
        number = self[text] = int(self.table.number_bytes([_encoded(text)])[0])
        return number


class Texts:
    """All texts of a run by number; equal texts have equal numbers.

    >>> texts = Texts()
    >>> texts.code("a"), texts.code("b"), texts.code("a")
    (0, 1, 0)
    """

    __slots__ = ("_codes", "_ranks")

    def __init__(self, known: Iterable[str] = ()) -> None:
        """Begin with some texts, in this order."""
        self._codes: _Codes | _Bytes = _Codes()
        for text in known:
            self.code(text)
        self._ranks: Codes | None = None

    def __len__(self) -> int:
        codes = self._codes
        return codes.table.count if isinstance(codes, _Bytes) else len(codes.known)

    @property
    def known(self) -> Sequence[str]:
        """The texts, in the order of their numbers."""
        codes = self._codes
        if isinstance(codes, _Bytes) and len(codes.known) < codes.table.count:
            codes.known.extend(codes.table.texts(len(codes.known)))
        return codes.known

    def code(self, text: str) -> int:
        """The number of a text; a new one is numbered now."""
        return self._codes[text]

    def codes(self, texts: Sequence[str | None]) -> Codes:
        """The numbers of several texts; 0 where there is none."""
        code = self._codes.__getitem__
        if None in texts:
            return np.fromiter((0 if t is None else code(t) for t in texts), np.int64, len(texts))
        return np.fromiter(map(code, texts), np.int64, len(texts))  # type: ignore[arg-type]

    def at(self, codes: Codes) -> list[str]:
        """The texts of some numbers."""
        held = self._codes
        if not isinstance(held, _Bytes) or len(held.known) == held.table.count:
            known = held.known
            return [known[code] for code in codes.tolist()]
        # Only these are made: among the others may be a million ids that nobody asks for.
        used, back = np.unique(codes, return_inverse=True)
        some = [held.table.text(code) for code in used.tolist()]
        return [some[place] for place in back.tolist()]

    def from_arrow(self, array: pa.Array) -> Codes:
        """The numbers of a text array, each distinct text looked up once; 0 where there is none."""
        if pa.types.is_dictionary(array.type):
            if not len(array.dictionary):
                return np.zeros(len(array), np.int64)
            places = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
            found: Codes = self._looked_up(array.dictionary)[places]
            return found
        if self._as_bytes(array):
            return self._looked_up(array)
        return self.from_arrow(array.dictionary_encode())

    def _looked_up(self, array: pa.Array) -> Codes:
        if not self._as_bytes(array):
            return self.codes(array.to_pylist())
        if not isinstance(self._codes, _Bytes):
            self._codes = _Bytes(self._codes.known)
        return self._codes.table.number_array(array)

    def _as_bytes(self, array: pa.Array) -> bool:
        """Whether an array is for the table: from the first long one on."""
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            return False
        return isinstance(self._codes, _Bytes) or (len(array) >= _MANY and is_compiled(len(array)))

    def to_arrow(self) -> pa.Array:
        """All texts, in the order of their numbers."""
        codes = self._codes
        if isinstance(codes, _Bytes):
            return codes.table.to_arrow()
        return pa.array(codes.known, pa.string())

    def ranks(self) -> Codes:
        """For every number its place in the order of code points."""
        if self._ranks is None or len(self._ranks) != len(self):
            known = self.known
            order = sorted(range(len(known)), key=known.__getitem__)
            self._ranks = np.empty(len(order), np.int64)
            self._ranks[order] = np.arange(len(order))
        return self._ranks


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
