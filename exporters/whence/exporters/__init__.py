"""Answers and runs leave Whence from here, as W3C PROV: PROV-JSON, N-Quads, TriG.

>>> from whence.exporters import save, to_prov, to_rdflib    # an answer
>>> from whence.exporters import save_run                    # a whole run of the record
"""

from __future__ import annotations

from whence.exporters.model import Answer, Edge, Event, Finding, Log, Processor, Run, Stream
from whence.exporters.saving import FORMATS
from whence.exporters.shipping import save, save_run, to_prov, to_rdflib

__all__ = [
    "FORMATS",
    "Answer",
    "Edge",
    "Event",
    "Finding",
    "Log",
    "Processor",
    "Run",
    "Stream",
    "save",
    "save_run",
    "to_prov",
    "to_rdflib",
]
