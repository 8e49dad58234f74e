"""The committed page is what the committed rows say: neither can change alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import experiments.__main__ as command
from experiments.figures import Row, select
from experiments.report import PAGE, page, stale, write_page
from experiments.report.paper import grown, linear, powers, stays
from experiments.report.words import QUERIES
from experiments.store import CSV, read_rows, write_tables
from tests.experiments.made_up import made

HOUR = 3600.0


def test_the_page_in_the_manual_is_made_of_the_stored_rows() -> None:
    assert stale(command.RESULTS, PAGE) == []


@pytest.fixture(scope="module")
def measured() -> list[Row]:
    """The committed rows."""
    return read_rows(command.RESULTS)


@pytest.mark.parametrize("query", QUERIES)
def test_at_a_fixed_number_of_cases_time_is_linear_and_memory_stays(
    measured: list[Row], query: str
) -> None:
    own = select(grown(measured), query=query)
    found = powers(own)
    assert min(row["length"] for row in own) < 10_000_000 < max(row["length"] for row in own)
    assert (linear(found.clock), stays(found.held)) == ("yes", "yes"), found


def test_everything_that_is_declared_was_measured(measured: list[Row]) -> None:
    assert "Not complete" not in page(measured)


def test_all_cells_together_took_less_than_an_hour(measured: list[Row]) -> None:
    assert 0 < sum(row["cell_seconds"] for row in measured) < HOUR


def test_no_row_of_a_short_look_is_kept_among_the_measurements() -> None:
    assert [row["key"] for row in read_rows(command.RESULTS) if row.get("quick")] == []


def stored(place: Path, *experiments: str) -> tuple[Path, Path]:
    """Made-up rows of some experiments, and the page that belongs to them."""
    rows = [row for row in made() if row["experiment"] in experiments]
    write_tables(place / "results", rows)
    page = write_page(read_rows(place / "results"), place / "evaluation.md")
    assert stale(place / "results", page) == []
    return place / "results", page


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Path]:
    """Rows and a page without pictures, which take time."""
    return stored(tmp_path, "stream")


def test_rows_that_change_alone_are_found(kept: tuple[Path, Path]) -> None:
    results, page = kept
    rows = read_rows(results)
    for row in rows:
        if row["experiment"] == "stream":
            row["seconds"] *= 1.5
    write_tables(results, rows)
    assert stale(results, page) == ["evaluation.md"]


def test_a_page_that_changes_alone_is_found(kept: tuple[Path, Path]) -> None:
    results, page = kept
    page.write_text(page.read_text().replace("1.00x", "0.99x", 1))
    assert stale(results, page) == ["evaluation.md"]


def test_a_picture_that_changes_or_comes_alone_is_found(tmp_path: Path) -> None:
    results, page = stored(tmp_path, "questions")
    folder = page.with_suffix("")
    picture = folder / "questions.svg"
    picture.write_text(picture.read_text() + " ")
    (folder / "more.svg").write_text("<svg/>")
    assert stale(results, page) == ["evaluation/more.svg", "evaluation/questions.svg"]
    write_page([], page)
    assert list(folder.iterdir()) == []


def test_a_second_table_that_says_something_else_is_found(kept: tuple[Path, Path]) -> None:
    results, page = kept
    text = (results / CSV).read_text()
    (results / CSV).write_text(text.replace("12000", "24000", 1))
    assert stale(results, page) == ["results/results.csv (beside results.parquet)"]
    (results / CSV).unlink()
    assert stale(results, page) == ["results/results.csv (beside results.parquet)"]


def test_the_command_names_what_is_stale(
    kept: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results, page = kept
    monkeypatch.setattr(command, "RESULTS", results)
    monkeypatch.setattr(command, "PAGE", page)
    assert command.main(["--check"]) == 0
    page.write_text("# Evaluation\n")
    assert command.main(["--check"]) == 1
    assert capsys.readouterr().out == (
        "experiments: evaluation.md is not what the rows say; try make experiments\n"
    )
