"""The texts that only some events of a record have: where one of them stands, they are meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from whence.engine.lineage.positions import Intervals
from whence.engine.record.erased import within
from whence.engine.record.folders import log_folder
from whence.engine.record.logs import LogRecord
from whence.engine.values.arrow_compute import pc

__all__ = ["mentioning", "own_texts"]


def own_texts(root: Path, logs: Mapping[str, Intervals]) -> set[str]:
    """Texts of some events, cases of any kind among them, that no other event of their log has.

    Args:
        root: the record's place.
        logs: the events, by the log's id.
    """
    found: set[str] = set()
    for id, places in logs.items():
        log = LogRecord.open(log_folder(root, id))
        names = [name for name, kind in log.columns.items() if kind == "text"]
        case = log.manifest.case
        if case in log.columns and case not in names:
            names.append(case)
        for name in names:
            found |= _own(log, name, places)
    return found - {""}


def _own(log: LogRecord, name: str, places: Intervals) -> set[str]:
    mine: set[str] = set()
    others: list[pa.ChunkedArray] = []
    for number in range(log.manifest.parts):
        table = log.part(number)
        meant = within(table.column("position").to_numpy(), places)
        texts = table.column(name).cast(pa.string())
        mine |= set(texts.filter(pa.array(meant)).drop_null().to_pylist())
        others.append(texts.filter(pa.array(~meant)))
    if not mine:
        return mine
    wanted = pa.array(sorted(mine), pa.string())
    for some in others:
        mine -= set(pc.unique(some.filter(pc.is_in(some, value_set=wanted))).to_pylist())
    return mine


def mentioning(texts: Iterable[str]) -> Callable[[str], bool]:
    """Whether a word has one of some texts in it, as a word of its own.

    >>> says = mentioning({"88"})
    >>> says("case = '88'"), says("1988")
    (True, False)
    """
    known = sorted(texts)

    def says(word: str) -> bool:
        return any(
            text in word and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", word) for text in known
        )

    return says
