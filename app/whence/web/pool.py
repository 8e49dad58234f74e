"""The worker processes of a page: some wait for questions, and one that takes too long is ended.

A thread cannot be ended; a process can. The worker that was idle last is used first: it has the
answers of a moment ago.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from whence.web.answers import Question
from whence.web.worker import LENGTH

__all__ = ["Pool", "Worker", "WorkerLostError"]

READY = 2
"""Workers that wait, once all is quiet."""
MOST = 8
START_SECONDS = 60.0
END_SECONDS = 1.0
COMMAND = (sys.executable, "-P", "-c", "from whence.web.worker import main; main()")
"""``-P``: the working folder is nowhere to import from."""


class WorkerLostError(Exception):
    """A worker ended in the middle of an answer."""


class Worker:
    """One process, and the socket to it."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it; `connect` before anything else."""
        self._folder = tempfile.mkdtemp(prefix="whence-page-")
        own, other = socket.socketpair()
        try:
            with other:
                self._process = subprocess.Popen(
                    [*command, str(other.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[other.fileno()],
                    env={**os.environ, "TMPDIR": self._folder},
                    start_new_session=True,  # Ctrl-C is for the server, which ends its workers
                )
        except BaseException:
            own.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._socket = own
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def connect(self) -> None:
        """Wait until it is ready.

        Raises:
            WorkerLostError: it ended instead.
        """
        self._streams = await asyncio.open_connection(sock=self._socket)
        async with asyncio.timeout(START_SECONDS):
            await self._frame()

    async def ask(self, question: Question) -> dict[str, Any]:
        """Ask a question, and return the head of the answer; `pieces` has the rest.

        Raises:
            WorkerLostError: the process ended.
        """
        assert self._streams is not None
        packed = question.packed()
        try:
            self._streams[1].write(len(packed).to_bytes(LENGTH, "big") + packed)
            await self._streams[1].drain()
        except OSError as error:
            raise WorkerLostError from error
        head: dict[str, Any] = json.loads(await self._frame())
        return head

    async def pieces(self) -> AsyncIterator[bytes]:
        """The content of an answer.

        Raises:
            WorkerLostError: the process ended.
        """
        while piece := await self._frame():
            yield piece

    async def _frame(self) -> bytes:
        assert self._streams is not None
        reader = self._streams[0]
        try:
            length = int.from_bytes(await reader.readexactly(LENGTH), "big")
            return await reader.readexactly(length)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise WorkerLostError from error

    @property
    def alive(self) -> bool:
        """Whether the process is there; one that has ended is left to `end`."""
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, how) is None

    def close(self) -> None:
        """Close the socket: a process that has nothing to do ends."""
        if self._streams is not None:
            self._streams[1].close()
        else:
            self._socket.close()

    def end(self) -> None:
        """End the process with all that it started, and remove its temporary files; this waits."""
        self._kill(signal.SIGTERM)
        until = time.monotonic() + END_SECONDS
        while self.alive and time.monotonic() < until:
            time.sleep(0.01)
        # Until it is waited for, no other process can have its number.
        self._kill(signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kill(self, sign: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, sign)


class Pool:
    """Lends workers; all of it is used from one event loop."""

    def __init__(self, command: Sequence[str] = COMMAND, *, ready: int = READY) -> None:
        """Begin without any.

        Args:
            command: what starts a worker; the number of its socket is added.
            ready: workers that wait, once all is quiet.
        """
        self._command = command
        self._ready = ready
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._waiting: deque[asyncio.Future[Worker]] = deque()
        self._starting = 0
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._beginning: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start the first workers, without waiting for them."""
        self._fill()

    async def close(self) -> None:
        """End all workers, and wait for that."""
        self._closed = True
        while self._idle or self._busy:
            self._end(self._idle.pop() if self._idle else self._busy.pop())
        for task in self._beginning:
            task.cancel()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[Worker]:
        """A worker of one's own; unless its answer was read to the end, it is ended afterwards."""
        worker = await self._take()
        try:
            yield worker
        except BaseException:
            self._busy.discard(worker)
            self._end(worker)
            self._fill()
            raise
        self._busy.discard(worker)
        self._offer(worker)

    async def answer(self, question: Question, seconds: float) -> tuple[dict[str, Any], bytes]:
        """The whole answer of a question.

        Raises:
            TimeoutError: it takes longer; its process was ended.
            WorkerLostError: its process ended by itself.
        """
        async with asyncio.timeout(seconds), self.worker() as worker:
            head = await worker.ask(question)
            return head, b"".join([piece async for piece in worker.pieces()])

    async def _take(self) -> Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                self._busy.add(worker)
                self._fill()
                return worker
            self._end(worker)
        waiting: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self._fill()
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self._busy.discard(waiting.result())
                self._offer(waiting.result())
            raise

    def _offer(self, worker: Worker) -> None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                self._busy.add(worker)
                waiting.set_result(worker)
                return
        self._idle.append(worker)
        while len(self._idle) > self._ready:
            self._end(self._idle.pop(0))

    def _fill(self) -> None:
        """Start as many workers as are wanted and lacking."""
        waiting = sum(not each.done() for each in self._waiting)
        wanted = min(MOST, max(self._ready, len(self._busy) + waiting + min(1, self._ready)))
        have = len(self._idle) + len(self._busy) + self._starting
        for _ in range(0 if self._closed else wanted - have):
            self._starting += 1
            task = self._do(self._begin())
            self._beginning.add(task)
            task.add_done_callback(self._beginning.discard)

    async def _begin(self) -> None:
        worker: Worker | None = None
        try:
            worker = Worker(self._command)  # a few milliseconds; what it then imports takes longer
            await worker.connect()
        except asyncio.CancelledError:
            if worker is not None:
                self._end(worker)
            raise
        except (OSError, TimeoutError, WorkerLostError) as error:
            logging.getLogger("whence.web").error("a worker did not start: %s", error)
            if worker is not None:
                self._end(worker)
            if not self._busy and self._starting == 1:
                self._refuse_all()
            return
        finally:
            self._starting -= 1
        if self._closed:
            self._end(worker)
        else:
            self._offer(worker)

    def _refuse_all(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(WorkerLostError())
        self._waiting.clear()

    def _end(self, worker: Worker) -> None:
        worker.close()
        self._do(asyncio.to_thread(worker.end))

    def _do(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
