"""``whence run --plan``: how Spark would cut the run, and why; nothing is run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from whence.cli.output import output

if TYPE_CHECKING:
    from whence.cli.chain_options import Prepared
    from whence.engine.runners import RunOptions
    from whence.engine.runners.plans import Cut

__all__ = ["print_plan"]


def print_plan(
    prepared: Prepared,
    options: RunOptions,
    *,
    record: Path | None,
    master: str,
    partitions: int | None,
) -> None:
    """Put the logs into the record and say how a run over them would be cut."""
    from whence.api import plan

    out = output()
    with out.progress() as advance:
        prepared.progress.to = advance
        cut = plan(
            prepared.logs.chain,
            prepared.logs,
            options=options,
            record=record,
            master=master,
            partitions=partitions,
            progress=advance,
        )
    out.result(asdict(cut), plan_text(cut))


def plan_text(cut: Cut) -> str:
    """The plan for a person.

    >>> from whence.engine.runners.plans import Cut
    >>> print(plan_text(Cut("one task", 1, "the chain reads several logs")))
    one task, from the first event to the last
      because the chain reads several logs
    """
    lines = {
        "one task": "one task, from the first event to the last",
        "slices": f"{cut.tasks} tasks by {cut.key!r}, then one for what all slices give together",
        "chunks": f"{cut.tasks} tasks, each over a range of positions",
    }
    return f"{lines[cut.kind]}\n  because {cut.why}"
