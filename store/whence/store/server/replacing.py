"""Replace the database of a local server: made beside it, exchanged when it is complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whence.store.connection import Connection, connect
from whence.store.server.instance import Instance, write_conf
from whence.store.server.lifecycle import start, status, stop
from whence.store.server.memory import Memory
from whence.store.server.serving import DATABASE

__all__ = ["replaced", "workshop"]

FOLDERS = ("databases", "transactions")


@contextmanager
def workshop(instance: Instance) -> Iterator[Path]:
    """A home for the importer beside the server's own, gone in any case."""
    home = Path(tempfile.mkdtemp(prefix=f".rebuild-{instance.name}-", dir=instance.home.parent))
    try:
        for name in ("conf", "data", "logs", "run", "plugins", "import"):
            (home / name).mkdir(mode=0o700)
        write_conf(home, 7687, Memory.for_machine())
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def replaced(instance: Instance, home: Path, memory: Memory) -> Iterator[Connection]:
    """Put the new database in the place of the old one; if anything fails, the old one back."""
    port = status(instance.name).port
    stop(instance.name)
    aside = home / "old"
    _move(instance.home / "data", aside)
    try:
        _move(home / "data", instance.home / "data")
        now = start(instance.name, port=port, memory=memory)
        with connect(now.settings()) as connection:
            yield connection
    except BaseException:
        stop(instance.name)
        _move(instance.home / "data", home / "new")
        _move(aside, instance.home / "data")
        raise


def _move(source: Path, target: Path) -> None:
    for folder in FOLDERS:
        if (source / folder / DATABASE).exists():
            (target / folder).mkdir(parents=True, exist_ok=True)
            os.replace(source / folder / DATABASE, target / folder / DATABASE)
