from __future__ import annotations

import gc
import logging
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase, ManagedTransaction
from neo4j.exceptions import DriverError, ResultFailedError

from whence.engine.errors import StoreError
from whence.store import Connection, Secret, Settings, connect
from whence.store.connection import run_cypher
from whence.store.loading.chunks import is_conflict
from whence.store.loading.register import prepare_schema
from whence.store.server import Status
from whence.store.server.instance import Instance

pytestmark = pytest.mark.neo4j

WRONG = "not-the-password"


def refusal(settings: Settings, timeout: float = 2) -> str:
    with pytest.raises(StoreError) as caught, connect(settings, timeout=timeout):
        pass
    return str(caught.value)


def test_a_read_may_not_write(graph: Connection) -> None:
    with pytest.raises(StoreError, match=r"expected bolt://.* to carry out a statement"):
        graph.read("CREATE (n) RETURN n")


def test_files_of_the_machine_cannot_be_read_through_the_server(graph: Connection) -> None:
    with pytest.raises(StoreError, match="allow_csv_import_from_file_urls"):
        graph.read("LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line")


LOCK = "MATCH (n:Counted {name: $name}) SET n.count = n.count + 1 RETURN n.count AS count"


def test_a_deadlock_is_met_by_doing_it_again_unseen(graph: Connection) -> None:
    graph.write("UNWIND ['a', 'b'] AS name CREATE (:Counted {name: name, count: 0})")
    both_hold_one = threading.Barrier(2, timeout=60)
    attempts: Counter[str] = Counter()

    def count(names: str) -> str:
        """Lock one node, then the other one; when it is tried first, both hold one by then."""

        def work(transaction: ManagedTransaction) -> str:
            attempts[names] += 1
            run_cypher(transaction, LOCK, {"name": names[0]}).consume()
            if attempts[names] == 1:
                both_hold_one.wait()
            run_cypher(transaction, LOCK, {"name": names[1]}).consume()
            return names

        return graph.transact(work)

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(count, ("ab", "ba"))) == ["ab", "ba"]
    assert set(attempts) == {"ab", "ba"}
    assert attempts.total() > 2  # one of them was ended by the server
    assert graph.read("MATCH (n:Counted) RETURN n.count AS count") == [{"count": 2}] * 2


@pytest.mark.parametrize("again", [False, True], ids=["a conflict", "a deadlock"])
def test_what_failed_is_seen_although_somebody_else_has_the_connection_by_then(
    graph: Connection, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """The driver gives a connection back first, and closes the transaction on it afterwards."""
    prepare_schema(graph)
    graph.write("UNWIND ['a', 'b'] AS name CREATE (:Counted {name: name, count: 0})")
    size = 2 if again else 1
    all_hold_one = threading.Barrier(size, timeout=60)
    others_turn, closed = threading.Event(), threading.Event()
    hidden: list[Exception] = []
    attempts: Counter[str] = Counter()
    close: Any = ManagedTransaction._close

    def closed_late(transaction: ManagedTransaction) -> None:
        failed = transaction._last_error is not None
        if failed:
            assert others_turn.wait(60)
        try:
            close(transaction)
        except ResultFailedError as error:
            hidden.append(error)
            raise
        finally:
            if failed:
                closed.set()

    def hold(transaction: ManagedTransaction) -> None:
        run_cypher(transaction, "RETURN 1", {}).consume()
        others_turn.set()
        assert closed.wait(60)

    monkeypatch.setattr(ManagedTransaction, "_close", closed_late)
    settings = graph.settings
    known = (settings.username, settings.password.reveal())
    with (
        GraphDatabase.driver(settings.uri, auth=known, max_connection_pool_size=size) as driver,
        ThreadPoolExecutor(3) as pool,
    ):
        few = Connection(settings, driver)
        third: list[Future[None]] = []

        def count(names: str) -> None:
            def work(transaction: ManagedTransaction) -> None:
                attempts[names] += 1
                run_cypher(transaction, LOCK, {"name": names[0]}).single(strict=True)
                if not hidden:
                    all_hold_one.wait()
                    if names == "ab":  # every connection is taken, so that this one waits
                        third.append(pool.submit(few.transact, hold))
                    all_hold_one.wait()
                second = LOCK if again else "UNWIND [7, 7] AS key CREATE (e:Event {key: key})"
                run_cypher(transaction, second, {"name": names[1]}).single()
                # Who got through keeps its connection until the other one's is taken.
                assert others_turn.wait(60)

            few.transact(work)

        if again:
            for each in [pool.submit(count, names) for names in ("ab", "ba")]:
                each.result(60)
            assert sorted(attempts.values()) == [1, 2]
        else:
            with pytest.raises(StoreError, match="already exists") as refused:
                count("ab")
            assert is_conflict(refused.value)
        third[0].result(60)
    assert len(hidden) == 1


def test_a_wrong_password_is_one_line_without_the_password(
    neo4j_server: Status, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = refusal(replace(neo4j_server.settings(), password=Secret.of(WRONG)))
    assert "to accept user 'neo4j'; got a refusal" in said
    assert WRONG not in said
    assert WRONG not in caplog.text


def test_a_wrong_database_is_named(neo4j_server: Status) -> None:
    said = refusal(replace(neo4j_server.settings(), database="elsewhere"))
    assert "expected a database 'elsewhere'" in said


def test_nobody_there_is_said_at_once(neo4j_server: Status) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        uri = f"bolt://127.0.0.1:{reserved.getsockname()[1]}"
        said = refusal(replace(neo4j_server.settings(), uri=uri))
    assert f"expected a Neo4j server at {uri}; got no answer" in said


@pytest.mark.fault
def test_a_port_that_says_nothing_is_given_up(neo4j_server: Status) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        uri = f"bolt://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        said = refusal(replace(neo4j_server.settings(), uri=uri), timeout=2)
        assert time.monotonic() - began < 20
    assert "got no answer" in said


def test_a_connection_needs_no_block_and_a_block_closes_it(neo4j_server: Status) -> None:
    graph = connect(neo4j_server.settings())
    assert graph.read("RETURN 1 AS one") == [{"one": 1}]
    with graph as same:
        assert same is graph
        assert graph.read("RETURN 1 AS one") == [{"one": 1}]
    graph.close()
    with pytest.raises(StoreError, match=r"expected an open connection to bolt:.*; got a closed"):
        graph.read("RETURN 1 AS one")


def test_a_connection_is_closed_when_nothing_refers_to_it_nor_to_a_copy(
    neo4j_server: Status,
) -> None:
    graph = connect(neo4j_server.settings())
    driver = graph.driver
    copy = graph.within(60)
    del graph
    assert copy.read("RETURN 1 AS one") == [{"one": 1}]
    del copy
    gc.collect()
    with pytest.raises(DriverError, match="closed"):
        driver.verify_connectivity()


NOTEBOOK = """
from whence.api import connect, run
from whence.engine import ApplyFunction

graph = connect()
chain = ApplyFunction("positive", "value > 0")
kept = run(chain, [1, 0], runner="local", record="record", connection=graph)
lost = run(chain, [2, 0], runner="local", record="record", connection=connect())
print(kept.loaded.complete, lost.explain(1).output.value)
"""


def test_a_notebook_ends_without_a_word_of_the_driver(
    neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = neo4j_server.settings()
    monkeypatch.setenv("NEO4J_URI", settings.uri)
    monkeypatch.setenv("NEO4J_USERNAME", settings.username)
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(Instance("shared").password_file))
    done = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", NOTEBOOK],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "True False\n"), done.stderr
    assert "Driver" not in done.stderr
    assert "neo4j" not in done.stderr
