"""A topic of Kafka as Spark wants it: a reader on Spark's Python data source API.

A partition of the topic is a partition of the reader, Kafka's offsets are its offsets, and what it
gives are Arrow batches of messages as they are. It needs no jar and works on any master.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from whence.engine.errors import LogError
from whence.engine.sources.kafka_topic import MESSAGES, Topic

__all__ = ["MOST", "source_of"]

MOST = 200_000
"""Messages a batch at most: a batch is held in memory."""
_AT_ONCE = 10_000
_SILENCE_SECONDS = 60.0


@dataclass(frozen=True)
class _Stretch(InputPartition):
    """Messages from an offset to before another."""

    start: int
    end: int


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Says what there is, and reads it."""

    def __init__(self, topic: Topic, start: int) -> None:
        self.topic = topic
        self.start = start
        self.target: int | None = None

    def initialOffset(self) -> dict[str, int]:
        return {"offset": self.start}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(MOST)

    def prepareForTriggerAvailableNow(self) -> None:
        self.target = self.topic.ends()[1]

    def latestOffset(self, start: Mapping[str, int], limit: ReadLimit) -> dict[str, int]:
        end = self.topic.ends()[1] if self.target is None else self.target
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else MOST
        return {"offset": max(min(end, start["offset"] + most), start["offset"])}

    def partitions(
        self, start: Mapping[str, int], end: Mapping[str, int]
    ) -> Sequence[InputPartition]:
        if start["offset"] >= end["offset"]:
            return []
        return [_Stretch(start["offset"], end["offset"])]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        return _messages(self.topic, partition.start, partition.end)


def _messages(topic: Topic, start: int, end: int) -> Iterator[pa.RecordBatch]:
    """The messages of a stretch, as they are."""
    first, _ = topic.ends()
    if first > start:
        msg = (
            f"{topic.name}: expected messages from offset {start} on; got {first} as the first "
            "that Kafka still has; try a new run, and a longer retention"
        )
        raise LogError(msg)
    with topic.consumer(start) as consumer:
        until = time.monotonic() + _SILENCE_SECONDS
        while (at := topic.position(consumer, start)) < end:
            found = topic.some(consumer, min(_AT_ONCE, end - at))
            if found:
                until = time.monotonic() + _SILENCE_SECONDS
            elif time.monotonic() > until:
                msg = (
                    f"{topic.name}: expected messages up to offset {end}; got none after {at} for "
                    f"{_SILENCE_SECONDS:.0f} s; try again to resume from there"
                )
                raise LogError(msg)
            # Some offsets may hold no message: those of transactions, and what was compacted away.
            kept = [m for m in found if (m.offset() or 0) < end]
            if kept:
                offsets = pa.array([m.offset() for m in kept], pa.int64())
                values = pa.array([m.value() for m in kept], pa.binary())
                yield pa.RecordBatch.from_arrays([offsets, values], schema=MESSAGES)


def source_of(topic: Topic, start: int) -> type[DataSource]:
    """The class of a data source that reads a topic from an offset on."""

    class Messages(DataSource):
        @classmethod
        def name(cls) -> str:
            return "whence_kafka"

        def schema(self) -> str:
            return "offset long, value binary"

        def streamReader(self, schema: Any) -> DataSourceStreamReader:
            return _Reader(topic, start)

    return Messages
