"""Cells of a table as values: text unless declared otherwise, and nothing guessed."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite

from whence.engine.functions.time import parse_instant
from whence.engine.values import INT64_MAX, INT64_MIN, Value, ValueFault

__all__ = ["CELL_KINDS", "Convert", "converter"]

Convert = Callable[[str], Value]

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?")


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= 60 else cell[:57] + "...")


def _integer(cell: str) -> int:
    if not _INTEGER.fullmatch(cell):
        hint = "the kind float" if _FLOAT.fullmatch(cell) else "the kind text, or mending the cell"
        raise ValueFault("an integer", _shown(cell), hint)
    # Python itself refuses to read thousands of digits.
    number = int(cell) if len(cell) <= 40 else INT64_MAX + 1
    if not INT64_MIN <= number <= INT64_MAX:
        raise ValueFault("an integer of 64 bits", _shown(cell), "the kind float or text")
    return number


def _float(cell: str) -> float:
    if not _FLOAT.fullmatch(cell):
        hint = "a point instead of the comma" if "," in cell else "the kind text, or an empty cell"
        raise ValueFault("a float", _shown(cell), hint)
    number = float(cell)
    if not isfinite(number):
        raise ValueFault("a float below 1.8e308", _shown(cell), "the kind text")
    return number


def _boolean(cell: str) -> bool:
    if cell not in ("true", "false"):
        raise ValueFault(
            "true or false", _shown(cell), f"the kind text, and `column = {_shown(cell)}`"
        )
    return cell == "true"


_CONVERTERS: dict[str, Convert | None] = {
    "text": None,
    "integer": _integer,
    "float": _float,
    "boolean": _boolean,
    "instant": parse_instant,
}
CELL_KINDS = tuple(_CONVERTERS)
"""The kinds that a cell can be read as."""


def converter(kind: str) -> Convert | None:
    """What turns a cell that is not empty into a value of this kind; ``None`` for text.

    >>> converter("integer")("042")
    42
    """
    if kind not in _CONVERTERS:
        raise ValueFault("one of " + ", ".join(CELL_KINDS), repr(kind), "text")
    return _CONVERTERS[kind]
