"""``python -m bench [NAME…]``: run every benchmark, or these, and compare with the baseline.

``python -m bench --baseline [NAME…]`` makes what was measured last the baseline.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench.baseline import BASELINE, against, keep, told
from bench.harness import Bench, BenchError, quick
from bench.machine import machine, versions
from bench.report import table, write

HERE = Path(__file__).parent
RESULTS = HERE / "results"


def names(suites: Path = HERE / "suites") -> list[str]:
    """List the benchmarks: one file each."""
    return sorted(path.stem for path in suites.glob("*.py") if not path.stem.startswith("_"))


def load(name: str) -> Bench:
    """Import one benchmark's declaration."""
    found = getattr(import_module(f"bench.suites.{name}"), "bench", None)
    if not isinstance(found, Bench):
        msg = (
            f"bench/suites/{name}.py: expected a variable bench of type Bench; "
            f"got {type(found).__name__}; try: bench = Bench(...)"
        )
        raise BenchError(msg)
    return found


def measure(name: str, console: Console) -> Path:
    """Run one benchmark, write its file and show its table."""
    bench = load(name)
    surroundings, tools = machine(), versions()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task(name, total=bench.steps)

        def tell(told: str) -> None:
            progress.advance(task)
            if console.is_terminal:
                progress.update(task, description=f"{name}: {told}")
            else:
                done = int(progress.tasks[task].completed)
                console.print(f"{name} {done}/{bench.steps}: {told}", highlight=False)

        results = bench.run(tell)
    of = bench.into or name
    # A short look never replaces a measurement.
    path = RESULTS / (f"{of}.quick.json" if quick() else f"{of}.json")
    write(path, of, surroundings, tools, results, name if bench.into else None)
    title = f"{name}: {bench.title}" + (" (short look, proves nothing)" if quick() else "")
    console.print(table(title, results))
    if not quick():
        for line in told(name, against(of, results, BASELINE)):
            console.print(line, style="red" if line.startswith("regression") else "", markup=False)
    return path


def keep_baseline(asked: list[str]) -> int:
    """Make the measurements the baseline; 1 if a requested one was never made."""
    measured = {p.stem: p for p in sorted(RESULTS.glob("*.json")) if not p.stem.endswith(".quick")}
    wanted = sorted({load(name).into or name for name in asked})
    absent = [name for name in wanted if name not in measured]
    if absent or not measured:
        got = f"none of {absent[0]}" if absent else "none"
        try_ = f"make bench NAME={absent[0]}" if absent else "make bench"
        print(f"bench: expected results to keep; got {got}; try {try_}", file=sys.stderr)
        return 1
    for name in wanted or measured:
        print(keep(measured[name], BASELINE))
    return 0


def main(arguments: list[str]) -> int:
    """Run the requested benchmarks; exit code 1 if it failed, 2 if there is no such benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks")
    parser.add_argument("--baseline", action="store_true", help="keep what was measured last")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in names()]
    if unknown:
        known = ", ".join(names())
        print(
            f"bench: expected one of {known}; got {unknown[0]!r}; try make bench", file=sys.stderr
        )
        return 2
    if asked.baseline:
        return keep_baseline(asked.names)
    console = Console()
    try:
        for name in asked.names or names():
            measure(name, console)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
