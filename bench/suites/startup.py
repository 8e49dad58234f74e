"""What a first and a later ``whence run --runner local`` cost, as a whole command.

The small log has 100 events: no loop is compiled for it. The other has 50,000: for the first run
all loops that its chain needs are compiled, later ones find them on disk. Seconds of the processor
say the same on a machine where others work too; seconds on the clock are what a person waits. What
is compared with the baseline are ratios to a Python that only imports what no run can do without.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

from bench import Bench

SIZES = {"small": 100, "large": 50_000}
CHAIN = """
id: per-case
slice:
  by: case
  of:
    id: order
    moore:
      initial: s0
      states: {s0: true, s1: true, s2: true, s3: false}
      transitions:
        - [s0, "activity = 'a'", s1]
        - [s1, "activity = 'b'", s2]
        - [s2, "activity = 'c'", s1]
      otherwise: {s0: s3, s1: s3, s2: s3, s3: s3}
  combine: and
"""


@dataclass(frozen=True)
class Prepared:
    """A folder with a chain and logs."""

    folder: Path

    def run(self, size: str, *, first: bool) -> None:
        """The command; first: nothing was compiled before."""
        kept = self.folder / f"compiled-{size}"
        if first:
            rmtree(kept, ignore_errors=True)
        log = str(self.folder / f"{size}.csv")
        chain = str(self.folder / "chain.yaml")
        command = ["run", chain, "--log", log, "--runner", "local", "--track", "--no-load"]
        self.python("-m", "whence", *command, kept=kept)

    def python(self, *arguments: str, kept: Path | None = None) -> None:
        """Any Python command."""
        subprocess.run(
            [sys.executable, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={
                # Where it is set, every start would compile the whole package.
                **{n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"},
                "NUMBA_CACHE_DIR": str(kept or self.folder / "compiled"),
                "WHENCE_HOME": str(self.folder / "home"),
            },
        )


@contextmanager
def prepare() -> Iterator[Prepared]:
    """Write the chain and the logs, and run each once."""
    with TemporaryDirectory() as folder:
        made = Prepared(Path(folder))
        (made.folder / "chain.yaml").write_text(CHAIN, encoding="utf-8")
        for size, count in SIZES.items():
            rows = (f"case-{n % 97},{'abc'[n % 3]}\n" for n in range(count))
            text = "case,activity\n" + "".join(rows)
            (made.folder / f"{size}.csv").write_text(text, encoding="utf-8")
            made.run(size, first=True)
        yield made


bench = Bench("whence run --runner local, as a whole command", prepare=prepare, warm_up=0)


def _processor_seconds(work: Callable[[], None]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@bench.variant("bare_processor", "s")
def bare(prepared: Prepared) -> float:
    """A Python that only imports what no run can do without."""
    return _processor_seconds(lambda: prepared.python("-c", "import numpy, pyarrow"))


def _declare(size: str, *, first: bool) -> None:
    name = f"{size}.{'first' if first else 'later'}"

    @bench.variant(name, "s")
    def on_the_clock(prepared: Prepared) -> None:
        prepared.run(size, first=first)

    @bench.variant(f"{name}_processor", "s")
    def of_the_processor(prepared: Prepared) -> float:
        return _processor_seconds(lambda: prepared.run(size, first=first))

    bench.ratio(f"{name}_vs_bare", f"{name}_processor", "bare_processor")


for _size in SIZES:
    _declare(_size, first=False)
    _declare(_size, first=True)
