"""Let Spark read files of the record, wherever that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from whence.engine.record.files import read_table
from whence.engine.record.place import place_of
from whence.engine.record.remote import RemotePath

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["read_parquet"]

_KINDS = {
    "boolean": pa.bool_(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
"""What Spark takes for its types; how the record keeps a duration is a number to it."""


def read_parquet(session: SparkSession, paths: Sequence[Path], schema: StructType) -> DataFrame:
    """Parquet files as Spark reads them.

    Files at a URI are read by tasks as the rest of the record is: Spark's own reader would need
    libraries for each store, and to be told again who may use it.

    Args:
        session: where.
        paths: the files.
        schema: what they hold.
    """
    if not any(isinstance(path, RemotePath) for path in paths):
        files = [str(path.absolute()) for path in paths]
        return session.read.schema(schema).parquet(*files)
    numbers = session.range(0, len(paths), 1, len(paths))
    kinds = pa.schema([(field.name, _KINDS[field.dataType.simpleString()]) for field in schema])
    return numbers.mapInArrow(_Reader([str(path) for path in paths], kinds), schema)


class _Reader:
    """What a task does: read the files whose numbers it is given."""

    def __init__(self, paths: list[str], schema: pa.Schema) -> None:
        self.paths = paths
        self.schema = schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number in [n for batch in list(batches) for n in batch.column(0).to_pylist()]:
            table = read_table(place_of(self.paths[number])).select(self.schema.names)
            yield from table.cast(self.schema).to_batches()
