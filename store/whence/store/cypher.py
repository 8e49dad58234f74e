"""The Cypher files of this package, by name."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["cypher", "schema"]


@cache
def cypher(name: str) -> str:
    """Read ``queries/NAME.cypher``.

    >>> "$keys" in cypher("up_explains")
    True
    """
    return files("whence.store").joinpath(f"queries/{name}.cypher").read_text(encoding="utf-8")


@cache
def schema() -> tuple[str, ...]:
    """Read the statements of ``schema.cypher``, one by one: the server takes no two at once."""
    text = files("whence.store").joinpath("schema.cypher").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    return tuple(part.strip() for part in "\n".join(lines).split(";") if part.strip())
