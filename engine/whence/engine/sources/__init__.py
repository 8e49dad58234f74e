"""Sources: logs as batches of rows, whatever they are stored in.

`open_source` finds out how a log is written and opens it; see `whence.engine.sources.source` for
what can then be done with it.
"""

from __future__ import annotations

from whence.engine.sources.any_format import events_of, open_source
from whence.engine.sources.formats import FORMATS
from whence.engine.sources.limits import Limits
from whence.engine.sources.source import ON_BAD, Reading, Report, Source, Split

__all__ = [
    "FORMATS",
    "ON_BAD",
    "Limits",
    "Reading",
    "Report",
    "Source",
    "Split",
    "events_of",
    "open_source",
]
