"""Read PROV-N, statement by statement."""

from __future__ import annotations

import codecs
import re
from typing import NoReturn

from whence.engine.errors import WhenceError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes, undecodable
from whence.exporters.prov.reading.instance import Document, Instance
from whence.exporters.prov.reading.kinds import KINDS, RESERVED, Kind
from whence.exporters.prov.reading.naming import PROV, Namespaces
from whence.exporters.prov.reading.source import Source

__all__ = ["read_prov_n"]

_BLOCK = 1 << 20
_TOKEN = re.compile(
    r'''\s*(?:
    (//[^\n]*|/\*(?:[^*]++|\*(?!/))*+\*/)
    |([()\[\],;=])
    |(?!/\*)((?:[^\s\\,;()\[\]=<>"'%]++|\\.|%[0-9A-Fa-f]{2})++)
    |'((?:[^'\\]++|\\.)*+)'
    |("""(?:[^"\\]++|\\.|"(?!""))*+"""|"(?:[^"\\]++|\\.)*+")
    |<([^<>]*)>
    |(%%)
    )''',
    re.DOTALL | re.VERBOSE,
)
# What is not closed ends the file: read as something else, each '/*' would be looked through to it.
_COMMENT, _SIGN, _WORD, _NAME, _STRING, _IRI, _TYPED = range(1, 8)
_SPACE = re.compile(r"\s*")
_ESCAPE = re.compile(r"\\(.)")
Token = tuple[int, str]
_END: Token = (0, "")


def read_prov_n(source: Source) -> Document:
    """Read a file.

    Raises:
        WhenceError: it is no PROV-N.
    """
    document = Document()
    _Reading(
        _Tokens(source.bytes(), source.where, source.limits), document, source.where
    ).document()
    return document


class _Tokens:
    """The tokens of a stream of text, of which no more is held than a statement needs."""

    def __init__(self, stream: LogBytes, where: str, limits: Limits) -> None:
        self._stream, self._where, self._limits = stream, where, limits
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._text, self._at, self._over, self._line, self._read = "", 0, False, 1, 0

    def next(self) -> Token:
        """The next token; comments are left out."""
        while True:
            found = _TOKEN.match(self._text, self._at)
            if found is None or (found.end() == len(self._text) and not self._over):
                if not self._over:
                    self._more()
                    continue
                space = _SPACE.match(self._text, self._at)
                assert space is not None
                if space.end() == len(self._text):
                    return _END
                self.wrong("PROV-N", repr(self._text[space.end() :][:20]))
            self._at = found.end()
            kind = found.lastindex
            assert kind is not None
            if kind != _COMMENT:
                return kind, found[kind]

    def wrong(self, expected: str, got: str) -> NoReturn:
        line = self._line + self._text.count("\n", 0, self._at)
        msg = f"{self._where}, line {line}: expected {expected}; got {got}; try mending the file"
        raise WhenceError(msg)

    def _more(self) -> None:
        held = len(self._text) - self._at
        self._limits.check("row", held, f"{self._where}, line {self._line}")
        block = self._stream.read(max(_BLOCK, held))
        self._over = not block
        waiting = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(block, self._over)
        except UnicodeDecodeError as fault:
            offset = self._read - waiting + fault.start
            raise undecodable(self._where, "utf-8", fault.object[fault.start], offset) from fault
        self._read += len(block)
        self._line += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + text
        self._at = 0


class _Reading:
    def __init__(self, tokens: _Tokens, document: Document, where: str) -> None:
        self.tokens, self.into, self.where = tokens, document, where
        self.next, self.wrong = tokens.next, tokens.wrong

    def document(self) -> None:
        """``document … endDocument``, and nothing behind it."""
        if self.next() != (_WORD, "document"):
            self.wrong("PROV-N, which begins with 'document'", "something else")
        self._statements(self.into.top, Namespaces(self.where, {}), "endDocument")
        token = self.next()
        if token != _END:
            self.wrong("the end of the file", repr(token[1][:20]))

    def _statements(self, instance: Instance, spaces: Namespaces, end: str) -> None:
        while True:
            kind, word = self.next()
            if kind != _WORD:
                self.wrong(f"a statement or {end!r}", repr(word[:20]) if kind else "the end")
            if word == end:
                return
            if word in ("prefix", "default"):
                self._declare(word, spaces)
            elif word == "bundle" and instance.name is None:
                name = self.next()[1]
                # A bundle may declare the prefix of its own name.
                inner, first = spaces.within({}), self.next()
                while first in ((_WORD, "prefix"), (_WORD, "default")):
                    self._declare(first[1], inner)
                    first = self.next()
                bundle = self.into.bundle(inner.iri(_plain(name)))
                if first != (_WORD, "endBundle"):
                    self._statement(first, bundle, inner)
                    self._statements(bundle, inner, "endBundle")
            else:
                self._statement((kind, word), instance, spaces)

    def _declare(self, word: str, spaces: Namespaces) -> None:
        prefix = "" if word == "default" else self.next()[1]
        kind, iri = self.next()
        if kind != _IRI:
            self.wrong("an IRI between < and >", repr(iri[:20]))
        if prefix == "prov" and iri != PROV:
            self.wrong(f"the prefix 'prov' to stand for {PROV}", repr(iri[:80]))
        self.into.prefixes.setdefault(iri, prefix)
        spaces.declare({prefix: iri})

    def _statement(self, token: Token, instance: Instance, spaces: Namespaces) -> None:
        word = token[1]
        if token[0] != _WORD:
            self.wrong("a statement", repr(word[:20]))
        if self.next() != (_SIGN, "("):
            self.wrong(f"'(' behind {word[:20]!r}", "something else")
        kind = KINDS.get(word)
        if kind is None:
            self.into.unchecked[word[:60]] += 1
            self._skip()
            return
        own: str | None = None
        parts: list[str | None] = []
        empty = False
        while True:
            what, text = self.next()
            if what in (_WORD, _STRING):
                parts.append(None if text == "-" else text)
            elif (what, text) == (_SIGN, "["):
                empty = self._attributes(kind, instance, spaces)
            elif (what, text) != (_SIGN, ")") or parts:
                self.wrong(f"the arguments of {word}", repr(text[:20]) if what else "the end")
            what, text = (what, text) if text == ")" and what == _SIGN else self.next()
            if what != _SIGN or text not in ",;)":
                self.wrong("',' or ')'", repr(text[:20]) if what else "the end")
            if text == ";":
                if len(parts) != 1 or own is not None:
                    self.wrong("one identifier before ';'", f"{len(parts)}")
                own, parts = parts[0] or "", []
            elif text == ")":
                break
        self._add(kind, own, parts, empty, instance, spaces)

    def _add(
        self,
        kind: Kind,
        own: str | None,
        parts: list[str | None],
        empty: bool,
        instance: Instance,
        spaces: Namespaces,
    ) -> None:
        if kind.element:
            own, parts = (parts[0] or "" if parts else ""), parts[1:]
        most = len(kind.slots) + len(kind.times)
        if len(parts) > most:
            self.wrong(f"at most {most} arguments of {kind.word}", str(len(parts)))
        names = len(kind.slots)
        number = instance.number(spaces.iri(_plain(own))) if own and kind.named else 0
        slots = [instance.number(spaces.iri(_plain(p))) if p else 0 for p in parts[:names]]
        times = [instance.time(part.strip('"'), kind.word) if part else 0 for part in parts[names:]]
        slots += [0] * (names - len(slots))
        times += [0] * (len(kind.times) - len(times))
        instance.add(kind.word, number, slots, times)
        if empty:
            instance.empty.add(number)

    def _attributes(self, kind: Kind, instance: Instance, spaces: Namespaces) -> bool:
        """Read attributes; whether they say that it is an empty collection."""
        empty = False
        what, text = self.next()
        if (what, text) == (_SIGN, "]"):
            return empty
        while True:
            if what != _WORD:
                self.wrong("an attribute", repr(text[:20]) if what else "the end")
            iri = spaces.iri(_plain(text))
            if self.next() != (_SIGN, "="):
                self.wrong(f"'=' behind {text[:20]!r}", "something else")
            what, value = self.next()
            if what not in (_WORD, _NAME, _STRING):
                self.wrong(f"a value of {text[:20]!r}", repr(value[:20]) if what else "the end")
            if iri.startswith(PROV) and iri[len(PROV) :] in RESERVED:
                instance.fault(kind.word, f"{text[:60]} is no attribute of {kind.word}")
            if iri == PROV + "type" and what == _NAME:
                empty = empty or spaces.said(_plain(value)) == PROV + "EmptyCollection"
            what, text = self.next()
            if what == _WORD and text.startswith("@"):
                what, text = self.next()
            if what == _TYPED:
                self.next()
                what, text = self.next()
            if (what, text) == (_SIGN, "]"):
                return empty
            if (what, text) != (_SIGN, ","):
                self.wrong("',' or ']'", repr(text[:20]) if what else "the end")
            what, text = self.next()

    def _skip(self) -> None:
        """Leave out a statement that PROV-DM does not have."""
        depth = 1
        while depth:
            what, text = self.next()
            if not what:
                self.wrong("')'", "the end")
            if what == _SIGN:
                depth += (text == "(") - (text == ")")


def _plain(name: str) -> str:
    return _ESCAPE.sub(r"\1", name) if "\\" in name else name
