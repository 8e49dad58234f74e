"""A process that has loaded ``whence`` and waits; it forks one for each command that it is told.

Run as a script, so that a command finds on its path what it would find without this process. It is
told by messages on the socket that its only argument names: first the folder, the environment and
the words of a command, with the handles of its output and of its errors; it answers with the number
of the process, and when that has ended, with its exit code.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import socket
import sys
from importlib import import_module
from importlib.util import find_spec

PRELOADED = (
    "whence.engine.analysis",
    "whence.engine.interpreter",
    "whence.engine.language.chain_file",
    "whence.engine.palettes",
    "whence.engine.record.erasing",
    "whence.engine.runners",
    "whence.engine.sources",
    "whence.store",
    "whence.store.loading",
    "whence.store.server",
    "neo4j",
    "pyarrow.parquet",
)
"""What many commands load, and beside it the modules of all commands."""
LONGEST = 1 << 20
"""Bytes of a message; an environment is much shorter."""


def preload() -> None:
    """Load what commands load, and nothing that looks at the folder or runs beside."""
    quick_start, app = (import_module(f"whence.cli.{name}") for name in ("quick_start", "app"))
    quick_start.leave_pandas_out()
    for command in app.COMMANDS:
        import_module(f"whence.cli.{command.replace('-', '_')}")
    for module in PRELOADED:
        import_module(module)
    if find_spec("typer._adapters"):  # newer releases of typer load it with the first command
        import_module("typer._adapters")
    gc.freeze()  # else each process looks through all of it, and takes a copy by that, at its end


def serve(channel: socket.socket) -> dict[str, object]:
    """Fork until told no more; in the process that was forked, return what it is to do."""
    while True:
        message, handles, _, _ = socket.recv_fds(channel, LONGEST, 2)
        if not message:
            sys.exit()
        child = os.fork()
        if not child:
            channel.close()
            for handle, place in zip(handles, (1, 2), strict=True):
                os.dup2(handle, place)
                os.close(handle)
            asked: dict[str, object] = json.loads(message)
            return asked
        for handle in handles:
            os.close(handle)
        channel.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        channel.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    preload()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(str(asked["folder"]))
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]
    sys.path[0] = os.getcwd()
    sys.argv = ["whence", *asked["words"]]  # type: ignore[misc]
    runpy.run_module("whence", run_name="__main__", alter_sys=True)
