"""Fetch Neo4j once for this user, verify every jar, and never use anything half there."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from whence.engine.errors import ServerError
from whence.engine.java import Java
from whence.engine.progress import Listener, Reporter
from whence.store.server.folders import disk_trouble, locked, whence_home
from whence.store.server.ivy import retrieve
from whence.store.server.jars import PinnedJars, neo4j_jars, sha256_of

__all__ = ["ensure_jars", "jars_folder", "jars_present"]

STAMP = "verified.json"
"""Which list was verified, and size and time of each file then: what differs is digested again."""

_FETCH_LOCK_SECONDS = 1800.0


def jars_folder(pinned: PinnedJars | None = None) -> Path:
    """Give the folder that holds the jars once they are fetched."""
    return whence_home() / "jars" / (pinned or neo4j_jars()).name


def jars_present(pinned: PinnedJars | None = None) -> bool:
    """Say whether the jars are fetched; raises if they are there but not as pinned."""
    chosen = pinned or neo4j_jars()
    folder = jars_folder(chosen)
    if not folder.is_dir():
        return False
    if not _as_stamped(folder, chosen):
        _verify(folder, chosen)
        try:
            _stamp(folder, chosen)
        except OSError:
            return True  # a shared folder that only others may write: verified again next time
    return True


def ensure_jars(java: Java, progress: Listener | None, pinned: PinnedJars | None = None) -> Path:
    """Return the folder of verified jars, fetching them first if they are not there.

    Two calls at once fetch once: the second waits, and finds them.
    """
    chosen = pinned or neo4j_jars()
    if jars_present(chosen):
        return jars_folder(chosen)
    with locked("fetch", _FETCH_LOCK_SECONDS) as lock:
        if not jars_present(chosen):
            with disk_trouble(f"fetch {chosen.name}", jars_folder(chosen).parent):
                _fetch(chosen, java, progress, lock)
    return jars_folder(chosen)


def _fetch(pinned: PinnedJars, java: Java, progress: Listener | None, lock: int) -> None:
    target = jars_folder(pinned)
    cache = whence_home() / "ivy"
    target.parent.mkdir(parents=True, exist_ok=True)
    for left_behind in target.parent.glob(".fetch-*"):
        shutil.rmtree(left_behind)  # we hold the lock, so nobody is working in it
    work = Path(tempfile.mkdtemp(prefix=".fetch-", dir=target.parent))
    try:
        retrieve(pinned, java, cache, work, Reporter(progress, "fetching", "bytes"), lock)
        lib = work / "lib"
        try:
            _verify(lib, pinned)
        except ServerError:
            shutil.rmtree(cache, ignore_errors=True)  # else the bad jar would come back from there
            raise
        _stamp(lib, pinned)
        lib.rename(target)
        shutil.rmtree(cache, ignore_errors=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _verify(folder: Path, pinned: PinnedJars) -> None:
    """Hold every jar against its SHA-256, and refuse any jar that is not on the list."""
    expected = {jar.file_name: jar for jar in pinned.jars}
    found = {path.name for path in folder.glob("*.jar")}
    again = f"try removing {folder} and starting again"
    if found != set(expected):
        odd = ", ".join(sorted(found ^ set(expected))[:3])
        msg = (
            f"expected the {len(expected)} jars of {pinned.name}; got a difference: {odd}; {again}"
        )
        raise ServerError(msg)
    for name, jar in expected.items():
        digest = sha256_of(folder / name)
        if digest != jar.sha256:
            msg = f"{name}: expected SHA-256 {jar.sha256}; got {digest}; {again}"
            raise ServerError(msg)


def _state(folder: Path, pinned: PinnedJars) -> dict[str, object]:
    files = {path.name: path.stat() for path in sorted(folder.glob("*.jar"))}
    return {
        "list": pinned.digest,
        "files": {name: [stat.st_size, stat.st_mtime_ns] for name, stat in files.items()},
    }


def _stamp(folder: Path, pinned: PinnedJars) -> None:
    (folder / STAMP).write_text(json.dumps(_state(folder, pinned)), encoding="utf-8")


def _as_stamped(folder: Path, pinned: PinnedJars) -> bool:
    try:
        stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(stamp == _state(folder, pinned))
