"""Which functions of a user's own a text may name, by ``package.module:name``.

A path in a text is a program: to find the function, its module is imported. So each place that
reads a text says which modules it may import:

- conditions (``where``), search fields and links: none, ever (`NEVER`);
- chain files: those of the modules that the user allows (`AllowedFunctions`);
- chains in a record or in the graph: none. They are read with the names of their functions alone
  (`BY_NAME`), and run again only if this process was allowed to load these before (`LOADED`);
- texts in the user's own Python: any module but Python's own (`IN_PYTHON`).

No text ever names a function of Python's standard library: ``os:system`` is one.
"""

from __future__ import annotations

import importlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import ModuleType
from typing import NoReturn

from whence.engine.errors import ParameterError, RunnerError
from whence.engine.functions.base import Function
from whence.engine.functions.user import (
    NotLoaded,
    as_function,
    known_function,
    not_loaded,
    now_known,
)

__all__ = [
    "BY_NAME",
    "IN_PYTHON",
    "LOADED",
    "NEVER",
    "AllowedFunctions",
    "OwnFunctions",
    "checked_modules",
    "in_force",
]

_PYTHONS_OWN = frozenset(sys.stdlib_module_names) | frozenset(sys.builtin_module_names)


class OwnFunctions(ABC):
    """Finds the functions that a text names by path, as far as that text may name any."""

    @abstractmethod
    def named(self, path: str) -> Function:
        """The function of this path.

        Raises:
            ParameterError: the text may not name it, or there is none.
        """

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold for everything that processors read meanwhile, also from texts of their own."""
        token = _IN_FORCE.set(self)
        try:
            yield
        finally:
            _IN_FORCE.reset(token)


class _Never(OwnFunctions):
    def named(self, path: str) -> Function:
        """Refuse it: a condition may come from a link."""
        msg = (
            f"a condition: expected no function but Whence's own; got {path!r}; "
            "try it in the chain: functions of your own run in chain files and in Python only"
        )
        raise ParameterError(msg)


class _ByName(OwnFunctions):
    def named(self, path: str) -> Function:
        """The function if this process has it already; else one that knows its name alone."""
        module = _split(path)[0]
        found = known_function(path)
        if found is not None:
            return found
        return not_loaded(path, _pythons_own(path, module) or _not_allowed(path))


class _Loaded(OwnFunctions):
    def named(self, path: str) -> Function:
        """The function if this process has it already."""
        found = BY_NAME.named(path)
        if isinstance(found.compute, NotLoaded):
            raise RunnerError(found.compute.why)
        return found


class AllowedFunctions(OwnFunctions):
    """The functions of the modules that the user allows, with all that is below these modules."""

    def __init__(
        self, modules: Iterable[str] | Callable[[], Iterable[str]], *, others: bool = False
    ) -> None:
        """Note what is allowed.

        Args:
            modules: such as ``mypackage``; or what gives them, called when a text names a function.
            others: read functions of other modules by name, instead of refusing them.
        """
        self._modules = modules
        self._allowed: frozenset[str] | None = None
        self._others = others

    @property
    def modules(self) -> frozenset[str]:
        """What is allowed."""
        if self._allowed is None:
            modules = self._modules() if callable(self._modules) else self._modules
            self._allowed = checked_modules(modules)
        return self._allowed

    def named(self, path: str) -> Function:
        """Import it, if its module is allowed."""
        module = _split(path)[0]
        if self._covers(module):
            return now_known(path, _imported(path, self._covers))
        if self._others:
            return BY_NAME.named(path)
        _refuse_pythons_own(path, module)
        raise ParameterError(_not_allowed(path))

    def _covers(self, module: str) -> bool:
        names = module.split(".")
        return any(".".join(names[:n]) in self.modules for n in range(1, len(names) + 1))


class _InPython(OwnFunctions):
    def named(self, path: str) -> Function:
        """Import it: a program in Python can run anything anyway."""
        _refuse_pythons_own(path, _split(path)[0])
        return now_known(path, _imported(path, lambda module: not _is_pythons_own(module)))


NEVER = _Never()
BY_NAME = _ByName()
LOADED = _Loaded()
IN_PYTHON = _InPython()

_IN_FORCE: ContextVar[OwnFunctions] = ContextVar("own functions", default=IN_PYTHON)


def in_force() -> OwnFunctions:
    """What a processor may load that is being made: a chain file's, or the user's own Python's."""
    return _IN_FORCE.get()


def checked_modules(modules: Iterable[str]) -> frozenset[str]:
    """Names of modules that may be allowed.

    Raises:
        ParameterError: one is no name of a module, or a module of Python's standard library.

    >>> sorted(checked_modules(["mypackage", "other.tools"]))
    ['mypackage', 'other.tools']
    """
    found: Collection[str] = [modules] if isinstance(modules, str) else list(modules)
    for name in found:
        if not all(part.isidentifier() for part in str(name).split(".")):
            msg = (
                f"a module to allow: expected its name, with dots; got {name!r}; "
                "try mypackage, or mypackage.module"
            )
            raise ParameterError(msg)
        if _is_pythons_own(name):
            msg = (
                f"a module to allow: expected one of your own; got {name!r}, of Python's standard "
                "library, which no chain may call; try a module of your own that uses it"
            )
            raise ParameterError(msg)
    return frozenset(found)


def _split(path: str) -> tuple[str, list[str]]:
    """Module and attributes of a path; nothing is imported."""
    module, colon, name = path.partition(":") if isinstance(path, str) else ("", "", "")
    attributes = name.split(".")
    if not colon or not all(part.isidentifier() for part in [*module.split("."), *attributes]):
        msg = (
            f"a function's path: expected package.module:name; got {path!r}; "
            "try a colon between module and function"
        )
        raise ParameterError(msg)
    if any(part.startswith("__") for part in attributes):
        msg = (
            f"a function's path: expected a function; got {path!r}, a part of Python's own "
            "machinery; try a function at the top of the module"
        )
        raise ParameterError(msg)
    return module, attributes


def _is_pythons_own(module: str) -> bool:
    return module.partition(".")[0] in _PYTHONS_OWN


def _pythons_own(path: str, module: str) -> str | None:
    if not _is_pythons_own(module):
        return None
    return (
        f"a function's path: expected a function of your own; got {path!r}, of Python's standard "
        f"library ({module}); try a function in a module of your own that calls it"
    )


def _refuse_pythons_own(path: str, module: str) -> None:
    msg = _pythons_own(path, module)
    if msg is not None:
        raise ParameterError(msg)


def _not_allowed(path: str) -> str:
    package = path.partition(":")[0].partition(".")[0]
    return (
        f"a function's path: expected one of a module that you allow; got {path!r}; "
        f"try --allow {package} (in Python allow=[{package!r}]), if you trust its code"
    )


def _imported(path: str, may: Callable[[str], bool]) -> Function:
    """Import a function whose module was checked, and check where it really comes from."""
    module, attributes = _split(path)
    _refuse_pythons_own(path, module)
    try:
        found: object = importlib.import_module(module)
        for part in attributes:
            found = getattr(found, part)
            if isinstance(found, ModuleType) and not may(found.__name__):
                _refuse_foreign(path, found.__name__)
    except (ImportError, AttributeError) as fault:
        known = known_function(path)
        if known is not None:
            return known
        msg = (
            f"a function's path: expected an importable function; got {path!r} ({fault}); "
            "try installing its package, or PYTHONPATH"
        )
        raise ParameterError(msg) from fault
    if not isinstance(found, Function) and not may(origin := _origin(found)):
        _refuse_foreign(path, origin)
    return as_function(found, path)


def _refuse_foreign(path: str, origin: str) -> NoReturn:
    _refuse_pythons_own(path, origin)
    msg = (
        f"a function's path: expected a function that its own module defines; got {path!r}, "
        f"defined in {origin}; try --allow {origin.partition('.')[0]} as well, if you trust it"
    )
    raise ParameterError(msg)


def _origin(found: object) -> str:
    """The module that defines what was found, whatever the name under which it was found."""
    while isinstance(found, partial):
        found = found.func
    named = getattr(found, "__module__", None)
    return named if isinstance(named, str) else type(getattr(found, "__self__", found)).__module__
