"""What is known of a pipe before any event: regular or not, raw or computed, possibly missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["LOG", "MOST_PIPES", "ComparedColumns", "DeclaredColumns", "Traits"]

MOST_PIPES = 1_000
"""Pipes have names; a slip of the pen in a chain file must not fill the memory with them."""


@dataclass(frozen=True, slots=True)
class Traits:
    """Static facts about the events of a pipe.

    Attributes:
        regular: their number, and when each appears, depends only on how many inputs arrived.
        raw: they are input events as they are, so that a field of one is *given* as a slice key.
        may_be_missing: a value may be missing, or a constant that is not finite.
        may_vanish: a value may become missing while all inputs stay present.
        kind: the kind of their values, ``any`` if it is not known.
        columns: for records, the kinds of the fields, if they were declared.
        time: for records, the field that holds their time, if there is one.
    """

    regular: bool = True
    raw: bool = False
    may_be_missing: bool = True
    may_vanish: bool = False
    kind: str = "any"
    columns: Mapping[str, str] | None = None
    time: str | None = None

    def but(self, **changes: object) -> Traits:
        """The same with some facts changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def without_existence(self) -> Traits:
        """The same as P inside a Window or Slice sees it: its input is there by definition."""
        return replace(self, regular=True)


LOG = Traits(raw=True)
"""An input log of which nothing is declared."""


class DeclaredColumns(dict[str, str]):
    """Columns some of which are declared: any other may be there too, of whatever kind.

    Attributes:
        undeclared: requested fields that are not declared, in the order of requests.
    """

    def __init__(self, declared: Mapping[str, str]) -> None:
        super().__init__(declared)
        self.undeclared: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        """Any field may exist."""
        return True

    def __missing__(self, name: str) -> str:
        """Remember the request."""
        self.undeclared[name] = None
        return "any"


class ComparedColumns(DeclaredColumns):
    """Columns that note which texts a chain compares them with.

    Attributes:
        texts: by column, the texts that it is compared with, each with how.
    """

    def __init__(self, declared: Mapping[str, str]) -> None:
        super().__init__(declared)
        self.texts: dict[str, dict[str, str]] = {}

    def note(self, column: str, text: str, how: str) -> None:
        """A chain compares the column with a text."""
        self.texts.setdefault(column, {}).setdefault(text, how)
