"""Along a stream whose events build on earlier ones of their own, within one part of it."""

from __future__ import annotations

import numpy as np

from whence.engine.associations import Association
from whence.engine.compact import Associations, Leads
from whence.store.loading.ranges import Ranges

__all__ = ["behind", "leads_within"]

ROUNDS = 32
"""After so many steps at once it is quicker to go along the events one by one."""


def leads_within(rows: list[Association] | Associations, stream: str) -> Leads:
    """What associations say of events that build on others of their stream."""
    if isinstance(rows, Associations):
        found = [block.leads() for block in rows.blocks if block.to == stream]
    else:
        single = [
            (at, lo, hi)
            for row in rows
            if row.to == stream
            for at in range(row.lo, (row.lo if row.hi is None else row.hi) + 1)
            for lo, hi in row.reaches(at, at)
        ]
        found = [Leads(*np.asarray(single, np.int64).reshape(-1, 3).T)]
    none = np.empty(0, np.int64)
    columns = (np.concatenate([none, *(leads[n] for leads in found)]) for n in range(3))
    return Leads(*columns)


def behind(leads: Leads, wanted: Ranges) -> Ranges:
    """All that some events build on, as far as these leads tell; each builds on earlier ones.

    >>> chain = Leads(np.array([2, 4, 6, 7]), np.array([0, 2, 4, 1]), np.array([0, 2, 4, 1]))
    >>> behind(chain, Ranges.one(6, 6)).positions.tolist()
    [0, 2, 4]
    """
    if not len(leads.output):
        return Ranges.none()
    needed = wanted.holds(leads.output)
    fresh = needed
    for _ in range(ROUNDS):
        if not fresh.any():
            return Ranges.joined(leads.lo[needed], leads.hi[needed])
        found = Ranges.joined(leads.lo[fresh], leads.hi[fresh])
        fresh = found.holds(leads.output) & ~needed
        needed = needed | fresh
    return _one_by_one(leads, wanted)


def _one_by_one(leads: Leads, wanted: Ranges) -> Ranges:
    order = np.argsort(leads.output, kind="stable")
    output, lo, hi = leads.where(order)
    needed = wanted.holds(output)
    begins = np.searchsorted(output, lo).tolist()
    ends = np.searchsorted(output, hi, side="right").tolist()
    for at in range(len(output) - 1, -1, -1):
        if needed[at]:
            needed[begins[at] : ends[at]] = True
    return Ranges.joined(lo[needed], hi[needed])
