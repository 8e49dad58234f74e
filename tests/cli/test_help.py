"""The help of every command: what a newcomer needs comes first, and nothing of it is lost."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.test_manual import commands, options
from whence.cli.app import app
from whence.cli.forms import GLOBAL_FLAGS
from whence.questions import ASKING

EVERY: dict[str, Any] = dict(commands())
WIDE = {"COLUMNS": "500", "TERMINAL_WIDTH": "500"}
DIALECT = re.compile(
    r"\b(told|tells?|whoever|somebody|nobody|so many|goes on|asked|leads to|takes? in|by now)\b"
)


def shown(name: str) -> str:
    done = CliRunner(env=WIDE).invoke(app, [*name.split()[1:], "--help"])
    assert done.exit_code == 0
    return " ".join(re.sub("[│╭╮╰╯─]", " ", done.stdout).split())


def test_run_begins_with_the_five_options_that_one_needs_first() -> None:
    of_the_first_panel = [
        parameter.opts[0]
        for parameter in EVERY["whence run"].params
        if parameter.opts[0].startswith("--") and not getattr(parameter, "rich_help_panel", None)
    ]
    assert of_the_first_panel == ["--log", "--track", "--runner", "--closed", "--limit"]


def test_the_panels_of_run_come_in_the_order_of_need() -> None:
    panels = dict.fromkeys(
        parameter.rich_help_panel
        for parameter in EVERY["whence run"].params
        if getattr(parameter, "rich_help_panel", None)
    )
    assert list(panels) == [
        "How logs are read",
        "What is tracked",
        "The record (not with --runner interpreter)",
        "A log that is still being written (instead of --log)",
        "Spark (with --runner spark)",
        "Limits and functions of your own",
        "The graph (with --track)",
        "Neo4j (else the environment, whence.toml, or the local server)",
    ]


@pytest.mark.parametrize("name", EVERY)
def test_no_text_of_a_help_is_lost_or_in_a_dialect(name: str) -> None:
    text = shown(name)
    for parameter in EVERY[name].params:
        if getattr(parameter, "help", None) and not parameter.is_eager:
            assert " ".join(parameter.help.split()) in text, parameter.opts
            assert DIALECT.search(parameter.help) is None, parameter.help
    first = (EVERY[name].help or "").strip().partition("\n")[0]
    assert first.endswith((".", "?", ".)")), first
    assert DIALECT.search(EVERY[name].help or "") is None


def test_the_examples_of_a_help_are_commands() -> None:
    examples = [
        line
        for command in EVERY.values()
        for line in (command.epilog or "").split("\n\n")
        if line.startswith("whence ")
    ]
    assert len(set(examples)) >= 12
    for example in examples:
        words = shlex.split(example)
        name = next(
            known
            for known in (" ".join(words[:3]), " ".join(words[:2]))
            if known in EVERY and len(known.split()) <= len(words)
        )
        given = [word for word in words if word.startswith("-") and word not in GLOBAL_FLAGS]
        assert [word for word in given if word not in options(EVERY[name])] == [], example


def test_every_help_ends_with_the_global_options() -> None:
    for name in EVERY:
        if name != "whence":
            assert "--format table|json|csv" in shown(name), name


def test_the_commands_are_listed_in_groups_questions_together() -> None:
    groups = [command.rich_help_panel for name, command in EVERY.items() if name.count(" ") == 1]
    assert list(dict.fromkeys(groups)) == [
        *("Run", "Ask", "Exchange as W3C PROV", "Prove and erase", "Page, graph, machine"),
    ]
    asking = [name for name in EVERY if getattr(EVERY[name], "rich_help_panel", "") == "Ask"]
    assert asking == [f"whence {command}" for command in ASKING]
