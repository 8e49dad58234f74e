"""Take runs out of the graph: at once for whoever asks, their events in batches afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence.engine.errors import StoreError
from whence.engine.progress import Listener, Reporter
from whence.store.connection import Connection, run_cypher
from whence.store.cypher import cypher
from whence.store.places import key_of, last_position, no_of

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["Removed", "is_stored", "remove_from_graph", "sweep"]


BATCH = 5000
"""Events a transaction: with their relationships they have to fit into the server's memory."""


@dataclass(frozen=True)
class Removed:
    """What was taken out of the graph.

    Attributes:
        run: the run.
        logs: the logs that went with it, since no other run reads them.
        kept: the logs that stay.
    """

    run: str
    logs: tuple[str, ...]
    kept: tuple[str, ...]


def is_stored(connection: Connection, run: str) -> bool:
    """Whether the graph has a run of this id."""
    return bool(connection.read(cypher("remove_reads"), id=run))


def remove_from_graph(connection: Connection, run: str) -> Removed:
    """Take a run out of the graph in one transaction; `sweep` then removes its events.

    Logs stay as long as another run reads them.

    Raises:
        StoreError: there is no such run, or another run reads one of its streams.
    """

    def work(transaction: ManagedTransaction) -> Removed:
        def do(name: str, **parameters: Any) -> list[dict[str, Any]]:
            return run_cypher(transaction, cypher(name), parameters).data()

        do("register_numbers", counter="no", many=0)  # from here on no other run is registered
        known = do("remove_reads", id=run)
        if not known:
            msg = f"a run: expected one that is in the graph; got {run!r}; try whence store stats"
            raise StoreError(msg)
        (about,) = known
        if about["readers"]:
            readers = ", ".join(sorted(set(about["readers"])))
            msg = (
                f"run {run}: expected no other run that reads its streams; got {readers}; "
                "try removing that one first"
            )
            raise StoreError(msg)
        needed = do("remove_merged", prefix=f"run/{run}/")
        do("remove_chunks", prefix=f"run/{run}/")
        do("remove_contributions", prefix=f"{run}/")
        do("remove_run", id=run)
        for digest in about["chains"]:
            do("remove_chains", digest=digest)
        gone = [row["id"] for row in do("remove_logs", ids=sorted(set(about["logs"])))]
        for log in gone:
            do("remove_chunks", prefix=f"log/{log}/")
        kept = sorted(set(about["logs"]) - set(gone))
        do("doom_merged", rows=_by_number(key for row in needed for key in row["keys"]))
        return Removed(run, tuple(sorted(gone)), tuple(kept))

    return connection.transact(work)


def sweep(connection: Connection, progress: Listener | None = None) -> int:
    """Remove the events of everything that was taken out of the graph; return how many.

    May be interrupted at any moment; whoever sweeps next goes on.
    """
    report = Reporter(progress, "removing", "streams")
    removed = _swept_singly(connection)
    doomed = [row["no"] for row in connection.read(cypher("doomed_read")) if not row["keys"]]
    for done, no in enumerate(doomed):
        ends = {"first": key_of(no, 0), "last": key_of(no, last_position(no))}
        report(done, len(doomed), "removing events")
        while found := _removed(connection, "doomed_events", page=BATCH, **ends):
            removed += found
        while _removed(connection, "doomed_spans", page=BATCH, no=no):
            pass
        connection.write(cypher("doomed_done"), no=no)
    if doomed:
        report(len(doomed), len(doomed), "removing events")
    return removed


def _by_number(keys: Iterable[int]) -> list[dict[str, Any]]:
    """Keys, those of one log together and no more than a transaction can remove."""
    found: dict[int, list[int]] = {}
    for key in sorted(set(keys)):
        found.setdefault(no_of(key), []).append(key)
    return [
        {"no": no, "keys": some[at : at + BATCH]}
        for no, some in found.items()
        for at in range(0, len(some), BATCH)
    ]


def _swept_singly(connection: Connection) -> int:
    """Remove events that selected outputs needed and nobody needs any more.

    Whoever is being loaded may be about to need them; they stay until the next time then. The
    numbers are held meanwhile, so that no loader begins.
    """
    removed = 0
    while True:

        def work(transaction: ManagedTransaction) -> int | None:
            def do(name: str, **parameters: Any) -> list[dict[str, Any]]:
                return run_cypher(transaction, cypher(name), parameters).data()

            do("register_numbers", counter="no", many=0)
            waiting = do("doomed_single")
            if not waiting:
                return None
            (some,) = waiting
            log = some["log"]  # none, if the log was taken out since: then its number is doomed
            held = do("doomed_needed", log=f"log/{log}/", run=f"run/{log}/")
            needed = {key for row in held for key in (*(row["keys"] or ()), *(row["merged"] or ()))}
            ranges = [pair for row in held if not row["selected"] for pair in _pairs(row["owns"])]
            doomed = [
                key
                for key in some["keys"]
                if key not in needed and not any(lo <= key <= hi for lo, hi in ranges)
            ]
            return int(do("doomed_keys", id=some["id"], keys=doomed)[0]["removed"])

        found = connection.transact(work)
        if found is None:
            return removed
        removed += found


def _pairs(owns: Sequence[int] | None) -> Iterator[tuple[int, int]]:
    return zip((owns or ())[::2], (owns or ())[1::2], strict=True)


def _removed(connection: Connection, name: str, **parameters: int) -> int:
    return int(connection.write(cypher(name), **parameters)[0]["removed"])
