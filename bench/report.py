"""Write results as JSON, show the same as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

from bench.harness import Result

__all__ = ["table", "write"]


def write(
    path: Path,
    name: str,
    machine: Mapping[str, str | int | float],
    versions: Mapping[str, str],
    results: Sequence[Result],
    by: str | None = None,
) -> None:
    """Write the file as a whole or not at all.

    Args:
        path: the file.
        name: the benchmark whose file it is.
        machine: what it was measured on.
        versions: of what was measured.
        results: what was measured.
        by: the benchmark that measured them, where that is another one: each of its results carries
            its name. Results that another benchmark wrote into this file stay.
    """
    stay = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
    new, author = {r.id for r in results}, by or name
    mark = {"bench": by} if by else {}
    content = {
        "bench": name,
        "machine": dict(machine),
        "versions": dict(versions),
        "results": [
            *(r for r in stay if r.get("bench", name) != author and r["id"] not in new),
            *(
                {"id": r.id, "value": r.value, "unit": r.unit, "runs": list(r.runs), **mark}
                for r in results
            ),
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".part")
    fresh.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def table(title: str, results: Sequence[Result]) -> Table:
    """Show median and spread of each result."""
    shown = Table(title=title, title_justify="left")
    shown.add_column("id")
    for column in ("median", "smallest", "largest", "runs"):
        shown.add_column(column, justify="right")
    shown.add_column("unit")
    for result in results:
        low, high = result.spread
        numbers = [f"{number:,.4g}" for number in (result.value, low, high)]
        shown.add_row(result.id, *numbers, str(len(result.runs)), result.unit)
    return shown
