"""Which process serves an instance. A number in a file is not believed: the process is looked at.

A process id alone may be stale (the server is gone) or reused (another program has the number).
So the process must also have started when the file says, and carry this instance's argument file
on its command line.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import psutil

from whence.store.server.folders import write_private
from whence.store.server.instance import Instance

__all__ = ["Running", "find_running", "forget", "listens", "remember", "terminate"]

_YOUNG = 2.0  # seconds in which a process that was started must have its command line
_CLOCK_TOLERANCE = 1.0  # seconds: the kernel counts from boot, and the clock may have been set


@dataclass(frozen=True)
class Running:
    """A living server process."""

    pid: int
    started: float
    port: int


def remember(instance: Instance, pid: int, port: int) -> Running:
    """Write down a process that was just started."""
    running = Running(pid, psutil.Process(pid).create_time(), port)
    record = {"pid": running.pid, "started": running.started, "port": running.port}
    write_private(instance.pid_file, json.dumps(record))
    return running


def forget(instance: Instance) -> None:
    """Remove what was written down."""
    instance.pid_file.unlink(missing_ok=True)


def find_running(instance: Instance) -> Running | None:
    """Find the process that serves this instance, or None."""
    try:
        record = json.loads(instance.pid_file.read_text(encoding="utf-8"))
        running = Running(int(record["pid"]), float(record["started"]), int(record["port"]))
    except (OSError, ValueError, KeyError, TypeError):
        return _search(instance)
    if _is_ours(instance, running.pid, running.started):
        return running
    return _search(instance)


def listens(running: Running) -> bool:
    """Say whether this very process listens on its port."""
    try:
        connections = psutil.Process(running.pid).net_connections("tcp")
    except psutil.Error:
        return False
    return any(
        each.status == psutil.CONN_LISTEN and each.laddr.port == running.port
        for each in connections
    )


def terminate(running: Running, patience: float) -> bool:
    """Ask the process to end, then make it; say whether it ended by itself."""
    try:
        process = psutil.Process(running.pid)
        if abs(process.create_time() - running.started) > _CLOCK_TOLERANCE:
            return True  # gone, and another program has its number
        process.terminate()
        try:
            process.wait(patience)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(10)
            return False
    except psutil.NoSuchProcess:
        return True
    return True


def _is_ours(instance: Instance, pid: int, started: float | None) -> bool:
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if started is not None and abs(process.create_time() - started) > _CLOCK_TOLERANCE:
            return False
        words = process.cmdline() if started is None else _command_line(process)
        return f"@{instance.argument_file}" in words
    except psutil.Error:
        return False


def _command_line(process: psutil.Process) -> list[str]:
    """The words that a process was started with; for a moment after its start it has none yet."""
    until = time.monotonic() + _YOUNG
    words = process.cmdline()
    while not words and time.monotonic() < until and process.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.005)
        words = process.cmdline()
    return words


def _search(instance: Instance) -> Running | None:
    """Look through all processes: a start may have been killed before it wrote anything down."""
    for process in psutil.process_iter(["pid"]):
        if _is_ours(instance, process.pid, None):
            port = _port_in_conf(instance)
            if port is not None:
                return Running(process.pid, process.create_time(), port)
    return None


def _port_in_conf(instance: Instance) -> int | None:
    try:
        lines = (instance.home / "conf" / "neo4j.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition("=")
        if key == "server.bolt.listen_address":
            return int(value.rpartition(":")[2])
    return None
