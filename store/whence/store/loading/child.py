"""The process that loads a run beside it; started by `whence.store.loading.sidecar`.

It reads one line, which says what to load and where to, and from then on waits for the end of its
input: then the run is over, or whoever ran it is gone. It writes a line for each step, and at last
one with its report or with what went wrong.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from whence.engine.errors import StoreError, WhenceError
from whence.engine.record.place import place_of
from whence.store.connection import Connection, open_driver
from whence.store.loading.following import follow
from whence.store.loading.priority import pace
from whence.store.secret import Secret
from whence.store.settings import Settings

__all__ = ["main"]

CONNECT_SECONDS = 5.0
RETRY_SECONDS = 5.0
"""How long the driver itself repeats what met a deadlock or no server; then we do."""


def main() -> None:
    """Load what the first line of the input says, until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever runs the chain decides when to stop
    gc.freeze()  # what was imported stays: it need not be looked through for garbage
    asked = json.loads(sys.stdin.readline())
    over = threading.Event()
    threading.Thread(target=_wait_for_the_end, args=(over,), daemon=True).start()
    chosen = pace(asked["priority"], asked["writers"])
    with suppress(OSError):
        os.nice(chosen.nice)
    password = Secret.of(asked.pop("password"))
    settings = Settings(asked["uri"], asked["username"], password, asked["database"], True)
    try:
        driver = open_driver(settings, CONNECT_SECONDS, retry=RETRY_SECONDS)
        try:
            report = follow(
                place_of(asked["root"]),
                asked["run"],
                Connection(settings, driver),
                lambda event: _say({"progress": [event.done, event.total, event.text]}),
                over=over.is_set,
                pace=chosen,
                patience=asked["patience"],
            )
        finally:
            driver.close()
    except WhenceError as error:
        _say({"error": str(error)})
    except Exception as error:
        fault = StoreError(f"expected to load {asked['run']}; got {error!r}; try whence load")
        _say({"error": str(fault)})
    else:
        _say({"report": asdict(report)})


def _wait_for_the_end(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _say(told: dict[str, Any]) -> None:
    with suppress(BrokenPipeError):  # nobody listens any more; what is in the record is loaded
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
