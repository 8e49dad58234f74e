"""What kernels keep between batches as one Arrow file, and back: never pickle.

A state is a tree of dictionaries and lists. Its leaves are plain values, arrays, columns, trails,
batches and tables. The arrays become the columns of one row; how they belong together is JSON in
the file's metadata.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.engine.errors import WhenceError
from whence.engine.kernels.batch import Batch
from whence.engine.kernels.columns.column import Column, from_values
from whence.engine.kernels.columns.lazy_ints import made
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.trails.entries import Entries
from whence.engine.kernels.trails.trail import Line, Nothing, Sets, Spans, Trail
from whence.engine.values import Value
from whence.engine.values.columns import canonical, from_canonical
from whence.engine.values.slice_map import SliceMap

__all__ = ["UnsavedError", "pack", "read_state", "settled", "unpack", "write_state"]

Json = Any
_LINE = ("target", "fields", "count", "a", "b", "sa", "sb")


class UnsavedError(WhenceError):
    """A chain holds a processor whose state cannot be stored: it runs event by event.

    Attributes:
        processor: its kind and id, for messages.
    """

    def __init__(self, message: str, processor: str) -> None:
        super().__init__(message)
        self.processor = processor


class _Packer:
    """Takes a state apart."""

    def __init__(self) -> None:
        self.leaves: list[pa.Array] = []

    def leaf(self, array: pa.Array) -> int:
        self.leaves.append(array)
        return len(self.leaves) - 1

    def pack(self, value: object) -> Json:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"is": value}
        if isinstance(value, np.ndarray):
            return self.array(value)
        if isinstance(value, Mapping):
            return {"map": {str(name): self.pack(part) for name, part in value.items()}}
        if isinstance(value, Entries):
            return {"entries": [self.array(array) for array in value]}
        if isinstance(value, (list, tuple)):
            return {"list": [self.pack(part) for part in value]}
        if isinstance(value, Column):
            return {"column": self.column(value)}
        if isinstance(value, Trail):
            return {"trail": self.trail(value)}
        if isinstance(value, Batch):
            return {"batch": self.batch(value)}
        if isinstance(value, pa.Table):
            return {"table": self.leaf(_bytes(value))}
        if isinstance(value, pa.Array):
            return {"arrow": self.leaf(value)}
        msg = f"a state: expected arrays, columns and plain values; got {type(value).__name__}"
        raise TypeError(msg)

    def array(self, array: npt.NDArray[Any]) -> Json:
        if array.dtype == object:
            msg = "a state: expected an array of numbers; got Python objects; try a Column"
            raise TypeError(msg)
        flat = np.ascontiguousarray(array).reshape(-1)
        return {"array": self.leaf(pa.array(flat)), "shape": array.shape, "of": str(array.dtype)}

    def column(self, column: Column) -> Json:
        told: dict[str, Json] = {"kind": column.kind, "length": len(column)}
        if column.valid is not None:
            told["valid"] = self.array(column.valid)
        if column.fields is not None:
            told["fields"] = {name: self.column(part) for name, part in column.fields.items()}
        elif column.kind == "any":
            values = [canonical(value) for value in column.data.tolist()]
            told["data"] = self.leaf(pa.array(values, pa.string()))
        else:
            told["data"] = self.array(column.data)
        return told

    def trail(self, trail: Trail) -> Json:
        if isinstance(trail, Nothing):
            return {"nothing": trail.count}
        if isinstance(trail, Line):
            return {"line": [int(getattr(trail, name)) for name in _LINE]}
        if isinstance(trail, Spans):
            ends = [self.array(trail.lo), self.array(trail.hi)]
            return {"spans": [int(trail.target), int(trail.fields), *ends]}
        sets = trail.settle()
        return {"sets": [self.array(array) for array in (sets.starts, *sets.held)]}

    def batch(self, batch: Batch) -> Json:
        return {
            "values": self.column(batch.values),
            "moment": self.array(made(batch.moment)),
            "slot": None if batch.slot is None else self.array(batch.slot),
            "why": self.trail(batch.why),
            "sup": None if batch.sup is batch.why else self.trail(batch.sup),
            "exists": None if batch.exists is None else self.trail(batch.exists),
        }


class _Unpacker:
    """Puts a state together again."""

    def __init__(self, leaves: list[pa.Array], texts: Texts) -> None:
        self.leaves = leaves
        self.texts = texts

    def unpack(self, told: Json) -> Any:
        ((what, value),) = ((k, v) for k, v in told.items() if k not in ("shape", "of"))
        if what == "is":
            return value
        if what == "array":
            return self.array(told)
        if what == "map":
            return {name: self.unpack(part) for name, part in value.items()}
        if what == "entries":
            return Entries(*(self.array(part) for part in value))
        if what == "list":
            return [self.unpack(part) for part in value]
        if what == "column":
            return self.column(value)
        if what == "trail":
            return self.trail(value)
        if what == "batch":
            return self.batch(value)
        return self.leaves[value] if what == "arrow" else _table(self.leaves[value])

    def array(self, told: Json) -> npt.NDArray[Any]:
        flat = self.leaves[told["array"]].to_numpy(zero_copy_only=False)
        # A copy of its own: kernels write into their arrays.
        return np.array(flat, dtype=told["of"]).reshape(told["shape"])

    def column(self, told: Json) -> Column:
        kind, texts = told["kind"], self.texts
        valid = self.array(told["valid"]) if "valid" in told else None
        if "fields" in told:
            fields = {name: self.column(part) for name, part in told["fields"].items()}
            return Column(kind, np.empty(0, object), valid, texts, fields, told["length"])
        if kind == "any":
            values = [_value(text) for text in self.leaves[told["data"]].to_pylist()]
            return from_values(values, "any", texts)
        return Column(kind, self.array(told["data"]), valid, texts)

    def trail(self, told: Json) -> Trail:
        ((what, value),) = told.items()
        if what == "nothing":
            return Nothing(value)
        if what == "line":
            return Line(*value)
        if what == "spans":
            target, fields, lo, hi = value
            return Spans(target, fields, self.array(lo), self.array(hi))
        starts, *held = (self.array(part) for part in value)
        return Sets(starts, Entries(*held))

    def batch(self, told: Json) -> Batch:
        why = self.trail(told["why"])
        return Batch(
            self.column(told["values"]),
            self.array(told["moment"]),
            None if told["slot"] is None else self.array(told["slot"]),
            why,
            why if told["sup"] is None else self.trail(told["sup"]),
            None if told["exists"] is None else self.trail(told["exists"]),
        )


def _value(text: str) -> Value:
    """A value of its canonical text; a Slice's map is a map again, whatever its keys are."""
    value = from_canonical(text)
    if isinstance(value, SliceMap):
        value.size = len(text)
    return value


def _bytes(table: pa.Table) -> pa.Array:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return pa.array(np.frombuffer(sink.getvalue(), np.uint8))


def _table(leaf: pa.Array) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(leaf.to_numpy().tobytes())).read_all()


def settled(state: Any) -> Any:
    """The same state with every trail followed, so that nothing new is named while it is packed."""
    if isinstance(state, Mapping):
        return {name: settled(part) for name, part in state.items()}
    if isinstance(state, (list, tuple)) and not isinstance(state, Entries):
        return [settled(part) for part in state]
    if isinstance(state, Batch):
        return Batch(state.values, state.moment, state.slot, *state.reasons.each(settled))
    if isinstance(state, Trail) and not isinstance(state, (Line, Nothing, Spans)):
        return state.settle()
    return state  # a line stays a line: whoever goes on does the very same


def pack(state: Mapping[str, object]) -> pa.RecordBatch:
    """A state as one row; how its columns belong together is in the schema's metadata."""
    packer = _Packer()
    tree = packer.pack(state)
    columns = [
        pa.LargeListArray.from_arrays(pa.array([0, len(leaf)], pa.int64()), leaf)
        for leaf in packer.leaves
    ]
    fields = [pa.field(str(number), column.type) for number, column in enumerate(columns)]
    if not columns:
        columns, fields = [pa.array([0])], [pa.field("nothing", pa.int64())]
    schema = pa.schema(fields, metadata={"state": json.dumps(tree, ensure_ascii=False)})
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def unpack(row: pa.RecordBatch, texts: Texts) -> dict[str, Any]:
    """What `pack` put together.

    Args:
        row: the state.
        texts: what the numbers of texts mean; a state that holds them restores them first.
    """
    tree = json.loads(row.schema.metadata[b"state"])
    lists = [column for column in row.columns if pa.types.is_large_list(column.type)]
    leaves = [column[0].values for column in lists]
    found: dict[str, Any] = _Unpacker(leaves, texts).unpack(tree)
    return found


def write_state(path: Path, state: Mapping[str, object]) -> None:
    """Write a state to a file."""
    row = pack(state)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(str(path), row.schema, options=options) as writer:
        writer.write_batch(row)


def read_state(path: Path, texts: Texts) -> dict[str, Any]:
    """Read a state from a file."""
    with path.open("rb") as file, pa.ipc.open_file(file) as reader:
        return unpack(reader.get_batch(0), texts)
