"""What the texts of a column could be read as: a proposal for the user, never applied by itself."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from whence.engine.arrow_compute import pc
from whence.engine.columns import column_type
from whence.engine.sources.time_format import time_format
from whence.engine.sources.typed import typed

__all__ = ["CANDIDATES", "FORMS", "Candidates"]

_DATES = ("%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y")
_CLOCKS = (" %H:%M:%S", " %H:%M:%S.%f", " %H:%M", "")
FORMS = (*(date + clock for date in _DATES for clock in _CLOCKS), "%d/%b/%Y:%H:%M:%S %z")
"""Customary ways to write a time that are not ISO 8601."""

_INSTANT = column_type("instant")

CANDIDATES = ("boolean", "integer", "float", "instant", *(f"instant({form})" for form in FORMS))
"""What is tried, in this order."""

_PATTERNS = {
    "boolean": "(true|false)",
    # A code such as 0123 would lose its zero as a number.
    "integer": "[-+]?(0|[1-9][0-9]{0,17})",
    "float": r"[-+]?(0|[1-9][0-9]*)(\.[0-9]*)?([eE][-+]?[0-9]+)?",
    "instant": (
        "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
        "(Z|[-+][0-9]{2}:?[0-9]{2})?)?"
    ),
}


_PATTERNS |= {f"instant({form})": time_format(form).pattern for form in FORMS}


class Candidates:
    """The kinds that every text of a column, so far, could be read as."""

    def __init__(self, timezone: str = "UTC") -> None:
        """Begin with all; each batch leaves fewer."""
        self.left: Sequence[str] = CANDIDATES
        self.timezone = timezone
        self._seen = False

    def see(self, texts: pa.Array) -> dict[str, pa.Array]:
        """Look at a batch; give the instants of every candidate that is one."""
        if texts.null_count == len(texts):
            nothing = pa.nulls(len(texts), _INSTANT)
            return {kind: nothing for kind in self.left if kind.startswith("instant")}
        self._seen = True
        distinct = pc.unique(texts.drop_null())
        instants: dict[str, pa.Array] = {}
        kept = []
        for kind in self.left:
            if not pc.all(pc.match_substring_regex(distinct, f"^{_PATTERNS[kind]}$")).as_py():
                continue
            values, faults = typed(distinct, kind, self.timezone)
            if faults:
                continue
            if kind.startswith("instant"):
                instants[kind] = values.take(pc.index_in(texts, distinct))
            kept.append(kind)
        self.left = kept
        return instants

    @property
    def best(self) -> str | None:
        """The first that is left; of a column without any text, none."""
        return self.left[0] if self._seen and self.left else None

    @property
    def doubt(self) -> str | None:
        """A second way to read the times, that would mean others: day and month can be swapped."""
        times = [kind for kind in self.left if kind.startswith("instant(")] if self._seen else []
        return times[1] if len(times) > 1 and self.best == times[0] else None
