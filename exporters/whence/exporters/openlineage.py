"""OpenLineage: that a run began and ended, what it read and what it wrote, as JSON events.

OpenLineage speaks of data sets, not of events in them: a log is an input, an output pipe an output.
A run's id there has to be a UUID; it follows from the run's IRI, so it is the same every time.
"""

from __future__ import annotations

import json
import os
import urllib.request
import uuid
from typing import Any
from urllib.parse import urlsplit

from whence.engine.errors import ParameterError, WhenceError
from whence.exporters.model import Log, Run
from whence.exporters.prov.identifiers import mint
from whence.exporters.prov.statements import clean, time_text

__all__ = ["emit", "openlineage_events", "openlineage_lines"]

_SPEC = "https://openlineage.io/spec"
_ENDS = {"complete": "COMPLETE", "failed": "FAIL", "interrupted": "ABORT"}
_SECONDS = 30.0


def openlineage_events(run: Run) -> list[dict[str, Any]]:
    """The events of a run that has ended: its start, and how it ended."""
    if run.started is None:
        msg = f"run {run.id}: expected one with the time of its start; got none; try another run"
        raise ParameterError(msg)
    producer = mint("engine", run.engine or "unknown").rstrip(":")
    facets = _Facets(producer)
    facts = {key.local: value for key, value in run.facts}
    known: dict[str, Any] = {
        "processing_engine": facets.of(
            "ProcessingEngineRunFacet", "1-1-1", name="Whence", version=run.engine or "unknown"
        ),
        "whence": {
            **facets.own(),
            "run": clean(run.id),
            **{word: facts[word] for word in ("runner", "options") if word in facts},
        },
    }
    if "error" in facts:
        known["errorMessage"] = facets.of(
            "ErrorMessageRunFacet",
            "1-0-1",
            message=facts["error"],
            programmingLanguage="python",
        )
    job = {"namespace": "whence", "name": clean(run.chain_digest or run.id), "facets": {}}
    if run.chain is not None:
        job["facets"] = {"whence": {**facets.own(), "chain": run.chain}}
    common = {
        "producer": producer,
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, mint("run", run.id))), "facets": known},
        "job": job,
        "inputs": [_input(log, facets) for log in run.logs],
    }
    outputs = [
        {
            "namespace": "whence",
            "name": clean(f"{run.id}/{stream.place}"),
            "outputFacets": {
                "outputStatistics": facets.of(
                    "OutputStatisticsOutputDatasetFacet", "1-0-2", rowCount=stream.count or 0
                )
            },
        }
        for stream in run.streams
        if stream.role.is_output
    ]
    begin = {"eventType": "START", "eventTime": time_text(run.started), **common, "outputs": []}
    ended = time_text(run.ended or run.started)
    kind = _ENDS.get(str(facts.get("status")), "OTHER")
    return [begin, {"eventType": kind, "eventTime": ended, **common, "outputs": outputs}]


class _Facets:
    """All facets name their producer and their schema."""

    def __init__(self, producer: str) -> None:
        self.producer = producer

    def own(self) -> dict[str, Any]:
        return {
            "_producer": self.producer,
            "_schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunFacet",
        }

    def of(self, schema: str, number: str, /, **said: Any) -> dict[str, Any]:
        url = f"{_SPEC}/facets/{number}/{schema}.json#/$defs/{schema}"
        return {"_producer": self.producer, "_schemaURL": url, **said}


def _input(log: Log, facets: _Facets) -> dict[str, Any]:
    if log.stream is not None:
        run, processor, _ = log.stream
        return {"namespace": "whence", "name": clean(f"{run}/{processor}")}
    version = facets.of("DatasetVersionDatasetFacet", "1-0-1", datasetVersion=log.id)
    rows = facets.of("InputStatisticsInputDatasetFacet", "1-0-0", rowCount=log.count or 0)
    return {
        "namespace": "file",
        "name": clean(log.source or log.name),
        "facets": {"version": version},
        "inputFacets": {"inputStatistics": rows},
    }


def openlineage_lines(run: Run) -> bytes:
    """The events as lines of JSON."""
    return b"".join(_json(event) + b"\n" for event in openlineage_events(run))


def _json(event: dict[str, Any]) -> bytes:
    return json.dumps(event, sort_keys=True, ensure_ascii=False).encode()


def emit(run: Run, url: str) -> int:
    """Send the events of a run to a server of OpenLineage; how many there were.

    The key of its API, if it asks for one, is taken from ``OPENLINEAGE_API_KEY``.

    Args:
        run: the run.
        url: the server's address, such as ``http://localhost:5000``.

    Raises:
        WhenceError: the server cannot be reached or refuses them.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        msg = (
            f"--emit: expected an address of http or https; got {url!r}; try http://localhost:5000"
        )
        raise ParameterError(msg)
    headers = {"Content-Type": "application/json"}
    key = os.environ.get("OPENLINEAGE_API_KEY")
    if key:
        headers["Authorization"] = f"Bearer {key}"
    events = openlineage_events(run)
    for event in events:
        request = urllib.request.Request(
            f"{url.rstrip('/')}/api/v1/lineage", _json(event), headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS):
                pass
        except (OSError, ValueError) as error:
            msg = (
                f"{url}: expected a server of OpenLineage that takes events; got: {error}; "
                "try the address without /api/v1/lineage, and OPENLINEAGE_API_KEY"
            )
            raise WhenceError(msg) from error
    return len(events)
