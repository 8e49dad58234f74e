"""Windows of a fold: the totals of all windows without an instance of P for each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence.engine.kernels.batch import Batch
from whence.engine.kernels.columns import Column, Ints
from whence.engine.kernels.conditions import as_conditions
from whence.engine.kernels.cumulate import is_ours
from whence.engine.kernels.expressions import RowFault
from whence.engine.kernels.folds import ADD, MAX, MIN, PRODUCT, UNSET_YET
from whence.engine.kernels.kernel import Kernel, Place
from whence.engine.kernels.operator import asked
from whence.engine.kernels.runs import Runs, runs_of
from whence.engine.kernels.totals import Totals, number_column, numeric
from whence.engine.kernels.trails import Nothing, Trail, union
from whence.engine.kernels.window import GeneralWindow, WindowKernel, Windows, reaching
from whence.engine.kernels.window_loops import fold_windows, holding_windows, whole_windows
from whence.engine.processors import Cumulate
from whence.engine.values import is_odd

__all__ = ["fold_of"]

_OPERATIONS = {"add": ADD, "product": PRODUCT, "min": MIN, "max": MAX}


def fold_of(place: Place) -> Kernel | None:
    """The kernel of a Window whose P is nothing but one of the usual folds."""
    inner = place.inner
    assert inner is not None
    if len(inner.steps) != 1 or inner.exits != ((0, 0),) or inner.input_count != 1:
        return None
    declared = inner.steps[0].processor
    if not isinstance(declared, Cumulate) or not is_ours(declared):
        return None
    if declared.folded.name not in (*_OPERATIONS, "and", "or"):
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

    def of(self, windows: Windows) -> Batch:
        """The totals, if they can be had the short way; else as P does."""
        if not len(windows.ends):
            return self.empty()
        batch = windows.pipes[0]
        found = self._logical(windows) if self.totals.is_logical else self._numbers(windows)
        if found is None:
            self.general.said = self.said
            return self.general.of(windows)
        if not self.tracked:
            nothing = Nothing(len(windows.ends))
            return Batch(found.values, windows.moment, windows.slot, nothing, nothing, None)
        exists = None if batch.exists is None else batch.exists.take(windows.ends)
        why, sup = self._explained(windows, found, exists)
        return Batch(found.values, windows.moment, windows.slot, why, sup, exists)

    def _explained(
        self, windows: Windows, found: _Totals, exists: Trail | None
    ) -> tuple[Trail, Trail]:
        totals = self.totals
        own, other = asked(windows.pipes[0])
        whole = reaching(own, windows, self.n)
        enough = whole if other is own else reaching(other, windows, self.n)
        why = _with_runs(whole, own, found)
        if totals.is_extreme or (totals.is_product and self.may_vanish):
            return why, enough
        if not len(found.lo):
            return why, enough
        sup = why if other is own else _with_runs(enough, other, found)
        return why, sup if exists is None else union(sup, exists) or sup

    def _logical(self, windows: Windows) -> _Totals | None:
        totals, count = self.totals, len(windows.ends)
        column = windows.pipes[0].values
        try:
            holds = as_conditions(column)
        except RowFault:
            return None
        totals.drop()
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
        operation = _OPERATIONS[totals.name]
        if self._is_small(column):
            out = np.empty(count, np.int64)
            ends = none if windows.steady else windows.ends
            runs = whole_windows(operation, column.data, ends, self.n, out, lo, hi, places)
            values = Column(column.kind, out, None, column.texts)
            return _Totals(values, lo[:runs], hi[:runs], places[:runs])
        is_float = column.kind == "float"
        kind, whole, pick = (np.empty(count, np.int64) for _ in range(3))
        real = np.empty(count, np.float64)
        first_kind, first_whole, first_real = totals.first
        mark = 2 if first_kind != UNSET_YET and (totals.is_extreme or totals.start == 0) else 0
        refused = fold_windows(
            operation,
            is_float,
            none if is_float else column.data,
            column.data if is_float else np.empty(0, np.float64),
            np.empty(0, np.bool_) if column.valid is None else column.valid,
            windows.ends,
            self.n,
            first_kind,
            first_whole,
            first_real,
            is_odd(totals.start),
            mark,
            kind,
            whole,
            real,
            pick,
        )
        if refused >= 0:
            return None
        unit = "integer" if is_float else column.kind
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
        neutral = 0 if totals.name == "add" else 1
        if type(totals.start) is not int or totals.start != neutral:
            return False
        most = max(-int(column.data.min()), int(column.data.max()), 1)
        if totals.name == "add":
            return most * self.n < 2**63
        return most == 1 or (self.n < 63 and most**self.n < 2**63)


def _with_runs(usual: Trail, child: Trail, found: _Totals) -> Trail:
    if not len(found.lo):
        return usual
    return Runs(usual, child, found.lo, found.hi, found.places)
