"""What a notebook shows: the picture, the table and the timeline; nothing in it can act."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from whence.api import Result, open_run, run
from whence.engine import ApplyFunction, Chain, MemoryTracker, Slice, interpret
from whence.engine.language.log import Log
from whence.engine.lineage.positions import Intervals
from whence.notebook.answers import cell_of_answer, text_of_answer
from whence.results import Answer
from whence.store import associate
from whence.store.questions import (
    Coverage,
    GroupShare,
    Impact,
    LogShare,
    NeverMatters,
    OutputShare,
)

HOSTILE = "<script>alert(1)</script>\u202e\"'&" + "x" * 5000
EVENTS: list[Any] = [
    {"case": "a", "activity": "pay", "paid": 10},
    {"case": "b", "activity": HOSTILE, "paid": 0},
    {"case": "a", "activity": "pay", "paid": 7},
]
CHAIN = Slice("all", by="case", of=ApplyFunction("paid", "paid > 0"), combine="and")


class Seen(HTMLParser):
    """The tags, attributes and text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def safe(html: str) -> Seen:
    """Refuse whatever could act or load, or is not whole."""
    seen = Seen(html)
    assert seen.open == []
    assert not {"script", "iframe", "img", "link", "object", "a"} & set(seen.tags)
    named = {name for name, _ in seen.attributes}
    assert not [name for name in named if name.startswith("on") or name in ("src", "href")]
    assert "\u202e" not in html
    assert "//" not in "".join(value or "" for name, value in seen.attributes if name != "xmlns")
    assert len(html) < 100_000
    return seen


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    place = tmp_path_factory.mktemp("record")
    known = Log(case="case", activity="activity")
    return run(CHAIN, EVENTS, declare=known, runner="local", record=place, tracked=True)


def test_an_explanation_is_the_picture(result: Result) -> None:
    why = result.explain(result.first(False))
    shown = why._repr_mimebundle_()
    assert shown["text/plain"] == "all@1 is false because of 1 input event"
    seen = safe(shown["text/html"])
    assert {"svg", "table", "details"} <= set(seen.tags)
    assert seen.tags.count("svg") == 2  # the timeline and the graph
    for text in ("log@1", "paid = 0", "all@1", "log: 3 events", "all/paid@1"):
        assert text in seen.text, text
    told = " ".join(seen.text)
    assert "all@1 is false because one slice fails, and all must hold" in told
    assert "coverage: all 3 outputs tracked (inputs only, no intermediate steps)" in seen.text


def test_a_run_shows_its_outputs_and_its_chain_with_counts(result: Result) -> None:
    shown = result._repr_mimebundle_()
    assert shown["text/plain"] == f"run {result.id}: complete, by the local runner"
    seen = safe(shown["text/html"])
    assert seen.text.count("false") == 2
    assert "log with 3 events" in seen.text
    assert "all: Slice" in seen.text
    assert [text for text in seen.text if text == "3"] == ["3", "3"]  # into and out of the Slice
    assert result.chain == Chain.of(CHAIN) or result.chain.outputs == ("all",)


def test_a_chain_and_what_the_interpreter_explains_are_drawings() -> None:
    for part in (CHAIN, Chain.of(CHAIN)):
        assert "all: Slice" in safe(part._repr_mimebundle_()["text/html"]).text
    why = interpret(CHAIN, EVENTS, tracker=MemoryTracker()).explain(1)
    shown = why._repr_mimebundle_()
    assert shown["text/plain"] == "all@1 is false because of log@1.paid"
    assert "all/paid@1" in safe(shown["text/html"]).text


def test_many_outputs_and_events_are_counted_not_listed(tmp_path: Path) -> None:
    events = [{"x": n % 5} for n in range(3000)]
    chain = ApplyFunction("x", "x") | Slice("all", by="value", of=ApplyFunction("v", "value"))
    many = run(chain, events, runner="local", record=tmp_path, tracked=True)
    assert "… 2,990 more; .to_pandas() has all of them" in safe(many._repr_html_()).text
    seen = safe(many.explain(2999)._repr_html_())
    assert len([tag for tag in seen.tags if tag == "tr"]) <= 21


def test_a_job_without_a_chain_is_shown_by_its_ends(tmp_path: Path) -> None:
    rows = [("totals", 0, 0, "orders", 0), ("totals", 0, 0, "orders", 2)]
    job = open_run(associate(rows, record=tmp_path).id, record=tmp_path)
    assert "the chain, with counts" not in safe(job._repr_html_()).text
    seen = safe(job.explain("totals@0")._repr_html_())
    assert {"totals@0", "orders@0", "orders@2"} <= set(seen.text)
    assert any(text.startswith("without the steps between: ") for text in seen.text)


def share(ranges: Intervals) -> LogShare:
    return LogShare("log", ranges, 1_000_000)


COVERED = Coverage(10, 10, "ends", "first", None, "complete", True)
ODD: Intervals = tuple((n, n) for n in range(0, 1_000_000, 2))


def test_never_matters_is_a_strip_over_the_log(result: Result) -> None:
    groups = (GroupShare("log", HOSTILE, 3, 4, 5), GroupShare("log", "b", 0, 0, 5, given=True))
    found = NeverMatters("r", (share(ODD),), (share(((0, 9),)),), COVERED, {}, "case", groups)
    assert text_of_answer(found) == "500,000 of 1,000,000 input events certainly never mattered"
    seen = safe(Answer(found, result.record)._repr_html_())
    assert "log: 1,000,000 events" in seen.text
    assert ("class", "safe") in seen.attributes
    assert "given" in seen.text


def test_impact_shows_the_three_groups(result: Result) -> None:
    def outputs(*ranges: tuple[int, int]) -> tuple[OutputShare, ...]:
        return (OutputShare("all", ranges, 10),)

    found = Impact(
        run="r",
        inputs=(share(((17, 17),)),),
        unaffected=outputs((0, 5)),
        possibly=outputs((6, 9)),
        explained=outputs((8, 9)),
        untracked=outputs(),
        may_appear=("all",),
        coverage=COVERED,
        cypher={},
    )
    assert text_of_answer(found) == "if 1 input events were wrong, 6 of 10 outputs would hold"
    seen = safe(cell_of_answer(found, result.record))
    for text in ("unaffected (guaranteed)", "may change", "explained by these events"):
        assert text in seen.text
    assert {"safe", "soft", "strong"} <= {v for name, v in seen.attributes if name == "class"}
    assert "outputs could appear that do not exist now: all" in seen.text
