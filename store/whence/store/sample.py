"""A handful of events with explanations: enough to see that a store works, and how it thinks.

The log is a series of numbers. A window of three looks at each number with the two after it and
says whether their product is zero. A zero product is explained by a zero among the three; a product
that is not zero is explained by all three. So outputs 0, 1 and 2 each come from the one zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from whence.store.connection import Connection
from whence.store.cypher import cypher, schema

__all__ = ["NUMBERS", "Explained", "explain_sample", "remove_sample", "store_sample"]

NUMBERS = (3, 1, 0, 4, 1, 5)
WIDTH = 3

# Stream number 0 is kept for samples: real logs and streams are numbered from 1.
_OUTPUT_BASE = 1 << 30
"""Distance between the keys of sample inputs and sample outputs."""


@dataclass(frozen=True)
class Explained:
    """An output that was read back, with the input events that explain it."""

    position: int
    is_zero: bool
    because: tuple[tuple[int, int], ...]
    """Position and value of each input event."""


def store_sample(connection: Connection) -> dict[str, int]:
    """Write the events and their edges; running it again changes nothing."""
    for statement in schema():
        connection.write(statement)
    windows = [NUMBERS[at : at + WIDTH] for at in range(len(NUMBERS) - WIDTH + 1)]
    edges = [
        {"output": _OUTPUT_BASE + at, "input": at + offset}
        for at, window in enumerate(windows)
        for offset in _explains(window)
    ]
    rows = connection.write(
        cypher("sample_write"),
        inputs=[{"key": at, "value": value} for at, value in enumerate(NUMBERS)],
        outputs=[
            {"key": _OUTPUT_BASE + at, "value": 0 in window} for at, window in enumerate(windows)
        ],
        edges=edges,
    )
    return dict(rows[0])


def explain_sample(connection: Connection) -> list[Explained]:
    """Read every output back, and ask the graph why it is as it is."""
    return [
        Explained(
            position=output["key"] - _OUTPUT_BASE,
            is_zero=output["value"],
            because=tuple(
                (event["key"], event["value"])
                for event in connection.read(cypher("why"), key=output["key"])
            ),
        )
        for output in connection.read(cypher("sample_read"))
    ]


def remove_sample(connection: Connection) -> int:
    """Remove the sample events; say how many there were."""
    return int(connection.write(cypher("sample_remove"))[0]["removed"])


def _explains(window: tuple[int, ...]) -> list[int]:
    zeros = [offset for offset, value in enumerate(window) if value == 0]
    return zeros[:1] or list(range(len(window)))
