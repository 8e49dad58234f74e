"""What the texts of a column could be read as: a proposal for the user, never applied by itself.

Where day and month could be swapped, nothing is proposed: the user decides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from whence.engine.sources.cells import THOUSANDS
from whence.engine.sources.time_format import FORMS, time_format
from whence.engine.sources.typed import typed
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import column_type

__all__ = ["CANDIDATES", "Candidates", "DecimalCommas", "ways_to_read_times"]

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


# The first thousands of a number with a decimal comma: no zero comes first.
_THOUSANDS = "|".join(f"(?:{re.escape(sign)}[0-9]{{3}})+" for sign in THOUSANDS)
_WHOLE = f"[-+]?(?:0|[1-9][0-9]{{0,17}}|[1-9][0-9]{{0,2}}(?:{_THOUSANDS}))"
_WITH_COMMA = {"integer": _WHOLE, "float": f"{_WHOLE}(?:,[0-9]*)?(?:[eE][-+]?[0-9]+)?"}
_NO_THOUSANDS = (
    f"^[-+]?0,|[{THOUSANDS}][0-9]{{3}},|,(?:[0-9]{{0,2}}|[0-9]{{4,}})(?:[eE][-+]?[0-9]+)?$"
)
"""What shows that a comma is a decimal sign, not a thousands separator."""

_PATTERNS |= {f"instant({form})": time_format(form).pattern for form in FORMS}


class Candidates:
    """The kinds that every text of a column, so far, could be read as."""

    def __init__(self, timezone: str = "UTC", decimal: str = ".") -> None:
        self.left: Sequence[str] = CANDIDATES
        self.timezone = timezone
        self.decimal = decimal
        self._patterns = _PATTERNS | (_WITH_COMMA if decimal == "," else {})
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
        first = distinct[0].as_py()
        for kind in self.left:
            if re.fullmatch(self._patterns[kind], first) is None:
                continue  # most are done with here, before any work on the whole batch
            if not pc.all(
                pc.match_substring_regex(distinct, f"^(?:{self._patterns[kind]})$")
            ).as_py():
                continue
            values, faults = typed(distinct, kind, self.timezone, self.decimal)
            if faults:
                continue
            if kind.startswith("instant"):
                instants[kind] = values.take(pc.index_in(texts, distinct))
            kept.append(kind)
        self.left = kept
        return instants

    @property
    def best(self) -> str | None:
        """The first that is left; none of a column without any text, or of which two are left."""
        return self.left[0] if self._seen and self.left and not self.ambiguous else None

    @property
    def ambiguous(self) -> tuple[str, ...]:
        """The ways to read the times, if there are several: day and month can be swapped."""
        times = tuple(kind for kind in self.left if kind.startswith("instant("))
        return times if self._seen and len(times) > 1 and self.left[0] == times[0] else ()


class DecimalCommas:
    """Whether the texts of a column, so far, are numbers with decimal commas.

    Attributes:
        numbers: what the texts could be read as with a decimal comma.
    """

    def __init__(self) -> None:
        self.numbers = Candidates(decimal=",")
        self.numbers.left = ("integer", "float")
        self._comma = self._sure = False

    def see(self, texts: pa.Array) -> None:
        if not self.numbers.left:
            return
        self.numbers.see(texts)
        for name, pattern in (("_comma", ","), ("_sure", _NO_THOUSANDS)):
            if not getattr(self, name):
                setattr(
                    self, name, pc.any(pc.match_substring_regex(texts, pattern)).as_py() is True
                )

    @property
    def certain(self) -> bool:
        """Every text is such a number, and in one at least the comma can be nothing else."""
        return self.numbers.best is not None and self._sure

    @property
    def unclear(self) -> bool:
        """Every comma could also be a thousands separator: ``1,234``."""
        return self.numbers.best is not None and self._comma and not self._sure


def ways_to_read_times(texts: pa.Array) -> tuple[str, ...]:
    """The kinds of instants that all these texts fit; several if day and month can be swapped."""
    candidates = Candidates()
    candidates.see(texts)
    found = (candidates.best,) if candidates.best is not None else candidates.ambiguous
    return tuple(kind for kind in found if kind.startswith("instant"))
