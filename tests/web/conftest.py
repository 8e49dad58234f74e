"""One browser, one server of the page and the shared Neo4j for all tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.store.loading._support.cutting_proxy import Proxy, proxied
from tests.web._support.watched_tabs import Runs, Watched, chromium, made_runs
from tools.browser import Served, served
from whence.engine.errors import ParameterError
from whence.exporters.evidence import create_keys
from whence.store import Settings, connect
from whence.store.server import Status
from whence.web import Asker

PATIENCE = 60_000
"""Milliseconds; a machine that does much else besides is slow, and nothing here is timed."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one browser."""
    with sync_playwright() as playwright:
        found = chromium(playwright)
        expect.set_options(timeout=PATIENCE)
        yield found
        found.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The runs, in a record of their own."""
    return made_runs(tmp_path_factory.mktemp("page-record"))


@pytest.fixture(scope="session")
def between(neo4j_server: Status) -> Iterator[Proxy]:
    """What stands between the page and Neo4j, so that Neo4j can be away for the page alone."""
    assert neo4j_server.port is not None
    with proxied(neo4j_server.port) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def page_server(neo4j_server: Status, between: Proxy, made: Runs) -> Iterator[Served]:
    """The one server of the page."""
    known = neo4j_server.settings()
    through = Settings(f"bolt://127.0.0.1:{between.port}", known.username, known.password)
    with served(Asker(lambda: through, made.root)) as page:
        yield page


@pytest.fixture
def runs(neo4j_server: Status, made: Runs) -> Runs:
    """The runs, in the graph."""
    with connect(neo4j_server.settings()) as connection:
        made.are_in(connection)
    return made


@pytest.fixture
def tab(browser: Browser, page_server: Served, runs: Runs) -> Iterator[Watched]:
    """A fresh tab; it says nothing on the console, and asks nobody else for anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page_server.admit(context)
    watched = Watched(context.new_page(), page_server)
    yield watched
    assert watched.said == []
    assert watched.outside() == []
    context.close()


@pytest.fixture(scope="session")
def keys(home_for_tests: Path) -> None:
    """Keys to sign packs with; they belong to the home of the tests."""
    with suppress(ParameterError):  # another test may have made them
        create_keys()
