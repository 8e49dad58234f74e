"""What remains after Ctrl-C, and how to resume: one sentence for each command that takes long."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["RESUME_HINTS", "resume_hint"]

NOTHING = "nothing was changed; re-run the same command"
NO_FILE = "no file was written; re-run the same command to write it"

RESUME_HINTS = {
    "run": "finished work is in the record; re-run the same command to resume",
    "demo": "the setup stays; re-run the same command to restart the demo",
    "load": "loaded data stays in the graph; re-run the same command to resume",
    "import": "imported runs stay; re-run the same command to import the others",
    "check": "nothing was changed; re-run the same command",
    "export": NO_FILE,
    "logs generate": NO_FILE,
    "evidence create": "no pack was written; re-run the same command to make it",
    "erase": "erased data stays erased; run `whence erase` to finish",
    "runs remove": "removed runs stay removed; re-run the same command to resume",
    "runs prune": "removed runs stay removed; re-run the same command to resume",
    "store rebuild": "the old graph is unchanged; re-run the same command to start over",
    "store dump": NO_FILE,
    "store restore": "the old graph is unchanged; re-run the same command to start over",
    "server start": "downloaded files stay; re-run the same command to resume",
}
"""By command; every other command only asks questions."""

_ONLY_HERE = "nothing was written; re-run the same command to start over"


def resume_hint(words: Sequence[str]) -> str:
    """The message after a command was interrupted.

    >>> resume_hint(["load", "latest"])
    'loaded data stays in the graph; re-run the same command to resume'
    >>> resume_hint(["explain", "latest", "4"])
    'nothing was changed; re-run the same command'
    """
    if words[:1] == ["run"] and _value(words, "--runner") == "interpreter":
        return _ONLY_HERE
    named = [" ".join(words[:2]), *words[:1]]
    return next((RESUME_HINTS[name] for name in named if name in RESUME_HINTS), NOTHING)


def _value(words: Sequence[str], option: str) -> str | None:
    """What an option was given, as its own word or behind ``=``."""
    for number, word in enumerate(words):
        if word == option:
            return words[number + 1] if number + 1 < len(words) else None
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None
