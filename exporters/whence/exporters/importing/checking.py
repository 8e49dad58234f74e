"""The allowed words of a file about a run and its streams: those that Whence writes itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from whence.engine.errors import LogError
from whence.engine.values import INT64_MAX, INT64_MIN

__all__ = ["check_run", "check_stream"]

STATUSES = ("complete", "failed", "interrupted")
"""A run that is running is not exported."""
ROLES = ("output", "step", "inner", "choices", "heads", "end")
_RUNNER = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_MAPS = ("options", "versions", "metadata", "pending")
_OPTIONS = {
    "tracked": ("true", "false"),
    "closed": ("true", "false"),
    "detail": ('"ends"', '"steps"'),
    "witnesses": ('"first"', '"all"'),
}
"""As JSON, where 1 is not true."""
_SHOWN = 60

Said = Mapping[str, list[Any]]


def check_run(file: str, said: Said) -> None:
    """Refuse a run with statements that no run has.

    Raises:
        LogError: its status, runner, error, options, versions, metadata or pending.
    """
    _one_of(file, said, "status", STATUSES)
    runner = said["runner"][0]
    if not isinstance(runner, str) or not _RUNNER.fullmatch(runner):
        raise _refused(file, "runner", "a word such as local", runner)
    error = said.get("error", [None])[0]
    if error is not None and not isinstance(error, str):
        raise _refused(file, "error", "a text", error)
    for word in _MAPS:
        text = said.get(word, ["{}"])[0]
        found = json.loads(text) if isinstance(text, str) else text
        if not isinstance(found, dict):
            raise _refused(file, word, "a JSON object", text)
        if word == "options":
            _check_options(file, found)


def check_stream(file: str, said: Said) -> None:
    """Refuse a stream of a role that there is not, or of a number that is none.

    Raises:
        LogError: its role, pipe, width or tracked.
    """
    _one_of(file, said, "role", ROLES)
    for word, least in (("pipe", 0), ("width", 1), ("tracked", 0)):
        number = said.get(word, [least])[0]
        if type(number) is not int or not least <= number < 1 << 62:
            raise _refused(file, word, f"a whole number from {least}", number)


def _check_options(file: str, options: Mapping[str, Any]) -> None:
    """The same as `RunOptions` does; others pass if they are plain."""
    for name, value in options.items():
        allowed = _OPTIONS.get(name, ())
        if allowed and json.dumps(value) not in allowed:
            raise _refused(file, f"option {name}", " or ".join(allowed), value)
        if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
            raise _refused(file, f"option {name[:_SHOWN]}", "a number of 64 bits", value)


def _one_of(file: str, said: Said, word: str, allowed: tuple[str, ...]) -> None:
    value = said[word][0]
    if value not in allowed:
        raise _refused(file, word, "one of " + ", ".join(allowed), value)


def _refused(file: str, word: str, expected: str, got: object) -> LogError:
    shown = repr(got)
    shown = shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"
    msg = f"{file}: expected {expected} as the {word}; got {shown}; try exporting it again"
    return LogError(msg)
