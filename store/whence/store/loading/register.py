"""Put a run, its chain, its logs and its streams into the graph, and give them their numbers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from whence.engine.errors import StoreError
from whence.engine.lineage.positions import Intervals
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.erasing import told_of
from whence.engine.record.manifest import LogManifest, RunManifest, StreamInfo
from whence.store.connection import Connection, run_cypher
from whence.store.cypher import cypher, schema
from whence.store.loading.numbers import is_wide, take_numbers
from whence.store.migrations import bring_up_to_date
from whence.store.places import key_of

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["prepare_schema", "register", "run_state", "stream_id"]


_MADE_BY_ANOTHER = frozenset(
    f"Neo.ClientError.Schema.{name}"
    for name in (
        "ConstraintAlreadyExists",
        "ConstraintWithNameAlreadyExists",
        "EquivalentSchemaRuleAlreadyExists",
        "IndexAlreadyExists",
        "IndexWithNameAlreadyExists",
    )
)
_TRIES, _PAUSE = 100, 0.1


def prepare_schema(connection: Connection) -> None:
    """Make sure that constraints and indexes are there, and that the graph has our version."""
    for statement in schema():
        for left in reversed(range(_TRIES)):
            try:
                connection.write(statement)
                break
            except StoreError as error:
                # Another loader is making the same one at this moment, half of it is there already.
                if not left or getattr(error.__cause__, "code", None) not in _MADE_BY_ANOTHER:
                    raise
                time.sleep(_PAUSE)
    bring_up_to_date(connection)


def stream_id(run: str, stream: str) -> str:
    """The id of a stream in the graph."""
    return f"{run}/{stream}"


def register(connection: Connection, record: RunRecord, manifest: RunManifest) -> None:
    """Write what the chunks will point at; again, it only brings the run up to date."""
    logs = {name: record.log(name) for name in manifest.logs}
    read = {name: log for name, log in logs.items() if log.made_by is not None}

    def work(transaction: ManagedTransaction) -> None:
        def run(name: str, **parameters: Any) -> list[dict[str, Any]]:
            return run_cypher(transaction, cypher(name), parameters).data()

        run("register_numbers", counter="no", many=0)  # from here on no other loader takes numbers
        streams = [stream_id(record.id, s.name) for s in manifest.streams]
        own = [log.manifest for name, log in logs.items() if name not in read]
        wanted = [*dict.fromkeys(log.id for log in own), *streams]
        numbers = {row["id"]: row["no"] for row in run("register_known", ids=wanted)}
        ends = {row["id"]: row["no"] for row in run("register_known_ends", ids=wanted)}
        numbers.update(ends)
        wide = frozenset(stream_id(record.id, s.name) for s in manifest.streams if is_wide(s))

        def take(counter: str, many: int) -> int:
            return int(run("register_numbers", counter=counter, many=many)[0]["first"])

        numbers.update(take_numbers((id for id in wanted if id not in numbers), wide, take))
        run("register_run", **_run(record, manifest))
        run(
            "register_logs",
            run=record.id,
            logs=[
                {
                    "as": name,
                    "with": {**_log(log.manifest), "no": numbers[log.id]},
                    "revises": log.manifest.revision_of,
                }
                for name, log in logs.items()
                if name not in read
            ],
        )
        run(
            "register_read_streams",
            run=record.id,
            logs=[_read_stream(name, log) for name, log in read.items()],
        )
        rows = [_stream(record.id, s, numbers) for s in manifest.streams]
        run(
            "register_streams",
            run=record.id,
            streams=[row for row in rows if row["role"] != "end"],
            ends=[{**row, "key": key_of(row["no"], 0)} for row in rows if row["role"] == "end"],
        )

    connection.transact(work)


def is_selected(manifest: RunManifest) -> bool:
    """Whether a run is loaded as selected: only the outputs that were tracked, and their inputs."""
    return manifest.options.is_selective


def run_state(
    connection: Connection,
    manifest: RunManifest,
    logs: Iterable[LogManifest],
    *,
    loaded: bool,
) -> None:
    """Say how far the run, its logs and its loading have come.

    Args:
        connection: where to.
        manifest: of the run.
        logs: the manifests of its logs; those of a stream grow.
        loaded: whether the run is over and all of it is in the graph.
    """
    connection.write(
        cypher("run_state"),
        id=manifest.id,
        state={**_progress(manifest), "loaded": loaded},
        streams=[
            {
                "id": stream_id(manifest.id, s.name),
                "length": s.length,
                "tracked": s.tracked,
            }
            for s in manifest.streams
        ],
        logs=[{"id": log.id, "length": log.length, "digest": log.digest} for log in logs],
    )


def _progress(manifest: RunManifest) -> dict[str, Any]:
    return {
        "status": manifest.status,
        "started": manifest.started,
        "ended": manifest.ended,
        "error": manifest.error,
        "pending": _text(manifest.pending),
    }


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _run(record: RunRecord, manifest: RunManifest) -> dict[str, Any]:
    # A map cannot be a property: each option becomes one, and what it may hold is JSON.
    options = {
        f"option_{name}": _text(value) if isinstance(value, dict | list) else value
        for name, value in manifest.options.json().items()
    }
    digest = manifest.chain_digest
    erased = told_of(record.root, record.id, manifest.logs)
    processors = dict(_processors(manifest.chain))
    for stream in manifest.streams:
        processors.setdefault(stream.processor, None)
    return {
        "run": {
            "id": record.id,
            "runner": manifest.runner,
            "chunk": manifest.chunk,
            "versions": _text(manifest.versions),
            "metadata": _text(manifest.metadata),
            "imported": manifest.imported or None,
            "erasures": _text(erased) if erased else None,
            **_progress(manifest),
            **options,
        },
        "selected": is_selected(manifest) or None,
        "chain": {"digest": digest, "definition": _text(manifest.chain)},
        "processors": [
            {
                "id": f"{digest}/{name}",
                "name": name,
                **({} if part is None else {"definition": _text(part)}),
            }
            for name, part in processors.items()
        ],
    }


def _processors(tree: Any) -> Iterator[tuple[str, Any]]:
    """The chain's own processors, read from its definition; nobody's code is loaded for it."""
    if not isinstance(tree, dict):
        return
    if "graph" in tree:
        for name, node in tree["graph"]["nodes"].items():
            yield name, node["is"]
        return
    for part in tree.get("line", [tree]):
        if isinstance(part, dict) and "id" in part:
            yield part["id"], {key: value for key, value in part.items() if key != "id"}


def _log(log: LogManifest) -> dict[str, Any]:
    kept = ("id", "name", "length", "plain", "case", "activity", "time", "order", "digest", "chunk")
    told = log.json()
    columns = [column.name for column in log.columns]
    return {**{name: told[name] for name in kept}, "columns": columns, "erased": _ends(log.erased)}


def _ends(erased: Intervals) -> list[int] | None:
    """Which events were erased; a property holds no lists of lists."""
    return [end for pair in erased for end in pair] or None


def _read_stream(name: str, log: LogRecord) -> dict[str, Any]:
    """A stream that is a log of this run; what it is and holds the run that made it has said."""
    assert log.made_by is not None
    known = _log(log.manifest)
    kept = ("plain", "columns", "case", "activity", "time")
    return {"as": name, "id": stream_id(*log.made_by), "with": {k: known[k] for k in kept}}


def _stream(run: str, stream: StreamInfo, numbers: Mapping[str, int]) -> dict[str, Any]:
    id = stream_id(run, stream.name)
    return {
        "name": stream.name,
        "processor": stream.processor,
        "pipe": stream.pipe,
        "role": stream.role.value,
        "w": stream.w,
        "length": stream.length,
        "tracked": stream.tracked,
        "id": id,
        "no": numbers[id],
        "run": run,
        "erased": _ends(stream.erased),
    }
