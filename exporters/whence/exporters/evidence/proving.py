"""Proofs that events are events of the run, revealing no more of them than is allowed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from whence.engine.record import LogRecord
from whence.exporters.evidence.asking import Asked
from whence.exporters.evidence.leaves import EventLeaves, RunLeaves, Shown
from whence.exporters.evidence.merkle import Tree
from whence.exporters.evidence.verify import leaf_digest

__all__ = ["Proved", "prove", "revealable"]


@dataclass(frozen=True)
class Proved:
    """What is proved, and by which trees.

    Attributes:
        merkle: the root of the run and the trees under it.
        proofs: one for each event.
        references: the digest of each input event, by log and position.
        values: what is revealed of each input event, by log and position.
    """

    merkle: dict[str, Any]
    proofs: list[dict[str, Any]]
    references: dict[tuple[str, int], str]
    values: dict[tuple[str, int], dict[str, str]]


def prove(
    asked: Asked,
    leaves_of: RunLeaves,
    reveal: Collection[str],
    subject: Collection[tuple[str, int]],
) -> Proved:
    """Prove the events of an answer.

    Args:
        asked: the answer.
        leaves_of: the leaves of the run.
        reveal: the fields that are revealed for every event.
        subject: the events of which all fields are revealed.
    """
    trees, streams = leaves_of.logs, leaves_of.streams
    proofs: list[dict[str, Any]] = []
    references: dict[tuple[str, int], str] = {}
    values: dict[tuple[str, int], dict[str, str]] = {}
    for name, leaves in trees.items():
        wanted = [each.position for each in asked.cited if each.log == name]
        for index, event in leaves.shown(wanted) if wanted else ():
            at = (name, event.position)
            told = set(event.values) if at in subject else set(reveal)
            proofs.append(_proof("input", name, leaves, index, event, told))
            references[at] = event.leaf.hex()
            values[at] = {n: v for n, v in event.values.items() if n in told}
    for name, position in asked.outputs:
        for index, event in streams[name].shown([position]):
            proofs.append(_proof("output", name, streams[name], index, event, {"value"}))
    return Proved(_merkle([*trees.values(), *streams.values()]), proofs, references, values)


def _proof(
    kind: str, name: str, leaves: EventLeaves, index: int, event: Shown, told: Collection[str]
) -> dict[str, Any]:
    told_of = {"kind": kind, "name": name, "place": leaves.place, "position": event.position}
    path = [each.hex() for each in leaves.tree.path(index)]
    if event.erased is not None:
        return {**told_of, "index": index, "leaf": event.leaf.hex(), "path": path}
    digests = event.digests
    return {
        **told_of,
        "index": index,
        "fields": {
            field: {"value": value, "salt": event.salts[field].hex()}
            if field in told
            else {"digest": digests[field].hex()}
            for field, value in sorted(event.values.items())
        },
        "path": path,
    }


def _merkle(several: list[EventLeaves]) -> dict[str, Any]:
    """The root of the run: over the roots of its logs and outputs, each once."""
    trees = {each.place: each.tree for each in several}
    above = b"".join(leaf_digest(place, tree.count, tree.root) for place, tree in trees.items())
    return {
        "root": Tree(above).root.hex(),
        "trees": [
            {"place": place, "count": tree.count, "root": tree.root.hex()}
            for place, tree in trees.items()
        ],
    }


def revealable(logs: dict[str, LogRecord]) -> list[str]:
    """The fields that there are."""
    return sorted({name for log in logs.values() for name in log.columns})
