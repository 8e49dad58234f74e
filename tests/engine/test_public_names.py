"""What programs import of the engine is there under the names of the manual."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

import pytest

MADE_IN = {
    "chain_file": "language.chain_file",
    "events": "language.events",
    "formula": "palettes.ltl.formulas",
    "log": "language.log",
    "processor": "language.processor",
    "runners.spark_session": "spark_session",
    "tracker": "lineage.tracker",
    "traits": "language.traits",
}


@pytest.mark.parametrize("name", MADE_IN)
def test_a_public_module_has_all_of_the_one_behind_it(name: str) -> None:
    public = import_module(f"whence.engine.{name}")
    made = import_module(f"whence.engine.{MADE_IN[name]}")
    assert set(made.__all__) <= set(public.__all__)
    for each in made.__all__:
        assert getattr(public, each) is getattr(made, each)


def test_the_formula_module_also_reads_expressions() -> None:
    from whence.engine import formula

    assert isinstance(formula, ModuleType)
    assert formula.__all__ == ["expression_text", "formula", "parse_expression"]
    assert formula.expression_text(formula.parse_expression("a > 1")) == "a > 1"


@pytest.mark.parametrize("name", ["errors", "java", "palettes.fsm", "testing", "values"])
def test_what_has_not_moved_is_where_it_was(name: str) -> None:
    module = import_module(f"whence.engine.{name}")
    assert [each for each in module.__all__ if not hasattr(module, each)] == []
