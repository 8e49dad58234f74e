"""Limits on what a chain may ask of this machine; each has a name and can be raised by that name.

A few words in a chain file can ask for more memory than any machine has: a fold that joins texts,
an event repeated a billion times, a formula of a million terms. What is refused here is far beyond
what people write; users can raise the limit, with ``--run-limit NAME=VALUE``, with
``RunOptions(limits=...)``, or for every command with the environment variable WHENCE_RUN_LIMITS.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from whence.engine.errors import ParameterError, WhenceError
from whence.engine.values import Value, ValueFault

__all__ = [
    "LONG",
    "VARIABLE",
    "Budget",
    "RunLimits",
    "check_size",
    "check_text",
    "current",
    "limited",
    "size_of",
    "use_limits",
]

VARIABLE = "WHENCE_RUN_LIMITS"
"""The environment variable with limits for every command: ``value=256000000 repeats=5000``."""

LONG = 1_000
"""Texts up to this length are never counted: they cannot be more than their inputs by much."""

ELEMENT = 64
"""Bytes of a value inside a list or map, beside those of its text."""

_WHAT = {
    "value": "bytes in one value",
    "texts": f"bytes in all texts over {LONG:,} characters that a run makes",
    "outputs": "events before any input",
    "repeats": "events made of one event",
    "formula": "parts in a formula",
    "pattern": "characters in a regular expression",
    "chain": "bytes in a chain file",
    "processors": "processors in a chain",
    "map_keys": "keys in a map over all slices",
    "maps": "bytes in the maps over all slices that a run writes",
}


@dataclass(frozen=True)
class RunLimits:
    """What is refused beyond.

    >>> RunLimits.stated(["repeats=5_000"]).repeats
    5000

    Attributes:
        value: bytes in one value that a chain makes.
        texts: bytes in all long texts that a run, or one of its Spark tasks, makes.
        outputs: events that an Insert puts before any input.
        repeats: events that the processors of a chain make of one event together.
        formula: parts in a formula: operators, functions, columns and constants.
        pattern: characters in a regular expression.
        chain: bytes in a chain file.
        processors: processors in a chain, those inside others included.
        map_keys: keys in a map over all slices, which a Slice without ``combine`` outputs.
        maps: bytes in all such maps that a run, or one of its Spark tasks, writes.
    """

    value: int = 64 << 20
    texts: int = 512 << 20
    outputs: int = 1_000_000
    repeats: int = 1_000
    formula: int = 5_000
    pattern: int = 1_000
    chain: int = 256 << 10
    processors: int = 1_000
    map_keys: int = 10_000
    maps: int = 1 << 30

    @classmethod
    def stated(cls, settings: Iterable[str], over: RunLimits | None = None) -> RunLimits:
        """The limits, some of them changed by ``NAME=VALUE``.

        Args:
            settings: what is changed.
            over: the limits that are changed; the defaults unless given.

        Raises:
            ParameterError: no such limit, or no number above 0.
        """
        base = over or cls()
        changed: dict[str, int] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in _WHAT:
                msg = (
                    f"a run limit: expected one of {', '.join(_WHAT)}; got {name!r}; "
                    "try value=256000000"
                )
                raise ParameterError(msg)
            try:
                changed[name] = int(value)
            except ValueError:
                changed[name] = 0
            if changed[name] < 1:
                msg = (
                    f"the run limit {name}: expected a whole number above 0; got {value!r}; "
                    f"try {name}={base.by_name(name)}"
                )
                raise ParameterError(msg)
        return replace(base, **changed)

    @classmethod
    def of_json(cls, changed: Mapping[str, int]) -> RunLimits:
        """The limits that a manifest names."""
        return cls.stated(f"{name}={value}" for name, value in changed.items())

    def as_json(self) -> dict[str, int]:
        """Only what differs from the defaults."""
        return {name: self.by_name(name) for name in _WHAT if self.by_name(name) != _DEFAULT[name]}

    def by_name(self, name: str) -> int:
        return int(getattr(self, name))

    def expected(self, name: str) -> str:
        """What a message expects."""
        return f"at most {self.by_name(name):,} {_WHAT[name]} (the limit {name!r})"

    def hint(self, name: str, instead: str, needed: int = 0) -> str:
        """What a message advises: another way, or how the limit is raised."""
        raised = max(needed, 2 * self.by_name(name))
        return f"{instead}, or --run-limit {name}={raised} ({VARIABLE} for every command)"

    def exceeded(
        self,
        name: str,
        where: str,
        got: str,
        instead: str,
        *,
        needed: int = 0,
        kind: type[WhenceError] = ParameterError,
    ) -> WhenceError:
        """The error for more than a limit.

        Args:
            name: which limit.
            where: what exceeds it.
            got: how much there is.
            instead: another way to reach the same.
            needed: the limit that would be enough, if that is known.
            kind: the class of the error.
        """
        hint = self.hint(name, instead, needed)
        return kind(f"{where}: expected {self.expected(name)}; got {got}; try {hint}")


_DEFAULT = {field.name: field.default for field in fields(RunLimits)}
assert set(_WHAT) == set(_DEFAULT)


class Budget:
    """The limits of a run with what it has used of them.

    Attributes:
        limits: the limits.
        texts: bytes of long texts made so far.
    """

    __slots__ = ("limits", "texts")

    def __init__(self, limits: RunLimits) -> None:
        self.limits = limits
        self.texts = 0

    def spend(self, size: int) -> None:
        """Count a long text.

        Raises:
            ParameterError: the run makes more than it may.
        """
        self.texts += size
        if self.texts > self.limits.texts:
            instead = "a fold that does not keep all of it, or shorter texts"
            raise self.limits.exceeded("texts", "concat", "more", instead)


_running: ContextVar[Budget | None] = ContextVar("limits of the run", default=None)
_chosen: ContextVar[RunLimits | None] = ContextVar("limits of the command", default=None)


@lru_cache(maxsize=8)
def _of_environment(settings: str) -> RunLimits:
    return RunLimits.stated(settings.split())


def current() -> RunLimits:
    """The limits of the run, else those chosen, those of the environment, the defaults."""
    budget = _running.get()
    if budget is not None:
        return budget.limits
    return _chosen.get() or _of_environment(os.environ.get(VARIABLE, ""))


def use_limits(limits: RunLimits) -> None:
    """Let these limits hold from now on, where a run does not bring its own."""
    _chosen.set(limits)


@contextmanager
def limited(limits: RunLimits | Budget) -> Iterator[None]:
    """Hold everything inside to these limits."""
    token = _running.set(limits if isinstance(limits, Budget) else Budget(limits))
    try:
        yield
    finally:
        _running.reset(token)


def check_text(parts: Iterable[str]) -> None:
    """Refuse parts that are too long together, before they are joined.

    Raises:
        ValueFault: the text would be larger than one value may be.
        ParameterError: the run makes more text than it may.
    """
    size = 0
    for part in parts:
        size += len(part) if part.isascii() else len(part.encode("utf-8", "surrogatepass"))
    if size <= LONG:
        return
    check_size(size)
    budget = _running.get()
    if budget is not None:
        budget.spend(size)


def check_size(size: int) -> None:
    """Refuse a value of this many bytes if that is too much.

    Raises:
        ValueFault: it is.
    """
    limits = current()
    if size > limits.value:
        hint = limits.hint("value", "a shorter value", size)
        raise ValueFault(limits.expected("value"), f"{size:,}", hint)


def size_of(value: Value, most: int) -> int:
    """The bytes in a value, as `RunLimits.value` counts them; looks no further than ``most``."""
    size, waiting = 0, [value]
    while waiting and size <= most:
        item = waiting.pop()
        size += ELEMENT
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, (list, tuple)):
            waiting += item
        elif isinstance(item, Mapping):
            waiting += [*item, *item.values()]
    return size
