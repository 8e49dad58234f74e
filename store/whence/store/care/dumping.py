"""The graph of a local server as one file, and back again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from whence.engine.errors import StoreError
from whence.engine.java import find_java
from whence.engine.progress import Listener
from whence.store.care.contents import contents
from whence.store.server.fetch import ensure_jars
from whence.store.server.folders import default_instance
from whence.store.server.instance import Instance, run_admin
from whence.store.server.lifecycle import start, status, stop
from whence.store.server.memory import Memory
from whence.store.server.ports import BOLT_PORT
from whence.store.server.replacing import replaced, workshop
from whence.store.server.serving import DATABASE

__all__ = ["dump", "restore"]

SECONDS = 24 * 3600.0


def dump(
    file: Path,
    name: str | None = None,
    *,
    overwrite: bool = False,
    memory: Memory | None = None,
    progress: Listener | None = None,
) -> int:
    """Write the graph of a local server into a file, whole or not at all; return its size.

    The server is away meanwhile, and runs afterwards if it ran before.

    Args:
        file: where to.
        name: which local server, else that of ``WHENCE_INSTANCE``.
        overwrite: replace a file that is there.
        memory: of the server, when it is started again.
        progress: told how far fetching Neo4j has come.

    Raises:
        StoreError: there is no such server, or the file is there already.
    """
    name = name or default_instance()
    instance = Instance(name)
    if not instance.exists:
        msg = f"dump: expected a local server {name!r}; got none; try whence server start"
        raise StoreError(msg)
    if file.exists() and not overwrite:
        msg = f"dump: expected a new file; got {file}, which is there; try --overwrite"
        raise StoreError(msg)
    if not file.absolute().parent.is_dir():
        msg = f"dump: expected a folder for the file; got none for {file}; try making it first"
        raise StoreError(msg)
    java = find_java()
    jars = ensure_jars(java, progress)
    before = status(name)
    with workshop(instance) as home:
        stop(name)
        try:
            to = home / "import"
            command = ("database", "dump", DATABASE, f"--to-path={to}")
            run_admin(instance.home, java, jars, *command, doing="dump the graph", timeout=SECONDS)
        finally:
            if before.state == "running":
                start(name, port=before.port, memory=memory)
        _placed(to / f"{DATABASE}.dump", file)
    return file.stat().st_size


def restore(
    file: Path,
    name: str | None = None,
    *,
    memory: Memory | None = None,
    port: int | None = BOLT_PORT,
    progress: Listener | None = None,
) -> int:
    """Replace the graph of a local server by what a file holds; return how many runs there are.

    The old graph stays until the new one answers.

    Args:
        file: what `dump` wrote.
        name: which local server, else that of ``WHENCE_INSTANCE``; made if it does not exist.
        memory: of the server.
        port: the port that the server takes if it does not run; ``None`` for any free one.
        progress: told how far fetching Neo4j has come.

    Raises:
        StoreError: there is no such file.
        ServerError: it is no dump, or not of this server's format.
    """
    if not file.is_file():
        msg = f"restore: expected a file that whence store dump wrote; got no file {file}; try ls"
        raise StoreError(msg)
    name = name or default_instance()
    memory = memory or Memory.for_machine()
    start(name, port=port, memory=memory, progress=progress)  # so that the server is set up
    instance = Instance(name)
    java = find_java()
    jars = ensure_jars(java, progress)
    with workshop(instance) as home:
        (home / "import" / f"{DATABASE}.dump").symlink_to(file.absolute())
        command = ("database", "load", DATABASE, f"--from-path={home / 'import'}")
        overwrite = "--overwrite-destination=true"
        doing = f"load the graph from {file}"
        run_admin(home, java, jars, *command, overwrite, doing=doing, timeout=SECONDS)
        with replaced(instance, home, memory) as connection:
            return len(contents(connection).runs)


def _placed(made: Path, file: Path) -> None:
    """Give a file its name, also on another disk: it is there whole or not at all."""
    fresh = file.absolute().with_name(f".{file.name}.{os.getpid()}")
    try:
        shutil.move(made, fresh)
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)
