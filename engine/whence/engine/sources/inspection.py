"""Look at a log before using it: columns, kinds, counts, time, order, ties, what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from whence.engine.sources.mapping import Role, propose
from whence.engine.sources.proposing import Candidates, DecimalCommas
from whence.engine.sources.source import Reading, Report, Source
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import from_canonical

__all__ = ["Column", "Inspection", "Times", "inspect_log"]

_DISTINCT_SHOWN = 1_000
_DISTINCT_CASES = 2_000_000
_TYPED = ("boolean", "integer", "float", "text", "instant", "duration")


@dataclass
class Column:
    """What was seen of a column.

    Attributes:
        name: its name.
        kind: the kind it is read as.
        proposed: a kind that every text in it could be read as; ``None`` if there is none better,
            or if two would mean different values.
        ambiguous: the kinds that every text fits and that would mean different values.
        commas: its texts may be numbers with decimal commas or with commas between thousands.
        missing: rows without a value.
        distinct: different values; ``None`` if there are too many to count.
    """

    name: str
    kind: str
    proposed: str | None = None
    ambiguous: tuple[str, ...] = ()
    commas: bool = False
    missing: int = 0
    distinct: int | None = 0


@dataclass
class Times:
    """What was seen of the times, in file order.

    Attributes:
        kind: how the column was read for this.
        first: the earliest.
        last: the latest.
        back: neighbours of which the second is earlier than the first.
        back_in_case: those of them that belong to the same case.
        ties: neighbours at the same time.
        ties_in_case: neighbours at the same time that belong to the same case.
    """

    kind: str
    first: datetime | None = None
    last: datetime | None = None
    back: int = 0
    back_in_case: int = 0
    ties: int = 0
    ties_in_case: int = 0
    _before: pa.Scalar | None = field(default=None, repr=False)
    _case: pa.Scalar | None = field(default=None, repr=False)

    def see(self, times: pa.Array, cases: pa.Array | None) -> None:
        """Look at the times of a batch, and at the cases they belong to."""
        bounds = pc.min_max(times).as_py()
        for name, pick in (("first", "min"), ("last", "max")):
            found, known = bounds[pick], getattr(self, name)
            if found is not None and (known is None or (found < known) == (pick == "min")):
                setattr(self, name, found)
        if self._before is not None:
            times = pa.concat_arrays([pa.array([self._before.as_py()], times.type), times])
            if cases is not None:
                cases = pa.concat_arrays([pa.array([self._case.as_py()], cases.type), cases])  # type: ignore[union-attr]
        if len(times):
            self._before = times[-1]
            self._case = None if cases is None else cases[-1]
        earlier, later = times[:-1], times[1:]
        back, equal = pc.less(later, earlier), pc.equal(earlier, later)
        self.back += _count(back)
        self.ties += _count(equal)
        if cases is not None:
            # Two rows without a case are not known to be of one case.
            same = pc.equal(cases[:-1], cases[1:])
            self.back_in_case += _count(pc.and_(back, same))
            self.ties_in_case += _count(pc.and_(equal, same))


@dataclass
class Inspection:
    """What a look at a log found.

    Attributes:
        name: the log's name.
        format: csv, xes, ...
        events: how many.
        columns: each column.
        roles: the proposed mapping.
        cases: different cases; ``None`` if none is mapped or there are too many to count.
        activities: different activities; likewise.
        times: of the mapped time column, if its values can be read as times.
        first: the first rows, with the row number.
        report: what came of reading.
        decimal: the decimal sign that the kinds are proposed with, if it is not that of reading.
    """

    name: str
    format: str
    events: int
    columns: list[Column]
    roles: Mapping[str, Role]
    cases: int | None
    activities: int | None
    times: Times | None
    first: list[dict[str, Any]]
    report: Report
    decimal: str | None = None

    def declaration(self) -> dict[str, Any]:
        """The proposed mapping and kinds, as under ``logs`` in a chain file."""
        kinds = {c.name: c.proposed for c in self.columns if c.proposed is not None}
        roles = {role: found.column for role, found in self.roles.items()}
        decimal = {} if self.decimal is None else {"decimal": self.decimal}
        return {**({"columns": kinds} if kinds else {}), **roles, **decimal}


def inspect_log(
    source: Source,
    *,
    stated: Mapping[str, str | None] | None = None,
    rows: int = 3,
    timezone: str = "UTC",
) -> Inspection:
    """Read a log once and describe it; nothing is stored.

    Args:
        source: the log.
        stated: columns of roles as the user says, on top of what is guessed.
        rows: how many of the first rows to keep.
        timezone: the zone of times that carry none.
    """
    roles = propose(source.columns, stated=stated, known=source.roles, where=source.name)
    decimal = getattr(source, "reading", Reading()).decimal
    look = _Look(source.columns, roles, rows, timezone, decimal)
    for batch in source.batches():
        look.see(batch)
    return look.found(source)


class _Look:
    """What has been seen so far."""

    def __init__(
        self,
        columns: Mapping[str, str],
        roles: Mapping[str, Role],
        rows: int,
        timezone: str,
        decimal: str,
    ) -> None:
        self.columns = [Column(name, kind) for name, kind in columns.items()]
        self.roles = roles
        self.rows = rows
        self.events = 0
        self.first: list[dict[str, Any]] = []
        self.values: dict[str, set[Any]] = {name: set() for name in columns}
        texts = [name for name, kind in columns.items() if kind == "text"]
        self.candidates = {name: Candidates(timezone, decimal) for name in texts}
        self.commas = {name: DecimalCommas() for name in texts if decimal == "."}
        self.times: dict[str, Times] = {}

    def see(self, batch: pa.RecordBatch) -> None:
        self.events += batch.num_rows
        if len(self.first) < self.rows:
            self.first += batch.slice(0, self.rows - len(self.first)).to_pylist()
        case = self._column("case")
        cases = None if case is None else batch.column(case)
        for column in self.columns:
            values = batch.column(column.name)
            column.missing += values.null_count
            self._count_distinct(column, values)
            instants: dict[str, pa.Array] = {}
            if column.name in self.candidates:
                instants = self.candidates[column.name].see(values)
                if column.name in self.commas:
                    self.commas[column.name].see(values)
            elif column.kind == "instant":
                instants = {"instant": values}
            if column.name == self._column("time"):
                for kind, times in instants.items():
                    self.times.setdefault(kind, Times(kind)).see(times, cases)

    def found(self, source: Source) -> Inspection:
        with_commas = any(commas.certain for commas in self.commas.values())
        for column in self.columns:
            candidates = self.candidates.get(column.name)
            if candidates is None:
                continue
            column.proposed, column.ambiguous = candidates.best, candidates.ambiguous
            commas = self.commas.get(column.name)
            if with_commas and commas is not None:
                number = column.proposed in ("integer", "float")
                column.proposed = commas.numbers.best or (None if number else column.proposed)
            elif commas is not None:
                column.commas = commas.unclear
        by_name = {column.name: column for column in self.columns}
        time, case, activity = (by_name.get(self._column(r) or "") for r in _SHOWN_ROLES)
        kind = None if time is None else (time.proposed or time.kind)
        return Inspection(
            source.name,
            source.format,
            self.events,
            self.columns,
            self.roles,
            None if case is None else case.distinct,
            None if activity is None else activity.distinct,
            self.times.get(kind or ""),
            self.first,
            source.report,
            "," if with_commas else None,
        )

    def _column(self, role: str) -> str | None:
        return self.roles[role].column if role in self.roles else None

    def _count_distinct(self, column: Column, values: pa.Array) -> None:
        if column.distinct is None:
            return
        known = self.values[column.name]
        is_case = column.name == self._column("case")
        for value in pc.unique(values.drop_null()).to_pylist():
            # An event of an object-centric log may belong to several cases.
            listed = from_canonical(value) if column.kind not in _TYPED and is_case else None
            known.update(listed if isinstance(listed, list) else [value])
        column.distinct = len(known)
        if column.distinct > (_DISTINCT_CASES if is_case else _DISTINCT_SHOWN):
            column.distinct = None
            known.clear()


_SHOWN_ROLES = ("time", "case", "activity")


def _count(truths: pa.Array) -> int:
    return int(np.count_nonzero(truths.fill_null(False).to_numpy(zero_copy_only=False)))
