"""From the declaration to cells: which runs there are, in which order, and how long they may take.

A cell is one run in one process. Repetitions are whole rounds, every other one backwards, so that a
machine that grows slower or faster favours nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import yaml

__all__ = ["DECLARED", "Cell", "Experiment", "PlanError", "cells", "declared", "foretold"]

DECLARED = Path(__file__).parent / "declared.yaml"
_KEYS = {"question", "measure", "repetitions", "vary", "quick", "foretold"}
_MILLION = 1e6


class PlanError(Exception):
    """A declaration or a request that does not hold; one line."""


@dataclass(frozen=True)
class Experiment:
    """One question, and what varies to answer it.

    Attributes:
        name: what it is called.
        question: what it answers.
        measure: the program in ``experiments/measures`` that measures a cell.
        repetitions: how often every cell is measured.
        vary: what varies, each with its values.
        foretold: seconds that a cell should take: ``each`` of them, and ``million`` for a million
            of its length.
    """

    name: str
    question: str
    measure: str
    repetitions: int
    vary: Mapping[str, list[Any]]
    foretold: Mapping[str, float] = field(default_factory=lambda: {"each": 3.0})


@dataclass(frozen=True)
class Cell:
    """One run: which experiment, with which parameters, the how manieth time.

    >>> Cell("throughput", "local", {"query": "ltl", "length": 1000}, 2, 7).key
    'throughput length=1000 query="ltl" #2'
    """

    experiment: str
    measure: str
    parameters: Mapping[str, Any]
    repetition: int
    seed: int
    foretold: float = 3.0

    @property
    def key(self) -> str:
        """What distinguishes it from all others."""
        told = " ".join(f"{k}={json.dumps(v)}" for k, v in sorted(self.parameters.items()))
        return f"{self.experiment} {told} #{self.repetition}"


def declared(path: Path = DECLARED, *, quick: bool = False) -> tuple[int, list[Experiment]]:
    """Read the declaration: the seed, and the experiments."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content["seed"], [
        _experiment(name, told, quick) for name, told in content["experiments"].items()
    ]


def _experiment(name: str, told: dict[str, Any], quick: bool) -> Experiment:
    if unknown := sorted(set(told) - _KEYS):
        keys = ", ".join(sorted(_KEYS))
        msg = f"experiment {name}: expected {keys}; got {unknown[0]!r}; try one of these"
        raise PlanError(msg)
    vary = dict(told["vary"])
    repetitions, seconds = told["repetitions"], told.get("foretold") or {"each": 3.0}
    for key, value in (told.get("quick") or {}).items() if quick else ():
        if key == "repetitions":
            repetitions = value
        elif key == "foretold":
            seconds = value
        elif key in vary:
            vary[key] = value
        else:
            msg = f"experiment {name}: expected quick to name what varies; got {key!r}; try " + (
                ", ".join(vary)
            )
            raise PlanError(msg)
    return Experiment(name, told["question"], told["measure"], repetitions, vary, seconds)


def cells(
    experiments: list[Experiment], seed: int, only: frozenset[str] = frozenset()
) -> Iterator[Cell]:
    """All cells in the order in which they run.

    Args:
        experiments: what was declared.
        seed: of every generated log.
        only: the names of the experiments that are wanted; all if empty.
    """
    known = [experiment.name for experiment in experiments]
    if unknown := sorted(only - set(known)):
        msg = f"experiments: expected one of {', '.join(known)}; got {unknown[0]!r}; try --list"
        raise PlanError(msg)
    for experiment in experiments:
        if only and experiment.name not in only:
            continue
        names = list(experiment.vary)
        combined = [dict(zip(names, v, strict=True)) for v in product(*experiment.vary.values())]
        for repetition in range(experiment.repetitions):
            for given in combined if repetition % 2 == 0 else combined[::-1]:
                seconds = _seconds(experiment.foretold, given)
                yield Cell(experiment.name, experiment.measure, given, repetition, seed, seconds)


def _seconds(told: Mapping[str, float], given: Mapping[str, Any]) -> float:
    length = float(given.get("length", 0))
    return told["each"] + told.get("million", 0.0) * length / _MILLION


def foretold(todo: Iterable[Cell]) -> float:
    """Seconds that these cells should take, one after the other."""
    return sum(cell.foretold for cell in todo)
