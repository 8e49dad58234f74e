"""The one table of formats: commands, the page and the manual follow it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whence.cli.app import app
from whence.exporters.prov.formats import FORMATS, IMPORTED, READ, RUN_FORMATS, TABLE, part_of
from whence.web.downloads import DOWNLOADS, KINDS
from whence.web.view import prov_takes

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "export-prov.md"


def test_the_manual_has_the_table() -> None:
    rows = re.findall(
        r"^\| ([\w/-]+) \| `([^`]+)` \| (`\.[^|]*`) \| ([a-z, ]+) \| [^|]+ \|$",
        PAGE.read_text("utf-8"),
        re.MULTILINE,
    )
    listed = {
        name: (title, tuple(re.findall(r"`([^`]+)`", files)), tuple(can.split(", ")))
        for title, name, files, can in rows
    }
    assert listed == {
        row.name: (
            row.title,
            row.endings,
            (*["export"] * row.exported, *["import"] * row.imported, "validate"),
        )
        for row in TABLE.values()
    }


@pytest.mark.parametrize(
    ("command", "known"), [("export", RUN_FORMATS), ("import", IMPORTED), ("validate", READ)]
)
def test_a_command_takes_these_formats_and_no_other(command: str, known: tuple[str, ...]) -> None:
    arguments = [command, "x", "--format", "no-such-format"]
    done = CliRunner().invoke(app, arguments, env={"COLUMNS": "400"})
    assert done.exit_code == 2
    listed = done.output.partition("is not one of")[2]
    assert re.findall(r"'([\w-]+)'", listed) == list(known)


def test_every_row_has_what_it_says() -> None:
    endings = [ending for row in TABLE.values() for ending in row.endings]
    assert len(set(endings)) == len(endings)
    for row in TABLE.values():
        assert row.reader or row.rdf, row.name
        assert row.writer or row.rdf or not row.exported, row.name
        for part in (row.writer, row.reader):
            assert part is None or callable(part_of(part)), part
        assert row.exported or not (row.imported or row.offered), row.name


def test_the_page_offers_the_formats_that_the_table_says() -> None:
    offered = [row for row in TABLE.values() if row.offered]
    assert [row.name for row in offered] == ["prov-json", "prov-n"]
    for view in ("why", "never-matters", "impact"):
        links = prov_takes(f"/take/{view}", output="a@1")
        assert [words for words, _ in links] == [row.title for row in offered]
        for row, (_, address) in zip(offered, links, strict=True):
            assert address == f"/take/{view}{row.endings[0]}?output=a%401"
            assert f"{view}{row.endings[0]}" in DOWNLOADS
            assert KINDS[row.endings[0][1:]] == row.media


def test_what_is_public_is_the_table() -> None:
    from whence import exporters
    from whence.exporters import validating

    assert exporters.FORMATS == FORMATS
    assert validating.FORMATS == READ
    for name in exporters.__all__:
        assert getattr(exporters, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        exporters.nothing  # type: ignore[attr-defined]  # noqa: B018
