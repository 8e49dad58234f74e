"""A run by kernels in memory: its outputs, and what each leads to in the logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from whence.engine.kernels.columns.column import Column, guessed, records
from whence.engine.kernels.kernel import Run
from whence.engine.kernels.trails.entries import ASKED, Entries
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.terms import Inputs
from whence.engine.values import Value

__all__ = ["Followed", "KernelResult", "columns_of", "run_in_memory"]

_Asked = frozenset[str] | None
_Step = tuple[int, int, int, int]
"""Target, fields, first and last position."""


class Followed:
    """Where the kept events of a run lead, followed to the logs."""

    def __init__(self, run: Run, plain: set[str]) -> None:
        """Follow what the run has kept so far.

        Args:
            run: what the kernels share.
            plain: the logs whose events are plain values, without fields.
        """
        self.run = run
        self.plain = plain
        self._below: dict[tuple[int, int, bool], list[_Step]] = {}
        for kept in run.kept.values():
            for part in kept.parts:
                for support, trail in ((False, part.why), (True, part.sup)):
                    self._note(kept.target, part.positions.tolist(), support, trail.entries)
        self._heads = {
            heads.target: (
                heads.head_target,
                [change for arrays in heads.changes for change in zip(*arrays, strict=True)],
            )
            for heads in run.heads.values()
        }

    def _note(self, target: int, places: list[int], support: bool, entries: object) -> None:
        found = entries(np.arange(len(places)))  # type: ignore[operator]
        for row, *step in zip(*(array.tolist() for array in found), strict=True):
            self._below.setdefault((target, places[row], support), []).append(tuple(step))

    def up(self, target: int, position: int, *, support: bool = False) -> Inputs:
        """The input events that a kept event leads to, each with the fields that matter."""
        return self._follow([(target, position, None)], support=support)

    def leans(self, entries: Entries) -> Inputs:
        """The input events that some entries lead to as support."""
        start = [
            (target, position, None if code == ASKED else self.run.names.fields[code])
            for _, target, code, lo, hi in zip(*(a.tolist() for a in entries), strict=True)
            for position in range(lo, hi + 1)
        ]
        return self._follow(start, support=True)

    def _follow(self, stack: list[tuple[int, int, _Asked]], *, support: bool) -> Inputs:
        names = self.run.names
        found: Inputs = {}
        seen: set[tuple[int, int, _Asked]] = set()
        while stack:
            step = stack.pop()
            if step in seen:
                continue
            seen.add(step)
            target, position, asked = step
            name = names.targets[target]
            if name.startswith(LOG_PREFIX):
                place = (name.removeprefix(LOG_PREFIX), position)
                fields = None if asked and place[0] in self.plain else asked
                known = found.get(place, frozenset())
                found[place] = None if known is None or fields is None else known | fields
                continue
            for to, code, lo, hi in self._steps(target, position, support):
                fields = asked if code == ASKED else names.fields[code]
                stack.extend((to, p, fields) for p in range(lo, hi + 1))
        return found

    def _steps(self, target: int, position: int, support: bool) -> Iterable[_Step]:
        if target not in self._heads:
            return self._below.get((target, position, support), ())
        head_target, changes = self._heads[target]
        newest = {int(slot): int(head) for at, slot, head in changes if at <= position}
        return [(head_target, 0, head, head) for head in newest.values()]


@dataclass(frozen=True)
class Told:
    """Why one output has its value.

    Attributes:
        inputs: the input events that explain it.
        support: input events that are enough.
    """

    inputs: Inputs
    support: Inputs


class KernelResult:
    """What a run by kernels gave.

    Attributes:
        work: the run itself.
    """

    def __init__(self, work: KernelWork, plain: set[str]) -> None:
        """Follow everything."""
        self.work = work
        self._followed = Followed(work.run, plain)

    def values_of(self, name: str) -> list[Value]:
        """The values of an output pipe."""
        parts = self.work.run.kept[name].parts
        return [v for part in parts if part.values is not None for v in part.values.to_list()]

    @property
    def values(self) -> list[Value]:
        """The values of the only output pipe."""
        (name,) = self.work.chain.outputs
        return self.values_of(name)

    def explain(self, position: int, name: str | None = None) -> Told:
        """Why has this output its value?"""
        kept = self.work.run.kept[name or self.work.chain.outputs[0]]
        return Told(
            self._followed.up(kept.target, position),
            self._followed.up(kept.target, position, support=True),
        )

    def open_inputs(self) -> Inputs:
        """Inputs that could make further outputs appear on any pipe."""
        found: Inputs = {}
        for number in range(len(self.work.chain.outputs)):
            found.update(self._followed.leans(self.work.end(number)))
        return found


def columns_of(events: list[Value], run: Run) -> Column:
    """Events as columns: records by field, plain values by kind."""
    if events and all(isinstance(event, Mapping) for event in events):
        names = list(dict.fromkeys(str(n) for e in events if isinstance(e, Mapping) for n in e))
        fields = {
            n: guessed([e.get(n) for e in events if isinstance(e, Mapping)], run.texts)
            for n in names
        }
        return records(fields, len(events), run.texts)
    return guessed(events, run.texts)


def run_in_memory(
    chain: Chain, logs: Mapping[str, list[Value]], *, closed: bool = False, batch: int = 65_536
) -> KernelResult:
    """Run a chain over logs in memory, batch by batch.

    Args:
        chain: what to run.
        logs: events by log name.
        closed: close the logs after the last event.
        batch: events a batch.
    """
    work = KernelWork(chain, closed=closed)
    whole = {name: columns_of(events, work.run) for name, events in logs.items()}
    longest = max((len(column) for column in whole.values()), default=0)
    for start in range(0, longest, batch):
        work.feed(
            {
                name: column.slice(min(start, len(column)), min(start + batch, len(column)))
                for name, column in whole.items()
            }
        )
    work.close()
    return KernelResult(work, {name for name, c in whole.items() if c.kind != "record"})
