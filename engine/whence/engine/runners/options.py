"""What can be chosen for a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, TypedDict

from whence.engine.errors import ParameterError
from whence.engine.interpreter.bounds import check_bounds
from whence.engine.interpreter.extract import Detail
from whence.engine.language.chain import Chain
from whence.engine.lineage.tracker import Witnesses
from whence.engine.record.manifest import RunManifest
from whence.engine.values.limits import RunLimits, current

__all__ = ["CHUNK", "LOADED_CHUNK", "OptionWords", "RunOptions", "chosen_options", "chunk_for"]

CHUNK = 262_144
"""Positions a part of a run on batches: as many as events in a batch, so that most are a part.

Every part is a few files, each of which takes a millisecond or two however short it is: with 65,536
positions a tracked window took much longer (``bench batch_size`` compares sizes).
"""

LOADED_CHUNK = 4_096
"""Positions per part of a run that is loaded while it is running.

A part is loaded when it is full: of 10,000 events a second, twice a second. It is about a
transaction's worth: with 16,384 a tenth fewer events a second were loaded, or more.
"""


_REPEATED = 16
"""A part of this many times its positions in events still fits into memory with ease."""


def chunk_for(*, loaded: bool) -> int:
    """Positions a part, by whether the graph is loaded during the run.

    >>> chunk_for(loaded=False), chunk_for(loaded=True)
    (262144, 4096)
    """
    return LOADED_CHUNK if loaded else CHUNK


@dataclass(frozen=True)
class RunOptions:
    """How a run is done and what it keeps.

    Attributes:
        tracked: keep what explains each output.
        detail: ``ends`` keeps output to input, ``steps`` every processor's events.
        witnesses: ``first``, or ``all`` alternatives.
        where: formula text over an output's ``value``; only outputs that it is true of are tracked.
        closed: close the logs after the last event.
        chunk: events a part of the record.
        metadata: whatever belongs to the run: owner, purpose, legal basis, retention.
        limits: what is refused beyond.
    """

    tracked: bool = True
    detail: Detail = "ends"
    witnesses: Witnesses = "first"
    where: str | None = None
    closed: bool = False
    chunk: int = 5000
    metadata: Mapping[str, Any] = field(default_factory=dict)
    limits: RunLimits = field(default_factory=current)

    def __post_init__(self) -> None:
        """Refuse what cannot be chosen."""
        choices = {"detail": ("ends", "steps"), "witnesses": ("first", "all")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                listed = " or ".join(allowed)
                msg = f"{name}: expected {listed}; got {getattr(self, name)!r}; try {allowed[0]}"
                raise ParameterError(msg)
        for name in ("tracked", "closed"):
            if not isinstance(getattr(self, name), bool):
                msg = f"{name}: expected True or False; got {getattr(self, name)!r}; try True"
                raise ParameterError(msg)
        if self.where is not None and not isinstance(self.where, str):
            msg = f"where: expected a formula as text; got {self.where!r}; try 'value = false'"
            raise ParameterError(msg)
        if not isinstance(self.limits, RunLimits):
            msg = f"limits: expected RunLimits; got {self.limits!r}; try RunLimits(value=1 << 20)"
            raise ParameterError(msg)
        if not isinstance(self.metadata, Mapping):
            msg = f"metadata: expected names and values; got {self.metadata!r}; try {{}}"
            raise ParameterError(msg)
        if self.chunk < 1:
            msg = f"chunk: expected at least 1 event a part; got {self.chunk}; try 5000"
            raise ParameterError(msg)

    @classmethod
    def of(cls, manifest: RunManifest) -> RunOptions:
        """The options that a run was done with."""
        stated = manifest.options
        return cls(
            tracked=stated.tracked,
            detail=stated.detail,
            witnesses=stated.witnesses,
            where=stated.where,
            closed=stated.closed,
            chunk=manifest.chunk,
            metadata=manifest.metadata,
            limits=RunLimits.of_json(stated.limits),
        )

    def as_json(self) -> dict[str, Any]:
        """As the manifest keeps them."""
        changed = self.limits.as_json()
        return {
            "tracked": self.tracked,
            "detail": self.detail,
            "witnesses": self.witnesses,
            "where": self.where,
            "closed": self.closed,
            **({"limits": changed} if changed else {}),
        }

    def fitted(self, chain: Chain) -> RunOptions:
        """The same with parts that are smaller where a chain makes many events of one.

        Raises:
            ChainError: it makes more than the limits allow.
        """
        return replace(self, chunk=self.at_most(self.chunk, chain))

    def at_most(self, positions: int, chain: Chain) -> int:
        """Number of positions at a time, or fewer where a chain makes many events of one.

        Raises:
            ChainError: it makes more than the limits allow.
        """
        repeats = check_bounds(chain, self.limits)
        if repeats <= _REPEATED:
            return positions
        return max(1, min(positions, _REPEATED * CHUNK // repeats))


class OptionWords(TypedDict, total=False):
    """The options of a run as keywords of a function, as ``run(..., closed=True)``."""

    detail: Detail
    witnesses: Witnesses
    where: str | None
    closed: bool
    chunk: int
    metadata: Mapping[str, Any]
    limits: RunLimits


def chosen_options(
    stated: RunOptions | None,
    words: Mapping[str, Any],
    usual: RunOptions,
    *,
    others: Iterable[str] = (),
) -> RunOptions:
    """The options of a run: as stated, else as usual with what keywords say.

    Args:
        stated: options that were given as a whole.
        words: options that were given as keywords.
        usual: the default.
        others: further keywords of the function, one of which may have been meant.

    Raises:
        ParameterError: a keyword is no option, or contradicts the options given as a whole.

    >>> chosen_options(None, {"closed": True}, RunOptions(chunk=7)).as_json()["closed"]
    True
    """
    options = [each.name for each in fields(RunOptions)]
    for word, value in words.items():
        if word not in options:
            known = [*options, *others]
            near = get_close_matches(word, known, n=1)
            hint = f"{near[0]}= (did you mean that?)" if near else f"one of {', '.join(known)}"
            msg = f"an option of the run: expected one that exists; got {word}=; try {hint}"
            raise ParameterError(msg)
        if stated is not None and getattr(stated, word) != value:
            msg = (
                f"{word}: expected {getattr(stated, word)!r} as options= says; got {value!r}; "
                f"try options=RunOptions({word}={value!r}), or keywords only"
            )
            raise ParameterError(msg)
    return stated or replace(usual, **words)
