"""What the page cites is what the paper published: a slip in ``cited.yaml`` is found."""

from __future__ import annotations

import re

import pytest

from experiments.report import page
from experiments.report.words import cited

BARE = page([])
"""Without any row of ours: what is cited is there all the same."""
TOLD = " ".join(BARE.split())


@pytest.mark.parametrize(
    "line",
    ["| ltl | 9,453 | 2,128 |", "| lifecycle | 4,283 | 2,100 |", "| window | 333,367 | 15,386 |"],
)
def test_events_a_second_are_those_of_the_paper(line: str) -> None:
    section = BARE.split("### Beside the paper's own figures")[1].split("\n#")[0]
    assert section.count(line) == 1


@pytest.mark.parametrize("line", ["| ltl | 5,300 |", "| lifecycle | 1,631 |", "| window | 739 |"])
def test_bytes_an_event_are_those_of_the_paper(line: str) -> None:
    section = BARE.split("### How many events fit")[1].split("\n#")[0]
    assert section.count(line) == 1


def test_the_papers_extrapolation_is_the_papers() -> None:
    assert "divides 64 GB of memory by its bytes an event and comes to 86,000,000 events" in TOLD


def test_the_papers_figures_are_marked_as_those_of_something_else() -> None:
    assert (
        "are those of another machine and another program (Java, BeepBeep 3), with memory measured "
        "by a probe inside the timed loop. So its events a second are not to be set beside ours"
    ) in TOLD


def test_the_costs_of_other_systems_are_those_that_the_paper_quotes() -> None:
    section = BARE.split("## Other systems")[1].split("\n#")[0]
    assert "none of these was run by us" in section
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    found = {name.strip("| "): (time.split(" (")[0], memory) for name, time, memory, _ in rows}
    assert found == {
        "pSQL": ("10 to 1000x", ""),
        "Mondrian": ("3x", ""),
        "Dytan": ("30 to 50x", "240x"),
        "GIFT": ("up to 12x", ""),
        "TaintCheck": ("about 20x", "4x"),
        "RIFLE": ("1 to 2x", ""),
        "Spline": ("near none", ""),
    }


def test_every_system_that_is_cited_has_its_source() -> None:
    for system in cited()["systems"]:
        # Authors, title, venue and year.
        assert re.fullmatch(r".+, .+, .+ (19|20)\d\d", system["source"]), system["name"]
    assert re.search(r"arXiv:\d{4}\.\d{5}", cited()["paper"]["source"])
