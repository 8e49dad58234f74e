"""A topic of Kafka as a log that grows: each message is a line, as of a file of such lines.

Positions follow the offsets of one partition. Kafka keeps no order between partitions, so a topic
that has several is refused unless one of them is named.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.sources.declared import open_declared
from whence.engine.sources.file_source import FileSource
from whence.engine.sources.following import Known, following
from whence.engine.sources.kafka_topic import topic_of
from whence.engine.sources.source import Report, Source
from whence.engine.sources.stream import (
    Nap,
    added,
    check_declared,
    counted,
    recounted,
    wait_for,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["KafkaStream"]

_SAMPLE = 1_000
"""Number of messages to read to learn the columns."""
_FORMATS = ("jsonl", "text")
_LOOK_SECONDS = 5.0


class KafkaStream:
    """The messages of one partition of a topic.

    Attributes:
        origin: the topic and its partition.
        declared: what is stated of the log.
        report: rows read and dropped so far.
    """

    def __init__(
        self, where: str, declared: Log | None = None, *, settings: Path | None = None
    ) -> None:
        """Ask Kafka which partitions there are.

        Args:
            where: ``kafka://HOST:PORT/TOPIC``, with ``?partition=0`` if there are several, and
                ``?from=end`` to leave out what is there already.
            declared: what is known of the log.
            settings: a file of settings for Kafka's client.

        Raises:
            LogError: it cannot be followed so.
        """
        topic, self._from_end = topic_of(where, settings)
        self.declared = declared or Log()
        self._format = self.declared.format or "jsonl"
        if self._format not in _FORMATS:
            msg = (
                f"{topic.name}: expected messages of the format {' or '.join(_FORMATS)}; "
                f"got {self._format}; try without --log-format"
            )
            raise LogError(msg)
        there = topic.partitions()
        if topic.partition < 0 and len(there) > 1:
            msg = (
                f"{where}: expected a topic with one partition, as Kafka keeps no order between "
                f"several; got {len(there)}; try ?partition={there[0]} behind its name"
            )
            raise LogError(msg)
        partition = there[0] if topic.partition < 0 else topic.partition
        if partition not in there:
            listed = ", ".join(map(str, there))
            msg = (
                f"{where}: expected one of the partitions {listed}; got {partition}; try {there[0]}"
            )
            raise LogError(msg)
        self._topic = replace(topic, partition=partition)
        self.origin = self._topic.name
        check_declared(self.origin, self.declared)
        self.report = Report(self.declared.on_bad or "refuse")
        self._known: Known | None = None
        self._start = self._next = 0
        self._looked, self._end = 0.0, 0

    def learn(self, nap: Nap | None) -> Source:
        """Look at the first messages, to learn the columns."""
        first, end = self._topic.ends()
        self._start = self._next = end if self._from_end else first
        wait_for(self.origin, "a first message", nap, lambda: self._topic.ends()[1] > self._start)
        with self._topic.consumer(self._start) as consumer:
            found = self._topic.some(consumer, _SAMPLE)
            while not found:
                found = self._topic.some(consumer, _SAMPLE)
            values = pa.array([message.value() for message in found], pa.binary())
        with tempfile.TemporaryDirectory() as folder:
            file, _ = self._lines(Path(folder), values, np.arange(len(values)))
            source = open_declared(file, replace(self.declared, format=self._format))
            assert isinstance(source, FileSource)
            self._known = Known.of(source)
        return source

    def remember(self) -> dict[str, Any]:
        """What was learned, in plain values."""
        assert self._known is not None
        return {**self._known.told(), "start": self._start}

    def recall(self, told: Mapping[str, Any], columns: Mapping[str, str]) -> None:
        """Resume with what was learned before."""
        self._known = Known(told["format"], columns, told["fields"])
        self._start = self._next = told["start"]

    def frame(self, session: SparkSession) -> DataFrame:
        """The messages, in batches of which none is too large."""
        from whence.engine.sources.kafka_reader import source_of

        session.dataSource.register(source_of(self._topic, self._start))
        return session.readStream.format("whence_kafka").load()

    def rows(self, frame: DataFrame) -> Iterator[pa.RecordBatch]:
        """The messages of a batch, by their offsets."""
        table = frame.toArrow().sort_by("offset")
        offsets = np.asarray(table.column("offset"))
        if not len(offsets):
            return
        assert self._known is not None
        with tempfile.TemporaryDirectory() as folder:
            file, offsets = self._lines(Path(folder), table.column("value"), offsets)
            source = following(file, self.declared, self._known)
            for batch in source.batches():
                rows = pa.array(offsets[np.asarray(batch.column("row"))])
                yield batch.set_column(0, batch.schema.field(0), rows)
        self._next = int(np.asarray(table.column("offset"))[-1]) + 1
        added(self.report, source.report)

    def _lines(self, folder: Path, values: Any, offsets: np.ndarray) -> tuple[Path, np.ndarray]:
        """Messages as a file of lines, and the offset of each line."""
        lines, kept = [], []
        for offset, value in zip(offsets.tolist(), values.to_pylist(), strict=True):
            # Inside JSON a line end occurs only between tokens, where a blank is equivalent.
            line = b" ".join((value or b"").splitlines())
            if not line.strip():
                if self._format == "text":
                    continue  # an empty line is no event
                line = b"null"  # which is no object, and is reported so
            lines.append(line)
            kept.append(offset)
        first = offsets[0] if len(offsets) else 0
        file = folder / f"{self._topic.topic}[{self._topic.partition}] from offset {first}"
        file.write_bytes(b"\n".join(lines))
        return file, np.asarray(kept, np.int64)

    def lag(self) -> str:
        """Messages that have arrived and were not read yet."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS or not self._looked:
            self._end, self._looked = self._topic.ends()[1], now
        waiting = max(self._end - self._next, 0)
        return f"{waiting:,} message{'' if waiting == 1 else 's'}"

    def save(self) -> dict[str, Any]:
        """How far it has come."""
        return {"next": self._next, "report": counted(self.report)}

    def load(self, state: Mapping[str, Any]) -> None:
        """Resume from what `save` returned."""
        self._next = state["next"]
        recounted(self.report, state["report"])
