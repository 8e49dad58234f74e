"""One partition of a topic of Kafka: where it begins and ends, and its messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

from whence.engine.errors import LogError, MissingExtraError

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

__all__ = ["MESSAGES", "Topic", "kafka_settings", "topic_of"]

MESSAGES = pa.schema([("offset", pa.int64()), ("value", pa.binary())])
"""What a batch of messages looks like."""

_TIMEOUT = 10.0
_FORM = "kafka://HOST:PORT/TOPIC"


@dataclass(frozen=True)
class Topic:
    """A partition of a topic; it can be sent to other processes.

    Attributes:
        servers: where to ask first.
        topic: the topic's name.
        partition: which of its partitions.
        settings: further settings of Kafka's client; never shown, it may hold a password.
    """

    servers: str
    topic: str
    partition: int
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """For people, and distinct from other topics."""
        return f"kafka://{self.servers}/{self.topic}?partition={self.partition}"

    def partitions(self) -> list[int]:
        """The partitions that the topic has.

        Raises:
            LogError: there is no such topic, or no broker responds.
        """
        with self.asking() as consumer:
            found = consumer.list_topics(self.topic, timeout=_TIMEOUT).topics[self.topic]
            if found.error is not None or not found.partitions:
                msg = (
                    f"kafka://{self.servers}/{self.topic}: expected a topic; got {found.error}; "
                    "try another name"
                )
                raise LogError(msg)
            return sorted(found.partitions)

    def ends(self) -> tuple[int, int]:
        """The offset of the first message that is there, and the one after the last."""
        with self.asking() as consumer:
            first, last = consumer.get_watermark_offsets(self._at(), timeout=_TIMEOUT)
            return int(first), int(last)

    def _at(self, offset: int | None = None) -> Any:
        from confluent_kafka import TopicPartition

        if offset is None:
            return TopicPartition(self.topic, self.partition)
        return TopicPartition(self.topic, self.partition, offset)

    @contextmanager
    def asking(self) -> Iterator[Consumer]:
        """A client of Kafka; what it says becomes one clear line.

        Raises:
            LogError: Kafka cannot be reached or refuses.
        """
        try:
            from confluent_kafka import Consumer, KafkaException
        except ImportError as error:
            raise MissingExtraError.for_extra("kafka", "confluent-kafka") from error
        try:
            consumer = Consumer(
                {
                    "group.id": "whence",
                    "isolation.level": "read_committed",
                    "log_level": 0,
                    **self.settings,
                    "bootstrap.servers": self.servers,
                    "enable.auto.commit": False,
                    "auto.offset.reset": "error",
                }
            )
            try:
                yield consumer
            finally:
                consumer.close()
        except KafkaException as fault:
            said = fault.args[0].str() if hasattr(fault.args[0], "str") else fault.args[0]
            msg = f"{self.name}: expected Kafka to answer; got: {said}; try another address"
            raise LogError(msg) from fault

    @contextmanager
    def consumer(self, start: int) -> Iterator[Consumer]:
        """A client that reads from an offset on."""
        with self.asking() as consumer:
            consumer.assign([self._at(start)])
            yield consumer

    def position(self, consumer: Consumer, start: int) -> int:
        """The offset that comes next."""
        (found,) = consumer.position([self._at()])
        return max(int(found.offset), start)

    def some(self, consumer: Consumer, most: int) -> list[Message]:
        """The next messages, some time after the request.

        Raises:
            LogError: Kafka reports an error instead of a message.
        """
        found: list[Message] = consumer.consume(most, timeout=0.5)
        for message in found:
            error = message.error()
            if error is not None:
                msg = f"{self.name}: expected messages; got: {error.str()}; try again"
                raise LogError(msg)
        return found


def topic_of(where: str, settings: Path | None = None) -> tuple[Topic, bool]:
    """Read an address such as ``kafka://localhost:9092/orders?partition=0&from=end``.

    Args:
        where: the address.
        settings: a file of settings for Kafka's client.

    Returns:
        The topic, its partition -1 if none is named; and whether to begin at its end.

    Raises:
        LogError: it is no such address.
    """
    parts = urlsplit(where)
    topic = parts.path.strip("/")
    asked = parse_qs(parts.query, keep_blank_values=True)
    if parts.scheme != "kafka" or not parts.netloc or not topic or "/" in topic:
        msg = (
            f"a stream: expected a folder or {_FORM}; got {where!r}; try kafka://localhost:9092/log"
        )
        raise LogError(msg)
    if "@" in parts.netloc:
        # Not repeated here: it may hold a password.
        msg = f"a stream: expected {_FORM}; got one with a user; try --kafka-settings FILE for that"
        raise LogError(msg)
    for name, (value, *_) in asked.items():
        fits = {"partition": value.isdigit(), "from": value in ("beginning", "end")}
        if not fits.get(name, False):
            msg = (
                f"{where}: expected partition=NUMBER or from=beginning|end after the question "
                f"mark; got {name}={value}; try {_FORM}?partition=0&from=beginning"
            )
            raise LogError(msg)
    partition = int(asked.get("partition", ["-1"])[0])
    made = Topic(
        parts.netloc, topic, partition, {} if settings is None else kafka_settings(settings)
    )
    return made, asked.get("from") == ["end"]


def kafka_settings(path: Path) -> dict[str, str]:
    """Read a file of settings: ``name=value`` a line; ``#`` begins a comment.

    Raises:
        LogError: it cannot be read, or a line is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or error
        msg = f"{path}: expected a file of settings for Kafka; got {said}; try another file"
        raise LogError(msg) from error
    found = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, sign, value = line.partition("=")
        if not sign or not name.strip():
            # The line itself is not repeated: it may hold a password.
            msg = (
                f"{path}, line {number}: expected name=value; got no '='; try security.protocol=SSL"
            )
            raise LogError(msg)
        found[name.strip()] = value.strip()
    return found
