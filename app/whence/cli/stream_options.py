"""The options of ``whence run`` on a log that is still being written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.option_groups import option_group

if TYPE_CHECKING:
    from whence.engine.language.log import Log
    from whence.engine.sources.stream import Stream

__all__ = ["Streaming", "streams"]

_PANEL: dict[str, Any] = {"rich_help_panel": "A log that is still being written (instead of --log)"}

From = Annotated[
    str | None,
    typer.Option(
        "--stream",
        metavar="FOLDER|kafka://HOST:PORT/TOPIC",
        help="Follow a folder that receives files, or a topic.",
        **_PANEL,
    ),
]
AvailableNow = Annotated[
    bool,
    typer.Option("--available-now", help="Read what has arrived, then end the run.", **_PANEL),
]
Every = Annotated[
    float,
    typer.Option("--every", metavar="SECONDS", min=0.05, help="Seconds between batches.", **_PANEL),
]
KafkaSettings = Annotated[
    Path | None,
    typer.Option(
        "--kafka-settings", help="File of settings for Kafka: security.protocol=…", **_PANEL
    ),
]


@dataclass(frozen=True)
class Streaming:
    """What the options say.

    Attributes:
        place: a folder or a topic; ``None`` if a complete log is to be read.
        available_now: end when all that has arrived was taken.
        every: seconds from one batch to the next.
        settings: a file of settings for Kafka.
    """

    place: str | None
    available_now: bool
    every: float
    settings: Path | None

    def open(self, declared: Log) -> Stream:
        from whence.engine.sources.opening_streams import open_stream

        assert self.place is not None
        return open_stream(self.place, declared, self.settings)

    def check(
        self, logs: list[str] | None, runner: str, of_a_whole_log: Mapping[str, bool]
    ) -> None:
        """Refuse what contradicts itself.

        Args:
            logs: the logs that are given.
            runner: what is to run the chain.
            of_a_whole_log: options that mean nothing to a stream, and whether they are given.

        Raises:
            BadParameter: which it is.
        """
        if self.place is None:
            given = {
                "--available-now": self.available_now,
                "--every": self.every != _EVERY,
                "--kafka-settings": self.settings is not None,
            }
            for option, is_given in given.items():
                if is_given:
                    msg = f"expected --stream with {option}; got none; try --stream FOLDER"
                    raise typer.BadParameter(msg, param_hint=option)
            return
        if logs:
            msg = "expected --log or --stream; got both; try one of them"
            raise typer.BadParameter(msg, param_hint="--stream")
        for option, is_given in of_a_whole_log.items():
            if is_given:
                msg = f"expected --log with {option}; got --stream; try leaving {option} out"
                raise typer.BadParameter(msg, param_hint=option)
        if runner != "spark":
            msg = f"expected --runner spark with --stream; got {runner}; try without --runner"
            raise typer.BadParameter(msg, param_hint="--runner")
        if self.settings is not None and "://" not in self.place:
            msg = (
                "expected a topic with --kafka-settings; got a folder; try kafka://HOST:PORT/TOPIC"
            )
            raise typer.BadParameter(msg, param_hint="--kafka-settings")


_EVERY = 1.0


def _streaming(
    stream: From = None,
    available_now: AvailableNow = False,
    every: Every = _EVERY,
    kafka_settings: KafkaSettings = None,
) -> Streaming:
    return Streaming(stream, available_now, every, kafka_settings)


streams = option_group("streaming", _streaming)
"""Gives a command the options on streams; it is handed a `Streaming`."""
