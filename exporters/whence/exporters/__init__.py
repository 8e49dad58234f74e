"""Answers and runs leave Whence from here, as W3C PROV in all its syntaxes.

>>> from whence.exporters import save, to_prov, to_rdflib    # an answer
>>> from whence.exporters import save_run                    # a whole run of the record
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from whence.exporters.prov.formats import FORMATS
    from whence.exporters.recorded import RecordedRun
    from whence.exporters.shipping import save, save_run, save_runs, to_prov, to_rdflib
else:
    _SHIPPING = ("save", "save_run", "save_runs", "to_prov", "to_rdflib")
    _ELSEWHERE = {"FORMATS": "prov.formats", "RecordedRun": "recorded"}
    _ELSEWHERE |= dict.fromkeys(_SHIPPING, "shipping")

    def __getattr__(name: str) -> Any:
        """Load a public name when it is used: the table of formats alone is light."""
        if name not in __all__:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        found = getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'model')}"), name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """The public names as well, for the manual and for completion."""
        return [*globals(), *__all__]


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
