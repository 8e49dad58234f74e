"""Which stream is meant by a place: a folder that files are put into, or a topic."""

from __future__ import annotations

from pathlib import Path

from whence.engine.language.log import Log
from whence.engine.sources.stream import Stream

__all__ = ["open_stream"]


def open_stream(
    place: str | Path, declared: Log | None = None, settings: Path | None = None
) -> Stream:
    """A stream of events.

    Args:
        place: a folder, or ``kafka://HOST:PORT/TOPIC``.
        declared: what is known of the log.
        settings: the file with the settings of the Kafka client.
    """
    if "://" in str(place):
        from whence.engine.sources.kafka_stream import KafkaStream

        return KafkaStream(str(place), declared, settings=settings)
    from whence.engine.sources.folder_stream import FolderStream

    return FolderStream(place, declared)
