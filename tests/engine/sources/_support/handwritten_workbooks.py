"""Workbooks written by hand, for tests: whole ones, odd ones, hostile ones."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

__all__ = ["Raw", "parts_of", "write_parts", "write_workbook"]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_EPOCH = datetime(1899, 12, 30, tzinfo=UTC)
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><cellXfs count="3"><xf numFmtId="0"/>'
    '<xf numFmtId="22"/><xf numFmtId="46"/></cellXfs></styleSheet>'
)


class Raw(str):
    """A cell as XML, behind its opening ``<c r=".."``."""


def _letters(column: int) -> str:
    name = ""
    while column >= 0:
        name = chr(65 + column % 26) + name
        column = column // 26 - 1
    return name


def _cell(row: int, column: int, value: Any, shared: dict[str, int]) -> str:
    begin = f'<c r="{_letters(column)}{row}"'
    if value is None:
        return ""
    if isinstance(value, Raw):
        return begin + value
    if isinstance(value, bool):
        return f'{begin} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'{begin} t="s"><v>{shared.setdefault(value, len(shared))}</v></c>'
    if isinstance(value, timedelta):
        return f'{begin} s="2"><v>{value / timedelta(days=1)!r}</v></c>'
    if isinstance(value, date):
        moment = (
            value if isinstance(value, datetime) else datetime(*value.timetuple()[:3], tzinfo=UTC)
        )
        days = (moment.replace(tzinfo=UTC) - _EPOCH) / timedelta(days=1)
        return f'{begin} s="1"><v>{days!r}</v></c>'
    return f"{begin}><v>{value!r}</v></c>"


def parts_of(sheets: Mapping[str, Sequence[Sequence[Any]]], first: int = 1) -> dict[str, str]:
    """The parts of a workbook; rows begin at row ``first``."""
    shared: dict[str, int] = {}
    parts: dict[str, str] = {}
    names, links, count = "", "", 0
    for number, (name, rows) in enumerate(sheets.items(), 1):
        lines = ""
        for at, row in enumerate(rows, first):
            cells = "".join(_cell(at, column, value, shared) for column, value in enumerate(row))
            count += len(row)
            lines += f'<row r="{at}">{cells}</row>'
        part = f"worksheets/sheet{number}.xml"
        parts[f"xl/{part}"] = (
            f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>{lines}</sheetData></worksheet>'
        )
        names += f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"/>'
        links += f'<Relationship Id="r{number}" Type="{_OFFICE}/worksheet" Target="{part}"/>'
    for id, kind in (("s", "styles"), ("t", "sharedStrings")):
        links += f'<Relationship Id="{id}" Type="{_OFFICE}/{kind}" Target="{kind}.xml"/>'
    texts = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in shared)
    return {
        "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
        f'Id="w" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">'
        f"{links}</Relationships>",
        "xl/styles.xml": _STYLES,
        "xl/sharedStrings.xml": f'{_HEAD}<sst xmlns="{_MAIN}" count="{count}" '
        f'uniqueCount="{len(shared)}">{texts}</sst>',
        **parts,
    }


def write_parts(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """Pack parts into a workbook."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def write_workbook(
    path: Path, rows: Sequence[Sequence[Any]], *, first: int = 1, **sheets: Sequence[Sequence[Any]]
) -> Path:
    """Write a workbook whose first sheet is called Log."""
    return write_parts(path, parts_of({"Log": rows, **sheets}, first))
