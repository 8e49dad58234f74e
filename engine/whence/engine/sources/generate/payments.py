"""A payment process to try things on: realistic in shape, drawn from a seed, with planted faults.

Every case is registered, checked (perhaps corrected and checked again, in a loop), approved
(perhaps reopened, checked and approved again: rework), paid and archived; payments above the limit
are audited right after. Some steps are booked within the same second, the archive is written by a
nightly job that stamps all its rows alike, and clerks or amounts are missing here and there. In a
few cases, and in no others, a rule is broken; the log knows in which.

Cases are drawn in blocks, and a block's events are put in order with what is left of the block
before, so that a log of any size takes the same memory. The same size and seed give the same log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.engine.errors import ParameterError
from whence.engine.sources.generate.drawing import Draws, runs
from whence.engine.sources.source import Report, Split, source_schema
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import column_type

__all__ = ["ACTIVITIES", "FAULTS", "LIMIT", "PaymentLog", "Planted", "payment_log"]

LIMIT = 5_000
"""Payments above this amount must be audited next."""

FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "unapproved": "paid without an approval",
        "unaudited": f"paid more than {LIMIT:,} without an audit next",
        "paid_twice": "paid a second time",
    }
)
"""What can be planted, and what it means."""

ACTIVITIES = ("register", "check", "correct", "approve", "reopen", "pay", "audit", "archive")
_CODE = {name: np.int8(code) for code, name in enumerate(ACTIVITIES)}
_COLUMNS = {
    "case": "text",
    "activity": "text",
    "time": "instant",
    "amount": "float",
    "clerk": "text",
}
_USUAL: Mapping[str, int] = MappingProxyType({"unapproved": 2, "unaudited": 1})

_CASES_A_BLOCK = 8_192
_ROWS_A_BATCH = 65_536
_SECONDS_A_CASE = 240
_FIRST_SECOND = 1_772_438_400  # 2026-03-02T08:00:00Z
_DAY, _NIGHTLY = 86_400, 22 * 3_600
_LOOP, _REWORK, _LARGE = 0.18, 0.04, 0.08
_EVENTS_A_CASE = 5 + 2 * _LOOP / (1 - _LOOP) + 3 * _REWORK / (1 - _REWORK) + _LARGE
_CLERKS = 14

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Planted:
    """A fault in the log.

    Attributes:
        fault: which, one of `FAULTS`.
        case: the case it is in.
        position: of the payment that should not be there, or not like this.
    """

    fault: str
    case: str
    position: int


@dataclass(frozen=True)
class _Rows:
    """Events as numbers; each case's in order."""

    case: Numbers
    step: Numbers
    time: Numbers
    activity: npt.NDArray[np.int8]
    amount: npt.NDArray[np.float64]
    clerk: Numbers  # 0 is missing

    def take(self, which: Numbers | npt.NDArray[np.bool_]) -> _Rows:
        return _Rows(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def behind(self, other: _Rows | None) -> _Rows:
        if other is None:
            return self
        names = self.__dataclass_fields__
        return _Rows(*(np.concatenate([getattr(other, n), getattr(self, n)]) for n in names))


class PaymentLog:
    """A log of payments: a source like any other that also knows its faults; see `payment_log`.

    Attributes:
        cases: how many payments.
        seed: what everything was drawn from.
        planted: the cases of each fault.
    """

    format = "generated"
    ordered = True

    def __init__(self, cases: int, seed: int, planted: Mapping[str, tuple[str, ...]]) -> None:
        """Remember what to draw; nothing is drawn yet."""
        self.cases = cases
        self.seed = seed
        self.planted = planted
        self.name = f"payments-{seed}"
        self.columns: Mapping[str, str] = dict(_COLUMNS)
        self.roles: Mapping[str, str] = {role: role for role in ("case", "activity", "time")}
        self.report = Report()

    def splits(self, wanted: int) -> list[Split]:
        """One stretch: the order of time runs through all cases."""
        return [Split()]

    def fingerprint(self) -> str:
        """What everything was drawn from."""
        return f"{self.cases} {self.seed} {dict(self.planted)}"

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        """The events in order of time; ``row`` counts them."""
        first, waiting = 0, None
        for begin in range(0, self.cases, _CASES_A_BLOCK):
            rows = self._block(begin).behind(waiting)
            rows = rows.take(np.lexsort((rows.step, rows.case, rows.time)))
            following = begin + _CASES_A_BLOCK
            ready = len(rows.time)
            if following < self.cases:
                # No later case begins before this second.
                border = _FIRST_SECOND + following * _SECONDS_A_CASE
                ready = int(np.searchsorted(rows.time, border))
            for lo in range(0, ready, _ROWS_A_BATCH):
                hi = min(lo + _ROWS_A_BATCH, ready)
                yield _batch(rows.take(np.arange(lo, hi)), first + lo)
            first += ready
            self.report.read = first
            waiting = rows.take(np.arange(ready, len(rows.time)))

    def traces(self) -> Iterator[pa.RecordBatch]:
        """The events case by case, each case's in order of time; ``row`` counts them."""
        first = 0
        for begin in range(0, self.cases, _CASES_A_BLOCK):
            rows = self._block(begin)
            yield _batch(rows, first)
            first += len(rows.time)

    def table(self) -> pa.Table:
        """All events in order of time."""
        return pa.Table.from_batches(self.batches())

    def violations(self) -> list[Planted]:
        """The planted faults with their positions, in order of position."""
        cases = {case: fault for fault, found in self.planted.items() for case in found}
        wanted = pa.array(cases, pa.string())
        last: dict[str, int] = {}
        for batch in self.batches():
            pay = pc.equal(batch.column("activity"), "pay")
            kept = batch.filter(pc.and_(pay, pc.is_in(batch.column("case"), wanted)))
            last.update(zip(kept["case"].to_pylist(), kept["row"].to_pylist(), strict=True))
        made = [Planted(fault, case, last[case]) for case, fault in cases.items()]
        return sorted(made, key=lambda each: each.position)

    @cached_property
    def _faults(self) -> dict[str, Numbers]:
        return {
            fault: np.array([int(case[1:]) for case in self.planted.get(fault, ())], np.int64)
            for fault in FAULTS
        }

    def _block(self, begin: int) -> _Rows:
        """Draw the cases of one block."""
        draws = Draws(self.seed, 1 + begin // _CASES_A_BLOCK)
        number = np.arange(begin, min(begin + _CASES_A_BLOCK, self.cases))
        unapproved, unaudited, twice = (np.isin(number, self._faults[f]) for f in FAULTS)
        count = len(number)
        large = (draws.share(count) < _LARGE) & ~twice | unaudited
        within = draws.share(count)
        amount = np.where(large, LIMIT + 100 + within * 35_000, 20 + within * 4_780).round(2)
        begins = number * _SECONDS_A_CASE + draws.below(5_400, count)
        loops, reworks = draws.tries(_LOOP, count), draws.tries(_REWORK, count)
        parts = (  # what happens, how often in each case
            (("register", "check"), np.ones(count, np.int64)),
            (("correct", "check"), loops),
            (("approve", "reopen", "check"), np.where(unapproved, 0, reworks)),
            (("approve",), (~unapproved).astype(np.int64)),
            (("pay",), 1 + twice.astype(np.int64)),
            (("audit",), (large & ~unaudited).astype(np.int64)),
            (("archive",), np.ones(count, np.int64)),
        )
        lengths = sum((len(names) * times for names, times in parts), np.zeros(count, np.int64))
        starts = np.cumsum(lengths) - lengths
        activity = np.zeros(int(lengths.sum()), np.int8)
        behind = starts.copy()
        for names, times in parts:
            codes = np.array([_CODE[name] for name in names], np.int8)
            place, within_part = runs(behind, len(names) * times)
            activity[place] = codes[within_part % len(names)]
            behind += len(names) * times
        _, step = runs(starts, lengths)
        of = np.repeat(np.arange(count), lengths)
        return _Rows(
            number[of],
            step,
            _times(draws, begins, starts, of, activity),
            activity,
            _some_missing(draws, amount[of], activity),
            _clerks(draws, activity),
        )


def payment_log(
    events: int = 20_000, seed: int = 7, plant: Mapping[str, int] | None = None
) -> PaymentLog:
    """Describe a log of about this many events; nothing is drawn until it is read.

    Args:
        events: about how many; there are at least twenty cases.
        seed: the same seed and size give the same log.
        plant: how many cases of each fault; two unapproved and one unaudited, unless given.

    >>> log = payment_log(events=600)
    >>> {fault: len(cases) for fault, cases in log.planted.items()}
    {'unapproved': 2, 'unaudited': 1}
    >>> abs(log.table().num_rows - 600) < 60
    True
    """
    wanted = dict(_USUAL if plant is None else plant)
    cases = max(20, round(events / _EVENTS_A_CASE))
    for fault, times in wanted.items():
        if fault not in FAULTS:
            msg = f"a fault: expected one of {', '.join(FAULTS)}; got {fault!r}; try 'unapproved'"
            raise ParameterError(msg)
        if times < 0:
            msg = f"a fault: expected 0 or more cases of {fault}; got {times}; try {fault}=2"
            raise ParameterError(msg)
    total, room = sum(wanted.values()), cases - cases // 4
    if total > room:
        msg = (
            f"planted faults: expected at most {room} in {cases} cases; got {total}; "
            "try more events"
        )
        raise ParameterError(msg)
    # The first quarter is left clean, so that a verdict is true for a while.
    chosen = Draws(seed, 0).choose(cases // 4, cases, total)
    planted = {}
    for fault, times in wanted.items():
        mine, chosen = chosen[:times], chosen[times:]
        planted[fault] = tuple(f"P{number:05d}" for number in sorted(mine))
    return PaymentLog(cases, seed, planted)


def _times(
    draws: Draws,
    begins: Numbers,
    starts: Numbers,
    of: Numbers,
    activity: npt.NDArray[np.int8],
) -> Numbers:
    """Hours between steps, sometimes none at all; the archive waits for the night."""
    count = len(activity)
    delay = 60 + draws.waits(10_800, count)
    delay[draws.share(count) < 0.07] = 0
    delay[starts] = 0
    passed = np.cumsum(delay)
    time = _FIRST_SECOND + begins[of] + passed - passed[starts][of]
    night = (time - _NIGHTLY + _DAY - 1) // _DAY * _DAY + _NIGHTLY
    return np.where(activity == _CODE["archive"], night, time)


def _some_missing(
    draws: Draws, amount: npt.NDArray[np.float64], activity: npt.NDArray[np.int8]
) -> npt.NDArray[np.float64]:
    looked = np.isin(activity, (_CODE["check"], _CODE["correct"]))
    return np.where(looked & (draws.share(len(amount)) < 0.05), np.nan, amount)


def _clerks(draws: Draws, activity: npt.NDArray[np.int8]) -> Numbers:
    clerk = 1 + draws.below(_CLERKS, len(activity))
    nobody = (activity == _CODE["archive"]) | (draws.share(len(activity)) < 0.02)
    return np.where(nobody, 0, clerk)


_CLERK_NAMES = pa.array([None, *(f"clerk-{n:02d}" for n in range(1, _CLERKS + 1))], pa.string())
_ACTIVITY_NAMES = pa.array(ACTIVITIES, pa.string())
_SCHEMA = source_schema(_COLUMNS)


def _batch(rows: _Rows, first: int) -> pa.RecordBatch:
    digits = pc.utf8_lpad(pc.cast(pa.array(rows.case), pa.string()), 5, "0")
    return pa.RecordBatch.from_pydict(
        {
            "row": pa.array(np.arange(first, first + len(rows.time)), pa.int64()),
            "case": pc.binary_join_element_wise("P", digits, ""),
            "activity": _ACTIVITY_NAMES.take(pa.array(rows.activity)),
            "time": pa.array(rows.time * 1_000_000, column_type("instant")),
            "amount": pa.array(rows.amount, pa.float64(), from_pandas=True),
            "clerk": _CLERK_NAMES.take(pa.array(rows.clerk)),
        },
        schema=_SCHEMA,
    )
