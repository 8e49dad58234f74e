"""Run ``whence`` as a process: from the start where only that shows something, else forked."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from whence.cli.app import COMMANDS

__all__ = ["Commands", "commands"]

FORKER = Path(__file__).with_name("command_forker.py")
ASKED_FOR_LATER = ("WHENCE_", "NEO4J_", "JAVA_", "JDK_", "SPARK_", "PYSPARK_", "PYTEST_", "PATH")
"""How names of an environment begin that nothing reads while Python starts and loads modules."""

Done = subprocess.CompletedProcess[str]


class Commands:
    """Runs commands; each command is once, when it is first asked for, a process from the start.

    To load what a command needs takes most of its time. A forked process has arguments, a folder,
    an environment, streams, an end and an exit code like any other, and differs in two things: what
    it has loaded, and what Python reads of the environment while it starts. Where the second plays
    a part, and for each command once, the process is therefore started from nothing.

    Attributes:
        started: the commands that were.
    """

    def __init__(self, channel: socket.socket) -> None:
        """Tell the forker on this channel."""
        self._channel = channel
        self._turn = threading.Lock()
        self._environment = dict(os.environ)
        self.started: set[str] = set()

    def run(
        self, words: tuple[str, ...], folder: Path, environment: Mapping[str, str], timeout: float
    ) -> Done:
        """Run a command, keep what it prints, leave the judgement to the test."""
        command = next((word for word in words if word in COMMANDS), "")
        if command in self.started and self._is_like_ours(environment):
            return self._forked(words, folder, environment, timeout)
        self.started.add(command)
        return subprocess.run(
            [sys.executable, "-m", "whence", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def _is_like_ours(self, environment: Mapping[str, str]) -> bool:
        names = self._environment.keys() | environment.keys()
        return all(
            self._environment.get(name) == environment.get(name)
            for name in names
            if not name.startswith(ASKED_FOR_LATER)
        )

    def _forked(
        self, words: tuple[str, ...], folder: Path, environment: Mapping[str, str], timeout: float
    ) -> Done:
        asked = {"folder": str(folder), "environment": dict(environment), "words": words}
        message = json.dumps(asked).encode()
        ends = [os.pipe(), os.pipe()]
        with self._turn, ThreadPoolExecutor(2) as readers:
            try:
                socket.send_fds(self._channel, [message], [write for _, write in ends])
            finally:
                for _, write in ends:
                    os.close(write)
            printed = [readers.submit(_text, read) for read, _ in ends]
            process = int(self._told(None))
            try:
                code = int(self._told(timeout))
            except TimeoutError as late:
                os.kill(process, signal.SIGKILL)
                self._told(None)
                raise subprocess.TimeoutExpired(["whence", *words], timeout) from late
            stdout, stderr = (each.result() for each in printed)
        return subprocess.CompletedProcess(["whence", *words], code, stdout, stderr)

    def _told(self, timeout: float | None) -> bytes:
        self._channel.settimeout(timeout)
        told = self._channel.recv(64)
        if not told:
            msg = f"expected {FORKER.name} to answer; got its end; try to run it by hand"
            raise RuntimeError(msg)
        return told


def _text(handle: int) -> str:
    with os.fdopen(handle, encoding="utf-8") as file:
        return file.read()


@contextmanager
def commands() -> Iterator[Commands]:
    """Commands, and the process that forks them; it ends with the block."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, its:
        words = [sys.executable, str(FORKER), str(its.fileno())]
        nothing = subprocess.DEVNULL
        with subprocess.Popen(words, stdin=nothing, stdout=nothing, pass_fds=[its.fileno()]):
            its.close()
            yield Commands(ours)
            ours.close()
