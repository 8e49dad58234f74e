"""Analyse a chain without any run: what can never matter, and how far an input can reach.

A chain is followed over logs that are long enough for its pattern to repeat; what it counts by
(trims, windows, every n-th) is known, so is how long that is. What it calls never mattering never
does. What it calls mattering does for some input where the answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

from whence.engine.analysis.items import THERE, Item, Mask, add, read, told_by
from whence.engine.analysis.meeting import meetings
from whence.engine.analysis.rules import is_plain, rule_of
from whence.engine.analysis.structure import log_pipe, outputs_of
from whence.engine.errors import ChainError, ParameterError
from whence.engine.language.chain import Chain
from whence.engine.language.processor import Processor
from whence.engine.language.traits import DeclaredColumns
from whence.engine.lineage.positions import Intervals, of_positions
from whence.engine.processors import ApplyFunction

__all__ = ["Affected", "Analysis", "LogUse", "PipeUse", "analyse"]

LONGEST = 1_500
"""Events of a log over which a chain is followed; patterns that take longer are not decided."""


@dataclass(frozen=True)
class LogUse:
    """What of a log can matter.

    Attributes:
        log: its name.
        first: the positions, below ``repeats_from``, that can matter.
        repeats_from: from here on the pattern repeats.
        period: the number of positions after which it repeats.
        then: the positions of the first period that can matter.
        fields: the fields that can matter; ``None`` if whole events do.
        unused: declared columns that can never matter.
    """

    log: str
    first: Intervals
    repeats_from: int
    period: int
    then: Intervals
    fields: tuple[str, ...] | None
    unused: tuple[str, ...]

    def matters(self, position: int) -> bool:
        """Whether an event at this position can ever matter."""
        if position >= self.repeats_from:
            position = self.repeats_from + (position - self.repeats_from) % self.period
            return any(lo <= position <= hi for lo, hi in self.then)
        return any(lo <= position <= hi for lo, hi in self.first)


@dataclass(frozen=True)
class PipeUse:
    """What is known of an output pipe.

    Attributes:
        output: its name.
        regular: how many outputs there are, and when, depends only on how many inputs there are.
        waits: how many inputs behind its own position an output must wait for; infinite if that
            depends on what they are.
        explains_at_most: how many of its outputs one input can explain: a number, ``linear`` if
            that grows with the input's position, ``unbounded`` if it grows with the log, or
            nothing is known of it.
    """

    output: str
    regular: bool
    waits: float
    explains_at_most: int | str


@dataclass(frozen=True)
class Affected:
    """What an input position, or a field there, can ever do to one output pipe.

    Attributes:
        output: the pipe's name.
        outputs: the positions of outputs that it can affect.
        and_on: whether all that follow the last of them follow the same pattern without end.
        explains_at_most: how many outputs it can explain: a number, or ``unbounded``.
    """

    output: str
    outputs: Intervals
    and_on: bool
    explains_at_most: int | str


@dataclass(frozen=True)
class Analysis:
    """What a chain can ever need.

    Attributes:
        chain: the chain.
        closed: whether logs are closed at the end.
        logs: what of each log can matter.
        pipes: what is known of each output pipe.
        not_exact: why some of what is listed as mattering may never matter; empty if all of it can.
    """

    chain: Chain
    closed: bool
    logs: tuple[LogUse, ...]
    pipes: tuple[PipeUse, ...]
    not_exact: tuple[str, ...]
    _followed: dict[int, _Followed] = field(default_factory=dict, repr=False, compare=False)

    @property
    def exact(self) -> bool:
        """Whether everything listed as mattering matters for some input."""
        return not self.not_exact

    def affected(self, log: str, position: int, field: str | None = None) -> tuple[Affected, ...]:
        """Which outputs an input event, or one field of it, can ever affect.

        Args:
            log: the log's name.
            position: the event's position.
            field: one of its fields; any of them, unless given.
        """
        if log not in self.chain.inputs:
            known = ", ".join(self.chain.inputs)
            msg = f"a log: expected one of {known}; got {log!r}; try {self.chain.inputs[0]}@0"
            raise ParameterError(msg)
        horizon = _Horizon(self.chain)
        if horizon.length > LONGEST:
            msg = (
                f"the chain: expected a pattern that repeats within {LONGEST} events; got one "
                "that does not; try a run over a log, and whence impact"
            )
            raise ParameterError(msg)
        length = max(horizon.length, position + horizon.margin)
        if length > 2 * LONGEST:
            msg = (
                f"{log}@{position}: expected a position below {2 * LONGEST - horizon.margin}; "
                f"got {position}; try an earlier one, as patterns repeat"
            )
            raise ParameterError(msg)
        short, long = (self._over(each) for each in (length, length + horizon.period))
        found = []
        for name in self.chain.outputs:
            sets = [each.touched(name, log, position, field) for each in (short, long)]
            explained = [len(each.told(name, log, position, field)) for each in (short, long)]
            most: int | str = explained[0] if explained[0] == explained[1] else "unbounded"
            if _unknown(self.chain):
                most = "unbounded"
            found.append(Affected(name, of_positions(sets[0]), len(sets[1]) > len(sets[0]), most))
        return tuple(found)

    def _over(self, length: int) -> _Followed:
        """The chain over logs of some length, followed once."""
        if length not in self._followed:
            self._followed[length] = _Followed(self.chain, length, self.closed)
        return self._followed[length]


def analyse(chain: Chain | Processor, *, closed: bool = False) -> Analysis:
    """Analyse a chain without any run.

    >>> from whence.engine.processors import CountDecimate, Trim
    >>> found = analyse(Trim("skip", n=2) | CountDecimate("third", n=3))
    >>> [at for at in range(12) if found.logs[0].matters(at)]
    [2, 5, 8, 11]

    Args:
        chain: the chain.
        closed: whether its logs will be closed at the end.
    """
    made = Chain.of(chain)
    _all_declared(made)
    horizon = _Horizon(made)
    reasons = list(_not_exact(made))
    if horizon.length > LONGEST:
        reasons.append(f"its pattern takes more than {LONGEST} events to repeat")
    length = min(horizon.length, LONGEST)
    short = _Followed(made, length, closed)
    long = _Followed(made, length + min(horizon.period, LONGEST), closed)
    facts = made.output_traits(made.input_traits(), closed)
    waits = made.delays()
    return Analysis(
        made,
        closed,
        tuple(_log_use(made, name, short, horizon) for name in made.inputs),
        tuple(
            PipeUse(name, each.regular, waits[name], _at_most(made, name, short, long, horizon))
            for name, each in zip(made.outputs, facts, strict=True)
        ),
        tuple(dict.fromkeys(reasons)),
    )


def _all_declared(chain: Chain) -> None:
    """Refuse a chain that declares columns of a log, but not all that it reads."""
    # A log of which nothing is declared may hold anything, numbers as well as records.
    both = zip(chain.input_traits(), chain.declared_traits(), strict=True)
    inputs = tuple(plain if plain.columns is None else some for plain, some in both)
    chain.output_traits(inputs, False)
    for name, known in zip(chain.inputs, inputs, strict=True):
        columns = known.columns
        if not columns or not isinstance(columns, DeclaredColumns) or not columns.undeclared:
            continue
        new = list(columns.undeclared)
        near = get_close_matches(new[0], list(columns), n=1)
        lines = ", ".join(f"{each}: text" for each in new)
        hint = f", or {near[0]!r} (did you mean that?)" if near else ""
        msg = (
            f"log {name!r}: expected the chain to declare every column that it reads, "
            f"since no log is read here; got {', '.join(map(repr, new))} undeclared; "
            f"try {lines} (or another kind) under columns of {name} in the chain file{hint}"
        )
        raise ChainError(msg)


class _Horizon:
    """How long logs must be for a chain's pattern to show."""

    def __init__(self, chain: Chain) -> None:
        offset, self.period = 4, 1
        for processor in _counting(chain):
            offset, self.period = processor.horizon(offset, self.period)
        # What is counted behind a decimation counts that many times as much in the log.
        self.offset = min(offset * self.period, LONGEST)
        self.margin = self.offset + 2 * self.period
        self.length = 2 * self.offset + 5 * self.period


def _counting(chain: Chain) -> Iterator[Processor]:
    """The processors whose positions are those of the chain: not those that run afresh inside."""
    for connection in chain.connections:
        if connection.processor.inlined:
            for inner in connection.processor.holds:
                yield from _counting(inner)
        else:
            yield connection.processor


class _Followed:
    """A chain over logs of some length."""

    def __init__(self, chain: Chain, length: int, closed: bool) -> None:
        logs = {name: log_pipe(name, length) for name in chain.inputs}
        self.length = length
        self.pipes = outputs_of(chain, logs, chain.input_traits(), closed=closed)
        self._affects: dict[str, list[Mask]] = {}
        self._told: dict[str, list[Mask]] = {}

    @cached_property
    def everything(self) -> Mask:
        """All cells that can matter to any output."""
        return add({}, *(mask for name in self.pipes for mask in self.affects(name)))

    def affects(self, name: str) -> list[Mask]:
        if name not in self._affects:
            self._affects[name] = [_affecting(item) for item in self.pipes[name]]
        return self._affects[name]

    def touched(self, name: str, log: str, position: int, field: str | None) -> list[int]:
        """The outputs that a cell can affect."""
        return _meeting(self.affects(name), log, position, field)

    def told(self, name: str, log: str, position: int, field: str | None) -> list[int]:
        """The outputs that a cell can explain."""
        if name not in self._told:
            self._told[name] = [told_by(item, None) for item in self.pipes[name]]
        return _meeting(self._told[name], log, position, field)


def _affecting(item: Item) -> Mask:
    return add({}, read(item, None), item.exists)


def _meeting(masks: list[Mask], log: str, position: int, field: str | None) -> list[int]:
    return [
        k
        for k, mask in enumerate(masks)
        if any(
            bits >> position & 1
            for (name, cell), bits in mask.items()
            if name == log and (field is None or cell in (None, field))
        )
    ]


def _log_use(chain: Chain, log: str, followed: _Followed, horizon: _Horizon) -> LogUse:
    bits = 0
    fields: set[str] | None = set()
    for (name, cell), found in followed.everything.items():
        if name != log:
            continue
        bits |= found
        if cell is None or fields is None:
            fields = None
        elif cell != THERE:
            fields.add(cell)
    start, period = min(horizon.offset, followed.length), horizon.period
    matter = [at for at in range(followed.length) if bits >> at & 1]
    declared = chain.logs[log].columns if log in chain.logs else None
    return LogUse(
        log,
        of_positions(at for at in matter if at < start),
        start,
        period,
        of_positions(at for at in matter if start <= at < start + period),
        None if fields is None else tuple(sorted(fields)),
        () if fields is None else tuple(c for c in declared or () if c not in fields),
    )


def _at_most(
    chain: Chain, name: str, short: _Followed, long: _Followed, horizon: _Horizon
) -> int | str:
    if _unknown(chain):
        return "unbounded"
    period = horizon.period
    start = min(horizon.offset, short.length - 2 * period)
    most = [0, 0]
    for log in chain.inputs:
        for at in range(start + 2 * period):
            told = len(short.told(name, log, at, None))
            if len(long.told(name, log, at, None)) > told:
                return "unbounded"
            later = at >= start + period
            most[later] = max(most[later], told)
    return "linear" if most[1] > most[0] else most[0]


def _unknown(chain: Chain) -> bool:
    return any(rule_of(p) is None and not p.holds for _, p in chain.processors())


def _not_exact(chain: Chain) -> Iterator[str]:
    """Why some of what is listed as mattering may never matter."""
    for name in meetings(chain):
        yield f"{name}: it reads the same input on several ways, which might cancel out"
    for name, processor in chain.processors():
        if processor.selects:
            yield f"{name}: whether an input matters depends on what the others are"
        elif isinstance(processor, ApplyFunction) and not is_plain(processor.expression):
            yield f"{name}: what its function needs was not decided"
        elif rule_of(processor) is None and not processor.holds:
            yield f"{name}: nothing is known of a processor of your own"
