"""CSV for people: no text of a log becomes a formula of the spreadsheet that opens it.

A spreadsheet computes any cell that begins with ``=``, ``+``, ``-`` or ``@``, and
such a formula can send the sheet away. An apostrophe before it makes it text again. Numbers stay
as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

__all__ = ["SheetWriter", "defused", "sheet_bytes"]

_BEGINS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def defused(cell: Any) -> Any:
    """A cell that a spreadsheet takes as it is meant; only texts can change.

    >>> [defused(cell) for cell in ("=1+1", "-5", -5, "-x", "a=b")]
    ["'=1+1", '-5', -5, "'-x", 'a=b']
    """
    if isinstance(cell, str) and cell.startswith(_BEGINS) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


class SheetWriter:
    """Writes rows as CSV.

    Args:
        stream: where to.
        raw: leave texts as they are, for programs that compute nothing.
    """

    def __init__(self, stream: TextIO, *, raw: bool = False) -> None:
        self._writer = csv.writer(stream, lineterminator="\n")
        self._raw = raw

    def row(self, cells: Iterable[Any]) -> None:
        self._writer.writerow(cells if self._raw else [defused(cell) for cell in cells])


def sheet_bytes(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    r"""A whole table for people.

    >>> sheet_bytes(["what"], [["@SUM(1)"], [7]])
    b"what\n'@SUM(1)\n7\n"
    """
    made = io.StringIO()
    writer = SheetWriter(made)
    writer.row(columns)
    for row in rows:
        writer.row(row)
    return made.getvalue().encode()
