"""List the public names, with the parameters of each: what programs of users rely on.

``python -m tests.ground.public_names`` writes the list anew.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

from tests.ground.surroundings import ROOT

__all__ = ["LISTED", "MODULES", "public_names"]

LISTED = ROOT / "tests/ground/public_names.txt"
_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
MODULES = ("whence.api", "whence.engine", "whence.store", "whence.exporters")


def public_names() -> str:
    """One line for each name of the façades, and for each public attribute of their classes."""
    return "".join(f"{line}\n" for module in MODULES for line in _of_module(module))


def _of_module(name: str) -> Iterator[str]:
    module = import_module(name)
    for public in sorted(module.__all__):
        named = getattr(module, public)
        yield f"{name}.{public}{_parameters(named)}"
        if inspect.isclass(named) and named.__module__.startswith("whence."):
            for attribute in sorted(vars(named)):
                if not attribute.startswith("_"):
                    yield f"{name}.{public}.{attribute}{_parameters(vars(named)[attribute])}"


def _parameters(named: object) -> str:
    """Names and kinds of the parameters, without types: ``(log, *, closed=)``."""
    if isinstance(named, staticmethod | classmethod):
        named = named.__func__
    if not callable(named):
        return ""
    try:
        parameters = inspect.signature(named).parameters.values()
    except (TypeError, ValueError):
        return ""
    written: list[str] = []
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and "*" not in "".join(written):
            written.append("*")
        stars = _STARS.get(each.kind.name, "")
        default = "" if each.default is each.empty else "="
        written.append(f"{stars}{each.name}{default}")
    return f"({', '.join(written)})"


if __name__ == "__main__":
    LISTED.write_text(public_names(), encoding="utf-8")
