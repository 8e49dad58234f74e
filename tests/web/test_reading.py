"""What a person reads off the page is whole, in reach, and not misleading."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.web._support.watched_tabs import Runs, Watched
from tests.web.test_views import why_path

pytestmark = pytest.mark.neo4j
EDGES = "[e.scrollLeft, e.clientWidth, e.scrollWidth, getComputedStyle(e).backgroundAttachment]"


def scrolled_to_its_end(page: Page, selector: str) -> None:
    """By keyboard alone; as long as there is more, a shadow at the edge says so."""
    place = page.locator(selector).first
    left, width, whole, shadow = place.evaluate(f"e => {EDGES}")
    assert (left, shadow) == (0, "local, local, scroll, scroll, local")
    assert whole > width, "else this test tests nothing"
    place.focus()
    for _ in range(100):
        if left + width >= whole - 1:
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
        left, width, whole, _ = place.evaluate(f"e => {EDGES}")
    assert left + width >= whole - 1


def test_a_drawing_that_is_wider_than_the_window_is_reached_by_keyboard(
    tab: Watched, runs: Runs
) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}")
    page.set_viewport_size({"width": 390, "height": 900})
    first, drawing = page.locator("#drawing").bounding_box(), page.locator("#drawing svg")
    begins = drawing.bounding_box()
    assert first is not None
    assert begins is not None
    assert begins["x"] >= first["x"], "its beginning is in sight"
    scrolled_to_its_end(page, "#drawing")


def test_a_table_that_is_wider_than_the_window_is_reached_by_keyboard(
    tab: Watched, runs: Runs
) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}/never-matters?by=activity")
    page.set_viewport_size({"width": 390, "height": 900})
    heads = page.locator("thead th").all()
    boxes = [head.bounding_box() for head in heads]
    assert all(box is not None and box["x"] + box["width"] <= 390 for box in boxes)
    page = tab.open(why_path(runs))
    page.set_viewport_size({"width": 390, "height": 900})
    scrolled_to_its_end(page, ".wide")


def test_numbers_stand_to_the_right_wherever_events_are(tab: Watched, runs: Runs) -> None:
    run = runs["lifecycle"]
    for path in (f"/run/{run}/outputs", f"/run/{run}/log", why_path(runs)):
        page = tab.open(path)
        right = page.locator("thead th.n").all_inner_texts()
        assert right == ["amount"], path
        looks = page.locator("tbody tr").first.locator("td.n")
        assert looks.evaluate("e => getComputedStyle(e).textAlign") == "right"


def test_the_groups_of_an_impact_are_not_said_to_be_apart(tab: Watched, runs: Runs) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}/impact?inputs=3")
    lead = page.locator(".lead").inner_text()
    assert "which outputs are guaranteed unchanged, which may change" in lead
    expect(page.locator(".figure.explained")).to_contain_text("Of those that may change:")


def test_runs_are_chosen_by_what_they_say(tab: Watched, runs: Runs) -> None:
    page = tab.open(f"/compare?first={runs['lifecycle']}&second={runs['mended']}")
    chosen = page.get_by_label("First run").locator("option:checked").inner_text()
    assert chosen == f"{runs['lifecycle']}: lifecycle, 1,182 outputs"
    # A side whose reasons both logs have says so instead of nothing.
    changed = page.get_by_label("what differs").locator("tr", has_text="changed").nth(1)
    expect(changed.locator("td").nth(0)).to_contain_text("because of payments@")
    expect(changed.locator("td").nth(1)).to_contain_text("none of its reasons was changed or added")


def test_an_event_that_explains_and_never_mattered_is_spoken_of(tab: Watched, runs: Runs) -> None:
    page = tab.open(f"/run/{runs['lifecycle']}/never-matters")
    expect(page.locator("section .note")).to_contain_text(
        "Some events are certain although they explain an output"
    )
