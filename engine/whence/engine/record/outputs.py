"""The outputs of a run as tables: of Arrow, and of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.record.manifest import StreamInfo
from whence.engine.record.on_spark import read_parquet
from whence.engine.record.runs import RunRecord
from whence.engine.record.schema import OUTPUTS
from whence.engine.values.columns import as_column, from_canonical

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["outputs_table", "spark_outputs"]

_PLAIN = ("boolean", "integer", "float", "text", "instant", "duration")


def outputs_table(run: RunRecord, stream: StreamInfo) -> pa.Table:
    """Position, moment and value of a stream's events.

    Values of one kind have the type of that kind; others stay canonical JSON text.

    Args:
        run: the run.
        stream: as the manifest lists it.
    """
    tables = [run.outputs(stream.name, part) for part in stream.outputs.numbers]
    whole = pa.concat_tables(tables) if tables else OUTPUTS.empty_table()
    kinds = set(whole.column("kind").unique().to_pylist()) - {"missing"}
    values = whole.column("value")
    if len(kinds) == 1 and kinds <= set(_PLAIN):
        # Every distinct text is read once.
        coded = values.combine_chunks().dictionary_encode()
        if isinstance(coded, pa.ChunkedArray):
            coded = coded.combine_chunks()
        known = as_column([from_canonical(text) for text in coded.dictionary.to_pylist()], *kinds)
        values = known.take(coded.indices)
    return pa.table(
        {"position": whole.column("position"), "moment": whole.column("moment"), "value": values}
    )


def spark_outputs(session: SparkSession, run: RunRecord, stream: StreamInfo) -> Any:
    """Position, moment, kind and value of a stream's events, as Spark reads the record."""
    from pyspark.sql import types as t

    parts = [run.path("outputs", stream.name, part) for part in stream.outputs.numbers]
    whole, text = t.LongType(), t.StringType()
    kinds = {"position": whole, "moment": whole, "kind": text, "value": text}
    schema = t.StructType([t.StructField(name, kind) for name, kind in kinds.items()])
    if not parts:
        return session.createDataFrame([], schema)
    return read_parquet(session, parts, schema).orderBy("position")
