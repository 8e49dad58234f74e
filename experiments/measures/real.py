"""A rule over each case of a real log, on the local runner; left out where the log is absent."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from experiments.measures._cell import answer, leave_out, made_once, probed, size_of
from experiments.measures.local import options_of
from whence.engine import Chain, Slice, field
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.record.logs import LogRecord, ingest
from whence.engine.runners import CHUNK, RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.sources import open_source

LOGS = Path(__file__).parents[3] / "shared" / "logs"
RULES = Path(__file__).parent.parent / "real.yaml"


def rule(told: dict[str, Any]) -> Chain:
    """In every case, ``then`` comes only after ``first``."""
    activity = field[told["activity"]]
    machine = MooreMachine(
        "order",
        initial="before",
        states={"before": True, "after": True, "wrong": False},
        transitions=[
            ("before", activity == told["first"], "after"),
            ("before", activity == told["then"], "wrong"),
        ],
        otherwise={"before": "before", "after": "after", "wrong": "wrong"},
    )
    return Chain.of(Slice("per-case", by=field[told["case"]], of=machine, combine="and"))


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run twice, the first time so that what is compiled is compiled."""
    name = parameters["log"]
    if not (LOGS / name).exists():
        leave_out(f"needs the real log {name} in ../shared/logs, beside the project")
    told = yaml.safe_load(RULES.read_text(encoding="utf-8"))[name]
    options = options_of(parameters["tracking"])

    def make(root: Path) -> None:
        source = open_source(LOGS / name, **told.get("reading", {}))
        ingest(root, "log", source, chunk=CHUNK)

    log = made_once(folder / name, make)
    with TemporaryDirectory() as place:
        root = Path(place)
        _run(root / "warm", told, log, options)
        with probed() as spent:
            run = _run(root / "run", told, log, options)
        (took,) = spent
        return {
            "length": log.length,
            **took.told(),
            "association_bytes": size_of(run, "associations"),
        }


def _run(root: Path, told: dict[str, Any], log: LogRecord, options: RunOptions) -> Path:
    return run_kernels(root, rule(told), {"log": log}, options).folder


if __name__ == "__main__":
    answer(measure)
