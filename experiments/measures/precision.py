"""Of the outputs that a corruption possibly affects, how many change? By the tests' own attacks.

Inputs are changed in some ways and the chain runs again (`tests/guarantee`). An output that stood
might still change under a value that was not tried: what is measured is the least that the answer
*possibly affected* is worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from experiments.measures._cell import CHAINS, answer, chain_of, leave_out
from tests.engine.random_chains import Case, random_case
from tests.engine.sources._support.real_logs import LOGS
from tests.guarantee.attacking import Attacked, Score, random_choices
from tests.guarantee.real_cases import real_cases
from whence.engine.errors import WhenceError

SEED = 1_000_000
"""Seeds of random chains begin at this times the seed of all."""
WAYS = 12


def measure(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Attack what is named: random chains, a query on its own log, or ``LOG, CHAIN``."""
    of, events, seed = (parameters[name] for name in ("of", "events", "seed"))
    if of == "random chains":
        scores = list(islice(_random(seed), events))
    elif of in CHAINS:
        scores = [attack(_generated(of, events, seed), f"{of} {seed}")]
    else:
        scores = [_real(of, events, seed)]
    broken = [told for score in scores for told in score.broken]
    assert not broken, broken[0]
    names = ("corruptions", "outputs", "promised", "truly", "recognised")
    return {name: sum(getattr(score, name) for score in scores) for name in names}


def _random(first: int) -> Iterator[Score]:
    for seed in count(SEED * first):
        try:
            yield attack(random_case(seed), f"chain {seed}")
        except WhenceError:
            continue  # it refuses the log that was drawn for it


def _generated(query: str, events: int, seed: int) -> Case:
    table = pa.table(CHAINS[query][1](events, seed))
    return Case(0, chain_of(query).tree(), {"log": table.to_pylist()}, False, {"case"})


def attack(case: Case, name: str) -> Score:
    """Change inputs of one case: of a random chain in several ways at once, else one by one."""
    with TemporaryDirectory() as place:
        attacked = Attacked(Path(place), case, Random(name))
        if case.seed:
            # A log of a random chain may be empty: then there is nothing to change.
            return attacked.attack(name, random_choices(attacked, 6), WAYS)
        singles = [[attacked.random.choice(attacked.corruptor.cells)] for _ in range(25)]
        return attacked.attack(name, singles, WAYS)


def _real(of: str, events: int, seed: int) -> Score:
    log = of.partition(",")[0]
    if not (LOGS / log).exists():
        leave_out(f"needs the real log {log} in ../shared/logs, beside the project")
    (real,) = (each for each in real_cases(log, events, 25) if each.name == of)
    with TemporaryDirectory() as place:
        attacked = Attacked(Path(place), real.case, Random(f"{of} {seed}"))
        return attacked.attack(real.name, real.choices, WAYS)


if __name__ == "__main__":
    answer(measure)
