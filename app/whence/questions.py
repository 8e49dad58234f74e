"""The one table of questions: each with its form in Python, on the command line and on the page.

Commands, the journal, the page's navigation and the manual follow this table. A new question is a
row here and the parts that the row names; a test says which of them is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["ASKING", "NOTED", "QUESTIONS", "TABS", "VIEWS", "Question", "View"]


@dataclass(frozen=True)
class View:
    """A question's view on the page.

    Attributes:
        path: its address.
        title: of its tab.
        shows: module and function below ``whence.web.views``.
        tab: whether it is a tab above every view of a run.
    """

    path: str
    title: str
    shows: str
    tab: bool = False


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes:
        asks: the question in words.
        command: ``whence COMMAND``; two questions may share one.
        python: methods of a run, or functions of ``whence.api``.
        needs: what it reads: a run's graph, its record, or a chain alone; one of several is enough.
        how_to: page and section of the manual, below ``docs/how-to``.
        view: on the page, if it is there.
        journaled: whether the journal names it.
    """

    asks: str
    command: str
    python: tuple[str, ...]
    needs: tuple[Literal["graph", "record", "chain"], ...]
    how_to: str
    view: View | None = None
    journaled: bool = True


QUESTIONS = (
    Question(
        "Why is this output as it is?",
        "explain", ("Result.explain", "Result.explain_first"), ("graph", "record"),
        "ask-questions.md#why-is-this-output-as-it-is",
        View("/run/{run}/why", "Why", "explanation:explanation"),
    ),
    Question(
        "Which events never mattered?",
        "never-matters", ("Result.never_matters",), ("graph",),
        "ask-questions.md#which-events-never-mattered",
        View("/run/{run}/never-matters", "Never matters", "never_matters:never", tab=True),
    ),
    Question(
        "Which outputs hold if some events are wrong?",
        "impact", ("Result.impact",), ("graph",),
        "ask-questions.md#which-outputs-hold-if-some-events-are-wrong",
        View("/run/{run}/impact", "Impact", "impact:impact", tab=True),
    ),
    Question(
        "Which events explain the most?",
        "contribution", ("Result.contribution",), ("graph",),
        "correct-and-compare.md#which-events-explain-the-most",
    ),
    Question(
        "How much does one output depend on each event?",
        "contribution", ("Result.responsibility",), ("graph",),
        "correct-and-compare.md#which-events-explain-the-most",
    ),
    Question(
        "Which events are there?",
        "search", ("Result.search",), ("graph",),
        "ask-questions.md#which-events-are-there",
    ),
    Question(
        "What is the answer to my own query?",
        "ask", ("ask",), ("graph",),
        "ask-questions.md#which-events-are-there",
    ),
    Question(
        "What if a value had been different?",
        "what-if", ("Result.what_if",), ("record",),
        "correct-and-compare.md#what-if-a-value-had-been-different",
    ),
    Question(
        "What is different between two runs?",
        "compare", ("Result.compare",), ("graph",),
        "correct-and-compare.md#what-is-different-between-two-runs",
        View("/compare", "Compare", "comparing:comparing"),
    ),
    Question(
        "Where did an event go, and where does it come from?",
        "trace", ("Result.trace",), ("graph",),
        "correct-and-compare.md#where-did-an-event-go-and-where-does-it-come-from",
    ),
    Question(
        "What can a chain ever need?",
        "analyse", ("analyse",), ("chain",),
        "analyse-a-chain.md#analyse-a-chain",
        journaled=False,
    ),
)  # fmt: skip

ASKING = tuple(dict.fromkeys(each.command for each in QUESTIONS if each.needs != ("chain",)))
"""The commands that ask a run, in the order of ``--help``."""

NOTED = frozenset(each.command for each in QUESTIONS if each.journaled)
"""The commands of questions that the journal names."""

VIEWS = tuple(each.view for each in QUESTIONS if each.view is not None)
"""The views of questions."""

TABS = tuple((view.path.removeprefix("/run/{run}"), view.title) for view in VIEWS if view.tab)
"""The tabs above every view of a run."""
