"""Rows in runs: followed and encoded, they lead where each row alone would."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from whence.engine.kernels.trails.encoding import Widths, encode
from whence.engine.kernels.trails.entries import WHOLE, Entries, Names
from whence.engine.kernels.trails.runs import Runs, runs_of
from whence.engine.kernels.trails.trail import Line, Nothing, Spans, Trail

Said = set[tuple[int, int]]


def _drawn(seed: int) -> tuple[Trail, list[Said]]:
    """A trail of runs, and where its rows lead."""
    random = Random(seed)
    count = random.randint(1, 30)
    places: list[int] = []
    while len(places) < count:
        places += [random.choice([-2, -1, -1, *range(6)])] * random.randint(1, 4)
    places = places[:count]
    usual: Trail = random.choice([Nothing(count), Line(0, WHOLE, count, 10, 12)])
    child: Trail = Line(0, WHOLE, 6, 100, 101)
    if seed % 2:
        ends = np.array([5, 4, 3, 7, 9, 1])
        child = Spans(0, WHOLE, ends, ends + 2)
    said: list[Said] = []
    for row, place in enumerate(places):
        if place == -2:
            said.append(set())
            continue
        trail, at = (usual, row) if place == -1 else (child, place)
        said.append(_positions(trail.entries(np.array([at])), 1)[0])
    return runs_of(usual, child, np.array(places)), said


def _positions(entries: Entries, count: int) -> list[Said]:
    found: list[Said] = [set() for _ in range(count)]
    for row, target, _, lo, hi in zip(*(a.tolist() for a in entries), strict=True):
        found[row] |= {(target, position) for position in range(lo, hi + 1)}
    return found


@pytest.mark.parametrize("seed", range(60))
def test_runs_lead_where_each_row_leads(seed: int) -> None:
    trail, said = _drawn(seed)
    assert isinstance(trail, Runs)
    assert _positions(trail.entries(np.arange(len(said))), len(said)) == said


@pytest.mark.parametrize("seed", range(60))
def test_encoded_runs_lead_where_each_row_leads(seed: int) -> None:
    trail, said = _drawn(seed)
    names = Names()
    names.target("log")
    first = Random(seed).randrange(len(said))
    rows = np.arange(first, len(said))
    blocks = encode(trail, trail, np.arange(50, 50 + len(said)), names, Widths(1, {}), rows)
    found: list[Said] = [set() for _ in said]
    for block in blocks:
        leads = block.leads()
        triples = zip(*(a.tolist() for a in leads), strict=True)  # output, first, last
        for output, lo, hi in triples:
            found[output - 50] |= {(0, position) for position in range(lo, hi + 1)}
    assert found[first:] == said[first:]
    assert not any(found[:first])
