"""Random expressions in every shape that formula text can say."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st

from whence.engine.functions import FUNCTIONS, import_function
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.values import INT64_MAX, INT64_MIN

__all__ = ["BROAD", "FULL", "THOROUGH", "expressions"]

FULL = os.environ.get("WHENCE_TEST_PROFILE") == "full"
THOROUGH = settings(max_examples=5_000 if FULL else 150, deadline=None)
BROAD = settings(max_examples=1_000 if FULL else 50, deadline=None)

_NAMES = st.sampled_from(["p", "action", "value", "G", "not", "event time", 'a"b', "a`b", "é", ""])
_TEXTS = st.sampled_from(["", "a", "it's", "''", "two\nlines", '"', "missing"]) | st.text(
    max_size=5
)
_NUMBERS = st.integers(INT64_MIN, INT64_MAX) | st.floats(allow_nan=False, allow_infinity=False)
_LEAVES: st.SearchStrategy[Expression] = (
    st.builds(Constant, st.none() | st.booleans() | _NUMBERS | _TEXTS)
    | st.builds(Input, st.integers(0, 3))
    | st.builds(Field, _NAMES | st.text(max_size=5), st.integers(0, 2))
)
_OWN = import_function("tests.engine.own_functions:hypot")


def _call(arguments: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    def of(name: str) -> st.SearchStrategy[Expression]:
        function = _OWN if name == "own" else FUNCTIONS[name]
        low, high = function.arity
        most = low + 3 if high is None else high
        given = st.lists(arguments, min_size=low, max_size=most)
        return st.builds(lambda xs: Call(function, tuple(xs)), given)

    return st.sampled_from(["own", *sorted(FUNCTIONS)]).flatmap(of)


expressions: st.SearchStrategy[Expression] = st.recursive(_LEAVES, _call, max_leaves=12)
