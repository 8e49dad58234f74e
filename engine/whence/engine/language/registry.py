"""Which processors there are: our own, and those of palettes that other packages bring.

The language knows processors by this registry alone: they are built upon it.

A palette is a module with a tuple ``PROCESSORS``. A package announces one under the entry point
group ``whence.palettes``, and its processors can then be used in chain files by their tags.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from whence.engine.errors import DefinitionError
from whence.engine.language.processor import Processor

__all__ = ["own_type", "processor_types", "temporal_formula", "types_with_tag"]

_PROCESSORS = "whence.engine.processors"
_OWN = (_PROCESSORS, "whence.engine.palettes.fsm", "whence.engine.palettes.ltl")
_FORMULAS = "whence.engine.palettes.ltl.formulas"


@cache
def processor_types() -> dict[str, tuple[type[Processor], ...]]:
    """Every processor type by its tag."""
    palettes: list[tuple[type[Processor], ...]] = [import_module(n).PROCESSORS for n in _OWN]
    palettes += [_brought(point) for point in entry_points(group="whence.palettes")]
    found: dict[str, tuple[type[Processor], ...]] = {}
    for palette in palettes:
        for kind in palette:
            if kind not in found.get(kind.tag, ()):
                found[kind.tag] = (*found.get(kind.tag, ()), kind)
    return found


def _brought(point: EntryPoint) -> tuple[type[Processor], ...]:
    """The processors of another package's palette; whatever is wrong with it is one line."""
    try:
        return tuple(point.load().PROCESSORS)
    except Exception as fault:
        package = point.dist.name if point.dist else "a package"
        msg = (
            f"palette {point.name!r} of {package}: expected a module with PROCESSORS; "
            f"got {type(fault).__name__}: {fault}; try installing {package} again, or removing it"
        )
        raise DefinitionError(msg) from fault


def own_type(tag: str) -> type[Processor]:
    """The processor of this tag that is neither of a palette nor of another package."""
    own: tuple[type[Processor], ...] = import_module(_PROCESSORS).PROCESSORS
    return next(kind for kind in own if kind.tag == tag)


def temporal_formula(text: str, id: str) -> Processor:
    """Read a temporal formula, as in a chain file under ``formula``."""
    read: Callable[[str, str], Processor] = import_module(_FORMULAS).formula
    return read(text, id)


def types_with_tag(tag: str) -> tuple[type[Processor], ...]:
    """The processor types that share a tag; the error lists the candidates."""
    known = processor_types()
    if tag not in known:
        near = get_close_matches(tag, known, n=1)
        hint = f"{near[0]!r} (did you mean that?)" if near else "one of " + ", ".join(sorted(known))
        msg = f"a processor: expected a known tag; got {tag!r}; try {hint}"
        raise DefinitionError(msg)
    return known[tag]
