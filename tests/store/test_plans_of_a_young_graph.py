"""No statement scans an index or a label while the server has not counted the events yet.

Neo4j samples an index some seconds after the first writes. Until then a scan of all events costs
its planner as little as a seek. A statement that was planned so reads every event for every row,
and keeps its plan: the first load into an empty database took minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests._support.quick_java import FOR_NEO4J
from tests.store.test_queries import NAMES
from whence.api import run
from whence.engine.sources.generate import payment_log, write_log
from whence.store import Connection, connect
from whence.store.cypher import cypher
from whence.store.loading import load
from whence.store.server import Memory, instance, remove, start, stop

NAME = "young"
UNCOUNTED = "db.index_sampling.background_enabled=false\n"
DEMO = Path("app/whence/cli/demo_chains").absolute()
FEW = {"Doomed", "Run", "Schema"}
"""Labels with a handful of nodes, which may be scanned."""
ALL_SPANS = ["check_spans"]
"""Reads every span there is."""
MANY = 5_000
KEY = 1 << 40
EDGE = {"trigger": True, "fields": ["a"], "copy": None, "witness": [0]}
SPAN = {"no": 5, "lo": 1, "hi": 2}


@pytest.fixture(scope="module")
def young(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A server that never counts, and the demo's run in its graph."""
    folder = tmp_path_factory.mktemp("young")
    log = folder / "payments.csv"
    write_log(payment_log(5_000), log)
    result = run(DEMO / "lifecycle.yaml", log, runner="local", record=folder / "record")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", FOR_NEO4J)
        patch.setattr(instance, "_SETTINGS", instance._SETTINGS + UNCOUNTED)
        status = start(NAME, port=None, memory=Memory.of(768))
    try:
        with connect(status.settings()) as connection:
            assert load(folder / "record", result.id, connection).complete
            assert connection.read("MATCH (s:Event:Span) RETURN count(s) > 0 AS heads") == [
                {"heads": True}
            ]
            yield connection
    finally:
        stop(NAME)
        remove(NAME)


def rows_of(name: str, many: int) -> list[Any]:
    keys = range(KEY, KEY + many)
    if name.startswith(("write_outputs", "write_events")):
        ends = [0, 1] if name.endswith("near") else [[[0, [1, 2]]]]
        return [[key, 1, "v", None, "integer", None, *ends] for key in keys]
    made: dict[str, Any] = {
        "write_derived_near": [[key, 0, 1] for key in keys],
        "write_derived_spans": [{"span": SPAN, "to": 1, "with": EDGE} for _ in keys],
        "write_heads": [{"key": key, "span": SPAN} for key in keys],
        "write_inputs": [[key, "c", None, "a", None, "t", None] for key in keys],
        "doom_merged": [{"no": key, "keys": [1, 2]} for key in keys],
    }
    made["write_influenced_spans"] = made["write_derived_spans"]
    plain = [{"key": key, "to": [1, 2], "with": EDGE, "value": "v"} for key in keys]
    rows: list[Any] = made.get(name, plain)
    return rows


def parameters_of(name: str, many: int) -> dict[str, Any]:
    """Parameters of the types, and lists about as long, as the statement is really given."""
    numbers = range(many)
    known: dict[str, Any] = {
        "rows": rows_of(name, many),
        "keys": list(range(KEY, KEY + many)),
        "ranges": [[n, n + 1] for n in numbers],
        "bounds": [1, 2] if name.startswith(("chunk", "packed")) else [[5, n, n] for n in numbers],
        "places": [[5, n] for n in numbers],
        "nos": list(numbers),
        "ids": [f"x{n}" for n in numbers],
        "blocks": [{"id": f"x/{n}", "no": 1, "first": 0, "counts": [1]} for n in numbers],
        "kinds": [EDGE],
        "told": {"copy": True},
        "run": {"id": "x"} if name == "register_run" else "x",
        "chain": {"digest": "x"},
        "state": {"status": "complete"},
        "processors": [{"id": "x", "name": "x"}],
        "streams": [{"id": "x", "no": 1, "length": 1, "tracked": 1}],
        "ends": [{"key": 1, "name": "x"}],
        "logs": [{"as": "x", "id": "x", "with": {"id": "x"}, "revises": None, "digest": "x"}],
        "values": ["x"],
        "imported": [False],
        "owns": [1, 2],
        "merged": [1, 2],
        "packed": b"x",
    }
    known.update(dict.fromkeys(("trigger", "supports", "every", "selected"), True))
    known.update(
        dict.fromkeys(("key", "first", "last", "lo", "hi", "no", "moment", "page", "most"), 1)
    )
    known.update(dict.fromkeys(("many", "version", "events", "spans", "heads", "edges"), 1))
    known.update(dict.fromkeys(("id", "prefix", "log", "digest", "mark", "counter", "value"), "x"))
    known.update({"kind": "inputs", "by": "case", "after": "x", "before": "y"})
    return {word: known[word] for word in set(re.findall(r"\$(\w+)", cypher(name)))}


def steps(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each operator of a plan, and what it works on."""
    yield plan["operatorType"].partition("@")[0], str(plan["args"].get("Details", ""))
    for child in plan.get("children", []):
        yield from steps(child)


@pytest.mark.neo4j
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_scanned_before_the_server_has_counted(young: Connection, name: str) -> None:
    for many in (1, MANY):
        with young.driver.session() as session:
            session.run("CALL db.clearQueryCaches()").consume()
            text: Any = f"EXPLAIN {cypher(name)}"
            plan = session.run(text, parameters_of(name, many)).consume().plan
        assert plan is not None
        found = list(steps(plan))
        scans = [
            (step, of)
            for step, of in found
            if "Scan" in step
            and not (step == "NodeByLabelScan" and of.partition(":")[2].split(",")[0] in FEW)
        ]
        assert scans == [], found


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(ALL_SPANS)))
def test_what_goes_in_by_a_key_says_that_the_index_is_sought(name: str) -> None:
    body = "\n".join(x for x in cypher(name).splitlines() if not x.lstrip().startswith("//"))
    for match in re.finditer(r"MATCH \((\w*):(Event|Span|Input)\b[^\n]*(\n[^\n]*)?", body):
        assert f"USING INDEX SEEK {match[1]}:{match[2]}(" in match[0], match[0]
