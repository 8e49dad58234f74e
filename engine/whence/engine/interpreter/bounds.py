"""How many events a chain makes of one, as far as its definition says: a bound, never a guess.

Only Stutter, Insert and Multiplex make more events than they read. What a Slice or Window holds may
begin anew with every event, and so each begins with what its Inserts say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from whence.engine.errors import ChainError
from whence.engine.language.chain import Chain, Source
from whence.engine.language.processor import Processor
from whence.engine.processors import CountDecimate, Insert, Multiplex, Slice, Stutter, Window
from whence.engine.values.limits import RunLimits, current

__all__ = ["check_bounds"]

_SHOWN = 10**15


class _Flow(NamedTuple):
    """At most this many events of a pipe before any input, and for each input."""

    begins: int
    repeats: int


_ONE = _Flow(0, 1)


def check_bounds(chain: Chain, limits: RunLimits | None = None) -> int:
    """Refuse a chain that makes too many events; return the most that it makes of one.

    Args:
        chain: what is to run.
        limits: the limits; those that hold now unless given.

    Raises:
        ChainError: with the processor, the number and the limit.

    >>> from whence.engine.processors import Insert
    >>> check_bounds(Stutter("twice", n=2) | Stutter("echo", n=3))
    6
    >>> check_bounds(Chain.of(Insert("lag", n=2_000_000, value=0)))
    Traceback (most recent call last):
    ...
    whence.engine.errors.ChainError: Insert 'lag': expected at most 1,000,000 events before any \
input (the limit 'outputs'); got 2,000,000; try a smaller n, or --run-limit outputs=2000000 \
(WHENCE_RUN_LIMITS for every command)
    """
    looking = _Looking(limits or current())
    looking.flows(chain, [_ONE] * len(chain.inputs), "")
    return looking.most


class _Looking:
    """Follows the pipes of a chain and of what it holds.

    Args:
        limits: what is refused beyond; ``None`` to refuse nothing.

    Attributes:
        most: the most events that are made of one.
        begun: the most events before any input.
    """

    def __init__(self, limits: RunLimits | None) -> None:
        self.limits = limits
        self.most, self.begun = 1, 0

    def flows(self, chain: Chain, inputs: Sequence[_Flow], prefix: str) -> list[_Flow]:
        """The flows of the outputs."""
        known = {Source(name, 0): flow for name, flow in zip(chain.inputs, inputs, strict=True)}
        for connection in chain.ordered:
            processor = connection.processor
            reads = [known[chain.source(name, processor.id)] for name in connection.sources]
            name = prefix + processor.id
            if processor.inlined:
                ends = self.flows(processor.holds[0], reads, f"{name}/")
            else:
                ends = [self._through(processor, name, reads)] * processor.output_count
            for pipe, flow in enumerate(ends):
                known[Source(processor.id, pipe)] = flow
        return [known[chain.source(name, "output")] for name in chain.outputs]

    def _through(self, processor: Processor, name: str, reads: Sequence[_Flow]) -> _Flow:
        """What leaves a processor; refused if that, or what is done inside, is too much."""
        flow = _made(processor, reads)
        inside = _inside(processor) if isinstance(processor, (Slice, Window)) else 1
        begins, repeats = flow.begins * inside, flow.repeats * inside
        self.most, self.begun = max(self.most, repeats), max(self.begun, begins)
        owner = f"{type(processor).__name__} {name!r}"
        for limit, amount in (("repeats", repeats), ("outputs", begins)):
            if self.limits is not None and amount > self.limits.by_name(limit):
                got = f"{amount:,}" if amount < _SHOWN else f"more than {_SHOWN:,}"
                needed = amount if amount < _SHOWN else 0
                raise self.limits.exceeded(
                    limit, owner, got, "a smaller n", needed=needed, kind=ChainError
                )
        return flow


def _made(processor: Processor, reads: Sequence[_Flow]) -> _Flow:
    """What a processor makes of what it reads."""
    begins, repeats = min(f.begins for f in reads), min(f.repeats for f in reads)
    if isinstance(processor, Stutter):
        return _Flow(begins * processor.n, repeats * processor.n)
    if isinstance(processor, Insert):
        return _Flow(begins + processor.n, repeats)
    if isinstance(processor, CountDecimate):
        return _Flow(-(-begins // processor.n), -(-repeats // processor.n))
    if isinstance(processor, Multiplex):
        return _Flow(sum(f.begins for f in reads), sum(f.repeats for f in reads))
    return _Flow(begins, repeats)


def _inside(processor: Slice | Window) -> int:
    """How many events inside a Slice or Window one event can lead to."""
    (inner,) = processor.holds
    looking = _Looking(None)
    looking.flows(inner, [_ONE] * len(inner.inputs), "")
    # A Window begins anew for n events, a Slice perhaps for each.
    begun = looking.begun
    return looking.most + (-(-begun // processor.n) if isinstance(processor, Window) else begun)
