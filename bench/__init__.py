"""Measure honestly: alternating runs in one go, medians with their spread.

A benchmark is a file in ``bench/suites/``; its name is the name of the benchmark::

    bench = Bench("What a start costs")

    @bench.variant("python")
    def bare(_: None) -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)

    @bench.variant("engine")
    def engine(_: None) -> None:
        subprocess.run([sys.executable, "-c", "import whence.engine"], check=True)

    bench.ratio("engine.vs_python", "engine", "python")

A variant that returns nothing is timed; one that returns a number has measured itself, in the unit
that it names. ``make bench NAME=...`` runs it, writes ``bench/results/NAME.json`` and prints the
same as a table.
"""

from bench.harness import Bench, BenchError, Result, quick

__all__ = ["Bench", "BenchError", "Result", "quick"]
