"""How a notebook shows something; a room that can draw it registers how."""

from __future__ import annotations

from functools import singledispatch

__all__ = ["shown"]


@singledispatch
def shown(thing: object) -> dict[str, str]:
    """What ``_repr_mimebundle_`` returns, by type of content."""
    return {"text/plain": repr(thing)}
