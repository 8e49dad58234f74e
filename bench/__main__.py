"""``python -m bench [NAME]``: run every benchmark, or one."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

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
    write(path, of, surroundings, tools, results, lambda id: not _measures(name, bench, id))
    title = f"{name}: {bench.title}" + (" (short look, proves nothing)" if quick() else "")
    console.print(table(title, results))
    return path


def _measures(name: str, bench: Bench, id: str) -> bool:
    """Whether a result is one of this benchmark, and not of another that shares its file."""
    first = id.partition(".")[0]
    return first == name if bench.into else first not in names()


def main(arguments: list[str]) -> int:
    """Run what was asked for; exit code 1 if it failed, 2 if there is no such benchmark."""
    unknown = [name for name in arguments if name not in names()]
    if unknown:
        known = ", ".join(names())
        print(
            f"bench: expected one of {known}; got {unknown[0]!r}; try make bench", file=sys.stderr
        )
        return 2
    console = Console()
    try:
        for name in arguments or names():
            measure(name, console)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
