"""What a run leaves on disk: logs in order, outputs, associations. See the page on the record."""

from __future__ import annotations

from whence.engine.record.interrupted import forget_loading, interrupted_run
from whence.engine.record.listing import latest_run, list_runs, new_run_id
from whence.engine.record.logs import LogRecord, ingest
from whence.engine.record.matching import Matched, match
from whence.engine.record.place import record_place
from whence.engine.record.run_writer import RunWriter
from whence.engine.record.runs import RunRecord

__all__ = [
    "LogRecord",
    "Matched",
    "RunRecord",
    "RunWriter",
    "forget_loading",
    "ingest",
    "interrupted_run",
    "latest_run",
    "list_runs",
    "match",
    "new_run_id",
    "record_place",
]
