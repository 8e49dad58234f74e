"""The page says what the rows say, and of what was not measured that it was not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

from experiments.figures import Row, fit, rate, select
from experiments.plan import declared
from experiments.report import SECTIONS, drawn, page
from experiments.report.paper import grown
from experiments.report.words import NOT_YET
from tests.experiments.made_up import made

WHOLE = page(made())


def grow(rows: list[Row], change: Callable[[Row], None], **which: str) -> None:
    """Change what is told of every length."""
    for row in select(rows, experiment="growth", **which):
        each = json.loads(row["each"])
        for told in each:
            change(told)
        row["each"] = json.dumps(each)


@pytest.mark.parametrize(
    "line",
    [
        "| window | 10,000,000 | 4,000,000 | 2,000,000 | 2.00x |",
        "| ltl | 9,453 | 2,128 | 4.44x | 2.00x |",
        # 64 GB by 739 bytes, by 10^8 / 50,000 bytes, by half a byte.
        "| window | 739 | 86,600,000 | 2,000 | 32,000,000 | 0.5 | 128,000,000,000 |",
        "| lifecycle | 1.000 ± 0.000 | yes | 1.000 ± 0.000 | 0.000 ± 0.000 | 100 | yes |",
        "| lifecycle.fresh | 1.000 ± 0.000 | yes | 1.000 ± 0.000 | 1.000 ± 0.000 | 2,400 | no |",
        "| window | 2.00x | 4.00x |",
        "| ltl | 2.00x | 8.00x | 4.00x |",
        "| window | 3 | 3 | 0.000 ± 0.000 | yes | 1 | 1 |",
        "| total | 1,000 | 100,000 | 1.000 ± 0.000 | no | 1 | 1 |",
        "| random chains | 300 | 1,000 | 400 | 50.0 % | 75.0 % |",
        "| lifecycle | 4,000,000 | 2,000,000 | 2.00x |",
        "| with | 12,000 | 2,000,000 | 1.00x |",
        "| window | 100,000 | 10,000 | 20,000 | 30,000 |",
        "| lifecycle | 100,000 | 10,000 | 20,000 | 30,000 |",
        "| ltl | 100,000 | 10,000 | 20,000 | 30,000 |",
        "| nquads | 2,000,000 | 2,000,000 | 100 | 100 | 10.0 |",
        "| sepsis.csv | 5,000 | 4,000,000 | 2,000,000 | 2.00x | 0.5 |",
        "| lifecycle | 4,000,000 | 1,000,000 | 4.00x | 2.04x | 2,000 | 1,631 |",
    ],
)
def test_the_page_tells(line: str) -> None:
    assert line in WHOLE


def test_each_question_has_its_latency_at_every_size_and_its_growth() -> None:
    (line,) = (each for each in WHOLE.splitlines() if each.startswith("| `compare`"))
    assert line.endswith("| 100 | 400 | 1,600 | 6,400 | 1.000 ± 0.000 |")
    (line,) = (each for each in WHOLE.splitlines() if each.startswith("| `explain`"))
    assert line.endswith("| 5 | 5 | 5 | 5 | 0.000 ± 0.000 |")


def test_it_says_what_is_better_and_what_is_worse_with_numbers() -> None:
    better, worse = WHOLE.split("### Better")[1].split("### Worse")
    told = " ".join(better.split())
    assert "less than in the paper: window 2.00x instead of 21.67x" in told
    assert "ltl 2.00x instead of 4.44x" in told
    assert "window 100 MB instead of 7,390 MB" in told
    assert "1.000 ± 0.000, lifecycle 1.000 ± 0.000, ltl 1.000 ± 0.000" in told
    assert (
        "hardly depend on the size of the graph: explain; the slowest, explain, takes 5 ms" in told
    )
    told = " ".join(worse.split())
    assert "lifecycle 10,000 events/s, 200 times fewer" in told
    assert "window 4.00x instead of 2.00x" in told
    assert "Memory grows where new cases keep coming: by 100 bytes an event" in told
    assert "at worst (lifecycle) 50.0 % of those outputs changed" in told


def test_a_query_that_costs_more_than_in_the_paper_is_told_under_worse() -> None:
    rows = made()
    for row in select(rows, experiment="throughput", query="lifecycle", tracking="ends"):
        row["seconds"] *= 10
    worse = " ".join(page(rows).split("### Worse")[1].split())
    assert "as much as in the paper or more: lifecycle 20.00x instead of 2.04x" in worse


def test_everything_that_is_claimed_has_its_limit() -> None:
    closing = WHOLE.split("### Better")[1]
    limits = " ".join(closing.split()).count("What limits it:")
    assert closing.count("\n- ") == limits > 8


@pytest.mark.parametrize("experiment", ["spark", "cluster", "load"])
def test_what_is_slower_than_one_process_is_told_under_worse(experiment: str) -> None:
    rows = made()
    for row in select(rows, experiment=experiment):
        row["seconds"] = row["length"] / 1e5
    worse = " ".join(page(rows).split("### Worse")[1].split())
    assert "slower than" in worse
    assert "lifecycle 100,000 events/s, 20.0 times fewer" in worse


def test_spark_has_all_queries_and_the_cluster_what_tracking_costs_there() -> None:
    for title, queries in (
        ("## On Spark", ("window", "lifecycle", "ltl")),
        ("### On a", ("life",)),
    ):
        section = WHOLE.split(title)[1].split("\n#")[0]
        for query in queries:
            assert f"| {query}" in section
        assert section.count("| 4,000,000 | 2,000,000 | 2.00x |") == len(queries)


def test_a_cell_that_ran_several_times_says_so() -> None:
    rows = made()
    assert "in a session that is already warm:" in " ".join(page(rows).split())
    for row in select(rows, experiment="cluster"):
        row["runs"] = 2
    told = " ".join(page(rows).split())
    assert told.count("already warm, each in the median of 2 runs or more:") == 1


def test_growth_leaves_out_what_it_takes_to_begin_and_to_end_a_run() -> None:
    rows = made()

    def begin_slowly(told: Row) -> None:
        told["start_seconds"] = told["start_cpu_seconds"] = 3.0
        told["seconds"] = told["cpu_seconds"] = 3.0 + 1e-7 * told["length"]

    grow(rows, begin_slowly)
    ltl = select(grown(rows), query="ltl")
    assert sorted({row["length"] for row in ltl}) == [4_000_000, 8_000_000, 24_000_000]
    assert all(row["seconds"] == pytest.approx(1e-7 * row["length"]) for row in ltl)
    assert "| ltl | 1.000 ± 0.000 | yes | 1.000 ± 0.000 |" in page(rows)


def test_time_that_is_not_linear_is_told_under_worse() -> None:
    rows = made()
    grow(rows, lambda told: told.update(seconds=told["length"] ** 1.2), query="ltl")
    worse = " ".join(page(rows).split("### Worse")[1].split())
    assert "does not grow as the log does (exponents): ltl 1.200 ± 0.000. What limits it:" in worse


def test_what_the_error_explains_is_not_called_worse() -> None:
    rows = made()
    noise = cycle((1, 30, 1 / 30, 1))
    grow(rows, lambda told: told.update(seconds=told["seconds"] * next(noise)), query="ltl")
    assert "does not grow as the log does" not in " ".join(page(rows).split())


def test_possibly_affected_is_called_too_much_only_where_something_stood() -> None:
    rows = made()
    for row in select(rows, experiment="precision"):
        row["truly"] = row["promised"]
    assert "says too much" not in page(rows)


def test_the_rows_of_a_short_look_are_told_to_be_that() -> None:
    rows = select(made(), experiment="stream")
    assert "short look" not in page(rows)
    rows[0]["quick"] = True
    assert "**A short look**" in page(rows)


def test_what_has_no_rows_yet_is_said_to_be_not_measured() -> None:
    empty = page([])
    # Every section says so, better and worse each; only what others published is there.
    assert empty.count("ot measured yet.") == len(SECTIONS) - 1 + 1
    assert "| lifecycle | 4,283 | 2,100 | 2.04x | · |" in empty
    assert drawn([]) == {}
    for experiment in declared()[1]:
        rows = [row for row in made() if row["experiment"] != experiment.name]
        assert page(rows) != WHOLE
    without = page([row for row in made() if row["experiment"] != "real"])
    assert without.split("## Logs of real processes")[1].split("##")[0].count(NOT_YET) == 1


def test_every_row_by_itself_makes_a_page() -> None:
    seen: set[str] = set()
    for row in made():
        if row["experiment"] not in seen:
            seen.add(row["experiment"])
            text = page([row])
            assert re.search(r"Not complete: [\d,]+ of [\d,]+ cells are not measured yet", text)


def test_rows_of_another_machine_are_told_in_the_head_and_in_their_section() -> None:
    rows = made()
    assert "settings" not in page(rows)
    stream = select(rows, experiment="stream")
    stream[0]["commit"] = "d"
    text = " ".join(page(rows).split())
    assert "The rows were measured in 2 settings." in text
    mixed = "Mixed: these rows were measured in 2 settings (commit c on P: 3; commit d on P: 1)"
    assert text.count("Mixed:") == 1
    assert mixed in text.split("## Streams")[1].split("##")[0]


def test_a_busy_machine_is_told() -> None:
    rows = made()
    assert "and never more than 20 %." in page(rows)
    rows[0]["busy_before"] = 90.0
    assert f"before 1 of {len(rows):,} cells it took more than 20 %." in " ".join(
        page(rows).split()
    )


def test_the_page_and_its_pictures_are_the_same_every_time() -> None:
    assert page(made()[::-1]) == WHOLE
    some = select(made(), experiment="questions")
    assert drawn(some) == drawn(some[::-1])


def test_every_picture_that_the_page_shows_is_drawn_and_the_same_on_every_processor() -> None:
    shown, pictures = re.findall(r"\(evaluation/(\w+\.svg)\)", WHOLE), drawn(made())
    assert sorted(shown) == sorted(pictures)
    for picture in pictures.values():
        # No name is made of digits that are rounded in one way here and in another there.
        assert set(re.findall(r'clip-path="url\(#(\w+)', picture)) == {"frame0"}


def test_the_exponent_of_what_is_quadratic_is_two_with_its_error() -> None:
    noise = (0.9, 1.1, 1.0)
    rows = [{"length": 10**n, "seconds": 10.0 ** (2 * n) * x} for n in (5, 6, 7) for x in noise]
    found = fit(rows)
    assert found is not None
    assert found.exponent == pytest.approx(2, abs=found.error)
    assert 0 < found.error < 0.1


def test_the_rate_is_the_median_over_the_repetitions() -> None:
    rows: list[dict[str, Any]] = [{"length": 10, "seconds": s} for s in (1.0, 2.0, 50.0)]
    assert rate(rows) == 5.0
    assert rate([]) is None
