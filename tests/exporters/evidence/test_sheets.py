"""The tables that leave for a spreadsheet, from packs and from the page, hold no formula."""

from __future__ import annotations

import pytest

from whence.engine.values.spreadsheet import sheet_bytes
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
