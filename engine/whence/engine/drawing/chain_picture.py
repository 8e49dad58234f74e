"""The picture of a chain: logs on top, then processors, then what leaves the chain."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from whence.engine.drawing.picture import Arrow, Box, Picture
from whence.engine.functions import Function
from whence.engine.language.chain import Chain
from whence.engine.language.expression import Expression
from whence.engine.language.formula import expression_text
from whence.engine.language.processor import Processor
from whence.engine.lineage.words import value_text

__all__ = ["picture_of_chain"]

LONGEST = 60
"""Characters of a line; a longer one is cut."""
STEPS = 8
"""Transitions of a machine that are listed."""


def picture_of_chain(
    chain: Chain, counts: Mapping[str, int] | None = None, title: str = "a chain"
) -> Picture:
    """Draw a chain.

    Args:
        chain: what to draw.
        counts: how many events a run had, by log or pipe; they are the labels of the arrows.
        title: what it shows, for readers that cannot see it.
    """
    counts = counts or {}
    boxes = [Box(f"log {name}", (name,), "input") for name in chain.inputs]
    boxes += [_box(c.processor) for c in chain.connections]
    arrows = []
    for connection in chain.connections:
        for number, name in enumerate(connection.sources):
            text = [f"{counts[name]:,}"] if name in counts else []
            if len(connection.sources) > 1:
                text.insert(0, f"({number})")
            arrows.append(Arrow(_of(chain, name), connection.processor.id, " ".join(text)))
    for name in chain.outputs:
        boxes.append(Box(f"output {name}", (name,), "output"))
        arrows.append(Arrow(_of(chain, name), f"output {name}", _count(counts, name)))
    return Picture(title, tuple(boxes), tuple(arrows))


def _of(chain: Chain, name: str) -> str:
    """The box that a pipe comes from."""
    return f"log {name}" if name in chain.inputs else chain.source(name, "a drawing").name


def _count(counts: Mapping[str, int], name: str) -> str:
    return f"{counts[name]:,}" if name in counts else ""


def _box(processor: Processor) -> Box:
    inside: Picture | None = None
    lines = [f"{processor.id}: {type(processor).__name__}"]
    for field in dataclasses.fields(processor):
        value = getattr(processor, field.name)
        if isinstance(value, Chain):
            inside = picture_of_chain(value, title=processor.id)
        elif field.name != "id":
            lines += _lines(field, value)
    return Box(processor.id, tuple(_cut(line) for line in lines), "step", inside)


def _lines(field: dataclasses.Field[Any], value: Any) -> Iterator[str]:
    """What a parameter says; one that was left as it is says nothing."""
    if value is field.default:
        return
    if isinstance(value, Mapping):
        together: dict[str, list[str]] = {}
        for name, each in value.items():
            together.setdefault(_text(each), []).append(name)
        yield from (f"{field.name} {to}: {', '.join(names)}" for to, names in together.items())
    elif isinstance(value, (list, tuple)):
        for start, guard, end in value[:STEPS]:
            yield f"{start} —{_text(guard)}→ {end}"
        if len(value) > STEPS:
            yield f"… {len(value) - STEPS:,} more"
    else:
        yield f"{field.name} = {_text(value)}"


def _text(value: Any) -> str:
    if isinstance(value, Expression):
        return expression_text(value)
    if isinstance(value, Function):
        return value.name
    return value if isinstance(value, str) else value_text(value)


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
