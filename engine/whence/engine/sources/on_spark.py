"""Any source as a DataFrame: Spark reads its splits, each in a task of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whence.engine.errors import LogError, MissingExtraError
from whence.engine.sources.source import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as t

__all__ = ["on_spark", "spark_schema"]


def on_spark(source: Source, session: SparkSession, partitions: int = 0) -> DataFrame:
    """The rows of a source, with their row numbers, whatever the partitions.

    Rows that do not fit are dropped or emptied as the source is configured. To have them counted,
    ingest the source into the record.

    Args:
        source: a log; it travels to the workers, which must see its files under the same names.
        session: where to read.
        partitions: about how many; 0 for as many as Spark has cores.
    """
    try:
        from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
    except ImportError as error:
        raise MissingExtraError.for_extra("spark", "pyspark") from error
    if source.format in ("spark", "memory", "arrow"):
        msg = f"{source.name}: expected files; got {source.format}; try Spark's own ways"
        raise LogError(msg)
    schema = spark_schema(source.columns)
    splits = list(source.splits(partitions or session.sparkContext.defaultParallelism))

    class Reader(DataSourceReader):
        """Reads one split a task."""

        def partitions(self) -> Sequence[InputPartition]:
            return [InputPartition(split) for split in splits]

        def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
            return source.batches(partition.value)

    class Log(DataSource):
        """The source, as Spark wants it."""

        @classmethod
        def name(cls) -> str:
            return "whence_log"

        def schema(self) -> t.StructType:
            return schema

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

    session.dataSource.register(Log)
    return session.read.format("whence_log").load()


def spark_schema(columns: Mapping[str, str]) -> t.StructType:
    """What the DataFrame's columns are: the row number, then the log's."""
    from pyspark.sql import types as t

    kinds: dict[str, t.DataType] = {
        "boolean": t.BooleanType(),
        "integer": t.LongType(),
        "float": t.DoubleType(),
        "instant": t.TimestampType(),
        "duration": t.DayTimeIntervalType(),
    }
    own = [t.StructField(name, kinds.get(kind, t.StringType())) for name, kind in columns.items()]
    return t.StructType([t.StructField("row", t.LongType(), nullable=False), *own])
