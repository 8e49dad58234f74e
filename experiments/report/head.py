"""Where the numbers come from: rows, machine, versions, and whether other processes were busy."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from experiments.figures import Row
from experiments.report.words import NOT_YET, paragraph
from experiments.settings import MACHINE, TOOLS, settings_of

__all__ = ["head"]

BUSY = 20.0
"""Per cent of the machine that others may take before a cell without its being busy."""


def head(rows: list[Row]) -> Iterator[str]:
    """Title, where the numbers come from, and on what they were measured."""
    yield "# Evaluation"
    yield ""
    yield from paragraph(
        "Every number of ours on this page is computed from `experiments/results`, which "
        "`make experiments` writes; a test makes the page again from them and compares. One cell "
        "is one process; cells of one experiment run in turn, every other round backwards; given "
        "are medians."
    )
    yield ""
    if not rows:
        yield NOT_YET
        return
    if any(row.get("quick") for row in rows):
        yield from paragraph(
            "**A short look**: short logs and one repetition. It shows that everything runs; its "
            "numbers prove nothing."
        )
        yield ""
    settings = settings_of(rows)
    if len(settings) > 1:
        yield from paragraph(
            f"The rows were measured in {len(settings)} settings. Only numbers of one section "
            "belong together, and a section whose rows differ says so:"
        )
        yield ""
    for setting, count in settings.items():
        told = dict(zip((*MACHINE, *TOOLS, "commit"), setting, strict=True))
        tools = ", ".join(f"{name} {told[name]}" for name in TOOLS)
        yield from paragraph(
            f"- {told['processor']}, {told['cores']} cores, {told['memory_gib']} GiB; {tools}; "
            f"commit {told['commit']}: {count:,} cells.",
            "  ",
        )
    yield ""
    yield from paragraph(_others(rows))


def _others(rows: list[Row]) -> str:
    """How much of the machine others took, seen shortly before each cell."""
    seen = [float(row["busy_before"]) for row in rows if "busy_before" in row]
    minutes = sum(float(row.get("cell_seconds", 0)) for row in rows) / 60
    told = f"All cells together took {minutes:.0f} minutes."
    if not seen:
        return told
    busy = sum(each > BUSY for each in seen)
    told += f" Other work took {median(seen):.0f} % of the machine before a cell, in the median"
    if busy:
        return f"{told}; before {busy:,} of {len(seen):,} cells it took more than {BUSY:.0f} %."
    return f"{told}, and never more than {BUSY:.0f} %."
