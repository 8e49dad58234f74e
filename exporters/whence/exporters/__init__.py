"""Answers and runs leave Whence from here, as W3C PROV in all its syntaxes.

>>> from whence.exporters import save, to_prov, to_rdflib    # an answer
>>> from whence.exporters import save_run                    # a whole run of the record
"""

from __future__ import annotations

from whence.exporters.model import (
    Answer,
    Edge,
    Event,
    Finding,
    Log,
    Processor,
    Run,
    Stream,
    Witness,
)
from whence.exporters.recorded import RecordedRun
from whence.exporters.saving import FORMATS
from whence.exporters.shipping import save, save_run, save_runs, to_prov, to_rdflib

__all__ = [
    "FORMATS",
    "Answer",
    "Edge",
    "Event",
    "Finding",
    "Log",
    "Processor",
    "RecordedRun",
    "Run",
    "Stream",
    "Witness",
    "save",
    "save_run",
    "save_runs",
    "to_prov",
    "to_rdflib",
]
