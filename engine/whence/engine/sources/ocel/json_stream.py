"""One large JSON object, member by member and item by item, without holding all of it."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from whence.engine.errors import LogError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes, on_one_line, undecodable
from whence.engine.sources.repeated import repeated

__all__ = ["JsonStream"]

_SPACE = re.compile(r"[ \t\r\n]*")
_BLOCK = 1 << 20


def _refuse(text: str) -> Any:
    msg = f"{text}, which is no JSON"
    raise ValueError(msg)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = repeated(name for name, _ in pairs) or ""
        msg = f"the name {twice[:60]!r} twice in one object"
        raise ValueError(msg)
    return made


class JsonStream:
    """Reads an object at the top, whose members may be long arrays.

    Attributes:
        line: the line at which the next value begins.
    """

    def __init__(self, stream: LogBytes, name: str, limits: Limits) -> None:
        self._stream, self._name, self._limits = stream, name, limits
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._parse = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_refuse)
        self._text, self._at, self._over, self._read = "", 0, False, 0
        self.line = 1

    def members(self) -> Iterator[str]:
        """The names of the members; before the next, take the value or the items of this one.

        Raises:
            LogError: it is no JSON object, or something follows it.
        """
        yield from self.fields()
        if self._peek():
            raise self._wrong("the end of the file", repr(self._peek()))

    def fields(self) -> Iterator[str]:
        """The same of an object that is a value itself.

        Raises:
            LogError: it is no JSON object.
        """
        self._expect("{")
        if self._peek() == "}":
            self._step()
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                raise self._wrong("a name in quotes", repr(name)[:60])
            self._expect(":")
            yield name
            if self._expect(",}") == "}":
                return

    def begins_object(self) -> bool:
        """Whether the next value is an object."""
        return self._peek() == "{"

    def items(self) -> Iterator[Any]:
        """The items of an array.

        Raises:
            LogError: it is no array.
        """
        for _ in self.places():
            yield self.value()

    def places(self) -> Iterator[int]:
        """The same, but the caller takes each item, for it may be long; gives their numbers.

        Raises:
            LogError: it is no array.
        """
        self._expect("[")
        if self._peek() == "]":
            self._step()
            return
        number = 0
        while True:
            yield number
            number += 1
            if self._expect(",]") == "]":
                return

    def value(self) -> Any:
        """The next value, whole.

        Raises:
            LogError: it is no JSON, or too long or too deep.
        """
        self._peek()
        while True:
            try:
                value, end = self._parse.raw_decode(self._text, self._at)
                if end < len(self._text) or self._over:
                    break
            except RecursionError as fault:
                raise self._limits.exceeded("nesting", self._where()) from fault
            except ValueError as fault:
                if self._over or not isinstance(fault, json.JSONDecodeError):
                    said = fault.msg if isinstance(fault, json.JSONDecodeError) else str(fault)
                    raise self._wrong("JSON", on_one_line(said)) from fault
            held = len(self._text) - self._at
            self._limits.check("row", held, self._where())
            self._more(held)
        if "\\ud" in self._text[self._at : end].lower():
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError as fault:
                raise self._wrong("whole characters", "half of one") from fault
        self.line += self._text.count("\n", self._at, end)
        self._at = end
        return value

    def _expect(self, signs: str) -> str:
        found = self._peek()
        if not found or found not in signs:
            got = repr(found) if found else "the end of the file"
            raise self._wrong(" or ".join(repr(sign) for sign in signs), got)
        self._step()
        return found

    def _peek(self) -> str:
        """The next sign that is no space; nothing at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            end = found.end() if found else self._at
            self.line += self._text.count("\n", self._at, end)
            self._at = end
            if end < len(self._text):
                return self._text[end]
            if self._over:
                return ""
            self._more(0)

    def _step(self) -> None:
        self._at += 1

    def _more(self, held: int) -> None:
        """Read on; the longer a value already is, the more."""
        block = self._stream.read(max(_BLOCK, held))
        self._over = not block
        waiting = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(block, self._over)
        except UnicodeDecodeError as fault:
            offset = self._read - waiting + fault.start
            raise undecodable(self._name, "utf-8", fault.object[fault.start], offset) from fault
        self._read += len(block)
        self._text = self._text[self._at :] + text
        self._at = 0

    def _where(self) -> str:
        return f"{self._name}, line {self.line}"

    def _wrong(self, expected: str, got: str) -> LogError:
        return LogError(f"{self._where()}: expected {expected}; got {got}; try mending the file")
