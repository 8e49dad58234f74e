"""Start, stop, look at and remove a local Neo4j."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from whence.engine.errors import ServerError, StoreError
from whence.engine.java import Java, find_java
from whence.engine.progress import Listener, Reporter
from whence.store.connection import connect, require_driver
from whence.store.server.fetch import ensure_jars
from whence.store.server.folders import (
    default_instance,
    disk_trouble,
    locked,
    whence_home,
    write_private,
)
from whence.store.server.instance import (
    USERNAME,
    Instance,
    clean_environment,
    java_arguments,
    write_conf,
)
from whence.store.server.memory import Memory
from whence.store.server.ports import BOLT_PORT, choose_port
from whence.store.server.process import (
    Running,
    find_running,
    forget,
    listens,
    remember,
    terminate,
)
from whence.store.server.timeouts import ProcessTimeout
from whence.store.settings import Settings

__all__ = [
    "START_SECONDS",
    "Status",
    "instances",
    "last_lines",
    "remove",
    "start",
    "status",
    "stop",
]

START_SECONDS = 50.0
"""How long a server may take until it answers; with the clean-up after it, within a minute."""

_STOP_SECONDS = 60.0
_LOG_LINES = 5
_PORT_TAKEN = "Address already in use"

State = Literal["absent", "stopped", "running", "not answering"]


@dataclass(frozen=True)
class Status:
    """What is known of an instance at this moment."""

    name: str
    state: State
    home: Path
    pid: int | None = None
    port: int | None = None

    @property
    def uri(self) -> str | None:
        """The address, while a process is there."""
        return f"bolt://127.0.0.1:{self.port}" if self.port else None

    def settings(self) -> Settings:
        """How to connect to it."""
        if self.uri is None:
            msg = (
                f"expected the local server {self.name!r} to run; got {self.state}; "
                "try: whence server start"
            )
            raise ServerError(msg)
        return Settings(self.uri, USERNAME, Instance(self.name).secret, source="local server")


def start(
    name: str | None = None,
    *,
    memory: Memory | None = None,
    port: int | None = BOLT_PORT,
    timeout: float = START_SECONDS,
    progress: Listener | None = None,
) -> Status:
    """Start the instance, or find it running; return when a Bolt query has been answered.

    Args:
        name: Which instance, else that of ``WHENCE_INSTANCE``; made if it does not exist.
        memory: Heap and page cache; by default a share of this machine.
        port: The port to take if it is free; otherwise, and for None, any free one.
        timeout: Seconds until a server that does not answer is given up and ended.
        progress: Told how far fetching Neo4j has come, and that it is being started.

    Raises:
        ServerError: It could not be fetched, died, or did not answer in time.
    """
    name = name or default_instance()
    instance = Instance(name)
    _ = instance.home  # a name that cannot be is refused before anything is fetched
    require_driver()
    running = find_running(instance)
    if running and _answers(instance, running):
        return _status(instance, running, "running")
    java = find_java()
    jars = ensure_jars(java, progress)
    with locked(f"instance-{name}", timeout + 120):
        running = find_running(instance)
        report = Reporter(progress, "starting", "")
        report(0, 0, f"waiting for Neo4j ({name}) to answer")
        if running is None:
            if not instance.exists:
                instance.create(java, jars)
            running = _launch(instance, java, jars, memory or Memory.for_machine(), port)
        try:
            _wait_until_ready(instance, running, timeout)
        except ServerError:
            if not any(_PORT_TAKEN in line for line in last_lines(name, sys.maxsize)):
                raise
            # While it was starting, another program took the port that had been free. Perhaps it
            # has given it back since, so looking at the port now would tell nothing.
            running = _launch(instance, java, jars, memory or Memory.for_machine(), None)
            _wait_until_ready(instance, running, timeout)
        return _status(instance, running, "running")


def stop(name: str | None = None, *, patience: float = _STOP_SECONDS) -> bool:
    """Stop the instance; say whether it was running."""
    name = name or default_instance()
    instance = Instance(name)
    if not instance.exists:
        return False
    with locked(f"instance-{name}", START_SECONDS + 120):
        running = find_running(instance)
        if running is not None:
            terminate(running, patience)
        forget(instance)
        return running is not None


def status(name: str | None = None) -> Status:
    """Look at the instance without changing anything."""
    name = name or default_instance()
    instance = Instance(name)
    running = find_running(instance)
    if running is not None:
        state: State = "running" if _answers(instance, running) else "not answering"
        return _status(instance, running, state)
    return Status(name, "stopped" if instance.exists else "absent", instance.home)


def instances() -> list[str]:
    """Name all instances of this user."""
    folder = whence_home() / "instances"
    found = folder.glob("[!.]*/password") if folder.is_dir() else []
    return sorted(path.parent.name for path in found)


def remove(name: str | None = None) -> bool:
    """Delete the instance and all its data; refused while it runs. Say whether there was one."""
    name = name or default_instance()
    instance = Instance(name)
    if not instance.home.exists():
        return False
    with locked(f"instance-{name}", START_SECONDS + 120):
        if find_running(instance) is not None:
            msg = (
                f"expected instance {name!r} to be stopped; got a running server; "
                f"try: whence server stop --name {name}"
            )
            raise ServerError(msg)
        with disk_trouble(f"remove instance {name!r}", instance.home):
            # Renamed first: if deleting is interrupted, no half instance is left under its name.
            doomed = instance.home.with_name(f".removed-{name}-{os.getpid()}")
            instance.home.rename(doomed)
            shutil.rmtree(doomed)
    return True


def last_lines(name: str | None = None, lines: int = _LOG_LINES) -> list[str]:
    """Give the end of what the server printed since it was last started."""
    name = name or default_instance()
    try:
        text = Instance(name).console_log.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()][-lines:]


def _launch(
    instance: Instance, java: Java, jars: Path, memory: Memory, port: int | None
) -> Running:
    """Start the process in a session of its own, so that it outlives this program."""
    with disk_trouble(f"start instance {instance.name!r}", instance.home):
        chosen = choose_port(port)
        write_conf(instance.home, chosen, memory)
        program = (
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={instance.home}",
            f"--config-dir={instance.home / 'conf'}",
            "--console-mode",
        )
        arguments = java_arguments(instance.home, jars, memory.heap, *program)
        write_private(instance.argument_file, arguments)
        with instance.console_log.open("wb") as log:
            process = subprocess.Popen(
                [str(java.executable), f"@{instance.argument_file}"],
                cwd=instance.home,
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        running = remember(instance, process.pid, chosen)
        # The server may outlive this program; should it die first, it must not stay as a zombie.
        threading.Thread(target=process.wait, name=f"server {instance.name}", daemon=True).start()
        return running


def _wait_until_ready(instance: Instance, running: Running, timeout: float) -> None:
    patience = ProcessTimeout(running.pid, timeout)
    try:
        while find_running(instance) is not None:
            if _answers(instance, running):
                return
            if patience.is_over():
                _fail(instance, f"no answer on port {running.port} within {timeout:.0f} s")
            time.sleep(0.2)
        _fail(instance, "a process that ended")
    except BaseException:
        # Also when interrupted: what does not serve must not stay behind and hold the port.
        terminate(running, 2)
        forget(instance)
        raise


def _fail(instance: Instance, got: str) -> None:
    lines = " | ".join(last_lines(instance.name)) or "nothing"
    msg = (
        f"expected the local Neo4j {instance.name!r} to answer; got {got}; it last said: {lines}; "
        f"try: whence server logs --name {instance.name}, and whence doctor"
    )
    raise ServerError(msg)


def _answers(instance: Instance, running: Running) -> bool:
    if not listens(running):
        return False  # whoever may answer there is not ours, and must not be sent our password
    settings = _status(instance, running, "running").settings()
    try:
        with connect(settings, timeout=3):
            return True
    except StoreError:
        return False


def _status(instance: Instance, running: Running, state: State) -> Status:
    return Status(instance.name, state, instance.home, running.pid, running.port)
