"""The root of a run: one digest over the digests of all its parts.

It says what the run was when it ended. Who keeps it elsewhere, signed or with a time that others
vouch for, finds every later change, also one that mends the manifest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whence.engine.record.files import read_json, write_json
from whence.engine.record.manifest import LISTS
from whence.engine.record.runs import RunRecord

__all__ = [
    "commits_file",
    "definition_digest",
    "parts_of",
    "read_commits",
    "root_of",
    "write_commits",
]

_FILE = "root.json"


def parts_of(run: RunRecord) -> dict[str, Any]:
    """What the root stands over: the chain, the logs and every part of the run, by digest."""
    manifest = run.manifest
    logs = {name: run.log(name).manifest for name in manifest.logs}
    return {
        "format": 1,
        "run": run.id,
        "ended": manifest.ended,
        "chain": manifest.chain_digest,
        "definition": definition_digest(manifest.chain),
        "options": manifest.options.json(),
        "erasures": list(manifest.erasures),
        **({"imported": True} if manifest.imported else {}),
        "logs": [
            {"name": name, "id": log.id, "events": log.length, "digest": log.digest}
            for name, log in logs.items()
        ],
        "streams": [
            {
                "name": stream.name,
                "role": stream.role,
                "events": stream.length,
                **{
                    what: [[part.part, part.rows, part.digest] for part in stream.parts(what)]
                    for what in LISTS
                },
            }
            for stream in manifest.streams
        ],
    }


def definition_digest(chain: Any) -> str:
    """The digest of a definition, of a chain or of a job that was none."""
    text = json.dumps(chain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def root_of(parts: Mapping[str, Any]) -> str:
    """The root over them, in hexadecimal.

    >>> root_of({"run": "a"}) == root_of({"run": "b"})
    False
    """
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(b"whence run root 1\0" + text.encode("ascii")).hexdigest()


def commits_file(run: RunRecord) -> Path:
    """Where it is kept what was committed of a run."""
    return run.folder / _FILE


def read_commits(run: RunRecord) -> list[dict[str, Any]]:
    """What was committed of a run, the latest last; none of a run that is older than this."""
    path = commits_file(run)
    if not path.exists():
        return []
    found: list[dict[str, Any]] = read_json(path)["commits"]
    return found


def write_commits(run: RunRecord, commits: list[dict[str, Any]]) -> None:
    """Keep what was committed beside the manifest."""
    write_json(commits_file(run), {"format": 1, "commits": commits})
