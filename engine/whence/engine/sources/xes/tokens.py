"""The tags of a piece of XES, all at once.

Expat has made sure that the piece is well-formed XML without a document type. So every ``<`` that
is not in a comment, a CDATA section or an instruction begins a tag, and what looks exactly like
``<string key="..." value="..."/>`` is that. Tags that are written in another way (single quotes,
other spaces, a prefix, another order) are read one by one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from whence.engine.errors import LogError

__all__ = ["ATTRIBUTES", "EVENT", "LOG", "TAG", "TRACE", "Ints", "Tokens", "tokens"]

Ints = np.ndarray[Any, np.dtype[np.int64]]

OTHER, LOG, TRACE, EVENT, VALUES = range(5)
ATTRIBUTES = {
    "string": 5,
    "date": 6,
    "int": 7,
    "float": 8,
    "boolean": 9,
    "id": 10,
    "list": 11,
    "container": 12,
}
"""The elements that are attributes, and the number of each."""

_KINDS = {"log": LOG, "trace": TRACE, "event": EVENT, "values": VALUES, **ATTRIBUTES}

_PAD = 32
_QUOTE, _SLASH, _SPACE, _LESS, _MORE = (ord(sign) for sign in '"/ <>')
TAG = re.compile(rb"""<(/?)([^\s/>]+)((?:\s+[^\s=>]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(/?)>""")
_PAIR = re.compile(rb"""\s+([^\s=>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_ASIDE = re.compile(rb"<!--|<!\[CDATA\[|<\?")
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_ASIDE_SIGNS = (ord("!"), ord("?"))
_UNSEEN = re.compile(rb"[^\n]")


def _word(text: bytes) -> int:
    return int.from_bytes(text, "little")


_VALUE = _word(b' value="')
_PLAIN = [
    (kind, text[:8], text[-8:], len(text))
    for name, kind in ATTRIBUTES.items()
    if name not in ("list", "container")
    for text in [name.encode() + b' key="']
]
_SIX = (1 << 48) - 1


@dataclass(frozen=True)
class Tokens:
    """Tags in order; all arrays have one entry a tag.

    Attributes:
        data: the piece, comments and the like blanked out.
        at: where the tag begins.
        kind: which element, by number; of an end tag `OTHER`.
        change: 1 for a start tag, -1 for an end tag, 0 for a tag that is both.
        key: where the key begins and ends; -1 if there is none.
        value: likewise.
        ends: behind the last byte that is known to be outside of any tag.
    """

    data: bytes
    at: Ints
    kind: Ints
    change: Ints
    key: tuple[Ints, Ints]
    value: tuple[Ints, Ints]
    ends: int


def tokens(data: bytes, *, whole: bool, where: str) -> Tokens:
    """Find the tags.

    Args:
        data: bytes from outside of any tag on, in UTF-8.
        whole: whether the last tag is complete; else it is left out.
        where: file and place, for errors.

    Raises:
        LogError: a tag that is none.
    """
    ends = len(data)
    signs = np.frombuffer(data + bytes(_PAD), np.uint8)
    at = np.flatnonzero(signs[:ends] == _LESS)
    if np.isin(signs[at + 1], _ASIDE_SIGNS).any():
        data = _blanked(data)
        signs = np.frombuffer(data + bytes(_PAD), np.uint8)
        at = np.flatnonzero(signs[:ends] == _LESS)
        begun = at[np.isin(signs[at + 1], _ASIDE_SIGNS)]
        if len(begun):  # one that continues after this piece
            ends = int(begun[0])
            at = at[at < ends]
    words = np.ndarray((len(signs) - 7,), "<u8", signs.data, strides=(1,))
    if not whole and len(at) and ends == len(data):
        ends = int(at[-1])
        at = at[:-1]
    kind, change = _simple(signs, words, at)
    key, value = _attributes(signs, words, at, kind, change)
    _odd(data, at, kind, change, key, value, where)
    return Tokens(data, at, kind, change, key, value, ends)


def _blanked(data: bytes) -> bytes:
    """Blank out comments and the like, up to the first that does not end here.

    Nothing behind that one is looked at: it may hold many that seem to begin.
    """
    made: list[bytes] = []
    at = 0
    while (begun := _ASIDE.search(data, at)) is not None:
        end = _ENDS[begun[0]]
        stop = data.find(end, begun.end())
        if stop < 0:
            break
        stop += len(end)
        made += [data[at : begun.start()], _UNSEEN.sub(b" ", data[begun.start() : stop])]
        at = stop
    return b"".join([*made, data[at:]])


def _simple(signs: Any, words: Any, at: Ints) -> tuple[Ints, Ints]:
    """End tags and the start tags of traces and events; -1 for what is neither."""
    kind = np.full(len(at), -1, np.int64)
    change = np.zeros(len(at), np.int64)
    closing = signs[at + 1] == _SLASH
    kind[closing] = OTHER
    change[closing] = -1
    six = words[at + 1] & np.uint64(_SIX)
    for text, which in ((b"event>", EVENT), (b"trace>", TRACE)):
        found = six == _word(text)
        kind[found] = which
        change[found] = 1
    return kind, change


def _attributes(
    signs: Any, words: Any, at: Ints, kind: Ints, change: Ints
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """Attributes that are written as everyone writes them."""
    quotes = np.append(np.flatnonzero(signs == _QUOTE), np.full(4, len(signs) - _PAD))
    first = np.minimum(np.searchsorted(quotes, at), len(quotes) - 4)
    opens, closes, ends = quotes[first], quotes[first + 1], quotes[first + 3]
    head, tail = words[at + 1], words[np.maximum(opens - 7, 0)]
    found = np.zeros(len(at), bool)
    for which, begins, finishes, length in _PLAIN:
        fits = (head == _word(begins)) & (tail == _word(finishes)) & (opens - at == length)
        kind[fits] = which
        found |= fits
    behind = ends + 1 + (signs[ends + 1] == _SPACE)
    both = (signs[behind] == _SLASH) & (signs[behind + 1] == _MORE)
    starts = signs[behind] == _MORE
    good = found & (words[closes + 1] == _VALUE) & (both | starts)
    kind[found & ~good] = -1
    change[good] = starts[good]
    return (
        (np.where(good, opens + 1, -1), np.where(good, closes, -1)),
        (np.where(good, closes + 9, -1), np.where(good, ends, -1)),
    )


def _odd(
    data: bytes,
    at: Ints,
    kind: Ints,
    change: Ints,
    key: tuple[Ints, Ints],
    value: tuple[Ints, Ints],
    where: str,
) -> None:
    """Read tags one by one that are written in another way."""
    for number in np.flatnonzero(kind == -1):
        tag = TAG.match(data, int(at[number]))
        if tag is None:
            msg = f"{where}: expected XML; got a tag that does not end; try mending the file"
            raise LogError(msg)
        name = tag[2].rpartition(b":")[2].decode()
        kind[number] = _KINDS.get(name, OTHER)
        change[number] = 0 if tag[4] else 1
        for pair in _PAIR.finditer(data, tag.start(3), tag.end(3)):
            place = {b"key": key, b"value": value}.get(pair[1])
            if place is not None:
                start, end = pair.span(2 if pair[2] is not None else 3)
                place[0][number], place[1][number] = start, end
