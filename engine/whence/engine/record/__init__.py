"""What a run leaves on disk: logs in order, outputs, associations. See the page on the record."""

from __future__ import annotations

from whence.engine.record.interrupted import interrupted_run
from whence.engine.record.logs import LogRecord, ingest
from whence.engine.record.matching import Matched, match
from whence.engine.record.place import record_place
from whence.engine.record.runs import RunRecord, RunWriter, list_runs, new_run_id

__all__ = [
    "LogRecord",
    "Matched",
    "RunRecord",
    "RunWriter",
    "ingest",
    "interrupted_run",
    "list_runs",
    "match",
    "new_run_id",
    "record_place",
]
