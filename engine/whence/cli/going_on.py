"""What Ctrl-C leaves, and how to go on: one sentence for each command that takes long."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["GOING_ON", "going_on"]

NOTHING = "nothing was changed; the same command asks again"
NO_FILE = "no file was written; the same command writes it"

GOING_ON = {
    "run": "what was done is in the record; the same command goes on with this run",
    "demo": "what is set up stays; the same command tells the story again",
    "load": "what is in the graph stays; the same command loads the rest",
    "import": "runs that were taken in stay; the same command takes in the others",
    "export": NO_FILE,
    "logs generate": NO_FILE,
    "evidence create": "no pack was written; the same command makes it",
    "erase": "what is gone stays gone; whence erase alone brings it to its end",
    "runs remove": "runs that are gone stay gone; the same command goes on",
    "runs prune": "runs that are gone stay gone; the same command goes on",
    "store rebuild": "the graph is the old one; the same command begins anew",
    "store dump": NO_FILE,
    "store restore": "the graph is the old one; the same command begins anew",
    "server start": "what was fetched stays; the same command goes on from there",
}
"""By command; any other one only asks."""

_ONLY_HERE = "nothing was written; the same command begins anew"


def going_on(words: Sequence[str]) -> str:
    """What to say when somebody interrupts a command.

    >>> going_on(["load", "latest"])
    'what is in the graph stays; the same command loads the rest'
    >>> going_on(["explain", "latest", "4"])
    'nothing was changed; the same command asks again'
    """
    if words[:1] == ["run"] and _value(words, "--runner") == "interpreter":
        return _ONLY_HERE
    named = [" ".join(words[:2]), *words[:1]]
    return next((GOING_ON[name] for name in named if name in GOING_ON), NOTHING)


def _value(words: Sequence[str], option: str) -> str | None:
    """What an option was given, as its own word or behind ``=``."""
    for number, word in enumerate(words):
        if word == option:
            return words[number + 1] if number + 1 < len(words) else None
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None
