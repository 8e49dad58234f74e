"""Let Spark do what tests let it do, once, so that its Java knows which classes that takes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tests._support.spark_session import spark_session
from tests.engine.runners._support.stream_runs import CHAINS, EVENTS, OPTIONS, put, streamed
from whence.api import run
from whence.engine import Chain

if __name__ == "__main__":
    with spark_session() as session, TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "arriving").mkdir()
        put(folder / "arriving", "1.csv", EVENTS)
        streamed(folder / "record", folder / "arriving", "window", OPTIONS, session)
        chain = Chain.of(CHAINS["nested"]())
        run(chain, EVENTS, runner="spark", options=OPTIONS, record=folder / "record")
        session.range(20).selectExpr("id % 3 as k").write.parquet(f"{folder}/table")
        session.read.parquet(f"{folder}/table").repartition(2).groupBy("k").count().collect()
