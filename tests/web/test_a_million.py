"""Every view over a run of 10^6 events: soon seen, silent on the console, kept as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest
from playwright.sync_api import Browser

from bench.suites import page as suite
from tests.web._support.watched_tabs import Watched

pytestmark = [pytest.mark.neo4j, pytest.mark.full]
ROUNDS = 5
TIMES_AN_EMPTY_PAGE = 10
EXPANDED_MS = 300


@pytest.fixture(scope="module")
def shown(browser: Browser, jars: Path) -> Iterator[suite.Shown]:
    with suite.looked_at(browser) as found:
        yield found


def test_every_view_is_painted_soon(shown: suite.Shown) -> None:
    views = (*suite.VIEWS, "compare")
    for view in views:  # the first time an answer is worked out, and kept
        shown.open(view, suite.PAINT)
    took: dict[str, list[float]] = {view: [] for view in ("empty", *views)}
    for _ in range(ROUNDS):
        for view, times in took.items():
            times.append(shown.open(view, suite.PAINT))
    most = TIMES_AN_EMPTY_PAGE * median(took["empty"])
    late = {view: times for view, times in took.items() if median(times) > most}
    assert late == {}, f"an empty page: {took['empty']}"


def test_a_box_of_the_graph_opens_at_once(shown: suite.Shown) -> None:
    shown.expand()
    assert median([shown.expand() for _ in range(ROUNDS)]) <= EXPANDED_MS


@pytest.mark.parametrize("view", [*suite.VIEWS, "compare"])
def test_nothing_is_said_on_the_console(shown: suite.Shown, view: str) -> None:
    context = shown.context()
    try:
        tab = Watched(context.new_page(), shown.address)
        tab.open(shown.path(view).removeprefix(shown.address))
        tab.keep(f"million-{view}")
        assert (tab.said, tab.outside()) == ([], [])
    finally:
        context.close()
