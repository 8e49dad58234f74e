"""Run a case with the kernels and with the interpreter, and say where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from tests.engine.random_chains import Case
from whence.engine.errors import WhenceError
from whence.engine.interpreter import interpret
from whence.engine.kernels.columns.column import Column, from_values, guessed, records
from whence.engine.kernels.kernel import Run
from whence.engine.kernels.state import UnsavedError
from whence.engine.kernels.trails.entries import ASKED, Entries
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.values.columns import canonical

Inputs = dict[tuple[str, Any], frozenset[str] | None]
Told = list[tuple[str, Inputs, Inputs]]
"""Of every output its value, what explains it, and what supports it."""


def columns_of(events: list[Any], run: Run) -> Column:
    """The events of a log as the record types them: records by field, plain values by kind."""
    if events and all(isinstance(event, dict) for event in events):
        names = list(dict.fromkeys(name for event in events for name in event))
        fields = {n: guessed([event.get(n) for event in events], run.texts) for n in names}
        return records(fields, len(events), run.texts)
    return guessed(events, run.texts)


def cuts(events: dict[str, list[Any]], random: Random) -> Iterator[dict[str, tuple[int, int]]]:
    """Cut logs of one length each into random batches, empty and single ones among them."""
    longest = max((len(log) for log in events.values()), default=0)
    at = 0
    while at < longest:
        size = random.choice((0, 1, 1, 2, 3, longest))
        stop = min(at + size, longest)
        yield {name: (min(at, len(log)), min(stop, len(log))) for name, log in events.items()}
        at = stop


def singles(events: dict[str, list[Any]]) -> Iterator[dict[str, tuple[int, int]]]:
    """One event at a time, of one log after the other, as the interpreter takes them."""
    longest = max((len(log) for log in events.values()), default=0)
    done = dict.fromkeys(events, 0)
    for at in range(longest):
        for name, log in events.items():
            if at < len(log):
                yield {n: (done[n], at + 1 if n == name else done[n]) for n in events}
                done[name] = at + 1


class Reached:
    """What the kept streams lead to, followed to the logs."""

    def __init__(self, run: Run, plain: set[str]) -> None:
        self.run = run
        self.plain = plain
        self.below: dict[tuple[int, int, bool], list[tuple[int, int, int, int]]] = {}
        self.heads: dict[int, tuple[int, list[tuple[int, int, int]]]] = {}
        for kept in run.kept.values():
            for part in kept.parts:
                places = part.positions.tolist()
                for support, trail in ((False, part.why), (True, part.sup)):
                    for entry in zip(*_listed(trail.entries(np.arange(len(places)))), strict=True):
                        key = (kept.target, places[entry[0]], support)
                        self.below.setdefault(key, []).append(entry[1:])

        for heads in run.heads.values():
            changes = [
                change
                for arrays in heads.changes
                for change in zip(*(array.tolist() for array in arrays), strict=True)
            ]
            self.heads[heads.target] = (heads.head_target, changes)

    def below_heads(self, target: int, position: int) -> list[tuple[int, int, int, int]]:
        """The head that each slice has at a position."""
        head_target, changes = self.heads[target]
        newest = {slot: head for at, slot, head in changes if at <= position}
        return [(head_target, 0, head, head) for head in newest.values()]

    def up(self, target: int, position: int, *, support: bool) -> Inputs:
        return self.follow([(target, position, position, None)], support=support)

    def follow(self, start: list[Any], *, support: bool) -> Inputs:
        names = self.run.names
        found: Inputs = {}
        seen: set[Any] = set()
        stack = [(t, p, fields) for t, lo, hi, fields in start for p in range(lo, hi + 1)]
        while stack:
            target, position, asked = stack.pop()
            if (target, position, asked) in seen:
                continue
            seen.add((target, position, asked))
            name = names.targets[target]
            if name.startswith(LOG_PREFIX):
                log = name.removeprefix(LOG_PREFIX)
                fields = None if asked and log in self.plain else asked
                known = found.get((log, position), frozenset())
                found[log, position] = None if known is None or fields is None else known | fields
                continue
            if target in self.heads:
                below = self.below_heads(target, position)
            else:
                below = self.below.get((target, position, support), [])
            for to, code, lo, hi in below:
                fields = asked if code == ASKED else names.fields[code]
                stack.extend((to, p, fields) for p in range(lo, hi + 1))
        return found

    def entries(self, entries: Entries) -> Inputs:
        start = [
            (target, lo, hi, None if code == ASKED else self.run.names.fields[code])
            for _, target, code, lo, hi in zip(*_listed(entries), strict=True)
        ]
        return self.follow(start, support=True)


def _listed(entries: Entries) -> list[list[int]]:
    return [array.tolist() for array in entries]


def by_interpreter(
    chain: Chain, logs: dict[str, list[Any]], closed: bool
) -> tuple[dict[str, Told], list[Inputs]]:
    """What the interpreter says of every output, and what the ends lean on."""
    result = interpret(chain, logs, tracker=MemoryTracker(), closed=closed)
    told: dict[str, Told] = {name: [] for name in chain.outputs}
    for output in result.outputs:
        why = result.explain(output.position, output.name)
        told[output.name].append((canonical(output.value), why.inputs, why.support))
    ends = [result.interpreter.open_inputs(name) for name in chain.outputs]
    return told, ends


def by_kernels(
    chain: Chain,
    logs: dict[str, list[Any]],
    closed: bool,
    random: Random,
    *,
    steps: bool = False,
    moved: bool = False,
    single: bool = False,
) -> tuple[dict[str, Told], list[Inputs]]:
    """The same by the kernels, with random batches; moved: each batch goes on somewhere else."""
    work = KernelWork(chain, closed=closed, steps=steps)
    whole = {name: columns_of(events, work.run) for name, events in logs.items()}
    for cut in singles(logs) if single else cuts(logs, random):
        if moved:
            work = elsewhere(work, steps=steps)
            whole = {name: columns_of(events, work.run) for name, events in logs.items()}
        work.feed({name: whole[name].slice(*cut[name]) for name in logs})
    work.close()
    plain = {name for name, column in whole.items() if column.kind != "record"}
    reached = Reached(work.run, plain)
    told: dict[str, Told] = {}
    for name in chain.outputs:
        kept = work.run.kept[name]
        told[name] = []
        for part in kept.parts:
            assert part.values is not None
            for position, value in zip(part.positions.tolist(), part.values.to_list(), strict=True):
                why = reached.up(kept.target, position, support=False)
                sup = reached.up(kept.target, position, support=True)
                told[name].append((canonical(value), why, sup))
    return told, [reached.entries(work.end(n)) for n in range(len(chain.outputs))]


def elsewhere(work: KernelWork, *, steps: bool) -> KernelWork:
    """A fresh work that goes on from the state of another; what is kept already goes with it.

    Raises:
        UnsavedError: some processor runs as the interpreter does.
    """
    for kept in work.run.kept.values():
        # As a runner does that writes them: before the state is taken.
        kept.parts = [
            part._replace(why=part.why.settle(), sup=part.sup.settle()) for part in kept.parts
        ]
    sink = pa.BufferOutputStream()
    row = work.save()
    with pa.ipc.new_file(sink, row.schema) as writer:
        writer.write_batch(row)
    other = KernelWork(work.chain, closed=work.run.closed, steps=steps)
    other.load(pa.ipc.open_file(sink.getvalue()).get_batch(0))
    for name, kept in work.run.kept.items():
        other.run.kept[name].parts = kept.parts
    for name, heads in work.run.heads.items():
        other.run.heads[name].changes = heads.changes
    return other


def difference(case: Case, *, steps: bool = False, moved: bool = False) -> str | None:
    """Where kernels and interpreter differ on a case, faults included; ``None`` if nowhere.

    Raises:
        UnsavedError: with moved, if some processor runs as the interpreter does.
    """
    random = Random(case.seed)
    chain = case.chain()
    logs = case.logs
    expected: Any
    try:
        expected = by_interpreter(chain, logs, case.closed)
    except WhenceError as fault:
        expected = str(fault)
    try:
        got: Any = by_kernels(chain, logs, case.closed, random, steps=steps, moved=moved)
    except UnsavedError:
        raise
    except WhenceError as fault:
        got = str(fault)
    if isinstance(expected, str) and isinstance(got, str) and expected != got:
        # Several faults in one batch: the first processor's is told, not the first event's.
        try:
            by_kernels(chain, logs, case.closed, random, steps=steps, single=True)
        except WhenceError as fault:
            got = str(fault)
    if isinstance(expected, str) or isinstance(got, str):
        return None if expected == got else f"expected {expected}; got {got}"
    for name, told in expected[0].items():
        other = got[0][name]
        if len(told) != len(other):
            return f"{name}: {len(told)} outputs expected, {len(other)} came"
        for position, (left, right) in enumerate(zip(told, other, strict=True)):
            for what, a, b in zip(("value", "why", "support"), left, right, strict=True):
                if a != b:
                    return f"{name}@{position} {what}: expected {a}; got {b}"
    for name, a, b in zip(chain.outputs, expected[1], got[1], strict=True):
        if a != b:
            return f"end of {name}: expected {a}; got {b}"
    return None


__all__ = ["by_interpreter", "by_kernels", "columns_of", "difference", "elsewhere", "from_values"]
