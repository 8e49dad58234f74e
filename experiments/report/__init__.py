"""The evaluation page and its pictures, made of the stored rows and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments.figures import Row
from experiments.report import beyond, closing, graph, head, lineage, paper, pictures
from experiments.report.words import Section
from experiments.store import CSV, PARQUET, read_rows, same_tables

__all__ = ["PAGE", "drawn", "page", "stale", "write_page"]

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "evaluation.md"
SECTIONS: tuple[Section, ...] = (
    head.head,
    *(paper.throughput, paper.beside, paper.memory, paper.extrapolation, paper.growth),
    *(lineage.sizes, lineage.constant, lineage.precision),
    *(beyond.detail, beyond.rules, beyond.objects, beyond.spark, beyond.cluster, beyond.stream),
    *(beyond.export, beyond.real),
    *(graph.load, graph.questions),
    *(closing.others, closing.verdict),
)

drawn = pictures.drawn


def page(rows: list[Row]) -> str:
    """The page as Markdown; of what is not measured yet it says that."""
    return "\n\n".join("\n".join(section(rows)) for section in SECTIONS) + "\n"


def write_page(rows: list[Row], path: Path = PAGE) -> Path:
    """Write page and pictures; pictures of nothing are removed."""
    path.write_text(page(rows), encoding="utf-8")
    folder, fresh = path.with_suffix(""), drawn(rows)
    for old in folder.glob("*.svg"):
        if old.name not in fresh:
            old.unlink()
    for name, text in fresh.items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return path


def stale(results: Path, path: Path = PAGE) -> list[str]:
    """The files that are not what the stored rows say: page, pictures, or the second table.

    Args:
        results: the folder of the rows.
        path: the page.
    """
    return list(_stale(results, path))


def _stale(results: Path, path: Path) -> Iterator[str]:
    rows = read_rows(results)
    if not same_tables(results):
        yield f"{results.name}/{CSV} (beside {PARQUET})"
    if not path.exists() or path.read_text(encoding="utf-8") != page(rows):
        yield path.name
    folder, wanted = path.with_suffix(""), drawn(rows)
    found = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.svg")}
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            yield f"{folder.name}/{name}"
