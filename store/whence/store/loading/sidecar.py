"""Load a run beside it, in a process of its own: a slow store slows the loading, never the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from whence.engine.errors import StoreError, WhenceError
from whence.engine.progress import Listener, Reporter
from whence.engine.record.folders import run_folder
from whence.engine.record.manifest import MANIFEST
from whence.engine.record.writing import LOADING, BusyError, WritingLock
from whence.store.loading.following import AWAY_SECONDS
from whence.store.loading.loader import LoadReport
from whence.store.loading.priority import Priority, pace
from whence.store.settings import Settings

__all__ = ["LoadOptions", "Loading"]

TRIES = 3
"""So often the process is started in all, if it is killed."""


@dataclass(frozen=True)
class LoadOptions:
    """How a run is loaded while it goes on.

    Attributes:
        settings: where to, if that is known and there is no connection yet.
        priority: how much of the machine loading may take beside the run.
        writers: how many transactions are written at a time; else as the priority says.
    """

    settings: Settings | None = None
    priority: Priority = "normal"
    writers: int | None = None


class Loading:
    """Loads a run while it goes on; a store that is away never stops the run.

    Until all of the run is loaded a lock says that this process is at it. If the process ends
    before, the same command finds the lock without its holder, and continues the run.

    Attributes:
        report: what loading did; ``None`` if it was not completed.
        error: why it was not completed.
        done: how many parts are in the graph, and how many there are, as far as is known.
    """

    def __init__(
        self,
        root: Path,
        run_id: str,
        settings: Settings,
        progress: Listener | None,
        *,
        priority: Priority = "normal",
        writers: int | None = None,
        patience: float = AWAY_SECONDS,
    ) -> None:
        """Wait for the run to begin.

        Args:
            root: the record's place.
            run_id: the run's id; it need not have begun.
            settings: where to.
            progress: told how far it has come.
            priority: how much of the machine it may take beside the run.
            writers: how many transactions are written at a time; else as the priority says.
            patience: seconds to wait for a store that is away, once the run has ended.
        """
        pace(priority, writers)  # refused now, and here
        self.report: LoadReport | None = None
        self.error: WhenceError | None = None
        self.done: tuple[int, int] | None = None
        self._asked = {
            "root": str(root),
            "run": run_id,
            "uri": settings.uri,
            "username": settings.username,
            "database": settings.database,
            "priority": priority,
            "writers": writers,
            "patience": patience,
        }
        self._password = settings.password
        self._folder = run_folder(root, run_id)
        self._manifest = self._folder / MANIFEST
        self._lock: WritingLock | None = None
        self._report = Reporter(progress, "loading", "parts")
        self._over = threading.Event()
        self._input: IO[str] | None = None
        self._process: subprocess.Popen[str] | None = None
        self._starting = threading.Lock()
        self._interrupted = False
        self._thread = threading.Thread(target=self._load, daemon=True)

    def _load(self) -> None:
        while not self._manifest.exists() and not self._over.wait(0.1):
            pass
        if not self._manifest.exists():
            return  # the run never began
        with suppress(BusyError, OSError):  # the same command at the same time loads it as well
            self._lock = WritingLock(self._folder, 0.0, LOADING)
        try:
            for _ in range(TRIES):
                process = self._start()
                self._listen(process)
                if self.report is not None or self._interrupted:
                    return
                if self.error is not None:
                    self.error = self._with_progress(self.error)
                    return
        except WhenceError as error:
            self.error = error
            return
        msg = (
            f"expected the process that loads {self._asked['run']} to come to its end; "
            f"got {TRIES} that were ended by others; try whence load"
        )
        self.error = self._with_progress(StoreError(msg))

    def _with_progress(self, error: WhenceError) -> WhenceError:
        if self.done is None:
            return error
        done, total = self.done
        return StoreError(f"{done} of {total} parts are there; {error}")

    def _start(self) -> subprocess.Popen[str]:
        # The password goes through a pipe that nobody else can read: no argument, no file.
        told = json.dumps({**self._asked, "password": self._password.reveal()})
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "whence.store.loading.child"],  # nothing of this folder
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin is not None
        with self._starting:
            self._process = process
            try:
                process.stdin.write(told + "\n")
                process.stdin.flush()
            except BrokenPipeError:
                return process  # it was ended at once; whoever listens hears nothing
            self._input = process.stdin
            if self._over.is_set():
                self._input.close()
        return process

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            told: dict[str, Any] = json.loads(line)
            if "progress" in told:
                done, total, text = told["progress"]
                if total:  # else it is counting, and all parts are there
                    self.done = (done, total)
                self._report(done, total, text)
            elif "report" in told:
                self.report = LoadReport(**told["report"])
            else:
                self.error = StoreError(told["error"])
        process.wait()
        process.stdout.close()
        assert process.stdin is not None
        with self._starting, suppress(BrokenPipeError):  # what it was told, and never read
            self._input = None
            process.stdin.close()

    def __enter__(self) -> Loading:
        """Begin to load."""
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        """Load what is left; the run writes no more. Whoever was interrupted does not wait."""
        with self._starting:
            self._over.set()
            if self._input is not None:
                self._input.close()
            if raised[0] is KeyboardInterrupt:
                self._interrupted = True
                if self._process is not None:
                    self._process.terminate()
        self._thread.join()
        if self._lock is None:
            return
        if self.report is not None and self.report.complete:
            self._lock.release()
        else:
            self._lock.leave()
