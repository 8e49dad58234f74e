"""``python -m experiments [NAME…]``: measure what is declared, then write tables and report."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.machine import machine, versions
from experiments.plan import Cell, PlanError, cells, declared
from experiments.report import write_report
from experiments.running import run_cells
from experiments.store import Results, write_tables

HERE = Path(__file__).parent
RESULTS, QUICK = HERE / "results", HERE / "results-quick"


def main(arguments: list[str]) -> int:
    """Measure, write, report; 1 if a cell failed, 2 if there is no such experiment."""
    asked = _asked(arguments)
    folder = QUICK if asked.quick else RESULTS
    try:
        seed, experiments = declared(quick=asked.quick)
        if asked.list:
            for experiment in experiments:
                print(f"{experiment.name:12} {experiment.question}")
            return 0
        todo = list(cells(experiments, seed, frozenset(asked.names)))
    except PlanError as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2
    if asked.fresh:
        shutil.rmtree(folder, ignore_errors=True)
    results = Results(folder)
    try:
        left_out = _run(todo, results, Console(stderr=True))
    except PlanError as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("experiments: stopped; the same command goes on", file=sys.stderr)
        return 130
    for path in write_tables(folder, results.rows):
        print(path.relative_to(HERE.parent))
    if not asked.names and not asked.quick:
        print(write_report(results.rows).relative_to(HERE.parent))
    if left_out:
        print(f"{left_out} of {len(todo)} cells left out: see above", file=sys.stderr)
    return 0


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these experiments")
    parser.add_argument("--quick", action="store_true", help="a short look that proves nothing")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--list", action="store_true", help="say what there is")
    return parser.parse_args(arguments)


def _run(todo: list[Cell], results: Results, console: Console) -> int:
    about = {**{k: str(v) for k, v in machine().items()}, **versions()}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=len(todo))

        def tell(cell: Cell, how: str) -> None:
            progress.update(task, advance=1, description=cell.experiment)
            if how.startswith("left out") or (how == "measured" and not console.is_terminal):
                console.print(f"{cell.key}: {how}", highlight=False)

        return run_cells(todo, results, about, tell)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
