"""Functions: each computes a value and says which arguments explain and which support it."""

from __future__ import annotations

from difflib import get_close_matches

from whence.engine.errors import ParameterError
from whence.engine.functions import (
    arithmetic,
    choice,
    collection,
    comparison,
    logic,
    text,
    time,
)
from whence.engine.functions.base import ALL, AllArguments, Function, Kind, Pick, Rule
from whence.engine.functions.own import (
    BY_NAME,
    IN_PYTHON,
    LOADED,
    NEVER,
    AllowedFunctions,
    OwnFunctions,
    checked_modules,
    in_force,
)
from whence.engine.functions.user import (
    NotLoaded,
    brought,
    check_path,
    function,
    import_function,
    not_loaded,
    returns_by_path,
)

__all__ = [
    "ALL",
    "BY_NAME",
    "FUNCTIONS",
    "IN_PYTHON",
    "LOADED",
    "NEVER",
    "AllArguments",
    "AllowedFunctions",
    "Function",
    "Kind",
    "NotLoaded",
    "OwnFunctions",
    "Pick",
    "Rule",
    "brought",
    "check_path",
    "checked_modules",
    "function",
    "function_named",
    "import_function",
    "in_force",
    "not_loaded",
    "returns_by_path",
]

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for family in (logic, comparison, arithmetic, choice, collection, text, time)
    for f in family.FUNCTIONS
}


def function_named(name: str) -> Function:
    """Find a function by name; the error lists the candidates.

    >>> function_named("product").neutral
    1
    """
    found = FUNCTIONS.get(name)
    if found is None:
        near = get_close_matches(name, FUNCTIONS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "one of " + ", ".join(sorted(FUNCTIONS))
        msg = f"a function: expected a known name; got {name!r}; try {hint}"
        raise ParameterError(msg)
    return found
