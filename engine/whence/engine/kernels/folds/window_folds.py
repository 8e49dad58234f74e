"""Windows of a fold: the totals of all windows without an instance of P for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Column, Ints
from whence.engine.kernels.columns.lazy_ints import rows_from
from whence.engine.kernels.expressions.conditions import as_conditions
from whence.engine.kernels.expressions.expression import RowFault
from whence.engine.kernels.folds.loops import UNSET_YET
from whence.engine.kernels.folds.totals import OPERATIONS, Totals, inputs_of, number_column, numeric
from whence.engine.kernels.folds.window_loops import (
    fold_windows,
    holding_windows,
    steady_arrays,
    steady_windows,
    whole_windows,
)
from whence.engine.kernels.kernel import Born, Kernel, Place
from whence.engine.kernels.processors.cumulate import is_ours
from whence.engine.kernels.trails.reasons import Reasons, together
from whence.engine.kernels.trails.runs import Runs, runs_of
from whence.engine.kernels.trails.trail import Nothing, Trail
from whence.engine.kernels.windows import (
    GeneralWindow,
    WindowKernel,
    Windows,
    every_window,
    with_trails,
)
from whence.engine.processors import Cumulate
from whence.engine.values import is_odd
from whence.engine.values.jit import is_compiled

__all__ = ["fold_of"]


def fold_of(place: Place) -> Kernel | None:
    """The kernel of a Window whose P is nothing but one of the usual folds."""
    inner = place.inner
    assert inner is not None
    if len(inner.steps) != 1 or inner.exits != ((0, 0),) or inner.input_count != 1:
        return None
    declared = inner.steps[0].processor
    if not isinstance(declared, Cumulate) or not is_ours(declared):
        return None
    if declared.folded.name not in (*OPERATIONS, "and", "or"):
        return None
    return _FoldWindow(place, declared)


class _Totals(NamedTuple):
    """The totals of windows, and which of them one input explains alone.

    Attributes:
        values: the totals.
        lo: the first output of every run.
        hi: the last one.
        places: the row that explains the run.
    """

    values: Column
    lo: Ints
    hi: Ints
    places: Ints


class _FoldWindow(WindowKernel):
    def __init__(self, place: Place, declared: Cumulate) -> None:
        super().__init__(place)
        assert place.inner is not None
        self.totals = Totals(declared)
        self.may_vanish = place.inner.traits_of((-1, 0)).may_vanish
        self.general = GeneralWindow(place)
        self.limit = self._limit()

    def _limit(self) -> int:
        """The largest size of an integer with which no sum or product overflows; 0 if any may."""
        totals = self.totals
        if totals.name not in ("add", "product") or type(totals.start) is not int:
            return 0
        if totals.start != (1 if totals.is_product else 0):
            return 0
        if not totals.is_product:
            return (2**63 - 1) // self.n
        most = int((2.0**62) ** (1 / self.n))
        return most if most > 1 else 1

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Sums and products of integers in a row have a way that is shorter still."""
        found = self._steady(front) if self.limit and front.slot is None else None
        return super().feed(front, born) if found is None else [found]

    def _steady(self, front: Front) -> Batch | None:
        (batch,) = front.pipes
        n, values = self.n, batch.values
        old = self.tail[0] if self.tail else batch.slice(0, 0)
        for column in (old.values, values):
            if column.kind != "integer" or column.valid is not None:
                return None
        if len(values) < n:
            return None
        count = len(old) + len(values) - n + 1
        out, lo, hi = (np.empty(count, np.int64) for _ in range(3))
        places = np.empty(count + n, np.int64)
        totals = steady_windows if is_compiled(len(values)) else steady_arrays
        runs = totals(
            self.totals.is_product, old.values.data, values.data, n, self.limit, out, lo, hi, places
        )
        if runs < 0:
            return None
        rest = batch.take(np.arange(len(batch) - n + 1, len(batch)))
        self.tail = [rest.settled()] if n > 1 else []
        found = _Totals(
            Column("integer", out, None, values.texts), lo[:runs], hi[:runs], places[:runs]
        )
        self.said += count
        moment = front.moment[len(front) - count :]
        ends = rows_from(n - 1, n - 1 + count)
        pipe = with_trails(old, batch) if self.tracked else batch
        return self._batch(Windows((pipe,), ends, moment, None, True), found)

    def of(self, windows: Windows) -> Batch:
        """The totals, if they can be had the short way; else as P does."""
        if not len(windows.ends):
            return self.empty()
        found = self._logical(windows) if self.totals.is_logical else self._numbers(windows)
        if found is None:
            self.general.said = self.said
            return self.general.of(windows)
        return self._batch(windows, found)

    def _batch(self, windows: Windows, found: _Totals) -> Batch:
        batch = windows.pipes[0]
        if not self.tracked:
            nothing = Reasons.nothing(len(windows.ends))
            return Batch(found.values, windows.moment, windows.slot, *nothing)
        exists = None if batch.exists is None else batch.exists.take(windows.ends)
        reasons = self._explained(windows, found, exists)._replace(exists=exists)
        return Batch(found.values, windows.moment, windows.slot, *reasons)

    def _explained(self, windows: Windows, found: _Totals, exists: Trail | None) -> Reasons:
        totals = self.totals
        own = windows.pipes[0].reasons.ask()
        whole = together(lambda trail: every_window(trail, windows, self.n), own)
        if not len(found.lo):
            return whole

        def with_runs(usual: Trail, child: Trail) -> Trail:
            return Runs(usual, child, found.lo, found.hi, found.places)

        if totals.is_extreme or (totals.is_product and self.may_vanish):
            return whole._replace(why=with_runs(whole.why, own.why))
        return together(with_runs, whole, own).leaning(exists)

    def _logical(self, windows: Windows) -> _Totals | None:
        totals, count = self.totals, len(windows.ends)
        column = windows.pipes[0].values
        try:
            holds = as_conditions(column)
        except RowFault:
            return None
        totals.forget()
        totals.grow(1)
        if totals.mark[0] == 2:
            return None
        out = np.empty(count, np.bool_)
        lo, hi, places = (np.empty(count, np.int64) for _ in range(3))
        runs = holding_windows(holds, totals.decisive, windows.ends, self.n, out, lo, hi, places)
        values = Column("boolean", out, None, column.texts)
        return _Totals(values, lo[:runs], hi[:runs], places[:runs])

    def _numbers(self, windows: Windows) -> _Totals | None:
        totals, count = self.totals, len(windows.ends)
        column = numeric(windows.pipes[0].values, totals.kinds)
        if column is None or totals.objects is not None:
            return None
        if totals.is_extreme and totals.unit not in (None, column.kind):
            return None
        lo, hi, places = (np.empty(count, np.int64) for _ in range(3))
        none = np.empty(0, np.int64)
        operation = OPERATIONS[totals.name]
        if self._is_small(column):
            out = np.empty(count, np.int64)
            ends = none if windows.steady else windows.ends
            runs = whole_windows(operation, column.data, ends, self.n, out, lo, hi, places)
            values = Column(column.kind, out, None, column.texts)
            return _Totals(values, lo[:runs], hi[:runs], places[:runs])
        kind, whole, pick = (np.empty(count, np.int64) for _ in range(3))
        real = np.empty(count, np.float64)
        starts = totals.first[0] != UNSET_YET
        mark = 2 if starts and (totals.is_extreme or totals.start == 0) else 0
        begins = (*totals.first, is_odd(totals.start), mark)
        given = (*inputs_of(column), windows.ends, self.n)
        if fold_windows(operation, *given, *begins, kind, whole, real, pick) >= 0:
            return None
        unit = "integer" if column.kind == "float" else column.kind
        values = number_column(kind, whole, real, unit, column.texts)
        found = runs_of(Nothing(count), Nothing(0), np.where(pick == -3, -2, pick))
        assert isinstance(found, Runs)
        return _Totals(values, found.lo, found.hi, found.places)

    def _is_small(self, column: Column) -> bool:
        """Whether all are present integers and no total can overflow."""
        totals = self.totals
        if column.kind == "float" or column.valid is not None or not len(column):
            return False
        if totals.is_extreme:
            return totals.first[0] == UNSET_YET
        if not self.limit:
            return False
        return -self.limit <= int(column.data.min()) and int(column.data.max()) <= self.limit
