"""Cut an XES stream into pieces of whole events while Expat makes sure that it is XML."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from whence.engine.errors import LogError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes, on_one_line
from whence.engine.sources.xes.tokens import EVENT, LOG, TRACE, Ints, Tokens, tokens

__all__ = ["Piece", "declared_encoding", "pieces", "xml_parser", "xml_problem"]

_BLOCK = 1 << 21
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_NEWLINE = ord("\n")
_SHALLOW = 4
"""Log, trace, event, attribute: what lies deeper is nested."""


@dataclass(frozen=True)
class Piece:
    """A stretch of the log; begins inside the log (the first: before it), between its parts.

    Attributes:
        tags: its tags.
        count: how many of them belong to this piece.
        before: how deep each tag lies.
        top: the part of the log that each tag is in, as the number of its tag; -1 for none.
        middle: likewise the part of the trace.
        head: number of bytes at the beginning that repeat the head of a continued trace; 0 if none.
        line: the line at which it begins, behind the head.
    """

    tags: Tokens
    count: int
    before: Ints
    top: Ints
    middle: Ints
    head: int
    line: int

    def line_of(self, tag: int) -> int:
        """The line of a tag; of one in the repeated head, where the trace continues."""
        begun, here = np.searchsorted(self._ends_of_lines, (self.head, int(self.tags.at[tag])))
        return self.line + max(0, int(here - begun))

    @cached_property
    def _ends_of_lines(self) -> Ints:
        """Looked for once: a file may have a fault in every tag."""
        return np.flatnonzero(np.frombuffer(self.tags.data, np.uint8) == _NEWLINE)


def declared_encoding(file: Path, limits: Limits) -> str | None:
    """The encoding that the file itself states, if it is not UTF-8."""
    with LogBytes(file, limits) as stream:
        head = stream.read(1024)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    found = _DECLARED.match(head)
    if found is None or found[1].lower() in (b"utf-8", b"utf8", b"us-ascii"):
        return None
    return found[1].decode()


def xml_parser(name: str, what: str = "a log") -> Any:
    """A parser that takes UTF-8 and refuses a document type, and with it every entity."""
    parser = expat.ParserCreate("utf-8")

    def refuse(*_: object) -> None:
        msg = (
            f"{name}, line {parser.CurrentLineNumber}: expected {what} without a document type; "
            "got <!DOCTYPE, which can make a small file endless; try removing it"
        )
        raise LogError(msg)

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    return parser


def xml_problem(name: str, fault: expat.ExpatError) -> LogError:
    """The error for what is not XML."""
    return LogError(
        f"{name}, line {fault.lineno}: expected well-formed XML; "
        f"got {expat.ErrorString(fault.code)}; try mending the file, or --encoding if it is not "
        "in UTF-8"
    )


def pieces(stream: LogBytes, name: str, limits: Limits) -> Iterator[Piece]:
    """Read a file.

    Args:
        stream: its bytes, as UTF-8.
        name: its name, for errors.
        limits: how long an event may be, and how deep.

    Raises:
        LogError: it is no XML, no XES log, or beyond a limit.
    """
    parser = xml_parser(name)
    head, held, line, depth, over = b"", b"", 1, 0, False
    while not over:
        block = stream.read(max(_BLOCK, len(held)))
        over = not block
        try:
            parser.Parse(block, over)
        except expat.ExpatError as fault:
            raise xml_problem(name, fault) from fault
        held += block
        where = f"{name}, line {line}"
        found = tokens(head + held, whole=over, where=where)
        before = depth + np.cumsum(found.change) - found.change
        piece, following = _cut(found, before, len(head), line, over=over)
        if depth == 0 and len(found.at):
            _check_root(found, where)
        if before.size and int(before.max()) >= _SHALLOW + limits.nesting:
            raise limits.exceeded("nesting", where)
        # Of an incomplete event; complete ones are counted one by one.
        limits.check("attributes", int((before[piece.count :] == _SHALLOW - 1).sum()) // 2, where)
        if piece.count:
            yield piece
            stop = int(found.at[piece.count]) if piece.count < len(found.at) else found.ends
            line += found.data.count(b"\n", len(head), stop)
            held, head, depth = held[stop - len(head) :], following, 1
        limits.check("row", len(held), f"{name}, line {line}")


def _check_root(found: Tokens, where: str) -> None:
    if int(found.kind[0]) == LOG:
        return
    begins = found.data[int(found.at[0]) :][:40].decode("utf-8", "replace")
    msg = (
        f"{where}: expected an XES log, which begins with <log>; got {on_one_line(begins)}; "
        "try another --log-format"
    )
    raise LogError(msg)


def _cut(found: Tokens, before: Ints, head: int, line: int, *, over: bool) -> tuple[Piece, bytes]:
    """The complete events, and the head of the trace that continues after them."""
    number = np.arange(len(before))
    opening = found.change >= 0
    top = np.maximum.accumulate(np.where((before == 1) & opening, number, -1))
    middle = np.maximum.accumulate(np.where((before == 2) & opening, number, -1))
    count, following = len(before), b""
    if not over:
        events = (before == 2) & (found.kind == EVENT) & opening
        events &= (top >= 0) & (found.kind[top] == TRACE)
        places = np.flatnonzero((before == 1) | events)
        count = int(places[-1]) if len(places) else 0
        if count and before[count] == 2:
            trace = int(top[count])
            first = int(places[np.searchsorted(places, trace) + 1])
            if first == count:
                count = trace  # no whole event of this trace is there yet
            else:
                following = found.data[int(found.at[trace]) : int(found.at[first])]
        if not count or found.at[count] <= head:
            count, following = 0, b""
    piece = Piece(found, count, before[:count], top[:count], middle[:count], head, line)
    return piece, following
