"""Follow a folder, load the graph beside it, be killed: ``python -m ... ROOT FOLDER POINT BATCH``.

The points are those of `tests.engine.runners._support.stream_killed`. Whatever of the run the
record lists by then is in the graph before it is killed, also where the stream's own state does not
know of it.
It prints the id of the process that loads, which lives a little longer.
"""

from __future__ import annotations

import sys
from pathlib import Path

import psutil

from tests.engine.runners._support import stream_killed
from tests.engine.runners._support.stream_runs import OPTIONS
from tests.store.loading._support.loaded_beside import outputs, until
from whence.engine.record import RunRecord
from whence.store import connect, resolve_settings
from whence.store.loading import Loading

__all__ = ["CHAIN", "main"]

CHAIN = "lifecycle"


def main(root: Path, folder: Path, point: str, batch: int) -> None:
    """Run until the point is reached."""
    settings = resolve_settings()
    assert settings is not None
    loading: list[Loading] = []

    def began(run: RunRecord) -> None:
        beside = Loading(root, run.id, settings, None)
        loading.append(beside.__enter__())

    def last() -> None:
        run = RunRecord(root, "latest")
        (pipe,) = (stream for stream in run.manifest.streams if stream.role.is_output)
        listed = sum(part.last + 1 - part.first for part in pipe.outputs)
        with connect(settings) as graph:
            # The last of its parts may lead to what is listed later.
            until(lambda: outputs(graph) >= listed - OPTIONS.chunk, "what the record lists")
            print(outputs(graph), end=" ")
        for process in psutil.Process().children():
            if "whence.store.loading.child" in process.cmdline():
                print(process.pid, end=" ")
        print(flush=True)

    stream_killed.main(root, folder, CHAIN, point, batch, began=began, last=last)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
