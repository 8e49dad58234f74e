"""Questions to the graph, each with a typed answer."""

from __future__ import annotations

from whence.store.catalog import find_run
from whence.store.questions.answers import (
    Coverage,
    InputEvent,
    InputRange,
    LogShare,
    OutputEvent,
    OutputShare,
    Witness,
)
from whence.store.questions.ask import Rows, ask
from whence.store.questions.compare import ChangedOutput, Comparison, compare
from whence.store.questions.contribution import (
    Contribution,
    Responsibility,
    contribution,
    responsibility,
)
from whence.store.questions.events import input_events
from whence.store.questions.explain import Why, Whys, explain, explain_first
from whence.store.questions.from_record import explain_recorded
from whence.store.questions.impact import Impact, impact
from whence.store.questions.never_matters import GroupShare, NeverMatters, never_matters
from whence.store.questions.search import Found, FoundEvent, search
from whence.store.questions.selecting import Selection
from whence.store.questions.stepwise import chain_of, kept_steps, since_event, steps
from whence.store.questions.trace import Leg, Trace, trace

__all__ = [
    "ChangedOutput",
    "Comparison",
    "Contribution",
    "Coverage",
    "Found",
    "FoundEvent",
    "GroupShare",
    "Impact",
    "InputEvent",
    "InputRange",
    "Leg",
    "LogShare",
    "NeverMatters",
    "OutputEvent",
    "OutputShare",
    "Responsibility",
    "Rows",
    "Selection",
    "Trace",
    "Why",
    "Whys",
    "Witness",
    "ask",
    "chain_of",
    "compare",
    "contribution",
    "explain",
    "explain_first",
    "explain_recorded",
    "find_run",
    "impact",
    "input_events",
    "kept_steps",
    "never_matters",
    "responsibility",
    "search",
    "since_event",
    "steps",
    "trace",
]
