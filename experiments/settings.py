"""On what something was measured: rows of two machines are never mixed without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from experiments.plan import PlanError

__all__ = ["MACHINE", "TOOLS", "same_setting", "settings_of"]

MACHINE = ("processor", "architecture", "cores", "memory_gib")
"""What makes a machine another one."""
TOOLS = ("python", "java", "numpy", "pyarrow", "pyspark", "neo4j")
"""What is not ours, and makes a difference."""

Row = Mapping[str, Any]


def settings_of(rows: Iterable[Row]) -> Counter[tuple[str, ...]]:
    """Machine, tools and commit of the rows, with how many rows have them; the most come first."""
    names = (*MACHINE, *TOOLS, "commit")
    found = Counter(tuple(str(row.get(name, "unknown")) for name in names) for row in rows)
    return Counter(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))))


def same_setting(rows: Iterable[Row], about: Row, names: Iterable[str]) -> None:
    """Refuse to continue an experiment that was begun on another machine or with other tools.

    Args:
        rows: what is kept.
        about: machine and versions of now.
        names: the experiments to continue.

    Raises:
        PlanError: what differs.
    """
    wanted = set(names)
    for row in rows:
        if row["experiment"] not in wanted:
            continue
        for name in (*MACHINE, *TOOLS):
            before, now = str(row.get(name, "unknown")), str(about.get(name, "unknown"))
            if before != now:
                msg = (
                    f"{row['experiment']}: expected {name} {before}, as in the rows that are kept; "
                    f"got {now}; try --fresh {row['experiment']} to measure it anew, or --mixed"
                )
                raise PlanError(msg)
