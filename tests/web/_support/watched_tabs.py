"""A real Chromium, a real server of the page, and runs to look at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request

from tests.ground.surroundings import ROOT
from tools.browser import launched
from whence.api import run
from whence.engine import ApplyFunction, Chain, CountDecimate, Cumulate
from whence.engine.runners import RunOptions
from whence.engine.sources.generate import payment_log
from whence.store import Connection
from whence.store.catalog import run_is_loaded
from whence.store.loading import load

__all__ = ["HOSTILE", "MANY", "Runs", "Watched", "chromium", "made_runs"]

SCREENSHOTS = ROOT / "build" / "screenshots"
MANY = 100_000
HOSTILE = [
    {"case": "<script>window.hit=1</script>", "note": "<img src=x onerror='window.hit=1'>"},
    {"case": "\u202eevil\u202c", "note": "\u2067\u200f\u202e" * 50 + "end"},
    {"case": '"><svg onload=window.hit=1>', "note": "x" * 1_000_000},
    {"case": "{{constructor}} ${7*7} `'\"\\", "note": "line\nbreak\ttab\x00\x1b[31m"},
    {"case": "ordinary", "note": "ordinary"},
]


def chromium(playwright: Playwright) -> Browser:
    """The system's Chromium; where it is missing the tests say so, and in CI they fail."""
    try:
        return launched(playwright)
    except FileNotFoundError as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@dataclass(frozen=True)
class Runs:
    """The runs that are looked at; by name their ids."""

    root: Path
    ids: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.ids[name]

    def are_in(self, graph: Connection) -> None:
        """See to it that all of them are in the graph, whatever other tests left there."""
        missing = [id for id in self.ids.values() if not run_is_loaded(graph, id)]
        if len(missing) == len(self.ids):
            graph.write("MATCH (n) DETACH DELETE n")
        for id in missing:
            load(self.root, id, graph)


def made_runs(root: Path) -> Runs:
    """Run everything; only the record is written."""
    folder = files("whence.cli") / "demo_chains"
    chains = {name: Path(str(folder / f"{name}.yaml")) for name in ("lifecycle", "audit")}
    events = payment_log(1200).table().to_pylist()
    # The fault of the first false verdict is mended: the second run says otherwise.
    faults = payment_log(1200).planted["unapproved"]
    mended = [e for e in events if e["case"] not in faults]
    note = Chain.of(ApplyFunction("note", "note"))
    wide = Chain.of(Cumulate("all", "and") | CountDecimate("some", n=MANY - 1))
    steps = RunOptions(detail="steps", closed=True, chunk=5000)
    plain = RunOptions(chunk=5000)
    asked: dict[str, tuple[Any, Any, RunOptions]] = {
        "lifecycle": (chains["lifecycle"], payment_log(1200), plain),
        "mended": (chains["lifecycle"], {"payments": mended}, plain),
        "audit": (chains["audit"], payment_log(1200), steps),
        "hostile": (note, HOSTILE, plain),
        "doomed": (note, HOSTILE[-1:], plain),
        "many": (wide, [True] * MANY, plain),
    }
    ids = {
        name: run(chain, log, runner="local", options=options, record=root).id
        for name, (chain, log, options) in asked.items()
    }
    return Runs(root, ids)


@dataclass
class Watched:
    """A tab whose every word and every request is written down."""

    page: Page
    base: str
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    allowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.said.append(f"error {error}"))
        self.page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if not any(words in message.text for words in self.allowed):
            self.said.append(f"{message.type} {message.text}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)

    def open(self, path: str) -> Page:
        """Go to a view, and wait until its content is there."""
        self.page.goto(self.base + path)
        self.page.wait_for_selector("#view[data-done]", timeout=60_000)
        return self.page

    def keep(self, name: str) -> None:
        """Keep how a view looks: light and dark, wide and narrow; nothing stands out of it."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page = self.page
        for look, width, dark in (
            ("light", 1280, False),
            ("dark", 1280, True),
            ("390", 390, False),
            ("390-dark", 390, True),
        ):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme="dark" if dark else "light")
            page.screenshot(path=SCREENSHOTS / f"{name}-{look}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, look)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(color_scheme="light")

    def outside(self) -> list[str]:
        """Requests that went, or would have gone, to any other host."""
        own = (self.base + "/", f"blob:{self.base}/", "data:")
        return [url for url in self.requests if not url.startswith(own)]
