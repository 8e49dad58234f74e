"""Questions to the graph, each with a typed answer."""

from __future__ import annotations

from whence.store.questions.answers import (
    Coverage,
    InputEvent,
    InputRange,
    LogShare,
    OutputEvent,
    OutputShare,
    Witness,
)
from whence.store.questions.compare import ChangedOutput, Comparison, compare
from whence.store.questions.explain import Why, explain
from whence.store.questions.impact import Impact, impact
from whence.store.questions.never_matters import NeverMatters, never_matters

__all__ = [
    "ChangedOutput",
    "Comparison",
    "Coverage",
    "Impact",
    "InputEvent",
    "InputRange",
    "LogShare",
    "NeverMatters",
    "OutputEvent",
    "OutputShare",
    "Why",
    "Witness",
    "compare",
    "explain",
    "impact",
    "never_matters",
]
