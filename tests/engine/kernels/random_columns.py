"""Random columns of every kind, and random expressions over them, fitting ones and others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from whence.engine.functions import FUNCTIONS, Function, function
from whence.engine.language.expression import Call, Constant, Expression, Field, Input

__all__ = ["KINDS", "random_expression", "random_values"]

_BIG = 2**63
_VALUES: dict[str, Sequence[Any]] = {
    "boolean": (True, False),
    "integer": (0, 0, 1, 2, -1, -3, 7, 40, 2**31, 2**53, 2**53 + 1, -(2**53) - 1),
    "large": (_BIG - 1, -_BIG, 2**62, -(2**62), 3, 0, -1, 2**32 + 1),
    "float": (0.0, -0.0, 0.5, 1.0, -2.0, 2.5, 3.0, 2.0**53, 1e-200),
    "odd": (float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1e-308, 0.0, -0.0, 1.0),
    "text": ("", "a", "b", "ab", "Ab ", "c", "a.*", "(", "2026-03-01T09:30:00Z", "2026-03-02"),
    "instant": tuple(
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=d, hours=h, microseconds=u)
        for d, h, u in ((0, 0, 0), (-1, 23, 5), (20_000, 7, 1), (-700_000, 1, 0), (2_900_000, 0, 0))
    ),
    "duration": tuple(
        timedelta(days=d, microseconds=u) for d, u in ((0, 0), (1, 0), (-1, 7), (10**6, 0), (9, 9))
    ),
    "list": ([1, 2], [], ["a"], [1.0, "a"], [None]),
}
_MIXED = [value for values in _VALUES.values() for value in values]
KINDS = (*_VALUES, "mixed")


def random_values(random: Random, kind: str, count: int) -> list[Any]:
    """Values of a kind, some of them missing."""
    share = random.choice((0, 0, 0.2, 0.6))
    pool = _MIXED if kind == "mixed" else _VALUES[kind]
    return [None if random.random() < share else random.choice(pool) for _ in range(count)]


def _own(x: Any, y: Any) -> Any:
    return x if y is None else y


def _first_or_none(arguments: Sequence[Any], result: Any) -> list[tuple[int, ...]]:
    return [(0,)] if result is None else [(1,), (0,)]


def _failing(x: Any) -> Any:
    return x + 1


OWN = (function(_own), function(_own, _first_or_none), function(_failing))

_GIVES: dict[str, Sequence[tuple[str, Sequence[str]]]] = {
    "B": (
        *((name, ("B", "B")) for name in ("and", "or", "implies", "xor")),
        *((name, ("B", "B", "B")) for name in ("and", "or")),
        ("and", ("B",)),
        ("not", ("B",)),
        *((n, (k, k)) for n in ("lt", "le", "gt", "ge", "eq", "ne") for k in "NNTIDF"),
        ("eq", ("B", "B")),
        *(("is_missing", (k,)) for k in "NTB"),
        ("in", ("N", "N", "N")),
        ("in", ("T", "T")),
        ("in", ("N", "L")),
        *((name, ("T", "T")) for name in ("starts_with", "ends_with", "contains", "matches")),
        ("if", ("B", "B", "B")),
        *(("coalesce", kinds) for kinds in (("B",), ("B", "B"))),
    ),
    "N": (
        *((name, ("N", "N")) for name in ("add", "sub", "product", "div", "min", "max")),
        *((name, ("N", "N", "N")) for name in ("add", "product", "product", "min", "max")),
        *((name, ("F", "F")) for name in ("add", "product", "div", "min", "max")),
        *((name, ("N",)) for name in ("add", "product", "min", "abs")),
        ("length", ("T",)),
        ("size", ("L",)),
        ("days_between", ("I", "I")),
        ("seconds_between", ("I", "I")),
        ("hour", ("I",)),
        ("weekday", ("I",)),
        ("element", ("L", "N")),
        ("if", ("B", "N", "N")),
        *(("coalesce", kinds) for kinds in (("N",), ("N", "N"), ("N", "F", "N"))),
    ),
    "F": (
        ("div", ("N", "N")),
        ("add", ("F", "F")),
        ("if", ("B", "F", "F")),
        ("coalesce", ("F", "F")),
    ),
    "T": (
        *((name, ("T",)) for name in ("lower", "upper", "strip")),
        ("concat", ("T", "T")),
        ("concat", ("T", "T", "T")),
        ("min", ("T", "T")),
        ("if", ("B", "T", "T")),
        ("coalesce", ("T", "T", "T")),
    ),
    "I": (
        ("instant", ("T",)),
        ("instant", ("I",)),
        ("add", ("I", "D")),
        ("sub", ("I", "D")),
        ("max", ("I", "I")),
        ("if", ("B", "I", "I")),
        ("coalesce", ("I", "I")),
    ),
    "D": (
        *((name, ("N",)) for name in ("days", "hours", "minutes", "seconds")),
        ("seconds", ("F",)),
        ("sub", ("I", "I")),
        ("add", ("D", "D")),
        ("abs", ("D",)),
    ),
    "L": (("list", ("N", "T")), ("list", ("B",))),
}
_LETTERS = {
    "boolean": "B",
    "integer": "N",
    "large": "N",
    "float": "F",
    "odd": "F",
    "text": "T",
    "instant": "I",
    "duration": "D",
    "list": "L",
}


def random_expression(
    random: Random, leaves: Sequence[tuple[Expression, str]], wanted: str, depth: int
) -> Expression:
    """An expression whose value has a kind, most of the time.

    Args:
        random: what to draw from.
        leaves: what can be read, with the kind of its values.
        wanted: the letter of the kind.
        depth: how deep it may be.
    """
    if random.random() < 0.04:
        wanted = random.choice("BNFTIDL")
    if depth == 0 or random.random() < 0.1:
        return _leaf(random, leaves, wanted)
    if random.random() < 0.05:
        own: Function = random.choice(OWN)
        parts = [random_expression(random, leaves, wanted, depth - 1) for _ in range(own.arity[0])]
        return Call(own, tuple(parts))
    name, kinds = random.choice(_GIVES[wanted])
    arguments = tuple(random_expression(random, leaves, kind, depth - 1) for kind in kinds)
    return Call(FUNCTIONS[name], arguments)


def _leaf(random: Random, leaves: Sequence[tuple[Expression, str]], wanted: str) -> Expression:
    near = {"N": "NF", "F": "FN"}.get(wanted, wanted)
    fitting = [x for x, kind in leaves if _LETTERS.get(kind, "?") in (*near, "?")]
    if fitting and random.random() < 0.8:
        return random.choice(fitting)
    kinds = [kind for kind, letter in _LETTERS.items() if letter == wanted]
    if random.random() < 0.1:
        return Constant(None)
    return Constant(random.choice(_VALUES[random.choice(kinds)]))


def leaves_of(names: dict[str, str], plain: str) -> list[tuple[Expression, str]]:
    """What can be read of a pipe of records with fields of these kinds, and of a plain pipe."""
    fields: list[tuple[Expression, str]] = [(Field(n), kind) for n, kind in names.items()]
    return [*fields, (Input(1), plain), (Field("value", 1), plain)]
