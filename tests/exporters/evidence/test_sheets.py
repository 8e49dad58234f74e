"""The tables that leave for a spreadsheet, from packs and from the page, hold no formula."""

from __future__ import annotations

import re

import pytest

from whence.engine.values.spreadsheet import defused, sheet_bytes
from whence.web.downloads import _rows

COLUMNS = ("=name", "value")
ROWS = [("=1+1", -5), ("@SUM(A1)", "-5"), ("plain", None), ("-x", 0.5)]


@pytest.mark.parametrize("written", [sheet_bytes(COLUMNS, ROWS), b"".join(_rows(COLUMNS, ROWS))])
def test_no_cell_of_a_table_is_a_formula_and_numbers_stay_numbers(written: bytes) -> None:
    assert written.decode().splitlines() == [
        "'=name,value",
        "'=1+1,-5",
        "'@SUM(A1),-5",
        "plain,",
        "'-x,0.5",
    ]


HIDDEN = ["\ufeff=1", "\x00=1", " =1", "\xa0@x", "\u200b+x", "\x0b-x"]
INSIDE = ["a;=1", 'a;"=1', "a; =1", "a\t@x", "a\n=1", "a\r-x", "a;\uff1d1"]


@pytest.mark.parametrize("text", [*HIDDEN, *INSIDE])
def test_no_formula_begins_where_a_spreadsheet_may_begin_a_cell(text: str) -> None:
    """After signs that are not seen; and after a semicolon or a line, if it splits there."""
    written = defused(text)
    assert written.replace("'", "") == text
    cells = re.split("[;\\t\\r\\n]", written)
    plain = [re.sub(r'^[\s\x00"\u200b\ufeff]+', "", cell) for cell in cells]
    assert not any(cell.startswith(("=", "+", "-", "@", "\uff1d")) for cell in plain), plain


@pytest.mark.parametrize("text", ["a; b = 1", "a=1", "x;y", "-5", "+1.5e3", "", "a\nb - c", "1;2"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert defused(text) == text
