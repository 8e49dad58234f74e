"""CSV for people: no text of a log becomes a formula of the spreadsheet that opens it.

A spreadsheet computes any cell that begins with ``=``, ``+``, ``-`` or ``@``, and
such a formula can send the sheet away. An apostrophe before it makes it text again. Numbers stay
as they are. Where a comma is the decimal sign, spreadsheets split a line at its semicolons instead,
and know no quotes inside of what they take for a cell: so a formula may begin there, too.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

__all__ = ["SheetWriter", "defused", "sheet_bytes"]

_SIGNS = r"[=+\-@\uff1d\uff0b\uff0d\uff20]"
_UNSEEN = r"[\x00-\x20\x7f\x85\xa0\u200b\u2060\ufeff]"
"""What a spreadsheet may leave out at the beginning of a cell."""
_BEGINS = re.compile(rf"[\t\r\n]|{_UNSEEN}*{_SIGNS}")
_SUSPECT = re.compile(rf"^(?:{_BEGINS.pattern})|[;\t\r\n]")
_INSIDE = re.compile(rf'([;\t\r\n](?:{_UNSEEN}|")*)(?={_SIGNS})')
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def defused(cell: Any) -> Any:
    """A cell that a spreadsheet takes as it is meant; only texts can change.

    >>> [defused(cell) for cell in ("=1+1", "-5", -5, "-x", "a=b")]
    ["'=1+1", '-5', -5, "'-x", 'a=b']
    >>> [defused(cell) for cell in (" =1", "a;=1", "a; b = 1")]
    ["' =1", "a;'=1", 'a; b = 1']
    """
    if not isinstance(cell, str) or _SUSPECT.search(cell) is None or _NUMBER.fullmatch(cell):
        return cell
    inside = _INSIDE.sub(r"\1'", cell)
    return f"'{inside}" if _BEGINS.match(cell) else inside


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
