"""The harness measures what it says: in turn, all rounds, medians, one format."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import iter_modules

import pytest
from rich.console import Console

import bench.__main__ as command
from bench import Bench, BenchError, Result
from bench.baseline import COMPARED
from bench.machine import commit
from bench.report import table, write
from bench.suites.store import written
from tests.ground.surroundings import run
from whence.engine.kernels import processors


@pytest.fixture(autouse=True)
def _no_quick_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_QUICK", raising=False)


def two_variants(seen: list[str], **options: int) -> Bench:
    made = Bench("two", **options)  # type: ignore[arg-type]

    @made.variant("slow", unit="events/s")
    def slow(_: None) -> float:
        seen.append("slow")
        return 2.0 * len(seen)

    @made.variant("fast", unit="events/s")
    def fast(_: None) -> float:
        seen.append("fast")
        return 1.0 * len(seen)

    made.ratio("slow.vs_fast", "slow", "fast")
    return made


def test_variants_take_turns_and_turn_round() -> None:
    seen: list[str] = []
    two_variants(seen).run()
    assert seen[:8] == ["slow", "fast", "fast", "slow", "slow", "fast", "fast", "slow"]
    assert len(seen) == 2 * (1 + 5)


def test_the_warm_up_is_not_counted() -> None:
    slow, fast, _ = two_variants([]).run()
    assert slow.runs == (8.0, 10.0, 16.0, 18.0, 24.0)
    assert fast.runs == (3.0, 6.0, 7.0, 10.0, 11.0)


def test_a_ratio_is_taken_round_by_round() -> None:
    _, _, ratio = two_variants([]).run()
    assert ratio.unit == "ratio"
    assert ratio.runs == (8 / 3, 10 / 6, 16 / 7, 18 / 10, 24 / 11)
    assert ratio.value == 24 / 11


def test_a_variant_that_returns_nothing_is_timed() -> None:
    made = Bench("timed")

    @made.variant("nothing")
    def nothing(_: None) -> None:
        sum(range(1000))

    (result,) = made.run()
    assert result.unit == "s"
    assert all(seconds > 0 for seconds in result.runs)


def test_what_was_prepared_reaches_every_run_and_is_cleared_away() -> None:
    events: list[str] = []

    @contextmanager
    def prepare() -> Iterator[str]:
        events.append("made")
        yield "data"
        events.append("cleared")

    made = Bench("prepared", prepare=prepare)

    @made.variant("use")
    def use(prepared: str) -> None:
        events.append(prepared)

    made.run()
    assert events == ["made", *["data"] * 6, "cleared"]


def test_a_short_look_makes_two_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_QUICK", "1")
    seen: list[str] = []
    made = two_variants(seen)
    made.run()
    assert len(seen) == made.steps == 4


def test_what_takes_long_runs_in_few_rounds_only() -> None:
    seen: list[str] = []
    made = two_variants(seen)

    @made.variant("long", unit="events/s", rounds=2)
    def long(_: None) -> float:
        seen.append("long")
        return 4.0

    made.ratio("long.vs_fast", "long", "fast")
    *_, result, _, ratio = made.run()
    assert len(seen) == made.steps == 2 * (1 + 5) + 2
    assert "long" not in seen[:2]  # the warm-up
    assert result.runs == (4.0, 4.0)
    assert len(ratio.runs) == 2


def test_progress_is_told_after_every_run() -> None:
    made = two_variants([])
    told: list[str] = []
    made.run(told.append)
    assert len(told) == made.steps
    assert told[:3] == [
        "slow: 2 events/s (warm-up)",
        "fast: 2 events/s (warm-up)",
        "fast: 3 events/s",
    ]


def test_fewer_than_five_rounds_are_refused() -> None:
    with pytest.raises(BenchError, match="expected rounds >= 5; got 3; try BENCH_QUICK=1"):
        Bench("hasty", rounds=3)


def test_a_ratio_of_something_undeclared_is_refused() -> None:
    with pytest.raises(BenchError, match="expected a declared variant; got 'b'; try one of none"):
        Bench("loose").ratio("a.vs_b", "b", "a")


def test_an_id_is_used_once() -> None:
    made = two_variants([])
    with pytest.raises(BenchError, match="got 'slow' twice"):
        made.variant("slow")


def test_a_bench_without_variants_is_refused() -> None:
    with pytest.raises(BenchError, match="expected at least one variant"):
        Bench("empty").run()


def test_the_file_has_the_agreed_format(tmp_path: Path) -> None:
    path = tmp_path / "results" / "store.json"
    results = [Result("window.vs_importer", "ratio", (0.53, 0.55, 0.57))]
    write(path, "store", {"cores": 2}, {"python": "3.11"}, results)
    assert json.loads(path.read_text()) == {
        "bench": "store",
        "machine": {"cores": 2},
        "versions": {"python": "3.11"},
        "results": [
            {
                "id": "window.vs_importer",
                "value": 0.55,
                "unit": "ratio",
                "runs": [0.53, 0.55, 0.57],
            }
        ],
    }
    assert [p.name for p in path.parent.iterdir()] == ["store.json"]


def test_benchmarks_that_share_a_file_leave_each_other_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def suite(id: str, value: float, into: str | None = None) -> Bench:
        made = Bench(id, into=into)
        made.variant(id, "events/s")(lambda _: value)
        return made

    def measured(name: str, made: Bench) -> dict[str, float]:
        monkeypatch.setattr(command, "load", lambda _: made)
        command.measure(name, Console(file=io.StringIO()))
        written = json.loads((tmp_path / "spark.json").read_text())
        assert written["bench"] == "spark"
        return {result["id"]: result["value"] for result in written["results"]}

    monkeypatch.setattr(command, "RESULTS", tmp_path)
    measured("spark", suite("gone.events_per_s", 1))
    assert measured("spark", suite("ltl.vs_sql", 2)) == {"ltl.vs_sql": 2}
    both = {"ltl.vs_sql": 2, "stream.events_per_s": 3}
    assert measured("stream", suite("stream.events_per_s", 3, "spark")) == both
    assert measured("spark", suite("ltl.vs_sql", 4)) == {**both, "ltl.vs_sql": 4}
    again = measured("stream", suite("stream.events_per_s", 5, "spark"))
    assert again == {"ltl.vs_sql": 4, "stream.events_per_s": 5}


def test_a_result_belongs_to_the_bench_that_wrote_it_whatever_its_first_word(
    tmp_path: Path,
) -> None:
    path = tmp_path / "time.json"

    def written(by: str | None, **values: float) -> dict[str, float]:
        results = [
            Result(id.replace("__", "."), "events/s", (value,)) for id, value in values.items()
        ]
        write(path, "time", {}, {}, results, by)
        standing = json.loads(path.read_text())["results"]
        assert len({each["id"] for each in standing}) == len(standing)
        return {each["id"]: each["value"] for each in standing}

    # Ids that begin with another bench's name, in the file of this one and of one that shares it.
    written(None, spark__deadline=1, past=2)
    assert written(None, spark__deadline=3) == {"spark.deadline": 3}
    assert written("stream", store__late=4) == {"spark.deadline": 3, "store.late": 4}
    assert written(None, past=5) == {"past": 5, "store.late": 4}
    assert written("stream", stream__x=6) == {"past": 5, "stream.x": 6}
    assert written("stream", past=7) == {"past": 7}  # never twice


def test_the_table_says_the_same_with_the_spread() -> None:
    console = Console(width=100, record=True, file=sys.stderr)
    console.print(table("store", [Result("x", "ratio", (0.57, 0.53, 0.55))]))
    line = next(line for line in console.export_text().splitlines() if " x " in line)
    assert [cell.strip() for cell in line.strip("│").split("│")] == [
        "x", "0.55", "0.53", "0.57", "3", "ratio",
    ]  # fmt: skip


def test_a_real_benchmark_runs_and_records_machine_and_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BENCH_QUICK", "1")
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    assert command.main(["imports"]) == 0
    written = json.loads((tmp_path / "imports.quick.json").read_text())
    assert written["machine"]["cores"] >= 1
    assert written["versions"]["whence"] != "not installed"
    assert [r["id"] for r in written["results"]] == [
        "python",
        "engine",
        "version",
        "engine.vs_python",
        "version.vs_python",
    ]


def test_what_measuring_itself_writes_does_not_make_the_commit_another(tmp_path: Path) -> None:
    page, code = tmp_path / "docs/explanation/evaluation.md", tmp_path / "engine.py"
    rows = tmp_path / "experiments/results/results.csv"
    git = ["git", "-c", "user.name=N", "-c", "user.email=n@example.org"]
    for path in (page, code, rows):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        assert run([*git, *words], cwd=tmp_path).returncode == 0
    first = commit(tmp_path)
    assert re.fullmatch("[0-9a-f]{12}", first)
    page.write_text("after")
    rows.write_text("after")
    assert commit(tmp_path) == first
    code.write_text("after")
    assert commit(tmp_path) == f"{first}-dirty"


def test_every_suite_declares_a_bench() -> None:
    assert [type(command.load(name)) for name in command.names()] == [Bench] * len(command.names())


def test_the_store_is_measured_by_all_that_is_promised_of_it() -> None:
    wanted = {
        *("events_per_s", "records_per_s", "vs_importer", "vs_plain_writer", "bytes_per_event"),
        *(f"writers_{n}.events_per_s" for n in (1, 2, 4)),
    }
    for name, before in (("store", ""), ("many", "many.")):
        found = set(command.load(name).ids)
        for query in ("window", "lifecycle", "ltl"):
            assert {f"{before}{query}.{what}" for what in wanted} <= found
    for name, id in (("fresh", "fresh.p95_s"), ("many", "many.selected.growth")):
        assert id in command.load(name).ids
        assert command.load(name).into == "store"


@pytest.mark.parametrize("query", ["window", "lifecycle", "ltl"])
def test_the_kernels_are_measured_by_all_that_is_promised_of_them(query: str) -> None:
    wanted = {
        *("relative_vs_own", "vs_interpreter", "tracked_over_untracked", "bytes_per_event"),
        *("growth_1e5_1e6", "growth_1e6_1e7", "peak_mb_1e7", "rows_over_untracked"),
    }
    found = {id.removeprefix(f"{query}.") for id in command.load("kernels").ids}
    assert wanted <= found


def test_every_processor_is_measured_alone_and_in_slices() -> None:
    ids = set(command.load("kernels").ids)
    kernels = [found.name for found in iter_modules(processors.__path__)]
    for name in (*kernels, "group"):
        for measured in ("tracked_over_untracked", "rows_over_untracked", "vs_interpreter"):
            assert f"processor.{name}.{measured}" in ids
        for place in ("", ".slices_10", ".slices_1e5"):
            assert f"processor.{name}{place}.growth_1e6_1e7" in ids


def test_an_unknown_name_is_a_usage_error() -> None:
    done = run([sys.executable, "-m", "bench", "nothing-like-it"])
    assert done.returncode == 2
    assert done.stderr.startswith(f"bench: expected one of {', '.join(command.names())}; got")
    assert len(done.stderr.splitlines()) == 1


def test_the_bench_of_exports_gives_every_id_that_is_asked_for() -> None:
    assert {
        "prov_json.vs_prov",
        "nquads.vs_prov",
        "prov_json.peak_ratio_1e6_1e5",
        "nquads.peak_ratio_1e6_1e5",
        "validate.s_1e6",
        "nquads.from_neo4j",
    } <= set(command.load("export").ids)


def test_the_bench_of_questions_gives_every_id_that_is_asked_for() -> None:
    assert set(command.load("questions").ids) == {
        *("explain.p50_ms_1e6", "explain.p99_ms_1e6", "explain.p99_ms_5e6"),
        *("conjunction.first_page_s", "never_matters.s_1e6", "impact.s_1e4_inputs"),
        *("never_matters.lifecycle_s_1e5", "impact.lifecycle_s_1e4_inputs"),
        *("lookup.p50_ms", "scan.s", "explain.vs_lookup", "explain.growth"),
        *("conjunction.vs_scan", "never_matters.vs_scan", "impact.vs_scan"),
        *("never_matters.lifecycle.vs_scan", "impact.lifecycle.vs_scan"),
    }


def test_every_bench_but_the_one_of_sizes_can_be_compared_with_a_baseline() -> None:
    units = {name: command.load(name).units.values() for name in command.names()}
    assert [name for name in units if set(units[name]).isdisjoint(COMPARED)] == ["batch_size"]


def test_room_that_a_file_keeps_for_later_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    with file.open("wb") as writing:
        writing.write(b"x" * 65_536)
        writing.truncate(1 << 25)
        writing.flush()
        os.fsync(writing.fileno())
    can_tell = file.stat().st_blocks * 512 < file.stat().st_size
    assert written(file) == (65_536 if can_tell else 1 << 25)
    file.write_bytes(b"")
    assert written(file) == 0


def test_spark_is_measured_by_all_that_is_promised_of_it() -> None:
    of_each = ("tracked_over_untracked", "vs_sql", "events_per_s_core")
    wanted = {f"{query}.{id}" for query in ("window", "lifecycle", "ltl") for id in of_each}
    assert wanted <= set(command.load("spark").ids)
    stream = command.load("stream")
    assert stream.into == "spark"
    assert all(id.startswith("stream.") for id in stream.ids)
    assert "stream.events_per_s" in stream.ids
