"""Users' own functions: a plain Python callable, optionally with a rule."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from whence.engine.errors import ParameterError, RunnerError
from whence.engine.functions.base import ALL, Function, Pick, Rule
from whence.engine.values import Value

__all__ = [
    "NotLoaded",
    "as_function",
    "brought",
    "check_path",
    "function",
    "import_function",
    "known_function",
    "not_loaded",
    "now_known",
    "returns_by_path",
]

_KNOWN: dict[str, Function] = {}
"""Functions that this process has by permission, or was given as code, by their paths."""


class _UserRule:
    """A rule given as a callable: from arguments and result to the arguments that explain."""

    def __init__(self, pick: Callable[[Sequence[Value], Value], Sequence[Pick]]) -> None:
        self.pick = pick

    def explain(self, arguments: Sequence[Value], result: Value) -> Sequence[Pick]:
        """Ask the user's rule; nothing chosen means that the result needs no argument."""
        picks = [tuple(p) for p in self.pick(arguments, result)]
        for number in {i for p in picks for i in p}:
            if not 0 <= number < len(arguments):
                msg = (
                    f"a rule of a function: expected argument numbers below {len(arguments)}; "
                    f"got {number}; try counting from 0"
                )
                raise ParameterError(msg)
        return picks or ((),)

    def support(self, pick: Pick, may_vanish: Sequence[bool]) -> Pick:
        """The user says what explains; only all arguments are surely enough."""
        return tuple(range(len(may_vanish)))


def function(
    compute: Callable[..., Value],
    rule: Rule | Callable[[Sequence[Value], Value], Sequence[Pick]] | None = None,
    name: str = "",
) -> Function:
    """Make a function of the chain from a Python callable.

    Args:
        compute: called with the argument values; missing is ``None``.
        rule: a `Rule`, or a callable from (arguments, result) to the alternatives, each a tuple
            of argument numbers, the preferred one first. Then all arguments support the result.
            Without a rule all arguments explain it.
        name: how it is shown; the callable's own name unless given.

    >>> clamp = function(lambda x: min(x, 10), name="clamp")
    >>> clamp.compute(42)
    10
    """
    if isinstance(compute, Function):
        return compute
    path = f"{getattr(compute, '__module__', '?')}:{getattr(compute, '__qualname__', '?')}"
    if rule is None:
        chosen: Rule = ALL
    elif callable(rule):
        chosen = _UserRule(rule)
    else:
        chosen = rule
    return Function(
        name or getattr(compute, "__name__", "function"),
        compute,
        _arity(compute),
        chosen,
        missing="always",
        path=path,
    )


def _arity(compute: Callable[..., Value]) -> tuple[int, int | None]:
    try:
        parameters = inspect.signature(compute).parameters.values()
    except (TypeError, ValueError):
        return (0, None)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    most = None if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)
    return (sum(p.default is p.empty for p in positional), most)


def import_function(path: str) -> Function:
    """Import a function by its path, whatever it is: one that the user's own code gave.

    Paths that stand in a text are found by `whence.engine.functions.own` instead, which checks
    them first.
    """
    module_name, _, name = path.partition(":")
    try:
        found: object = importlib.import_module(module_name)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as fault:
        if path in _KNOWN:
            return _KNOWN[path]
        msg = (
            f"a function's path: expected an importable function; got {path!r} ({fault}); "
            "try installing its package, or PYTHONPATH"
        )
        raise ParameterError(msg) from fault
    return as_function(found, path)


def as_function(found: object, path: str) -> Function:
    """Make a function of what was found under a path."""
    if isinstance(found, Function):
        return replace(found, path=path)
    if not callable(found):
        msg = f"a function's path: expected a callable; got {path!r}; try the function itself"
        raise ParameterError(msg)
    return function(found)


def now_known(path: str, found: Function) -> Function:
    """Remember a function, so that chains of records may use it in this process."""
    _KNOWN[path] = _KNOWN[found.path] = found
    return found


def known_function(path: str) -> Function | None:
    """A function that this process was allowed to load, or was given, before."""
    return _KNOWN.get(path)


def brought(
    path: str,
    name: str,
    compute: Callable[..., Value],
    arity: tuple[int, int | None],
    rule: Rule | None,
) -> Function:
    """A function of a notebook or script that came here with its code; its path finds it again.

    Args:
        path: ``__main__:name``, as it was there.
        name: how it is shown.
        compute: the callable.
        arity: fewest and most arguments.
        rule: its own rule, if it has one.
    """
    made = Function(name, compute, arity, rule or ALL, missing="always", path=path)
    return now_known(path, made)


@dataclass(frozen=True)
class NotLoaded:
    """Stands for the code of a function of which only the path was read."""

    path: str
    why: str

    def __call__(self, *arguments: Value) -> Value:
        """Refuse."""
        raise RunnerError(self.why)


def not_loaded(path: str, why: str) -> Function:
    """A function that can be written, drawn and compared, and refuses to compute.

    Args:
        path: its path.
        why: what it says then.
    """
    name = path.rpartition(":")[2]
    return Function(name, NotLoaded(path, why), (0, None), missing="always", path=path)


def returns_by_path(own: Function) -> bool:
    """Whether its import path brings a function back; one that does is known from here on."""
    if isinstance(own.compute, NotLoaded):
        return True
    try:
        found = import_function(own.path)
    except ParameterError:
        return False
    if found.compute is not own.compute or found.rule is not own.rule:
        return False
    now_known(own.path, own)
    return True


def check_path(own: Function) -> None:
    """Refuse a function that its import path does not bring back: a lambda, a local function."""
    if not returns_by_path(own):
        msg = (
            f"function {own.name!r}: expected one that can be imported by its path; "
            f"got {own.path!r}, which is another one or none; try assigning "
            "`function(…, rule=…)` to the same name at the top of an importable module"
        )
        raise ParameterError(msg)
