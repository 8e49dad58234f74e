"""Every shipped query: its header, its plan, and that diamonds do not explode."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pytest

from whence.engine.record.manifest import RunChoices, StreamRole
from whence.store import Connection
from whence.store.catalog import RunGraph, StoredLog, StoredStream
from whence.store.connection import run_cypher
from whence.store.cypher import cypher
from whence.store.loading.register import prepare_schema
from whence.store.places import Places, key_of
from whence.store.verbs import down, up

NAMES = sorted(
    each.name.removesuffix(".cypher")
    for each in files("whence.store").joinpath("queries").iterdir()
)
FEW_NODES = [
    *("runs_latest", "doomed_read", "doomed_done", "doomed_single", "doomed_keys", "version_read"),
]
"""They may scan their label: there are never many of it."""
PLANS = {
    r"unique index seek|unique index on|the counter's node": "NodeUniqueIndexSeek",
    r"two unique index seeks an edge": "NodeUniqueIndexSeek",
    r"index range seeks? on Input": "NodeIndexSeekByRange",
    r"index (range seek|seeks?|scan) (on|of) \(?Span": "NodeIndexSeek",
    r"index seek on Input": "NodeIndexSeek",
    r"index range seeks?( on (Event|End|Chunk|Run|Collection|Contribution)\.|$|[,;])": (
        "NodeUniqueIndexSeekByRange"
    ),
    r"scan of the label": "NodeByLabelScan",
    r"CREATE(: the chunk's marker|, after one look)": "Create",
    r"unique index range seek": "NodeUniqueIndexSeekByRange",
    r"both from the count store": "RelationshipCountFromCountStore",
}
"""How a header begins to say what its plan is, and the operator that it means."""


def operators(plan: dict[str, Any]) -> list[str]:
    below = [name for child in plan.get("children", []) for name in operators(child)]
    return [plan["operatorType"].partition("@")[0], *below]


def explained(graph: Connection, name: str) -> list[str]:
    text = cypher(name)
    maps = ("run", "chain", "state")
    parameters: dict[str, Any] = {
        word: {"id": "x", "digest": "x"} if word in maps else []
        for word in re.findall(r"\$(\w+)", text)
    }
    parameters.update({word: 1 for word in ("key", "first", "last", "many", "most", "page")})
    parameters.update({word: "x" for word in ("prefix", "id", "by", "after", "before", "counter")})
    parameters["kind"] = "x"
    parameters.update({"lo": 1, "hi": 2, "told": {"copy": True}})
    parameters.update({"trigger": True, "supports": True, "every": True})
    if name in ("register_logs", "register_streams"):
        parameters["run"] = "x"
    with graph.driver.session() as session:
        plan = session.run(f"EXPLAIN {text}", parameters).consume().plan  # pyright: ignore[reportArgumentType]
    assert plan is not None
    return operators(plan)


@pytest.mark.parametrize("name", NAMES)
def test_a_query_says_what_it_asks_and_takes_values_as_parameters_only(name: str) -> None:
    lines = cypher(name).splitlines()
    assert re.match(r"// (Question|Writes) {2,}\S", lines[0])
    head = [line for line in lines if line.startswith("//")]
    assert any(line.startswith("// Parameters  ") for line in head)
    assert any(line.startswith("// Plan  ") for line in head)
    for word in set(re.findall(r"\$(\w+)", "\n".join(lines[len(head) :]))):
        assert any(f"${word}" in line for line in head), word


@pytest.mark.neo4j
@pytest.mark.parametrize("name", NAMES)
def test_each_query_is_planned_as_its_header_says(graph: Connection, name: str) -> None:
    prepare_schema(graph)
    (line,) = (x for x in cypher(name).splitlines() if x.startswith("// Plan  "))
    said = line.removeprefix("// Plan").strip()
    (intended,) = (operator for words, operator in PLANS.items() if re.match(words, said))
    found = explained(graph, name)
    met = [each for each in found if each.partition("(")[0] == intended]
    assert len(met) >= (2 if said.startswith("two") else 1), (said, found)
    if "VarLengthExpand(Pruning,BFS)" in said:
        assert any(each.startswith("VarLengthExpand(Pruning,BFS") for each in found)
    scans = {"AllNodesScan", "DirectedAllRelationshipsScan", "UndirectedAllRelationshipsScan"}
    assert not scans & set(found)
    assert "NodeByLabelScan" not in found or name in FEW_NODES
    if name in ("spans_up", "heads_up"):
        assert found.count("NodeIndexSeek") == 1


DIAMONDS = """
UNWIND range(0, $many - 1) AS n
MERGE (top:Event {key: $base + 3 * n}) MERGE (left:Event {key: $base + 3 * n + 1})
MERGE (right:Event {key: $base + 3 * n + 2}) MERGE (bottom:Event {key: $base + 3 * n + 3})
CREATE (top)-[:wasDerivedFrom]->(left), (top)-[:wasInfluencedBy]->(right)
CREATE (top)-[:wasDerivedFrom]->(right)
CREATE (left)-[:wasDerivedFrom]->(bottom), (right)-[:wasDerivedFrom]->(bottom)
"""
STREAM = StoredStream("s", 7, "s", 0, StreamRole.OUTPUT, 1, 91, 91)
LOG = StoredLog("l", 8, ("log",), 1, True, {})
RUN = RunGraph("r", "complete", True, 5000, RunChoices(), "", (LOG,), (STREAM,))


@dataclass(frozen=True)
class Counting(Connection):
    """Says of every query how often the server went to what is stored."""

    hits: list[int]

    def read(self, cypher: str, **parameters: Any) -> list[dict[str, Any]]:
        return self._profiled("data", cypher, parameters)

    def read_values(self, cypher: str, **parameters: Any) -> list[list[Any]]:
        return self._profiled("values", cypher, parameters)

    def _profiled(self, form: str, cypher: str, parameters: dict[str, Any]) -> list[Any]:
        def work(transaction: Any) -> list[Any]:
            result = run_cypher(transaction, f"PROFILE {cypher}", parameters)
            rows: list[Any] = getattr(result, form)()
            profile = result.consume().profile
            assert profile is not None
            self.hits.append(hits_of(profile))
            return rows

        return self._run("READ", work)


def hits_of(profile: dict[str, Any]) -> int:
    return int(profile["dbHits"]) + sum(map(hits_of, profile.get("children", [])))


@pytest.mark.neo4j
@pytest.mark.parametrize("few", [0, 16], ids=["walked here", "walked by the server"])
@pytest.mark.parametrize("support", [False, True])
def test_thirty_diamonds_are_little_work(graph: Connection, support: bool, few: int) -> None:
    prepare_schema(graph)
    graph.write(DIAMONDS, many=30, base=key_of(7, 0))
    top: Places = {7: ((0, 0),)}
    bottom: Places = {7: ((90, 90),)}
    counting = Counting(graph.settings, graph.driver, [])
    assert up(counting, RUN, top, support=support, few=few) == {7: ((0, 90),)}
    assert down(counting, RUN, bottom, support=support, few=few) == {7: ((0, 90),)}
    # Path by path there would be more than 2**30; there are 91 events and 120 edges.
    assert 100 < sum(counting.hits) < 20_000


@pytest.mark.neo4j
def test_only_the_first_alternative_is_followed_and_triggers_support_nothing(
    graph: Connection,
) -> None:
    prepare_schema(graph)
    graph.write(
        """
        CREATE (o:Event {key: $base})
        CREATE (o)-[:wasDerivedFrom {witness: [0]}]->(:Event {key: $base + 1})
        CREATE (o)-[:wasDerivedFrom {witness: [1, 2]}]->(:Event {key: $base + 2})
        CREATE (o)-[:wasDerivedFrom {trigger: true}]->(:Event {key: $base + 3})
        CREATE (o)-[:wasInfluencedBy]->(:Event {key: $base + 4})
        """,
        base=key_of(7, 0),
    )
    start: Places = {7: ((0, 0),)}
    for few in (0, 16):
        assert up(graph, RUN, start, few=few) == {7: ((0, 1), (3, 3))}
        assert up(graph, RUN, start, support=True, few=few) == {7: ((0, 1), (4, 4))}
