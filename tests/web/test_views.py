"""Every view in a real browser: what it shows, that it can be sent, opened, taken away."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.web._support.watched_tabs import Runs, Watched
from whence.engine.record import RunRecord
from whence.store import connect
from whence.store.questions import explain, impact, never_matters
from whence.store.server import Status

pytestmark = pytest.mark.neo4j


def first_false(runs: Runs, name: str = "lifecycle") -> int:
    record = RunRecord(runs.root, runs[name])
    (stream,) = record.manifest.outputs
    for part in stream.outputs:
        table = record.outputs(stream.name, part.part)
        for row in table.to_pylist():
            if row["value"] == "false":
                return int(row["position"])
    raise AssertionError(name)


def why_path(runs: Runs, name: str = "lifecycle", pipe: str = "lifecycle") -> str:
    return f"/run/{runs[name]}/why?output={pipe}@{first_false(runs, name)}"


def test_the_runs_are_listed_and_found_by_a_word(tab: Watched, runs: Runs) -> None:
    page = tab.open("/")
    expect(page.get_by_role("link", name=runs["lifecycle"], exact=True)).to_be_visible()
    tab.keep("runs")
    page.keyboard.press("/")
    page.keyboard.type("audited")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?search=audited")
    expect(page.get_by_role("link", name=runs["audit"], exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=runs["lifecycle"], exact=True)).to_have_count(0)


def test_a_run_shows_its_chain_with_the_counts_on_the_pipes(tab: Watched, runs: Runs) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}")
    length = RunRecord(runs.root, runs["lifecycle"]).log("payments").length
    drawing = page.locator("#drawing svg")
    expect(drawing).to_contain_text("order: MooreMachine")
    expect(drawing.get_by_text(f"{length:,}", exact=True)).to_have_count(2)
    tab.keep("overview")


def test_outputs_are_paged_filtered_and_searched(tab: Watched, runs: Runs) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}/outputs")
    expect(page.locator("tbody tr")).to_have_count(50)
    tab.keep("outputs")
    page.keyboard.press("n")
    page.wait_for_url("**/outputs?page=1")
    expect(page.get_by_role("link", name="lifecycle@50", exact=True)).to_be_visible()
    page = tab.open(f"/run/{runs['lifecycle']}/outputs")
    page.get_by_label("Values").get_by_text("false").click()
    page.wait_for_url("**/outputs?where=value+%3D+false")
    at = first_false(runs)
    expect(page.locator("tbody tr a").first).to_have_text(f"lifecycle@{at}")
    length = RunRecord(runs.root, runs["lifecycle"]).manifest.streams[0].length
    assert f"of {length:,}" in page.get_by_role("status").inner_text()
    page.get_by_label("Search").fill("clerk-0")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**search=clerk-0**")
    expect(page.locator("tbody tr").first).to_contain_text("clerk-0")
    for row in page.locator("tbody tr").all_inner_texts():
        assert "clerk-0" in row
        assert "false" in row


def test_an_explanation_tells_the_few_events_in_the_logs_own_words(
    tab: Watched, runs: Runs, neo4j_server: Status
) -> None:
    at = first_false(runs)
    page = tab.open(why_path(runs))
    with connect(neo4j_server.settings()) as graph:
        why = explain(graph, runs["lifecycle"], f"lifecycle@{at}")
    expect(page.locator("h1")).to_have_text(f"lifecycle@{at} is false")
    sentence = page.locator(".sentence").inner_text()
    assert f"because of {why.count} events" in sentence
    for event in why.events[:2]:
        assert f"payments@{event.position} {event.activity} (case {event.case}" in sentence
    names = page.locator("table tbody th").all_inner_texts()
    assert names == [f"payments@{event.position}" for event in why.events]
    assert page.locator("thead th").all_inner_texts()[1:] == [
        "case",
        "activity",
        "time",
        "amount",
        "clerk",
    ]
    # What does not matter is quieter, and can be read all the same.
    seen = "cell => [getComputedStyle(cell).opacity, getComputedStyle(cell).fontWeight]"
    cells = page.locator("table tbody tr").first.locator("td")
    assert [cell.evaluate(seen) for cell in cells.all()] == [
        ["1", weight] for weight in ("400", "600", "400", "400", "400")
    ]
    lights = page.locator(".strip .light title").all_text_contents()
    assert lights == [f"payments@{event.position}" for event in why.events]
    tab.keep("why")


def boxes(page: Page) -> list[str]:
    return [
        text.splitlines()[0] if text else ""
        for text in page.locator("#graph g.box text:first-of-type").all_text_contents()
    ]


def test_the_graph_starts_collapsed_and_opens_by_click_and_by_key(tab: Watched, runs: Runs) -> None:
    page = tab.open(why_path(runs))
    at = first_false(runs)
    assert boxes(page) == [f"lifecycle@{at}", f"lifecycle/order@{at}"]
    inner = page.locator(f"#graph [data-box='lifecycle/order@{at}']")
    inner.click()
    expect(page.locator("#graph g.box.input")).to_have_count(1)
    assert "open=" in page.url
    opened = boxes(page)
    link = page.url
    page.locator(f"#graph [data-box='lifecycle/order@{at}']").press("Enter")
    expect(page.locator("#graph g.box.input")).to_have_count(0)
    other = tab.open(urlsplit(link).path + "?" + urlsplit(link).query)
    assert boxes(other) == opened


def test_every_step_can_be_seen_and_read(tab: Watched, runs: Runs) -> None:
    page = tab.open(why_path(runs, "audit", "audited"))
    page.get_by_role("link", name="Every step").click()
    page.wait_for_url("**steps=1**")
    at = first_false(runs, "audit")
    expect(page.locator(".words li").first).to_contain_text(f"audited@{at} is false")
    expect(page.locator("#graph svg")).to_be_visible()
    while page.locator("#graph g.box text", has_text="below").count():
        before = page.url
        closed = page.locator("#graph [data-box]", has=page.get_by_text("below")).first
        closed.click()
        page.wait_for_url(lambda url, before=before: url != before)  # type: ignore[misc]
        expect(page.locator("#graph[aria-busy]")).to_have_count(0)
    expect(page.locator("#graph g.box.input").first).to_be_visible()
    tab.keep("steps")
    opened = boxes(page)
    page.get_by_role("link", name="Show sufficient events").click()
    expect(page.locator(".strip rect.supports").first).to_be_attached()
    assert boxes(page) == opened, "what is open stays open"
    tab.keep("support")


def test_what_never_mattered_is_a_strip_over_the_log(
    tab: Watched, runs: Runs, neo4j_server: Status
) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}/never-matters?by=activity")
    with connect(neo4j_server.settings()) as graph:
        answer = never_matters(graph, runs["lifecycle"], by="activity")
    (certain,) = answer.certain
    expect(page.locator(".figure.certain small")).to_have_text(
        f"{certain.count:,} of {certain.length:,}"
    )
    expect(page.locator(".strip rect.certain").first).to_be_attached()
    groups = {str(group.group) for group in answer.groups}
    assert set(page.locator("tbody th").all_inner_texts()) == groups
    tab.keep("never-matters")


def test_marked_events_fall_into_the_three_groups(
    tab: Watched, runs: Runs, neo4j_server: Status
) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}/log")
    page.get_by_label("mark payments@3", exact=True).check()
    page.get_by_label("mark payments@4", exact=True).check()
    tab.keep("log")
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**page=1**")
    expect(page.get_by_text("2 marked on all pages")).to_be_visible()
    page.get_by_label("mark payments@60", exact=True).check()
    page.get_by_role("button", name="Show affected outputs").click()
    page.wait_for_url("**/impact?inputs=payments%3A3-4%2Cpayments%3A60")
    page.wait_for_selector("#view[data-done]")
    with connect(neo4j_server.settings()) as graph:
        answer = impact(graph, runs["lifecycle"], {"payments": [(3, 4), (60, 60)]})
    for name in ("unaffected", "possibly", "explained"):
        (share,) = getattr(answer, name)
        expect(page.locator(f".figure.{name} b")).to_have_text(f"{share.count:,}")
    tab.keep("impact")


def test_two_runs_stand_side_by_side(tab: Watched, runs: Runs) -> None:
    page = tab.open(f"/compare?first={runs['lifecycle']}")
    page.get_by_label("Second run").select_option(runs["mended"])
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**second=**")
    expect(page.get_by_role("heading", name="What differs")).to_be_visible()
    heads = page.get_by_label("what differs").locator("thead th").all_inner_texts()
    assert [
        runs[name] in head for name, head in zip(("lifecycle", "mended"), heads[1:], strict=True)
    ] == [True, True]
    tab.keep("compare")


TAKES = ("Events as CSV", "Graph as SVG", "Graph as PNG", "PROV-JSON", "PROV-N", "Evidence pack")


def test_an_explanation_can_be_taken_away_in_every_form(
    tab: Watched, runs: Runs, tmp_path: Path, keys: None
) -> None:
    page = tab.open(why_path(runs))
    taken: dict[str, bytes] = {}
    for words in TAKES:
        with page.expect_download() as waiting:
            page.locator(".takes").get_by_text(words, exact=True).click()
        path = tmp_path / words
        waiting.value.save_as(path)
        taken[words] = path.read_bytes()
    rows = list(csv.DictReader(io.StringIO(taken["Events as CSV"].decode())))
    assert [row["activity"] for row in rows][-1] == "pay"
    assert rows[0]["time"].startswith("2026-03-0")
    assert b"<title>what explains lifecycle@" in taken["Graph as SVG"]
    assert taken["Graph as PNG"].startswith(b"\x89PNG\r\n")
    assert len(taken["Graph as PNG"]) > 2000
    assert b'"wasDerivedFrom"' in taken["PROV-JSON"]
    assert "bundle" in json.loads(taken["PROV-JSON"])
    assert taken["PROV-N"].startswith(b"document")
    names = zipfile.ZipFile(io.BytesIO(taken["Evidence pack"])).namelist()
    assert "pack/data/report.html" in names


def test_the_cypher_is_behind_every_view(tab: Watched, runs: Runs) -> None:
    run = runs["lifecycle"]
    for path, query in {
        "/": "runs_read",
        f"/run/{run}": "run_plan",
        f"/run/{run}/outputs": "output_page",
        why_path(runs): "up_explains",
        f"/run/{run}/never-matters": "up_supports",
        f"/run/{run}/impact?inputs=3": "down_supports",
        f"/compare?first={run}&second={runs['mended']}": "outputs_read",
    }.items():
        page = tab.open(path)
        page.get_by_text("The Cypher behind this view").click()
        shown = page.locator(".cypher figure", has_text=f"{query}.cypher").locator("code")
        assert re.search(r"\bMATCH\b", shown.inner_text()), path


def test_it_works_with_the_keyboard_alone(tab: Watched, runs: Runs) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}/outputs?where=value+%3D+false")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("t")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.keyboard.press("t")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    at = first_false(runs)
    assert page.evaluate("document.activeElement.textContent") == f"lifecycle@{at + 1}"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**output=lifecycle%40{at + 1}")
    page.wait_for_selector("#view[data-done]")
    page.keyboard.press("p")
    page.wait_for_url(f"**output=lifecycle%40{at}")
    page.wait_for_selector("#view[data-done]")
    page.keyboard.press("g")
    page.wait_for_url(lambda url: urlsplit(url).path == "/")
