"""Break the way of a run into the graph at every named point, and go on: the same graph."""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.runners._support.stream_runs import CHAINS, EVENTS, OPTIONS, put, streamed
from tests.store.loading._support.cutting_proxy import Proxy, proxied
from tests.store.loading._support.disturbed_load import POINTS, Fault, disturbed_load
from tests.store.loading._support.whole_graph import whole_graph
from whence.engine import Chain
from whence.engine.errors import StoreError
from whence.engine.record import ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.store import Connection, Settings, connect
from whence.store.care import check
from whence.store.loading import load
from whence.store.server import Status

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.neo4j, pytest.mark.spark]

KINDS = ("batch", "stream", "selected")
TIMES = {"batch": (1, 4, 9), "stream": (1, 3, 5), "selected": (1, 4)}
"""At which time that a point is reached it breaks; a stream is loaded in stages, each with less."""
SELECTED = replace(OPTIONS, where="value = false")
ONCE = (POINTS[0], *POINTS[-2:])
"""Points that are reached once in a load, the others once or more a chunk."""
CUTS = (400, 4_000, 12_000, 30_000)
USUAL = {
    ("batch", "between two statements", 9),
    ("batch", "between commit and acknowledgement", 4),
    ("batch", "between chunks", 1),
    ("batch", "while the run is registered", 1),
    ("stream", "before the commit", 3),
    ("stream", "after the marker", 1),
    ("stream", "before the state is told", 1),
    ("selected", "between two statements", 4),
}
"""What is broken in each test run; the rest is broken by ``make faults``."""


@dataclass(frozen=True)
class Made:
    """A run in the record.

    Attributes:
        run: its id.
        stages: records of it, as it grew; the last one is complete.
        graph: what an undisturbed load gives.
    """

    run: str
    stages: tuple[Path, ...]
    graph: tuple[list[str], list[str]]


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory, neo4j_server: Status, spark: SparkSession
) -> dict[str, Made]:
    """The same events as a batch and as a stream."""
    folder = tmp_path_factory.mktemp("faults")
    found = {}
    several = {
        "batch": _batch(folder / "batch", OPTIONS),
        "stream": _stream(folder, spark),
        "selected": _batch(folder / "selected", SELECTED),
    }
    for kind, stages in several.items():
        (run,) = (path.name for path in (stages[-1] / "runs").iterdir())
        with connect(neo4j_server.settings()) as connection:
            connection.write("MATCH (n) DETACH DELETE n")
            assert load(stages[-1], run, connection, writers=1).complete
            found[kind] = Made(run, stages, whole_graph(connection))
    return found


def _batch(root: Path, options: RunOptions) -> tuple[Path, ...]:
    chain = Chain.of(CHAINS["lifecycle"]())
    log = ingest(root, chain.inputs[0], EVENTS, chunk=OPTIONS.chunk)
    run_kernels(root, chain, {chain.inputs[0]: log}, options, batch=50)
    return (root,)


def _stream(folder: Path, spark: SparkSession) -> tuple[Path, ...]:
    arriving, root = folder / "arriving", folder / "stream"
    arriving.mkdir()
    stages = []
    for first in (0, 110):
        put(arriving, f"{first:03d}.csv", EVENTS[first : first + 55])
        later = [(f"{first + 55:03d}.csv", EVENTS[first + 55 : first + 110])]
        streamed(root, arriving, "lifecycle", OPTIONS, spark, later)
        stages.append(folder / f"stage-{first}")
        shutil.copytree(root, stages[-1])
    put(arriving, "220.csv", EVENTS[220:])
    streamed(root, arriving, "lifecycle", OPTIONS, spark)
    return (*stages, root)


def assert_made_up_for(graph: Connection, made: Made) -> None:
    """Whatever was broken, loading again gives the graph that there would have been."""
    assert load(made.stages[-1], made.run, graph).complete
    assert check(graph, made.stages[-1]).findings == ()
    assert whole_graph(graph) == made.graph


def points() -> Iterator[Any]:
    for kind in KINDS:
        for point in POINTS:
            for nth in (1,) if point in ONCE else TIMES[kind]:
                marks = [pytest.mark.fault(f"{kind}, loader killed {point}")]
                if (kind, point, nth) not in USUAL:
                    marks.append(pytest.mark.full)
                yield pytest.param(kind, point, nth, marks=marks, id=f"{kind}-{point}-{nth}")


@pytest.mark.parametrize(("kind", "point", "nth"), list(points()))
def test_a_loader_that_is_killed_is_made_up_for(
    graph: Connection, made: dict[str, Made], tmp_path: Path, kind: str, point: str, nth: int
) -> None:
    for number, stage in enumerate(made[kind].stages):
        hit = tmp_path / str(number)
        code = disturbed_load(stage, made[kind].run, graph.settings, Fault(point, nth), hit)
        # Later stages have fewer parts left, so that the n-th of them may not come.
        assert code == (-signal.SIGKILL if hit.exists() else 0)
        assert number or hit.exists()
    assert_made_up_for(graph, made[kind])


Disturb = Callable[[Proxy], None]


def _cut(after: int) -> Disturb:
    return lambda proxy: proxy.cut_after(after)


def _lose(nth: int, *, heard: bool) -> Disturb:
    return lambda proxy: proxy.lose_commit(nth, heard=heard)


def connections() -> Iterator[Any]:
    for kind in KINDS[:2]:
        ways: list[tuple[str, str, Disturb]] = [("inside", f"after {n}", _cut(n)) for n in CUTS]
        for nth in (1, 3, 8):
            ways.append(("commit lost", f"commit {nth}", _lose(nth, heard=False)))
            ways.append(("acknowledgement lost", f"commit {nth}", _lose(nth, heard=True)))
        for what, where, disturb in ways:
            marks = [pytest.mark.fault(f"{kind}, connection dropped: {what}")]
            if not where.endswith((" 3", " 4000")) or kind == "batch":
                marks.append(pytest.mark.full)
            yield pytest.param(kind, disturb, marks=marks, id=f"{kind}-{what}-{where}")


@pytest.mark.parametrize(("kind", "disturb"), list(connections()))
def test_a_connection_that_is_dropped_is_made_up_for(
    graph: Connection, neo4j_server: Status, made: dict[str, Made], kind: str, disturb: Disturb
) -> None:
    assert neo4j_server.port is not None
    with proxied(neo4j_server.port) as proxy:
        known = graph.settings
        settings = Settings(f"bolt://127.0.0.1:{proxy.port}", known.username, known.password)
        with connect(settings) as connection, suppress(StoreError):
            disturb(proxy)
            load(made[kind].stages[-1], made[kind].run, connection, writers=1)
        assert not proxy.cutting, "it was never cut"
    assert_made_up_for(graph, made[kind])


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        pytest.param(kind, what, marks=[pytest.mark.fault(f"{kind}, {what}"), *more])
        for kind, what, more in (
            ("batch", "a chunk written twice", [pytest.mark.full]),
            ("stream", "a chunk written twice", []),
            ("batch", "four loaders at once", []),
            ("stream", "four loaders at once", [pytest.mark.full]),
            ("selected", "four loaders at once", []),
        )
    ],
)
def test_what_is_done_twice_is_there_once(
    graph: Connection, made: dict[str, Made], tmp_path: Path, kind: str, what: str
) -> None:
    root, run = made[kind].stages[-1], made[kind].run
    if what == "a chunk written twice":
        hit = tmp_path / "hit"
        fault = Fault("before the transaction", 0, "twice")
        assert disturbed_load(root, run, graph.settings, fault, hit) == 0
        assert hit.exists()
    else:
        faults: list[BaseException] = []

        def one() -> None:
            try:
                with connect(graph.settings) as connection:
                    assert load(root, run, connection).complete
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=one) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
    assert whole_graph(graph) == made[kind].graph
    assert_made_up_for(graph, made[kind])
