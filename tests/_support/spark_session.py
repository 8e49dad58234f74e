"""A real Spark session: two local cores, loopback only, no page."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from whence.engine.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark_session"]


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """A session that ends with the block, and its Java as well."""
    # Before the session is built: else workers take whatever python3 is on PATH.
    told = {
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .appName("whence tests")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        yield session
        gateway = session.sparkContext._gateway
        session.stop()
        # Spark's own process ends with its input; whoever started it waits for that.
        assert gateway is not None
        assert gateway.proc is not None
        gateway.shutdown()
        with gateway.proc as process:
            process.stdin.close()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
