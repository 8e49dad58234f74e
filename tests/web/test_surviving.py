"""The page survives: Neo4j away, a run removed, many events, hostile values, long waits."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.store.loading._support.cutting_proxy import Proxy
from tests.web._support.watched_tabs import HOSTILE, MANY, Runs, Watched
from tools.browser import Served, served
from whence.engine.errors import StoreError
from whence.store import Settings, connect
from whence.store.care.removing import remove_from_graph
from whence.store.server import Status, start, stop
from whence.web import Asker

pytestmark = pytest.mark.neo4j
FAILED = "Failed to load resource"
"""What a browser says of every answer that is no 200; the page says the rest."""


def get(page: Served, path: str, method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(page).netloc, timeout=60)
    try:
        connection.request(method, path, headers=page.headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_neo4j_may_be_away_for_a_while(tab: Watched, runs: Runs, between: Proxy) -> None:
    tab.allowed = (FAILED,)
    page = tab.open(f"/run/{runs['lifecycle']}/outputs")
    between.leave()
    try:
        # Without anybody touching anything, whoever looks is told; what is there stays.
        expect(page.locator("#banner")).to_contain_text("The graph does not answer")
        expect(page.locator("tbody tr")).to_have_count(50)
        page.goto(f"{tab.base}/run/{runs['lifecycle']}/never-matters")
        expect(page.locator("#banner")).to_contain_text("The graph does not answer")
        tab.keep("away")
    finally:
        between.come_back()
    page.wait_for_selector("#view[data-done]", timeout=60_000)
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("h1")).to_have_text("What never mattered")


def test_a_run_that_is_removed_while_it_is_shown_is_said_to_be_gone(
    tab: Watched, runs: Runs, neo4j_server: Status
) -> None:
    tab.allowed = (FAILED,)
    page = tab.open(f"/run/{runs['doomed']}")
    with connect(neo4j_server.settings()) as graph:
        remove_from_graph(graph, runs["doomed"])
    expect(page.locator("#banner")).to_contain_text("is not in the graph")
    expect(page.locator("#drawing svg")).to_be_visible()
    page = tab.open(f"/run/{runs['doomed']}/outputs")
    expect(page.locator("#banner")).to_contain_text("It may have been removed")
    tab.keep("gone")


def test_an_explanation_with_very_many_events_is_put_together_and_says_so(
    tab: Watched, runs: Runs
) -> None:
    page = tab.open(f"/run/{runs['many']}/why?output=some@1")
    expect(page.locator(".sentence")).to_contain_text(f"because of {MANY:,} events of {MANY:,}")
    expect(page.locator(".aggregated")).to_contain_text(f"the first 100 of {MANY:,} events")
    expect(page.locator("tbody tr")).to_have_count(100)
    assert page.locator("#graph g.box").count() < 30
    assert page.locator(".strip rect").count() < 20
    assert page.evaluate("document.getElementsByTagName('*').length") < 3000
    tab.keep("many")


@pytest.mark.parametrize("view", ["outputs", "log", "why", "impact"])
def test_hostile_values_do_nothing_and_break_nothing(tab: Watched, runs: Runs, view: str) -> None:
    run = runs["hostile"]
    query = {
        "outputs": f"?search={quote('<script>')}",
        "log": "",
        "why": "?output=note@2",
        "impact": f"?filter={quote(chr(34) + '><script>window.hit=1</script>')}",
    }[view]
    page = tab.open(f"/run/{run}/{view}{query}")
    assert page.evaluate("window.hit") is None
    assert page.locator("main script, main img, main [onerror], main [onload]").count() == 0
    words = page.locator("main").inner_text()
    assert len(words) < 20_000
    if view == "log":
        assert HOSTILE[0]["case"] in words
        assert "U+202E" in words
        assert "… 1,000,000 characters" in words
    tab.keep(f"hostile-{view}")
    assert page.evaluate("window.hit") is None


def test_every_read_of_an_answer_ends_in_time(neo4j_server: Status) -> None:
    endless = "UNWIND range(1, 2000000000) AS n WITH n WHERE n % 7 = 8 RETURN count(n)"
    with connect(neo4j_server.settings()) as graph:
        with pytest.raises(StoreError, match=r"TransactionTimedOut|expected it in time"):
            graph.within(0.5).read(endless)
        late = graph.within(0.0)
        with pytest.raises(StoreError, match="expected it in time"):
            late.read("RETURN 1")


def test_without_the_record_the_graph_alone_is_shown(
    neo4j_server: Status, runs: Runs, tmp_path: Path
) -> None:
    settings = neo4j_server.settings()
    run = runs["lifecycle"]
    with served(Asker(lambda: settings, tmp_path)) as page:
        status, words = get(page, f"/part/run/{run}/outputs?page=1")
        assert (status, "lifecycle@50" in words) == (200, True)
        status, words = get(page, f"/part/run/{run}/outputs?where=value+%3D+false")
        assert (status, words.count("<tr>")) == (200, 51)
        status, words = get(page, f"/part/run/{run}/why?output=lifecycle@3")
        assert (status, "The record is not here" in words) == (200, True)
        status, words = get(page, f"/part/run/{run}/log")
        assert (status, "payments@49" in words) == (200, True)


def test_the_command_serves_the_page_until_it_is_interrupted(
    neo4j_server: Status, runs: Runs, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "whence", "web", "--port", "0", "--record", str(runs.root)]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        env={**os.environ, "WHENCE_INSTANCE": "shared"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", told)
            assert address is not None, told
            link = process.stdout.readline().strip()
            assert link.startswith(f"{address[0]}/enter?code="), link
            page = Served.entered(link)
            status, shown = get(page, "/part/")
            assert (status, runs["lifecycle"] in shown) == (200, True)
            with pytest.raises(RuntimeError, match="got a refusal"):
                Served.entered(link)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, said.splitlines()[-1]) == (0, "stopped")


def test_what_is_asked_wrongly_is_answered_in_one_line(page_server: Served, runs: Runs) -> None:
    run = runs["lifecycle"]
    for path, expected, sign in (
        (f"/part/run/{run}/why?output=nonsense@1", 400, "expected one of lifecycle"),
        (f"/part/run/{run}/why?output=lifecycle@999999", 400, "expected a position"),
        (f"/part/run/{run}/outputs?where=value+%3D+%3D", 200, 'class="problem"'),
        (f"/part/run/{run}/impact?filter=value+%3D+%3D", 200, 'class="problem"'),
        (f"/part/run/{run}/impact?inputs=x", 200, "expected positions"),
        ("/part/run/nothing/outputs", 404, "is not in the graph"),
        ("/nowhere", 404, "Not Found"),
    ):
        status, words = get(page_server, path)
        assert (status, sign in words) == (expected, True), (path, words)


@pytest.mark.full
@pytest.mark.fault
def test_the_page_comes_back_with_a_neo4j_that_was_really_restarted(
    jars: Path, runs: Runs, browser: object, tmp_path: Path
) -> None:
    from playwright.sync_api import Browser

    from whence.store.server import status

    assert isinstance(browser, Browser)
    start("page", port=None)
    try:
        with connect(status("page").settings()) as graph:
            runs.are_in(graph)

        def settings() -> Settings:
            return status("page").settings()

        with served(Asker(settings, runs.root)) as page:
            context = browser.new_context()
            page.admit(context)
            tab = Watched(context.new_page(), page, allowed=(FAILED,))
            shown = tab.open(f"/run/{runs['lifecycle']}/outputs")
            stop("page")
            expect(shown.locator("#banner")).to_contain_text("does not answer")
            shown.goto(f"{page}/run/{runs['lifecycle']}/why?output=lifecycle@3")
            start("page", port=None)
            shown.wait_for_selector("#view[data-done]", timeout=300_000)
            expect(shown.locator("h1")).to_contain_text("lifecycle@3 is")
            expect(shown.locator("#banner")).to_be_hidden(timeout=30_000)
            assert tab.said == []
            context.close()
    finally:
        stop("page")
