"""Start Spark so that its workers use this Python and nothing listens beyond this machine."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from whence.engine.errors import MissingExtraError
from whence.engine.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark_session"]


def spark_session(master: str = "local[*]") -> SparkSession:
    """The session that is there, or a new one.

    Args:
        master: where Spark runs; with a local master everything stays on loopback.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError.for_extra("spark", "pyspark") from error
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    # Before the session is built: else workers take whatever python3 is first on PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(find_java().home)
    builder = (
        SparkSession.builder.master(master)
        .appName("whence")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.log.level", "ERROR")
    )
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config(
            "spark.driver.host", "127.0.0.1"
        )
    return builder.getOrCreate()
