"""Start Spark so that its workers use this Python and nothing listens beyond this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.errors import MissingExtraError
from whence.engine.java import find_java
from whence.engine.spark_scratch import (
    in_private,
    private_folder,
    private_settings,
    secret_settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["is_here", "spark_session"]


def spark_session(master: str = "local[*]") -> SparkSession:
    """The session that is there, or a new one.

    Args:
        master: where Spark runs; with a local master everything stays on loopback, in folders
            that only this user can look into, and processes have to know a secret.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError.for_extra("spark", "pyspark") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    # Before the session is built: else workers take whatever python3 is first on PATH. Machines
    # of a cluster may have theirs elsewhere: then the user says where.
    if is_here(master) or not os.environ.get("PYSPARK_PYTHON"):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(find_java().home)
    settings = {
        "spark.master": master,
        "spark.app.name": "whence",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "ERROR",
    }
    with ExitStack() as stack:
        stack.enter_context(_stderr_in_file())
        if master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            settings |= {
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1",
                **private_settings(master),
            }
            if not _imports_from_here():
                settings["spark.executorEnv.PYTHONSAFEPATH"] = "1"
            stack.enter_context(in_private())
            settings |= secret_settings(settings)
        return SparkSession.builder.config(map={**settings}).getOrCreate()


def is_here(master: str) -> bool:
    """Whether a master's workers are children of this process, and not of a cluster.

    >>> [is_here(master) for master in ("local[*]", "local-cluster[2,1,1024]", "yarn")]
    [True, False, False]
    """
    return master == "local" or master.startswith("local[")


def _imports_from_here() -> bool:
    """Whether this process imports from the working folder, as notebooks do.

    Spark starts workers there by ``python -m``, which imports from it first of all. The files of a
    folder that is only looked at shall not run.
    """
    here = os.path.realpath(".")
    return any(os.path.realpath(place) == here for place in sys.path)


@contextmanager
def _stderr_in_file() -> Iterator[None]:
    """Let the Java that is started here write its log to a file instead of the user's terminal.

    What goes wrong comes back as an exception; what is only said is for those who look for it.
    """
    stream = sys.__stderr__
    if stream is None or sys.stderr is not stream:
        # Someone, such as a test, has taken it already.
        yield
        return
    stream.flush()
    kept = os.dup(2)
    log = os.open(_log_file(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 2)
    try:
        yield
    finally:
        stream.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(log)


def _log_file() -> Path:
    return private_folder() / "spark.log"
