"""Values of a column as the record writes them: canonical JSON, with the kind beside it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whence.engine.kernels.columns.column import Bools, Column, Ints
from whence.engine.record.coded import boolean_texts, constant_text
from whence.engine.record.schema import OUTPUTS
from whence.engine.values import Value, kind_of
from whence.engine.values.columns import canonical
from whence.engine.values.slice_limits import MapRoom

__all__ = ["outputs_table", "selected"]


PIECE = 4_096
"""Rows whose texts are in Python at the same time."""


def outputs_table(
    positions: Ints, moments: Ints, values: Column | None, room: MapRoom | None = None
) -> pa.Table:
    """Events of a stream as the record keeps them; a helper's hold nothing.

    Raises:
        EventError: maps over slices among them need more room than there is.
    """
    count = len(positions)
    kinds: pa.Array = constant_text("missing", count)
    texts: pa.Array = _repeated("null", count)
    if values is not None:
        kinds, texts = _told(values, room)
    return pa.Table.from_arrays(
        [pa.array(positions, pa.int64()), pa.array(moments, pa.int64()), kinds, texts],
        names=OUTPUTS.names,
    )


def _repeated(text: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text, pa.string()), count)


def _told(column: Column, room: MapRoom | None) -> tuple[pa.Array, pa.Array]:
    if column.kind in ("any", "record"):
        values = column.to_list()
        if room is not None and column.kind == "any":
            for value in values:
                room.take(value)
        kinds = pa.array([kind_of(value) for value in values], pa.string())
        pieces = [
            pa.array([canonical(value) for value in values[at : at + PIECE]], pa.string())
            for at in range(0, len(values), PIECE)
        ]
        return kinds, pa.concat_arrays(pieces) if pieces else pa.array([], pa.string())
    if column.valid is None or bool(column.valid.all()):
        return constant_text(column.kind, len(column)), _texts(column)
    here = pa.array(column.valid)
    return _either(here, column.kind, "missing"), _either(here, _texts(column), "null")


def _either(here: pa.Array, values: pa.Array | str, other: str) -> pa.Array:
    """The values where there are some, else another text."""
    texts = values if isinstance(values, str) else values.cast(pa.string())
    return pc.call_function("if_else", [here, texts, pa.scalar(other)])


def _texts(column: Column) -> pa.Array:
    """What `canonical` says of every value, asked once for each distinct one."""
    data = column.data
    if column.kind == "boolean":
        return boolean_texts(data)
    if column.kind == "integer":
        return pa.array(data).cast(pa.string())
    if column.kind == "float" and bool(np.isfinite(data).all()):
        return pa.array(list(map(repr, data.tolist())), pa.string())
    if column.kind == "text" and not len(column.texts):
        return _repeated('""', len(column))
    firsts, places = _distinct(column)
    shown = Column(column.kind, data[firsts], None, column.texts).to_list()
    return pa.array([canonical(value) for value in shown], pa.string()).take(pa.array(places))


def _distinct(column: Column) -> tuple[Ints, Ints]:
    """Where each distinct value is first met, and which of them each row has."""
    data = column.data
    if column.kind == "float":
        data = data.view(np.int64)  # -0.0 is written as such
    _, firsts, places = np.unique(data, return_index=True, return_inverse=True)
    return firsts, places


def selected(column: Column, test: Callable[[Value], bool]) -> Bools:
    """For which values a test holds; of a typed column each distinct value is tested once."""
    if column.kind in ("any", "record"):
        values = column.to_list()
        return np.fromiter((test(value) for value in values), np.bool_, len(values))
    if not len(column):
        return np.zeros(0, np.bool_)
    present = column.present
    found = np.zeros(len(column), np.bool_)
    if present.any():
        some = column.take(np.flatnonzero(present))
        firsts, places = _distinct(some)
        held = [test(value) for value in some.take(firsts).to_list()]
        found[present] = np.array(held, np.bool_)[places]
    if not present.all():
        found[~present] = test(None)
    return found
