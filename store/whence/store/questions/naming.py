"""Which event is meant by ``[PROCESSOR[.PIPE]@]POSITION``."""

from __future__ import annotations

import re
from difflib import get_close_matches

from whence.engine.errors import ParameterError
from whence.store.catalog import RunGraph, StoredLog, StoredStream

__all__ = ["chosen_output", "find_any_event", "find_event", "parse_positions"]

_EVENT = re.compile(r"(?:(?P<name>.+)@)?(?P<outer>\d+)(?::(?P<index>\d+))?")
_POSITIONS = re.compile(r"(?:(?P<log>[^:,]+):)?(?P<lo>\d+)(?:-(?P<hi>\d+))?")


def find_event(run: RunGraph, text: str) -> tuple[StoredStream, int]:
    """The stream and the position there that a name means.

    Inside a Slice the position is that in the whole stream, followed by ``:INDEX`` if it is not
    the first event there.
    """
    found = _EVENT.fullmatch(text.strip())
    if found is None:
        msg = (
            "an output: expected [PROCESSOR[.PIPE]@]POSITION; "
            f"got {text!r}; try {run.outputs[0].name}@0"
        )
        raise ParameterError(msg)
    stream = chosen_output(run, found["name"])
    outer, index = int(found["outer"]), int(found["index"] or 0)
    if stream.w == 1 and index:
        msg = f"{stream.name}: expected a position; got {text!r}; try {stream.name}@{outer}"
        raise ParameterError(msg)
    if stream.w == 1 and outer >= stream.length:
        last = f"0 to {stream.length - 1}" if stream.length else "none"
        msg = f"{stream.name}: expected a position, {last}; got {outer}; try one in this range"
        raise ParameterError(msg)
    return stream, outer * stream.w + index


def find_any_event(run: RunGraph, text: str) -> tuple[StoredLog | StoredStream, int]:
    """The log or stream, and the position there, that a name means: ``log@17``, ``total@3``."""
    found = _EVENT.fullmatch(text.strip())
    for log in run.logs:
        if found is not None and found["name"] in log.names:
            position = int(found["outer"])
            if position >= log.length or found["index"]:
                last = f"0 to {log.length - 1}" if log.length else "none"
                got = text.strip().rpartition("@")[2]
                msg = f"{log.name}: expected a position, {last}; got {got}; try one in this range"
                raise ParameterError(msg)
            return log, position
    return find_event(run, text)


def chosen_output(run: RunGraph, name: str | None) -> StoredStream:
    """The stream of this name; the chain's only output pipe, unless named."""
    if name is None:
        if len(run.outputs) == 1:
            return run.outputs[0]
        several = ", ".join(s.name for s in run.outputs)
        msg = f"an output: expected one of {several}; got no name; try {run.outputs[0].name}@0"
        raise ParameterError(msg)
    others = (s for s in run.event_streams.values() if not (s.role.is_output or s.role.is_choices))
    streams = [*run.outputs, *others]
    for stream in streams:
        if name in (stream.name, f"{stream.processor}.{stream.pipe}"):
            return stream
    names = [s.name for s in streams]
    near = get_close_matches(name, names, n=1)
    hint = f"{near[0]} (did you mean that?)" if near else f"{names[0]}@0"
    msg = f"an output: expected one of {', '.join(names)}; got {name!r}; try {hint}"
    raise ParameterError(msg)


def parse_positions(text: str) -> dict[str | None, list[tuple[int, int]]]:
    """Read positions per log: ``3,17-20``, ``payments:3,orders:0-4``; a log's name holds on.

    >>> parse_positions("3,17-20")
    {None: [(3, 3), (17, 20)]}
    >>> parse_positions("a:3,5,b:0-1")
    {'a': [(3, 3), (5, 5)], 'b': [(0, 1)]}
    """
    chosen: dict[str | None, list[tuple[int, int]]] = {}
    log: str | None = None
    for part in text.split(","):
        found = _POSITIONS.fullmatch(part.strip())
        lo, hi = (int(found["lo"]), int(found["hi"] or found["lo"])) if found else (1, 0)
        if found is None or lo > hi:
            msg = f"inputs: expected positions; got {part.strip()!r}; try 3,17-20 or LOG:3"
            raise ParameterError(msg)
        log = found["log"] or log
        chosen.setdefault(log, []).append((lo, hi))
    return chosen
