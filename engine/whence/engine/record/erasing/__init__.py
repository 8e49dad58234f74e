"""Erase events from a record: what follows from them, the values, and a skeleton that stays."""

from __future__ import annotations

from whence.engine.record.erased import ERASED, within
from whence.engine.record.erasing.closure import Touched, touched_by
from whence.engine.record.erasing.erasures import (
    Erasure,
    erasures_of,
    erasures_stamp,
    list_erasures,
    new_erasure,
    read_erasure,
    told_of,
    unfinished,
    write_erasure,
)
from whence.engine.record.erasing.holds import Hold, check_not_held, hold_of, hold_run, release_run
from whence.engine.record.erasing.leftovers import remove_leftovers
from whence.engine.record.erasing.logs import erase_in_log, same_events
from whence.engine.record.erasing.runs import erase_in_run
from whence.engine.record.erasing.states import end_without_state, waiting_rows
from whence.engine.record.erasing.texts import mentioning, own_texts

__all__ = [
    "ERASED",
    "Erasure",
    "Hold",
    "Touched",
    "check_not_held",
    "end_without_state",
    "erase_in_log",
    "erase_in_run",
    "erasures_of",
    "erasures_stamp",
    "hold_of",
    "hold_run",
    "list_erasures",
    "mentioning",
    "new_erasure",
    "own_texts",
    "read_erasure",
    "release_run",
    "remove_leftovers",
    "same_events",
    "told_of",
    "touched_by",
    "unfinished",
    "waiting_rows",
    "within",
    "write_erasure",
]
