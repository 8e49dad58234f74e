"""Explanations in words: a sentence for each step, from the template beside each processor.

`Processor.because` says what follows "because"; what it is told of is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from whence.engine.lineage.steps import NOT_TOLD, Step, StepEdge, Steps
from whence.engine.values import Value

if TYPE_CHECKING:
    from whence.engine.language.chain import Chain

__all__ = ["Cause", "Told", "in_words", "listed", "share_text", "value_text"]

WIDEST = 60
SENTENCES = 12
CAUSES = 3


@dataclass(frozen=True)
class Cause:
    """An event that explains another one.

    Attributes:
        step: the event.
        fields: the fields of it that matter; ``None`` for all of it.
        own: whether the same processor said it.
    """

    step: Step
    fields: tuple[str, ...] | None = None
    own: bool = False

    @property
    def known(self) -> bool:
        """Whether its value is known."""
        return self.step.value is not NOT_TOLD

    def __str__(self) -> str:
        """Its name, with as much of its value as matters."""
        if not self.known or self.fields == ():
            return self.step.name
        return f"{self.step.name} ({value_text(self.step.value, self.fields)})"


@dataclass(frozen=True)
class Told:
    """What a processor is told of one of its outputs, to say it in words.

    Attributes:
        value: the output's value.
        causes: the events that explain it.
        way: the events that led here, earlier outputs of the same processor left out and what
            explained them put in their place, the earliest first.
    """

    value: Value
    causes: Sequence[Cause]
    way: Sequence[Cause]

    def __str__(self) -> str:
        """The causes, for a person."""
        return listed(self.causes)


def in_words(
    found: Steps, chain: Chain, *, since: int | None = None, most: int = SENTENCES
) -> list[str]:
    """Say why an output has its value, a sentence a step, the output's first.

    Args:
        found: the steps.
        chain: whose processors said it.
        since: the input event after which the output has had this value without a break.
        most: so many sentences; the last one then says how many steps are left out.
    """
    processors = dict(chain.processors())
    sentences: list[str] = []
    left = 0
    for step in _downwards(found):
        processor = processors.get(step.processor or "")
        if processor is None:
            continue
        if len(sentences) == most:
            left += 1
            continue
        causes = _causes(found, step)
        if step.value is NOT_TOLD:
            # Why it is what it is cannot be said without what it is.
            sentences.append(f"{step.name} follows from {listed(causes)}")
            continue
        because = processor.because(Told(step.value, causes, tuple(_way(found, step))))
        when = f" since event {since}" if since is not None and step.name == found.output else ""
        sentences.append(f"{step.name} is {value_text(step.value)}{when} because {because}")
    if left:
        sentences.append(f"… and {left:,} more {'step' if left == 1 else 'steps'}")
    return sentences


def _downwards(found: Steps) -> Iterator[Step]:
    seen = {found.output}
    layer = [found.output]
    while layer:
        following: list[str] = []
        for name in layer:
            yield found.steps[name]
            for edge in found.below.get(name, ()):
                if edge.target not in seen:
                    seen.add(edge.target)
                    following.append(edge.target)
        layer = following


def _causes(found: Steps, step: Step) -> list[Cause]:
    return [_cause(found, step, edge) for edge in found.below.get(step.name, ())]


def _cause(found: Steps, step: Step, edge: StepEdge) -> Cause:
    target = found.steps[edge.target]
    return Cause(target, edge.fields, target.processor == step.processor)


def _way(found: Steps, step: Step) -> Iterator[Cause]:
    """What led to a step of a processor that builds on its own earlier outputs."""
    here: Step | None = step
    last_first: list[list[Cause]] = []
    while here is not None:
        causes = _causes(found, here)
        last_first.append([cause for cause in causes if not cause.own])
        here = next((cause.step for cause in causes if cause.own), None)
    for causes in reversed(last_first):
        yield from causes


def listed(causes: Sequence[Cause], most: int = CAUSES) -> str:
    """Name some events; the rest is counted.

    >>> listed([Cause(Step("log@3", None, 5)), Cause(Step("log@4", None))])
    'log@3 (5) and log@4'
    """
    if not causes:
        return "nothing"
    events = sum(cause.step.many for cause in causes)
    shown = [str(cause) for cause in causes[:most]]
    left = events - sum(cause.step.many for cause in causes[:most])
    if left:
        shown.append(f"{left:,} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def value_text(value: object, fields: Sequence[str] | None = None, most: int = WIDEST) -> str:
    """A value for a person: one line, and not a long one.

    >>> value_text(False), value_text(None), value_text({"action": "pay", "n": 1}, ["n"])
    ('false', 'missing', 'n = 1')
    """
    text = " ".join(_text(value, fields).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def _text(value: object, fields: Sequence[str] | None = None) -> str:
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        names = list(value) if fields is None else [name for name in fields]
        return ", ".join(f"{name} = {_text(value.get(name))}" for name in names)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_text, value)) + "]"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return f"{value.total_seconds()} s"
    return str(value)


def share_text(share: float) -> str:
    """A share in percent; what is not all never reads as all.

    >>> share_text(1.0), share_text(0.99999), share_text(0.5), share_text(0.00001)
    ('100 %', '>99.9 %', '50.0 %', '<0.1 %')
    """
    if share in (0.0, 1.0):
        return f"{share:.0%}".replace("%", " %")
    if share > 0.999:
        return ">99.9 %"
    return "<0.1 %" if share < 0.001 else f"{100 * share:.1f} %"
