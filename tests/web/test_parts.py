"""What views are made of: escaped HTML, strips, collapsed graphs, pages of long tables."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import numpy as np
import pytest

from whence.api import run
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import ParameterError
from whence.engine.language.log import Log
from whence.engine.language.stream_roles import StreamRole
from whence.engine.lineage.positions import of_positions
from whence.engine.lineage.steps import Step, StepEdge, Steps
from whence.engine.record import RunRecord
from whence.engine.runners import RunOptions
from whence.store.catalog import StoredStream
from whence.web.expanding import SHOWN, expanded
from whence.web.html import el, shown
from whence.web.paging import Filter, LogPages, OutputPages
from whence.web.strips import Lane, density, strip

PAYMENTS = [
    {"case": f"C{n % 7}", "activity": "pay" if n % 3 else "check", "amount": float(n)}
    for n in range(230)
]


def test_whatever_stands_in_an_element_is_text() -> None:
    made = el("p", "<script>", [None, "&", el("b", '"')], title='"><script>')
    assert made == ('<p title="&quot;&gt;&lt;script&gt;">&lt;script&gt;&amp;<b>&quot;</b></p>')


def test_a_long_value_is_cut_and_says_how_long_it_is() -> None:
    made = shown("y" * 1_000_000)
    assert "… 1,000,000 characters" in made
    assert len(made) < 400


@pytest.mark.parametrize("seed", range(20))
def test_the_strength_of_a_column_is_the_share_of_its_events(seed: int) -> None:
    draw = Random(seed)
    length = draw.choice([1, 7, 100, 999, 1000, 1001, 5000])
    columns = draw.choice([1, 3, 10, 1000])
    chosen = {n for n in range(length) if draw.random() < draw.choice([0.01, 0.5])}
    found = density(of_positions(chosen), length, columns)
    many = min(columns, length)
    edges = np.linspace(0, length, many + 1)
    for n, (lo, hi) in enumerate(itertools.pairwise(edges)):
        shares = [max(0.0, min(hi, p + 1) - max(lo, p)) for p in chosen]
        assert found[n] == pytest.approx(sum(shares) / (hi - lo))


def test_one_event_of_a_million_is_seen_and_a_million_are_few_elements() -> None:
    one = strip("log", 1_000_000, [Lane("lit", "explains", ((123_456, 123_456),))])
    assert one.count('class="explains s1"') == 1
    every = strip("log", 1_000_000, [Lane("lit", "explains", ((0, 999_999),))])
    assert every.count('class="explains s9"') == 1


def wide(many: int) -> Steps:
    inputs = {f"log@{n}": Step(f"log@{n}", None, n) for n in range(many)}
    steps = {"o@0": Step("o@0", "o", True), "p@0": Step("p@0", "p", 1), **inputs}
    below = {
        "o@0": (StepEdge("o@0", "p@0"),),
        "p@0": tuple(StepEdge("p@0", name) for name in inputs),
    }
    return Steps("o@0", steps, below)


def test_a_graph_starts_collapsed_and_opens_box_by_box() -> None:
    found = wide(3)
    picture, can = expanded(found, ())
    assert [box.id for box in picture.boxes] == ["o@0", "p@0"]
    assert can == {"o@0", "p@0"}
    assert "+ 3 below" in picture.boxes[1].lines
    picture, _ = expanded(found, {"p@0"})
    assert [box.id for box in picture.boxes] == ["o@0", "p@0", "log@0", "log@1", "log@2"]
    assert len(picture.arrows) == 4
    picture, _ = expanded(found, {"o@0", "p@0"})
    assert [box.id for box in picture.boxes] == ["o@0"]


def test_many_events_stand_together_until_they_are_asked_for() -> None:
    found = wide(100_000)
    picture, can = expanded(found, {"p@0"})
    together = "p@0 from log"
    assert together in can
    assert [box.lines[1] for box in picture.boxes if box.id == together] == ["100,000 events"]
    picture, _ = expanded(found, {"p@0", together})
    assert len(picture.boxes) == 2 + SHOWN + 1
    assert picture.boxes[-1].lines[0] == f"… {100_000 - SHOWN:,} more" or any(
        box.lines[0] == f"… {100_000 - SHOWN:,} more" for box in picture.boxes
    )


DECLARED = Log(case="case")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> RunRecord:
    chain = Chain.of(ApplyFunction("large", "amount > 100"))
    options = RunOptions(chunk=50)
    root = tmp_path_factory.mktemp("pages")
    return run(
        chain, PAYMENTS, runner="local", options=options, record=root, declare=DECLARED
    ).record


@pytest.fixture
def pages(record: RunRecord) -> OutputPages:
    stream = StoredStream(
        "large", 1, "large", 0, StreamRole.OUTPUT, 1, len(PAYMENTS), len(PAYMENTS)
    )
    return OutputPages(record, stream, LogPages(record.log("log")))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (Filter(), lambda n: True),
        (Filter(where="value = false"), lambda n: n <= 100),
        (Filter(search="CHECK"), lambda n: n % 3 == 0),
        (Filter(search="c5", where="large"), lambda n: n % 7 == 5 and n > 100),
        (Filter(case="C5"), lambda n: n % 7 == 5),
        (Filter(case="C5", where="value = false"), lambda n: n % 7 == 5 and n <= 100),
        (Filter(search="fals"), lambda n: n <= 100),
        (Filter(search="nothing is like that"), lambda n: False),
    ],
    # A function would be named by its address, another one in every process of the tests.
    ids=lambda each: "" if callable(each) else str(each),
)
@pytest.mark.parametrize("size", [7, 50, 500])
def test_pages_are_what_a_plain_reading_of_the_whole_gives(
    pages: OutputPages, asked: Filter, wanted: object, size: int
) -> None:
    assert callable(wanted)
    expected = [n for n in range(len(PAYMENTS)) if wanted(n)]
    counts = pages.counts(asked)
    assert sum(counts) == len(expected)
    found = [
        row
        for first in range(0, max(len(expected), 1), size)
        for row in pages.page(counts, asked, first, size)
    ]
    assert [row.position for row in found] == expected
    assert [row.value for row in found] == [n > 100 for n in expected]


def test_the_values_of_a_pipe_are_counted(pages: OutputPages) -> None:
    assert pages.values() == {"false": 101, "true": 129}


def test_a_condition_over_what_is_not_there_is_refused(pages: OutputPages) -> None:
    with pytest.raises(ParameterError, match="expected a name of the output"):
        pages.counts(Filter(where="amount > 3"))


def test_a_log_is_paged_and_searched(record: RunRecord) -> None:
    log = LogPages(record.log("log"))
    counts = log.counts("")
    assert [at for at, _ in log.page(counts, "", 45, 10)] == list(range(45, 55))
    some = log.counts("check")
    assert sum(some) == 77
    assert log.page(some, "check", 70, 50)[-1] == (228, PAYMENTS[228])


def test_files_of_the_page_ask_no_other_host_for_anything() -> None:
    folder = Path(__file__).parents[2] / "engine" / "whence" / "web"
    known = (
        "http://www.w3.org/2000/svg",
        *("http://{name}:{port}", "{scope['scheme']}://{host}", "{parts.scheme}://{parts.netloc}"),
        *("https://whence.example", "http://127.0.0.1:8017", "http://[::1]:80"),
    )
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".js", ".css", ".svg"):
            text = path.read_text(encoding="utf-8")
            for each in known:
                text = text.replace(each, "")
            assert "://" not in text, path
