"""The single checks of ``whence doctor``. Each looks at the real thing and changes nothing."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from whence.engine.errors import WhenceError

if TYPE_CHECKING:
    from whence.cli.connecting import Server
    from whence.store import Settings

__all__ = ["Finding", "connection_settings", "every_check"]

_GIGABYTE = 1024**3
_MEMORY_WANTED = 4 * _GIGABYTE
_DISK_WANTED = 1 * _GIGABYTE


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. *broken* stops a part of Whence, a *note* does not."""

    what: str
    state: Literal["ok", "note", "broken"]
    found: str
    advice: str = ""

    def as_json(self) -> dict[str, str]:
        """Give the finding for ``--json``."""
        return asdict(self)


def every_check(instance: str, settings: Settings | None) -> Iterator[Finding]:
    """Look at everything; ``settings`` is the user's own server, or None for the local one."""
    yield _python()
    yield _java()
    yield _package("Spark", "pyspark", "spark")
    yield _package("Neo4j driver", "neo4j", "neo4j")
    yield _package("PROV", "prov", "prov", needed=False)
    yield _package("page", "starlette", "web", needed=False)
    if settings is None:
        yield _jars()
        yield _local_server(instance)
        yield _port()
    else:
        yield _own_server(settings)
    yield _memory()
    yield _disk()


def connection_settings(server: Server) -> tuple[Settings | None, Finding]:
    """Put the settings together and say where they come from; the password is never shown."""
    try:
        settings = server.settings()
    except WhenceError as error:
        return None, Finding("settings", "broken", str(error), "correct the settings")
    if settings is None:
        return None, Finding("settings", "ok", "no server given: the local one is used")
    found = (
        f"{settings.uri} as {settings.username}, password {settings.password.place}, "
        f"database {settings.database or 'chosen by the server'} (from: {settings.source})"
    )
    return settings, Finding("settings", "ok", found)


def _python() -> Finding:
    found = f"{platform.python_version()} in {sys.prefix}"
    if sys.version_info >= (3, 14):
        return Finding("Python", "note", found, "tested with 3.11 to 3.13; if it fails, use those")
    return Finding("Python", "ok", found)


def _java() -> Finding:
    from whence.engine.java import find_java

    try:
        java = find_java()
    except WhenceError as error:
        return Finding("Java", "broken", str(error), "install a JDK 17 or 21, or run: make setup")
    return Finding("Java", "ok", f"{java.version} in {java.home} (from: {java.source})")


def _package(what: str, package: str, extra: str, *, needed: bool = True) -> Finding:
    advice = f"pip install 'whence[{extra}]'"
    if find_spec(package) is None:
        return Finding(what, "broken" if needed else "note", f"no package {package}", advice)
    try:
        if needed:  # loading the others takes seconds, and they are checked when they are used
            import_module(package)
        return Finding(what, "ok", f"{package} {version(package)}")
    except (ImportError, PackageNotFoundError) as error:
        return Finding(what, "broken", f"{package} does not load: {error}", advice)


def _jars() -> Finding:
    from whence.store.server.fetch import jars_folder, jars_present
    from whence.store.server.jars import neo4j_jars

    name = neo4j_jars().name
    try:
        if jars_present():
            return Finding("Neo4j", "ok", f"{name}, verified, in {jars_folder()}")
    except WhenceError as error:
        return Finding("Neo4j", "broken", str(error), f"remove {jars_folder()}, then start again")
    return Finding("Neo4j", "note", f"{name} not fetched yet", "the first start fetches it, 120 MB")


def _local_server(name: str) -> Finding:
    from whence.store.server import status

    try:
        now = status(name)
    except WhenceError as error:
        return Finding("local server", "broken", str(error), "see the line before")
    if now.state == "running":
        return Finding("local server", "ok", f"{name}: answers at {now.uri}, process {now.pid}")
    if now.state == "not answering":
        advice = f"whence server logs --name {name}; then whence server stop --name {name}"
        return Finding("local server", "broken", f"{name}: process {now.pid} is silent", advice)
    advice = f"whence server start --name {name}"
    return Finding("local server", "note", f"{name}: {now.state}", advice)


def _port() -> Finding:
    from whence.store.server.ports import BOLT_PORT, is_free

    if is_free(BOLT_PORT):
        return Finding("port", "ok", f"{BOLT_PORT} is free")
    return Finding("port", "ok", f"{BOLT_PORT} is in use; a server started now takes another")


def _own_server(settings: Settings) -> Finding:
    from whence.store import connect

    query = "CALL dbms.components() YIELD name, versions, edition RETURN name, versions, edition"
    try:
        with connect(settings) as connection:
            row = connection.read(query)[0]
    except WhenceError as error:
        return Finding("your Neo4j", "broken", str(error), "correct address, user or password")
    edition = f"{row['name']} {row['versions'][0]} {row['edition']}"
    return Finding("your Neo4j", "ok", f"{edition} answers at {settings.uri}")


def _memory() -> Finding:
    import psutil

    from whence.store.server.memory import Memory, memory_limit

    total, free = memory_limit(), psutil.virtual_memory().available
    share = Memory.for_machine()
    found = (
        f"{total / _GIGABYTE:.1f} GB, {min(free, total) / _GIGABYTE:.1f} GB free; the local Neo4j "
        f"takes {share.heap} MB heap and {share.page_cache} MB page cache"
    )
    if min(free, total) < _MEMORY_WANTED:
        return Finding("memory", "note", found, "close programs, or: whence server start --memory")
    return Finding("memory", "ok", found)


def _disk() -> Finding:
    from whence.store.server.folders import whence_home

    home = whence_home()
    existing = next(level for level in [home, *home.parents] if level.exists())
    free = shutil.disk_usage(existing).free
    found = f"{free / _GIGABYTE:.1f} GB free for {home}"
    if free < _DISK_WANTED:
        return Finding("disk", "broken", found, "free space, or set WHENCE_HOME to another disk")
    return Finding("disk", "ok", found)
