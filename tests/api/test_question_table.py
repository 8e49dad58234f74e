"""The one table of questions: Python, commands, the journal, the page and the manual follow it."""

from __future__ import annotations

import re
from inspect import getmembers, isfunction
from pathlib import Path
from typing import Any

import pytest
import typer

import whence.api
import whence.store.questions as functions
from whence.cli.app import COMMANDS, JOURNALED, app
from whence.questions import QUESTIONS, Question
from whence.results import Result
from whence.web.answers import VIEWS
from whence.web.views import overview

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
NO_QUESTION = {"outputs", "to_arrow", "to_pandas", "to_spark", "first"}
"""What a run has beside its questions."""
HELPS = {
    *("chain_of", "explain_recorded", "find_run", "input_events", "kept_steps", "since_event"),
    *("steps", "steps_recorded"),
}
"""What answers are made of."""
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.asks)


def names() -> set[str]:
    return {name.rpartition(".")[2] for each in QUESTIONS for name in each.python}


@each_question
def test_python_has_it(question: Question) -> None:
    assert question.python
    for name in question.python:
        owner, _, method = name.rpartition(".")
        home: Any = Result if owner == "Result" else whence.api
        assert callable(getattr(home, method)), name


def test_python_has_no_other() -> None:
    methods = {name for name, _ in getmembers(Result, isfunction) if name[0] != "_"}
    of_notebooks = {name for base in Result.__mro__[1:] for name in vars(base)}
    assert methods - of_notebooks - NO_QUESTION - names() == set()
    public = {name for name in functions.__all__ if isfunction(getattr(functions, name))}
    assert public - HELPS == names() - {"what_if", "analyse"}  # which the graph does not answer


@each_question
def test_a_command_asks_it(question: Question) -> None:
    assert question.command in COMMANDS
    assert (question.command in JOURNALED) == question.journaled
    group: Any = typer.main.get_command(app)
    command = group.get_command(None, question.command)
    options = {word for parameter in command.params for word in parameter.opts}
    assert ("--uri" in options) == ("graph" in question.needs)
    assert ("CHAIN" in str(command.params[0].metavar)) == (question.needs == ("chain",))


def test_the_page_shows_it() -> None:
    shown = {each.view.path: each.view for each in QUESTIONS if each.view}
    others = {"/", "/run/{run}", "/run/{run}/outputs", "/run/{run}/log"}
    assert set(VIEWS) == {*shown, *others}
    for path, view in shown.items():
        assert VIEWS[path][0] == view.title
        assert VIEWS[path][1].__module__ == f"whence.web.views.{view.shows.partition(':')[0]}"
    tabs = [words for _, words in overview.VIEWS]
    of_questions = [view.title for view in shown.values() if view.tab]
    assert tabs == ["Overview", "Outputs", *of_questions, "Log"]


@each_question
def test_the_manual_tells_of_it(question: Question) -> None:
    page, _, section = question.how_to.partition("#")
    text = (HOW_TO / page).read_text("utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings]
    assert section in slugs
    assert f"whence {question.command} " in text


def test_the_manual_of_the_page_has_every_view_of_a_question() -> None:
    text = (HOW_TO / "use-the-page.md").read_text("utf-8")
    views = re.findall(r"^\| \*\*([\w ]+)\*\*", text, re.MULTILINE)
    titles = {each.view.title for each in QUESTIONS if each.view}
    assert titles <= set(views)
    assert set(views) - titles == {"Runs", "Overview", "Outputs", "Log"}


def test_the_manual_has_the_table() -> None:
    rows = re.findall(
        r"^\| \[([^]]+)\]\(([^)]+)\) \| `whence ([\w-]+)` \| ([^|]+) \| ([^|]*) \| ([^|]+) \|$",
        (HOW_TO / "ask-questions.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert rows == [
        (
            each.asks,
            each.how_to.removeprefix("ask-questions.md"),
            each.command,
            ", ".join(f"`{name.replace('Result', 'run')}`" for name in each.python),
            each.view.title if each.view else "",
            " or ".join(each.needs),
        )
        for each in QUESTIONS
    ]
