"""What to say of a chain before it runs: formulas about suffixes, maps that get too large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from whence.engine.errors import EventError
from whence.engine.language.expression import Field
from whence.engine.palettes.ltl.operator import Operator
from whence.engine.processors import (
    ApplyFunction,
    CountDecimate,
    Cumulate,
    Fork,
    Freeze,
    Group,
    Insert,
    Multiplex,
    Passthrough,
    Slice,
    Stutter,
    TurnInto,
)
from whence.engine.processors.slice import MAP
from whence.engine.values.limits import current
from whence.engine.values.slice_limits import ENTRY, WAY_OUT, size_of

if TYPE_CHECKING:
    import pyarrow as pa

    from whence.engine.language.chain import Chain

__all__ = ["check_maps", "map_keys", "warnings_of"]

_NEVER_SILENT = (
    *(ApplyFunction, CountDecimate, Cumulate, Fork, Freeze, Insert),
    *(Multiplex, Passthrough, Slice, Stutter, TurnInto),
)
"""What outputs something as soon as its first inputs are there."""


def warnings_of(chain: Chain) -> list[str]:
    """One line for every Slice whose temporal formula has verdicts for suffixes.

    Output k of a temporal formula is the verdict for the slice from its event k on. Of a Slice that
    takes the last one, the last suffix decides: a violation before it is not seen.

    >>> from whence.engine.formula import formula
    >>> paid = Slice("paid", by="case", of=formula("G (a -> F b)"), combine="and")
    >>> from whence.engine.language.chain import Chain
    >>> len(warnings_of(Chain.of(paid))), len(warnings_of(Chain.of(Slice("n", "case", paid.of))))
    (1, 1)
    """
    return [
        f"{name}: its temporal formula has a verdict for every suffix of a slice, and the last one "
        "counts; try `take: first` for the verdict on the whole slice"
        for name, processor in chain.processors()
        if isinstance(processor, Slice) and processor.take != "first" and _temporal(processor.inner)
    ]


def _temporal(chain: Chain) -> bool:
    """Whether a temporal operator is in a chain or in its Groups."""
    for connection in chain.connections:
        processor = connection.processor
        inner = processor.holds if processor.inlined else ()
        if isinstance(processor, Operator) or any(map(_temporal, inner)):
            return True
    return False


def map_keys(chain: Chain) -> Iterator[tuple[str, str, str]]:
    """Each Slice of the chain itself whose map has every key of a log: id, log, field.

    That can be known of keys that are a field of the only log, if no slice is silent: one that has
    not given any output is not in the map, and a longer log is not read to its end.
    """
    for connection in chain.connections:
        processor = connection.processor
        if (
            isinstance(processor, Slice)
            and processor.combine == MAP
            and len(connection.sources) == 1
            and _never_silent(processor.inner)
        ):
            key = processor.key
            if isinstance(key, Field) and connection.sources[key.pipe] in chain.inputs:
                yield processor.id, connection.sources[key.pipe], key.name


def _never_silent(chain: Chain) -> bool:
    """Whether every output is there as soon as the first inputs are."""
    return all(
        _never_silent(inner.chain) if isinstance(inner, Group) else isinstance(inner, _NEVER_SILENT)
        for inner in (connection.processor for connection in chain.connections)
    )


def check_maps(slice: str, column: str, batches: Iterable[pa.RecordBatch]) -> str | None:
    """Count the keys that a log has, and the bytes of the maps; stop at the first key too many.

    Returns:
        What to warn of: a run that writes all of these maps would be refused.

    Raises:
        EventError: more keys than a map may have.
    """
    limits = current()
    found: set[object] = set()
    size = written = 0
    for batch in batches:
        for key in batch.column(column).to_pylist():
            if key not in found:
                found.add(key)
                size += ENTRY + size_of(key)
            written += size
        if len(found) > limits.map_keys:
            got = f"more different values than that in the column {column!r}"
            raise limits.exceeded("map_keys", f"Slice {slice!r}", got, WAY_OUT, kind=EventError)
    if written <= limits.maps:
        return None
    return (
        f"{slice}: a run that writes a map over all slices after every event is refused: all of "
        f"them take at least {written:,} bytes, and {limits.maps:,} are allowed; "
        f"try {limits.hint('maps', WAY_OUT, 2 * written)}"
    )
