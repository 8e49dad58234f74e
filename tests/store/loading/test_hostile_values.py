"""Whatever a log holds is read back unchanged, cut with a digest, or refused with its position."""

from __future__ import annotations

import hashlib
import hmac
import threading
from pathlib import Path

import pytest

from tests.engine.examples import lifecycle
from tests.store._support.runs_in_neo4j import record_of
from whence.engine import ApplyFunction, Chain, Cumulate, Slice
from whence.engine.errors import EventError, LogError
from whence.engine.language.log import Log
from whence.engine.record import ingest
from whence.engine.record.secret import record_secret
from whence.engine.runners import RunOptions, run_recorded
from whence.store import Connection, connect
from whence.store.loading import load
from whence.store.loading.values import LONGEST_TEXT, stored_value
from whence.store.places import key_of
from whence.store.questions import explain

pytestmark = pytest.mark.neo4j

TEXTS = (
    "' OR 1=1 //",
    '"}) DETACH DELETE n //',
    "`; MATCH (n) DETACH DELETE n;",
    "$rows",
    "\\u0000 \\' \\\\",
    "a\x00b",
    "\n\r\n\t\x1b[31m",
    "",
    " ",
    "\u202eright to left\u2066",
    "Zalgo" + "\u0301" * 200,
    "\U0001f9ff\U0010ffff\ufffe\ufeff",
    "null",
    "9" * 400,
    "e" * 1_000_000,
    "\U0001f9ff" * 1001,
)


def test_any_text_is_read_back_as_it_was_or_cut_with_its_digest(
    graph: Connection, tmp_path: Path
) -> None:
    graph.write("CREATE (:Bystander)")
    events = [{"who": text, "what": text} for text in TEXTS]
    log = ingest(tmp_path, "log", events, declared=Log(None, "who", "what"))
    chain = Chain.of(ApplyFunction('it\'s `a` "name" $x\n', "what"))
    run = run_recorded(tmp_path, chain, {"log": log}, RunOptions(metadata={"owner": TEXTS[1]}))
    assert load(tmp_path, run.id, graph).complete
    inputs = graph.read("MATCH (e:Input) RETURN properties(e) AS p ORDER BY e.key")
    outputs = graph.read("MATCH (e:Output) RETURN properties(e) AS p ORDER BY e.key")
    for text, put, out in zip(TEXTS, inputs, outputs, strict=True):
        for found, name in ((put["p"], "case"), (put["p"], "activity"), (out["p"], "value")):
            encoded = text.encode()
            if len(encoded) <= LONGEST_TEXT:
                assert found[name] == text
                assert f"{name}_digest" not in found
            else:
                assert encoded.startswith(found[name].encode())
                assert LONGEST_TEXT - 4 < len(found[name].encode()) <= LONGEST_TEXT
                keyed = hmac.new(record_secret(tmp_path), encoded, hashlib.sha256).hexdigest()
                assert found[f"{name}_digest"] == f"hmac-sha256:{keyed}"
                assert hashlib.sha256(encoded).hexdigest() not in found[f"{name}_digest"]
    # The whole text is in the record, and an answer finds the event by it.
    for position in range(len(TEXTS)):
        why = explain(graph, run.id, str(position), record=tmp_path)
        assert [(each.lo, each.hi) for each in why.inputs] == [(position, position)]
    assert graph.read("MATCH (b:Bystander) RETURN count(b) AS n") == [{"n": 1}]
    assert graph.read("MATCH (n) WHERE n:Run RETURN n.id AS id") == [{"id": run.id}]


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 0.1, -0.0, 5e-324, 1.7976931348623157e308])
def test_numbers_at_the_edge_are_read_back_as_they_were(
    graph: Connection, tmp_path: Path, value: float
) -> None:
    run = record_of(tmp_path, Chain.of(ApplyFunction("x", "value")), {"log": [value]}, RunOptions())
    load(tmp_path, run.id, graph)
    (found,) = graph.read("MATCH (e:Output) RETURN e.value AS value")
    assert repr(found["value"]) == repr(value)


def test_numbers_of_more_than_64_bits_are_refused_with_their_position(tmp_path: Path) -> None:
    told = "log, position 2, field 'value': expected an integer of 64 bits; got"
    with pytest.raises(LogError, match=told):
        ingest(tmp_path, "log", [1, 2, 2**64])
    chain = Chain.of(Cumulate("product", "product"))
    with pytest.raises(EventError, match="product, position 1: expected an integer of 64 bits"):
        record_of(tmp_path, chain, {"log": [2**62, 2]}, RunOptions())


def test_values_of_other_records_that_the_store_cannot_hold_are_kept_as_canonical_text() -> None:
    large = str(2**64)
    assert stored_value("integer", large) == {"value": large, "kind": "integer"}
    lonely = '"\\ud800"'
    assert stored_value("text", lonely) == {"value": lonely, "kind": "text"}


def test_two_runs_that_are_loaded_at_once_over_one_log_share_its_events(
    graph: Connection, tmp_path: Path
) -> None:
    events = [{"case": n % 11, "action": ("create", "approve", "pay")[n % 3]} for n in range(400)]
    chains = [
        Chain.of(Slice("per-case", by="case", of=lifecycle(), combine="and")),
        Chain.of(ApplyFunction("paid", "action = 'pay'")),
    ]
    runs = [record_of(tmp_path, chain, {"log": events}, RunOptions(chunk=20)) for chain in chains]
    faults: list[BaseException] = []

    def one(run: str) -> None:
        try:
            with connect(graph.settings) as connection:
                assert load(tmp_path, run, connection, writers=4).complete
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=one, args=(run.id,)) for run in runs * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    keys = [row["key"] for row in graph.read("MATCH (e:Input) RETURN e.key AS key ORDER BY key")]
    (no,) = {key >> 40 for key in keys}
    assert keys == [key_of(no, n) for n in range(400)]
    for run in runs:
        assert load(tmp_path, run.id, graph).written == 0
