"""How long a pack of evidence takes, and how large it is, out of a run of 10^6 events.

Two runs over one log of payments: sums over windows of a hundred events, so that a hundred events
explain each output, and a life cycle for each of 10^5 cases, all of which have to go well. The
first pack about a run works out what stands for its events in the Merkle trees; later ones read
it. The trees' files are removed before a first pack is measured.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench import Bench
from bench.harness import quick
from whence.engine import ApplyFunction, Chain, Cumulate, Slice, Window
from whence.engine.language.chain import Log
from whence.engine.language.processor import Processor
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import chunk_for
from whence.exporters.evidence import KeyPair, Wanted, create_keys, create_pack, verify_pack
from whence.store import Connection, connect
from whence.store.loading import load
from whence.store.server import Memory, remove, start, stop

SCALE = 100 if quick() else 1
EVENTS = 1_000_000 // SCALE
CASES = 100_000 // SCALE
WIDE = 100
SERVER = "bench-evidence"
ACTIONS = ("create", "approve", "pay")


@dataclass
class Runs:
    """Runs in a graph, keys, and a folder for packs."""

    connection: Connection
    runs: dict[str, RunRecord]
    keys: KeyPair
    folder: Path
    random: Random

    def pack(self, name: str, *, first: bool) -> Path:
        """A pack about an output of a run; the first one of this run, or a later one."""
        run = self.runs[name]
        if first:
            run.log("log").folder.joinpath("leaves.bin").unlink(missing_ok=True)
            shutil.rmtree(run.folder / "leaves", ignore_errors=True)
        late = self.random.randrange(EVENTS // 2, EVENTS - 2 * WIDE)
        # Early on few cases are known, each of which explains that all go well.
        at = late if name == "window" else self.random.randrange(WIDE // 2, WIDE)
        wanted = Wanted(run.id, str(at))
        path = self.folder / f"{name}.zip"
        return create_pack(self.connection, run.root, wanted, path, self.keys)


def _lifecycle() -> Processor:
    """Create, approve, pay, and again; anything else is wrong."""
    states = ("begin", "new", "approved", "done")
    return MooreMachine(
        "order",
        initial="begin",
        states={**dict.fromkeys(states, True), "wrong": False},
        transitions=[
            ("begin", "action = 'create'", "new"),
            ("new", "action = 'approve'", "approved"),
            ("approved", "action = 'pay'", "done"),
            ("done", "action = 'create'", "new"),
        ],
        otherwise=dict.fromkeys((*states, "wrong"), "wrong"),
    )


def _log(root: Path) -> LogRecord:
    random = Random(12)
    steps = [0] * CASES

    def events() -> Iterator[dict[str, object]]:
        for _ in range(EVENTS):
            case = random.randrange(CASES)
            action = ACTIONS[steps[case] % 3]
            steps[case] += 1
            yield {"case": f"c{case}", "action": action, "amount": random.randrange(1000)}

    kinds = {"case": "text", "action": "text", "amount": "integer"}
    declared = Log(kinds, case="case", activity="action")
    return ingest(root, "log", events(), declared=declared)


@contextmanager
def runs() -> Iterator[Runs]:
    """A server of this benchmark alone, with both runs."""
    status = start(SERVER, port=None, memory=Memory.of(2048))
    try:
        with tempfile.TemporaryDirectory() as place, connect(status.settings()) as connection:
            root = Path(place, "record")
            log = _log(root)
            sums = Chain.of(ApplyFunction("amount", "amount")) | Cumulate("sum", "add")
            chains: dict[str, Processor] = {
                "window": Window("hundred", n=WIDE, of=sums),
                "cases": Slice("per-case", by="case", of=_lifecycle(), combine="and"),
            }
            found = {}
            for name, chain in chains.items():
                options = RunOptions(chunk=chunk_for(loaded=True))
                found[name] = run_kernels(root, Chain.of(chain), {"log": log}, options)
                load(root, found[name].id, connection)
            keys = create_keys("bench", Path(place, "keys"))
            yield Runs(connection, found, keys, Path(place), Random(5))
    finally:
        stop(SERVER)
        remove(SERVER)


bench = Bench("evidence: a pack out of 10^6 events", prepare=runs)


def _seconds(name: str, *, first: bool) -> Callable[[Runs], float]:
    def measure(given: Runs) -> float:
        began = time.perf_counter()
        given.pack(name, first=first)
        return time.perf_counter() - began

    return measure


for run_name in ("window", "cases"):
    bench.variant(f"{run_name}.first_s", "s")(_seconds(run_name, first=True))
    bench.variant(f"{run_name}.later_s", "s")(_seconds(run_name, first=False))


@bench.variant("window.mb", "MB")
def size(given: Runs) -> float:
    """How large a pack of a hundred events is."""
    return given.pack("window", first=False).stat().st_size / 1e6


@bench.variant("window.verify_s", "s")
def verify(given: Runs) -> float:
    """How long it takes to verify one, PROV included."""
    path = given.folder / "window.zip"
    began = time.perf_counter()
    assert verify_pack(path).holds
    return time.perf_counter() - began
