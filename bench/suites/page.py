"""How soon a view of the page is seen, over a run of 10^6 events.

A first paint is what the browser itself reports of a tab without any cache: what counts is its
ratio to that of an empty page of the same server, opened in the same round. ``shown`` is when the
view's content stands there; the server keeps answers, so that only the warm-up waits for most of
them. Opening a box of the graph is timed from the click to the new drawing.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench import Bench
from bench.harness import BenchError, quick
from tools.browser import Served, launched, served
from whence.api import run
from whence.engine.sources.generate import payment_log
from whence.store import connect
from whence.store.loading import load
from whence.store.server import Memory, remove, start, stop
from whence.web import Asker

EVENTS = 10_000 if quick() else 1_000_000
SERVER = "bench-page"
PATIENCE = 120.0
PAINT, SHOWN = "first-contentful-paint", "shown"


@dataclass
class Shown:
    """A browser, the page, and the run that is looked at."""

    browser: Browser
    address: Served
    run: str
    other: str

    def path(self, view: str) -> str:
        """The address of a view of the run."""
        last = f"lifecycle@{EVENTS * 9 // 10}"
        return (
            self.address
            + {
                "empty": "/empty",
                "runs": "/",
                "overview": f"/run/{self.run}",
                "outputs": f"/run/{self.run}/outputs?page=4000",
                "filtered": f"/run/{self.run}/outputs?where=value+%3D+false",
                "why": f"/run/{self.run}/why?output={last}",
                "never_matters": f"/run/{self.run}/never-matters",
                "impact": f"/run/{self.run}/impact?inputs=17-30,5000",
                "log": f"/run/{self.run}/log?page=4000",
                "compare": f"/compare?first={self.run}&second={self.other}",
            }[view]
        )

    def context(self) -> BrowserContext:
        """A fresh browser that was let in."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        self.address.admit(context)
        return context

    def open(self, view: str, measured: str) -> float:
        """Open a view in a fresh tab; milliseconds of one of the browser's own marks."""
        context = self.context()
        try:
            page = context.new_page()
            page.goto(self.path(view))
            found = _when(page, measured)
            if view != "empty":  # what is still being worked out would be in the way of the next
                page.wait_for_selector("#view[data-done]", timeout=1000 * PATIENCE)
                if page.locator("#view > *").count() == 0:  # refused, which is painted soon as well
                    said = page.locator("#banner").inner_text()
                    msg = f"page: expected the view {view}; got {said!r}; try opening it yourself"
                    raise BenchError(msg)
            return found
        finally:
            context.close()

    def expand(self) -> float:
        """Open a box of an explanation's graph; milliseconds from the click to the drawing."""
        context = self.context()
        try:
            page = context.new_page()
            page.goto(self.path("why"))
            _when(page, SHOWN)
            return _click(page)
        finally:
            context.close()


def _when(page: Page, mark: str) -> float:
    """When something happened, in milliseconds; the browser's own mark of it is waited for."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = page.evaluate(f"performance.getEntriesByName('{mark}')[0]?.startTime")
        if found is not None:
            return float(found)
        time.sleep(0.02)
    msg = f"expected the page to say {mark!r} within {PATIENCE:.0f} s"
    raise TimeoutError(msg)


def _click(page: Page) -> float:
    page.evaluate(
        "document.addEventListener('click', () => performance.mark('pressed'), {capture: true})"
    )
    page.locator("#graph [data-box]").last.click()
    return _when(page, "opened") - _when(page, "pressed")


@contextmanager
def looked_at(browser: Browser) -> Iterator[Shown]:
    """A server for this alone, with a run of a million events and a small one."""
    chain = Path(str(files("whence.cli") / "demo_chains" / "lifecycle.yaml"))
    status = start(SERVER, port=None, memory=Memory.of(2048))
    settings = status.settings()
    try:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            ids = []
            with connect(settings) as graph:
                for events in (EVENTS, EVENTS // 100):
                    made = run(chain, payment_log(events), runner="local", record=root)
                    load(root, made.id, graph)
                    ids.append(made.id)
            with served(Asker(lambda: settings, root)) as address:
                yield Shown(browser, address, ids[0], ids[1])
    finally:
        stop(SERVER)
        remove(SERVER)


@contextmanager
def shown() -> Iterator[Shown]:
    """What is looked at, with a browser of its own."""
    with sync_playwright() as playwright:
        browser = launched(playwright)
        with looked_at(browser) as found:
            yield found
        browser.close()


bench = Bench("page: how soon a view is seen", prepare=shown)
VIEWS = ("runs", "overview", "outputs", "filtered", "why", "never_matters", "impact", "log")


def _opens(view: str, measured: str) -> Callable[[Shown], float]:
    return lambda given: given.open(view, measured)


bench.variant("empty.first_paint_ms", "ms")(_opens("empty", PAINT))
for _view in (*VIEWS, "compare"):
    bench.variant(f"{_view}.first_paint_ms", "ms")(_opens(_view, PAINT))
    bench.ratio(f"{_view}.vs_empty", f"{_view}.first_paint_ms", "empty.first_paint_ms")
for _view in VIEWS:
    bench.variant(f"{_view}.shown_ms", "ms")(_opens(_view, SHOWN))


@bench.variant("expand_ms", "ms")
def expand(given: Shown) -> float:
    """Open a box of the graph."""
    return given.expand()
