"""Look through a workbook before it is read: what it would unpack to, and what is wrong with it.

The library that reads workbooks holds a whole sheet in memory, from its first to its last used
cell, and believes the counts that a file states. Two cells far apart, or one wrong count, would end
the process. Cells that hold an error are empty to it, and so is a sheet with entities of its own.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from whence.engine.errors import LogError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import on_one_line, readable, shown

__all__ = ["BEFORE", "UNCOMPUTED", "Sheet", "survey"]

Start = Callable[[str, dict[str, str]], None]

_DIGITS = "0123456789"
_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
_ROWS, _COLUMNS = 1 << 20, 1 << 14
_CELL_BYTES = 32
"""What the library holds for each cell of the used range, empty or not."""

_ERROR_BYTES = 256
_BLOCK = 1 << 16
_ERROR = "an error such as #N/A"
UNCOMPUTED = "a formula without the value that it has"
BEFORE = "a time before the first day of the workbook"
_OLD = b"\xd0\xcf\x11\xe0"
"""How files begin that Excel wrote before there was .xlsx, and protected ones."""


@dataclass
class Sheet:
    """What was seen of a sheet.

    Attributes:
        name: its name.
        errors: what is wrong with a cell, by its row and column, from 0: it holds an error such as
            ``#N/A``, or a formula that nothing has computed.
        negative: row and column, from 0, of the cells with a format and a number below 0. If the
            format is one of dates, the library makes midnight of it.
        values: how many cells have a value, or state one.
    """

    name: str
    errors: dict[tuple[int, int], str] = field(default_factory=dict)
    negative: set[tuple[int, int]] = field(default_factory=set)
    values: int = 0


def survey(path: Path, wanted: str | None, limits: Limits) -> Sheet:
    """Look through the parts of a workbook that will be read.

    Args:
        path: the file.
        wanted: the sheet's name; ``None`` for the first.
        limits: how much is too much.

    Raises:
        LogError: it is no workbook, has no such sheet, or is not safe to read.
    """
    with readable(path), path.open("rb") as file:
        if file.read(4) == _OLD:
            _refuse(path, "a workbook that is protected, or older than .xlsx")
        try:
            with zipfile.ZipFile(file) as archive:
                return _Survey(path, archive, limits).sheet(wanted)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as bad:
            _refuse(path, f"damage ({on_one_line(str(bad))[:80]})", bad)
        except (expat.ExpatError, UnicodeError) as bad:
            _refuse(path, f"XML that is not well-formed ({bad})", bad)


def _refuse(path: Path, got: str, cause: BaseException | None = None) -> NoReturn:
    msg = f"{shown(path)}: expected an .xlsx workbook; got {got}; try saving it again"
    raise LogError(msg) from cause


class _Survey:
    def __init__(self, path: Path, archive: zipfile.ZipFile, limits: Limits) -> None:
        self._path, self._archive, self._limits = path, archive, limits
        self._bytes = 0
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in archive.infolist():
            name = info.filename.replace("\\", "/").lower()
            if name in self._members:
                _refuse(path, f"the part {on_one_line(name)[:60]} twice")
            self._members[name] = info

    def sheet(self, wanted: str | None) -> Sheet:
        sheets: dict[str, str] = {}
        links: dict[str, tuple[str, str]] = {}

        def workbook(tag: str, of: dict[str, str]) -> None:
            if tag == "sheet":
                id = next((value for name, value in of.items() if name.endswith(":id")), "")
                sheets[of.get("name", "")] = id

        def relations(tag: str, of: dict[str, str]) -> None:
            if tag == "Relationship":
                kind = of.get("Type", "").rpartition("/")[2]
                links[of.get("Id", "")] = kind, of.get("Target", "")

        for name in ("[content_types].xml", "_rels/.rels"):
            self._scan(name, lambda tag, of: None)
        self._scan("xl/workbook.xml", workbook)
        self._scan("xl/_rels/workbook.xml.rels", relations)
        linked = {_inside(part) for kind, part in links.values() if kind in _ALSO_READ}
        usual = {f"xl/{part.lower()}.xml" for part in _ALSO_READ}
        for name in sorted(linked | usual.intersection(self._members)):
            self._scan(name, lambda tag, of: None)
        parts = {name: links.get(id, ("", "")) for name, id in sheets.items()}
        tables = {name: _inside(part) for name, (kind, part) in parts.items() if kind == _TABLE}
        name = self._chosen(wanted, tables)
        found = _Cells(Sheet(name), self._path, self._limits)
        self._scan(tables[name], found.start, found.text)
        found.check(self._bytes)
        return found.sheet

    def _chosen(self, wanted: str | None, tables: Mapping[str, str]) -> str:
        if not tables:
            _refuse(self._path, "no sheet of cells")
        if wanted is None:
            return next(iter(tables))
        if wanted not in tables:
            near = get_close_matches(wanted, tables, n=1)
            known = ", ".join(map(repr, tables))
            hint = f"{near[0]!r} (did you mean that?)" if near else f"--sheet with one of {known}"
            msg = f"{shown(self._path)}: expected a sheet {wanted!r}; got none; try {hint}"
            raise LogError(msg)
        return wanted

    def _scan(self, name: str, start: Start, text: Callable[[str], None] | None = None) -> None:
        """Parse a part, whatever size it states."""
        info = self._members.get(name)
        if info is None:
            _refuse(self._path, f"a file without {on_one_line(name)[:60]}")
        parser = expat.ParserCreate()

        def element(tag: str, attributes: dict[str, str]) -> None:
            if "count" in attributes or "uniqueCount" in attributes:
                # The library allocates this many at once.
                stated = (attributes.get(name, "0") for name in ("count", "uniqueCount"))
                room = max(map(_number, stated)) * _CELL_BYTES
                self._limits.check("workbook", self._bytes + room, shown(self._path))
            start(tag.rpartition(":")[2] if ":" in tag else tag, attributes)

        def declared(version: str, encoding: str | None, standalone: int) -> None:
            if (encoding or "utf-8").lower() not in ("utf-8", "us-ascii"):
                _refuse(self._path, f"XML in {on_one_line(str(encoding))[:20]}")

        parser.StartElementHandler = element
        parser.XmlDeclHandler = declared
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = lambda *_: _refuse(self._path, "XML with a DOCTYPE")
        for block in self._blocks(info):
            self._bytes += len(block)
            self._limits.check("workbook", self._bytes, shown(self._path))
            if b"\0" in block:
                _refuse(self._path, "XML that is not in UTF-8")
            parser.Parse(block, False)
        parser.Parse(b"", True)

    def _blocks(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        # The size that the archive states may be a lie, and would end reading too early.
        whole = copy(info)
        whole.file_size = self._limits.workbook + 1
        with self._archive.open(whole) as part:
            while block := part.read(_BLOCK):
                yield block


_TABLE = "worksheet"
_ALSO_READ = ("sharedStrings", "styles")


def _inside(part: str) -> str:
    """The name of a part of the archive that the workbook names."""
    plain = part.replace("\\", "/").lower()
    return plain[1:] if plain.startswith("/") else plain if plain[:3] == "xl/" else f"xl/{plain}"


def _number(text: str) -> int:
    """A number as it is written; what is none, or beyond all bounds, is very large."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 10**18


class _Cells:
    """Where the cells of a sheet are."""

    def __init__(self, sheet: Sheet, path: Path, limits: Limits) -> None:
        self.sheet, self._path, self._limits = sheet, path, limits
        self._row = self._column = -1
        self._digits = ""
        self._rows: set[int] = set()
        self._columns: dict[str, int] = {}
        self._wide = -1
        self._last = (-1, -1)
        self._kind: str | None = None
        self._formatted = self._formula = self._stored = self._in_value = False
        self._where = f"{shown(path)}, sheet {sheet.name!r}"

    def start(self, tag: str, of: dict[str, str]) -> None:
        """Look at an element; this is called for each cell, and is quick."""
        self._in_value = tag == "v"
        if tag == "c":
            self._end()
            stated = of.get("r")
            if stated is None:
                self._at(self._row, self._column + 1)
            else:
                letters = stated.rstrip(_DIGITS)
                column = self._columns.get(letters)
                if column is None or stated[len(letters) :] != self._digits:
                    self._refer(stated, letters)
                else:
                    self._column = column
            self._begin(of)
        elif tag == "f":
            self._formula = True
        elif tag in ("v", "t"):
            self.sheet.values += 1
        elif tag == "row":
            stated = of.get("r")
            self._row = self._row + 1 if stated is None else _number(stated) - 1
            self._column, self._digits = -1, ""

    def text(self, text: str) -> None:
        """Look at what stands in an element."""
        if self._in_value and (text := text.strip()):
            if not self._stored and text[0] == "-" and self._formatted:
                self.sheet.negative.add(self._last)
                self._check_noted()
            self._stored = True

    def _begin(self, of: Mapping[str, str]) -> None:
        """Look at a cell, whose place is known."""
        here = (self._row, self._column)
        if here <= self._last:
            # The library would take the last of two.
            _refuse(self._path, "a cell twice, or not in the order of the sheet")
        self._last, self._kind = here, of.get("t")
        self._formatted = self._kind in (None, "n") and of.get("s", "0") != "0"
        self._formula = self._stored = False
        if self._kind == "e":
            self._note(_ERROR)

    def _end(self) -> None:
        """Look at the cell before, which is whole now; an empty text is a value that is stored."""
        if self._formula and not self._stored and self._kind not in ("str", "e"):
            self._note(UNCOMPUTED)
        self._formula = False

    def _note(self, what: str) -> None:
        self.sheet.errors[self._last] = what
        self._check_noted()

    def _check_noted(self) -> None:
        many = len(self.sheet.errors) + len(self.sheet.negative)
        self._limits.check("workbook", many * _ERROR_BYTES, self._where)

    def _refer(self, stated: str, letters: str) -> None:
        """Go to a cell that is stated in full."""
        found = _REFERENCE.fullmatch(stated)
        if found is None:
            _refuse(self._path, f"a cell at {on_one_line(stated)[:20]!r}")
        column = 0
        for letter in letters:
            column = column * 26 + ord(letter) - 64
        self._at(int(found[2]) - 1, column - 1)
        self._columns[letters], self._digits = self._column, found[2]

    def _at(self, row: int, column: int) -> None:
        if not (0 <= row < _ROWS and column < _COLUMNS):
            _refuse(self._path, "a cell beyond the last row or column of a sheet")
        self._row, self._column = row, column
        self._rows.add(row)
        self._wide = max(self._wide, column)

    def check(self, bytes: int) -> None:
        """Refuse a sheet that would take too much memory, once all of it was seen."""
        self._end()
        if self._rows:
            high, wide = max(self._rows) - min(self._rows) + 1, self._wide + 1
            self._limits.check("columns", wide, self._where)
            self._limits.check("workbook", bytes + high * wide * _CELL_BYTES, self._where)
