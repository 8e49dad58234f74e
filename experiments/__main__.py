"""``python -m experiments [NAME…]``: measure what is declared, then write tables and page."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.machine import machine, versions
from experiments.plan import Cell, Experiment, PlanError, cells, declared, foretold
from experiments.report import PAGE, stale, write_page
from experiments.running import Sitting, run_cells
from experiments.settings import same_setting
from experiments.store import Results, read_rows, write_tables

HERE = Path(__file__).parent
RESULTS, QUICK = HERE / "results", HERE / "results-quick"


def main(arguments: list[str]) -> int:
    """Measure, write; 1 if a cell failed or the page is stale, 2 if there is no such experiment."""
    asked = _asked(arguments)
    folder = QUICK if asked.quick else RESULTS
    page = QUICK / "evaluation.md" if asked.quick else PAGE
    try:
        seed, experiments = declared(quick=asked.quick)
        todo = list(cells(experiments, seed, frozenset(asked.names)))
    except PlanError as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2
    if asked.list:
        _list(experiments, todo, Results(folder))
        return 0
    if asked.check:
        return _check(folder, page)
    results = Results(folder)
    if asked.fresh:
        results.forget(asked.names)
        # Whatever makes them may have changed.
        shutil.rmtree(folder / "logs", ignore_errors=True)
    try:
        sitting = _run(todo, results, asked, Console(stderr=True))
    except PlanError as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("experiments: stopped; the same command goes on", file=sys.stderr)
        return 130
    _write(folder, page, results)
    for line in sitting.failed:
        print(f"experiments: {line}", file=sys.stderr)
    if sitting.left_out:
        print(f"{sitting.left_out} of {len(todo)} cells left out: see above", file=sys.stderr)
    if sitting.waiting:
        print(f"{sitting.waiting} cells wait: the same command goes on", file=sys.stderr)
    return 1 if sitting.failed else 0


def _asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these experiments")
    parser.add_argument("--quick", action="store_true", help="a short look that proves nothing")
    parser.add_argument("--minutes", type=float, help="begin no cell that would end later")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--mixed", action="store_true", help="go on though the machine is another")
    parser.add_argument("--list", action="store_true", help="say what there is, and how long")
    parser.add_argument("--check", action="store_true", help="say whether the page is up to date")
    return parser.parse_args(arguments)


def _list(experiments: list[Experiment], todo: list[Cell], results: Results) -> None:
    known = results.keys
    print(f"{'experiment':12} {'cells':>5} {'to do':>5} {'minutes':>7}  question")
    for experiment in experiments:
        own = [cell for cell in todo if cell.experiment == experiment.name]
        left = [cell for cell in own if cell.key not in known]
        if own:
            told = f"{experiment.name:12} {len(own):5} {len(left):5} {foretold(left) / 60:7.1f}"
            print(f"{told}  {experiment.question}")
    left = [cell for cell in todo if cell.key not in known]
    print(f"{'together':12} {len(todo):5} {len(left):5} {foretold(left) / 60:7.1f}")


def _check(folder: Path, page: Path) -> int:
    wrong = stale(folder, page)
    for name in wrong:
        print(f"experiments: {name} is not what the rows say; try make experiments")
    return 1 if wrong else 0


def _write(folder: Path, page: Path, results: Results) -> None:
    paths = write_tables(folder, results.rows)
    # Of what was stored, as the test makes it again.
    paths.append(write_page(read_rows(folder), page))
    for path in paths:
        print(path.relative_to(HERE.parent))


def _run(
    todo: list[Cell], results: Results, asked: argparse.Namespace, console: Console
) -> Sitting:
    about: dict[str, str | bool] = {**{k: str(v) for k, v in machine().items()}, **versions()}
    if asked.quick:
        about["quick"] = True  # so that no page can pass them off as measurements
    known = results.keys
    if not asked.mixed:
        to_do = {cell.experiment for cell in todo if cell.key not in known}
        same_setting(results.rows, about, to_do)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("", total=len(todo))

        def tell(cell: Cell, how: str) -> None:
            progress.update(task, advance=1, description=cell.experiment)
            if how.startswith(("left out", "failed")) or (
                how == "measured" and not console.is_terminal
            ):
                console.print(f"{cell.key}: {how}", highlight=False)

        seconds = None if asked.minutes is None else asked.minutes * 60
        return run_cells(todo, results, about, tell, seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
