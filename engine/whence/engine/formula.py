"""Formula text: expressions over one event, and temporal formulas over a whole log."""

from __future__ import annotations

from whence.engine.language.formula import expression_text, parse_expression
from whence.engine.palettes.ltl.formulas import formula

__all__ = ["expression_text", "formula", "parse_expression"]
