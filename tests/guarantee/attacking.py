"""Corrupt inputs, run again, compare with what the record promised, and measure what that is worth.

Three numbers come out for each chain. *Broken*: outputs that were called unaffected and changed;
the guarantee is that there are none. *Worth*: of the outputs that did not change under any of
several other values, the share that was called unaffected. *Precision*: of those that were called
possibly affected, the share that did change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

from tests.engine.corruptor import Cell, Changed, Corruptor, equal
from tests.engine.kernels.comparing import columns_of
from tests.engine.random_chains import Case, Logs
from tests.guarantee.promises import Place, RecordPromise
from whence.engine.errors import WhenceError
from whence.engine.interpreter import interpret
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels

__all__ = ["Attacked", "Promise", "Score", "random_choices", "values_again"]

LARGE = 200
"""From so many events on kernels are faster than the interpreter."""


class Promise(Protocol):
    """Who says which outputs stand: the record, or a server."""

    def unaffected(self, corrupt: set[Place]) -> set[Place]:
        """The outputs that stand, whatever these inputs should have been."""
        ...

    def may_appear(self, corrupt: set[Place]) -> set[str]:
        """The pipes on which outputs could appear."""
        ...


@dataclass
class Score:
    """How one chain did.

    Attributes:
        name: the chain's.
        corruptions: how often inputs were changed and the chain ran again.
        outputs: how many outputs there are, over all corruptions.
        promised: how many outputs were called unaffected, over all corruptions.
        truly: how many did not change under any values that were tried for the same inputs.
        recognised: how many of these had been called unaffected.
        broken: what was promised and did not hold.
    """

    name: str
    corruptions: int = 0
    outputs: int = 0
    promised: int = 0
    truly: int = 0
    recognised: int = 0
    broken: tuple[str, ...] = ()

    @property
    def worth(self) -> float:
        """The share of truly unaffected outputs that were called so."""
        return self.recognised / self.truly if self.truly else 1.0

    @property
    def precision(self) -> float:
        """The share of possibly affected outputs that changed under one of the values tried."""
        possibly = self.outputs - self.promised
        return (self.outputs - self.truly) / possibly if possibly else 1.0

    def __str__(self) -> str:
        """One line to print."""
        told = f"; BROKEN: {self.broken[0]}" if self.broken else ""
        return (
            f"{self.name}: {self.corruptions} corruptions, {self.promised} outputs promised; "
            f"{self.worth:.2%} of {self.truly} truly unaffected outputs called so; "
            f"{self.precision:.2%} of those possibly affected changed{told}"
        )


def values_again(chain: Chain, logs: Logs, closed: bool) -> dict[str, list[object]]:
    """Run untracked; the output values by pipe."""
    if max(map(len, logs.values())) < LARGE:
        found: dict[str, list[object]] = {name: [] for name in chain.outputs}
        for output in interpret(chain, logs, closed=closed).outputs:
            found[output.name].append(output.value)
        return found
    work = KernelWork(chain, tracked=False, closed=closed)
    work.feed({name: columns_of(events, work.run) for name, events in logs.items()})
    work.close()
    return {name: _told(work, name) for name in chain.outputs}


def _told(work: KernelWork, name: str) -> list[object]:
    found: list[object] = []
    for part in work.run.kept[name].parts:
        assert part.values is not None
        found += part.values.to_list()
    return found


class Attacked:
    """A case that was run into a record, and its promises put to the test.

    Args:
        root: the record's place.
        case: chain and logs.
        random: where corruptions are drawn from.

    Raises:
        WhenceError: the chain refuses its log.
    """

    def __init__(self, root: Path, case: Case, random: Random) -> None:
        """Run once, tracked, by the kernels."""
        self.case = case
        self.chain = case.chain()
        self.random = random
        kept = {name: ingest(root, name, case.logs[name]) for name in self.chain.inputs}
        options = RunOptions(closed=case.closed, chunk=100)
        self.record: RunRecord = run_kernels(root, self.chain, kept, options)
        self.before = values_again(self.chain, case.logs, case.closed)
        lengths = {name: len(events) for name, events in case.logs.items()}
        self.recorded = RecordPromise(
            self.record, lengths, {name: len(values) for name, values in self.before.items()}
        )
        self.promise: Promise = self.recorded
        self.corruptor = Corruptor(case, random)

    def attack(self, name: str, choices: Iterable[Sequence[Cell]], ways: int) -> Score:
        """Change each choice of cells in some ways.

        Args:
            name: what the score is called.
            choices: the cells to change.
            ways: how many other values are tried for each choice.
        """
        score = Score(name)
        for cells in choices:
            corrupt = {(log, at) for log, at, _ in cells}
            promised = self.promise.unaffected(corrupt)
            may_appear = self.promise.may_appear(corrupt)
            stood = {(pipe, at) for pipe in self.before for at in range(len(self.before[pipe]))}
            ran, outputs = 0, len(stood)
            for _ in range(ways):
                logs, changed = self.corruptor.corrupt(cells)
                if not changed:
                    continue
                try:
                    after = values_again(self.chain, logs, self.case.closed)
                except WhenceError:
                    continue  # a change that makes the chain fail is outside the guarantee
                ran += 1
                moved = self._moved(after)
                stood -= moved
                score.broken += tuple(self._broken(promised & moved, after, may_appear, changed))
            if ran:
                score.corruptions += ran
                score.outputs += outputs
                score.promised += len(promised)
                score.truly += len(stood)
                score.recognised += len(promised & stood)
        return score

    def _moved(self, after: dict[str, list[object]]) -> set[Place]:
        return {
            (pipe, at)
            for pipe, values in self.before.items()
            for at, value in enumerate(values)
            if at >= len(after[pipe]) or not equal(value, after[pipe][at])
        }

    def _broken(
        self,
        wrong: set[Place],
        after: dict[str, list[object]],
        may_appear: set[str],
        changed: Changed,
    ) -> Iterator[str]:
        told = f"after {dict(list(changed.items())[:5])} (seed {self.case.seed})"
        for pipe, at in sorted(wrong):
            now: Any = after[pipe][at] if at < len(after[pipe]) else "(vanished)"
            yield f"{pipe}@{at} was {self.before[pipe][at]!r} and is {now!r} {told}"
        for pipe, values in after.items():
            if len(values) > len(self.before[pipe]) and pipe not in may_appear:
                yield f"{pipe}@{len(self.before[pipe])} appeared {told}"


def random_choices(attacked: Attacked, many: int) -> Iterator[Sequence[Cell]]:
    """What to change: all outside one output's support, some of that, one event, a few."""
    random, cells = attacked.random, attacked.corruptor.cells
    promise = attacked.recorded
    supports = list(promise.outputs.values()) or [0]
    for _ in range(many if cells else 0):
        how = random.randrange(4)
        if how < 2:
            support = random.choice(supports)
            outside = [c for c in cells if not promise.bits([c[:2]]) & support]
            share = 1.0 if how == 0 else random.random()
            chosen = [c for c in outside if random.random() < share]
        else:
            chosen = random.sample(cells, min(len(cells), 1 if how == 2 else random.randint(2, 4)))
        yield chosen or [random.choice(cells)]
