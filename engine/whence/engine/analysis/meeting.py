"""Where ways that read the same cells of a log meet again: there they might cancel out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whence.engine.analysis.rules import reads_of
from whence.engine.language.chain import Chain, Source

__all__ = ["meetings"]

Cells = frozenset[tuple[str, str | None]]
"""Fields by log; ``None`` for an input event as it is, of which any field may yet be read."""

_WHOLE = "*"


def meetings(chain: Chain) -> list[str]:
    """The processors whose input pipes read a field in common, by their ids."""
    found: list[str] = []
    _follow(chain, {name: frozenset({(name, None)}) for name in chain.inputs}, "", found)
    return found


def _follow(
    chain: Chain, inputs: Mapping[str, Cells], prefix: str, found: list[str]
) -> dict[str, Cells]:
    known: dict[Source, Cells] = {Source(name, 0): cells for name, cells in inputs.items()}
    for connection in chain.ordered:
        processor: Any = connection.processor
        pipes = [known[chain.source(name, processor.id)] for name in connection.sources]
        name = prefix + processor.id
        read = [_asked(cells, number, processor) for number, cells in enumerate(pipes)]
        inner = processor.holds
        if inner:
            given = dict(zip(inner[0].inputs, pipes, strict=True))
            made = _follow(inner[0], given, f"{name}/", found)
            read = list(made.values())
        elif any(_meet(a, b) for n, a in enumerate(read) for b in read[:n]):
            found.append(name)
        whole = frozenset[tuple[str, str | None]]().union(*read)
        for pipe in range(processor.output_count):
            known[Source(processor.id, pipe)] = whole
    return {name: known[chain.source(name, "output")] for name in chain.outputs}


def _asked(cells: Cells, pipe: int, processor: Any) -> Cells:
    """What a processor reads of a pipe."""
    if processor.copies:
        return cells
    fields: set[str | None] = {_WHOLE}
    if processor.expressions is not None:
        reads = [read for each in processor.expressions for read in reads_of(each)]
        fields = {name or _WHOLE for at, name in reads if at == pipe}
    return frozenset(
        (log, name) for log, cell in cells for name in ([cell] if cell is not None else fields)
    )


def _meet(left: Cells, right: Cells) -> bool:
    return any(
        log == other and (name == field or {name, field} & {None, _WHOLE})
        for log, name in left
        for other, field in right
    )
