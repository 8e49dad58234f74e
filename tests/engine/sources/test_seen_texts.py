"""Which of a chain's texts occur in a log: exact, bounded, and free once all were seen."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from whence.api import run
from whence.engine import ApplyFunction, Chain, Multiplex
from whence.engine.errors import WhenceWarning
from whence.engine.language.chain_file import load_chain
from whence.engine.runners.given_logs import look_for_texts
from whence.engine.sources import open_source
from whence.engine.sources.seen_texts import MOST_CANDIDATES, SeenTexts, compared_texts

EVENTS: list[Any] = [{"activity": "approve", "n": 1}, {"activity": "pay", "n": 2}]


def batches(texts: list[str | None], size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(texts), size):
        column = pa.array(texts[start : start + size], pa.string())
        yield pa.RecordBatch.from_arrays([column], names=["a"])


@pytest.mark.parametrize("runner", ["local", "interpreter"])
def test_a_run_in_python_warns_of_a_text_that_no_event_has(tmp_path: Path, runner: Any) -> None:
    chain = ApplyFunction("rule", "activity = 'aprove'")
    with pytest.warns(WhenceWarning) as caught:
        result = run(chain, EVENTS, runner=runner, record=tmp_path)
    assert [str(each.message) for each in caught] == [
        "activity = 'aprove': no event of log has this activity; did you mean 'approve'?"
    ]
    assert [each.filename for each in caught] == [__file__]  # the user's line, for filters and eyes
    assert [value for _, value in result.outputs()] == [False, False]


def test_a_run_in_python_says_that_a_log_is_empty(tmp_path: Path) -> None:
    with pytest.warns(WhenceWarning, match="^log is empty: 0 events"):
        run(ApplyFunction("rule", "value"), [], runner="local", record=tmp_path)


def test_each_log_is_looked_at_for_its_own_texts() -> None:
    chain = load_chain(
        "graph: {inputs: [paid, sent], nodes: {"
        "a: {from: paid, is: {apply: \"who = 'ann'\"}}, b: {from: sent, is: "
        "{apply: \"who = 'bob'\"}}, "
        "c: {from: [paid, sent], is: {apply: \"$1.who in ('x', 'y')\"}}}}"
    )
    columns = {"paid": {"who": "text"}, "sent": {"who": "text"}}
    assert compared_texts(chain, columns) == {
        "paid": {"who": {"ann": "="}},
        "sent": {"who": {"bob": "=", "x": "=", "y": "="}},
    }
    assert compared_texts(chain, {"paid": {"who": "any"}, "sent": {}}) == {"paid": {}, "sent": {}}


def test_what_was_never_seen_is_found_however_the_log_is_cut() -> None:
    chance = random.Random(1)
    for _ in range(50):
        texts = [chance.choice(["ab", "ac", "xyz", None]) for _ in range(30)]
        wanted = {"ab": "=", "ad": "=", "xyz": "!="}
        seen = SeenTexts({"a": wanted})
        for batch in batches(texts, chance.choice([1, 7, 30])):
            seen.add(batch)
        told = {line.partition("'")[2].partition("'")[0] for line in seen.warnings("log")}
        assert told == set(wanted) - set(texts)
        assert seen.all_seen == (not told)


def test_memory_is_bounded_whatever_the_log_holds() -> None:
    seen = SeenTexts({"a": {"wanted": "="}})
    for start in range(0, 5 * MOST_CANDIDATES, 1000):
        seen.add(next(batches([f"v{n}" for n in range(start, start + 1000)], 1000)))
    seen.add(next(batches(["w" * 1_000_000], 1)))
    counts = seen._counts["a"]
    assert len(counts) == MOST_CANDIDATES
    assert max(map(len, counts)) <= 200
    seen.add(next(batches(["wanted"], 1)))  # seen all the same, late as it comes
    assert seen.all_seen
    assert list(seen.warnings("log")) == []


def test_a_check_reads_no_further_than_it_has_to(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("activity,n\npay,1\npay,bad\n")
    source = open_source(tmp_path / "log.csv", columns={"n": "integer"})
    look_for_texts(Chain.of(ApplyFunction("n", "n > 1")), {"log": source})
    assert source.report.read == 0


def test_texts_of_a_log_are_followed_through_what_passes_events_on() -> None:
    two = [(Multiplex("both"), ("log", "log")), (ApplyFunction("x", "a = 'b'"), ("both",))]
    chain = Chain.graph(["log"], two)
    assert compared_texts(chain, {"log": {"a": "text"}}) == {"log": {"a": {"b": "="}}}
