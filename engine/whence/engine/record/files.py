"""Write files so that they are there whole or not at all, on this machine or at a URI."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from whence.engine.disk import writes_to
from whence.engine.record.remote import RemotePath

__all__ = [
    "file_digest",
    "flush_files",
    "parquet",
    "read_json",
    "read_table",
    "remove_tree",
    "whole_file",
    "write_json",
    "write_table",
]


_FEW = 64
"""So many rows are few."""

_AT_ONCE = 8
"""So many files are flushed at a time: the file system makes one step of them."""


def whole_file(path: Path, write: Callable[[Path], None], *, flushed: bool = True) -> None:
    """Let somebody write a file beside, and put it in its place when it is whole.

    Args:
        path: its name.
        write: writes it, where it is told to.
        flushed: whether it has to be on the disk then; else `flush_files` sees to that later.
    """
    if isinstance(path, RemotePath):
        with tempfile.TemporaryDirectory(prefix="whence-") as folder:
            here = Path(folder) / path.name
            with writes_to(here):
                write(here)
            path.put(here)
        return
    with writes_to(path), _beside(path) as (beside, handle):
        os.close(handle)
        write(beside)
        if flushed:
            _flush(beside)


@contextmanager
def _beside(path: Path) -> Iterator[tuple[Path, int]]:
    """A new file beside, open to be written, that takes its place if nothing goes wrong."""
    beside = path.with_name(f".{secrets.token_hex(6)}.part")
    how = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    try:
        handle = os.open(beside, how, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(beside, how, 0o600)
    try:
        yield beside, handle
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def flush_files(paths: Iterable[Path]) -> None:
    """See to it that files are on the disk before anything says that they are there.

    A file at a URI is there already. One after the other, each would take as long as all together.
    """
    here = [path for path in paths if not isinstance(path, RemotePath)]
    if len(here) > 1:
        with ThreadPoolExecutor(min(_AT_ONCE, len(here)), "whence-flushing") as pool:
            list(pool.map(_flush, here))
    elif here:
        _flush(here[0])


def _flush(path: Path) -> None:
    with writes_to(path), path.open("rb") as file:
        os.fsync(file.fileno())


def write_json(path: Path, content: Any, indent: int | None = 1) -> None:
    """Replace a JSON file in one step.

    Args:
        path: its name.
        content: what it holds.
        indent: how far parts stand in; ``None`` for one line, which is many times faster.
    """
    text = json.dumps(content, indent=indent, ensure_ascii=False) + "\n"

    def write(beside: Path) -> None:
        beside.write_text(text, encoding="utf-8")

    whole_file(path, write)


def file_digest(path: Path) -> str:
    """SHA-256 of what a file holds."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file."""
    # Not by `pq.read_table`: it looks for more than one file first, and takes twice as long.
    if isinstance(path, RemotePath):
        with path.open("rb") as file:
            return pq.ParquetFile(file).read()
    with pq.ParquetFile(path) as parts:
        return parts.read()


def remove_tree(folder: Path, *, strict: bool = False) -> None:
    """Remove a folder and all that is in it.

    Args:
        folder: what is removed.
        strict: whether it is an error if something of it stays.
    """
    if isinstance(folder, RemotePath):
        folder.remove_tree()
    else:
        shutil.rmtree(folder, ignore_errors=not strict)


def write_table(
    path: Path,
    table: pa.Table,
    encodings: Mapping[str, str] | None = None,
    *,
    flushed: bool = True,
) -> str:
    """Write a Parquet file in one step; return the digest of what it holds.

    Args:
        path: its name.
        table: what it holds.
        encodings: how some columns are kept, by their paths; the others are left to Parquet.
        flushed: whether it has to be on the disk then, as for `whole_file`.
    """
    # Packed in memory: its digest is taken without reading the file again.
    packed = pa.BufferOutputStream()
    parquet(table, packed, encodings)
    data = memoryview(packed.getvalue())

    if isinstance(path, RemotePath):
        whole_file(path, lambda here: _write(here, data))
    else:
        with writes_to(path), _beside(path) as (_, handle), os.fdopen(handle, "wb") as file:
            file.write(data)
            if flushed:
                file.flush()
                os.fsync(handle)
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _write(path: Path, data: memoryview) -> None:
    path.write_bytes(data)


def parquet(
    table: pa.Table,
    place: str | IO[bytes] | pa.NativeFile,
    encodings: Mapping[str, str] | None,
) -> None:
    """Write Parquet to a file.

    Statistics are kept of numbers that are left to Parquet: nobody looks a part up by its texts,
    and those in order are found by the part's number.

    Args:
        table: what it holds; texts that are coded are read as texts again.
        place: the file, or its name.
        encodings: how some columns are kept, by their paths.
    """
    known = encodings or {}
    others = [name for name, _ in _leaves(table.schema) if name not in known]
    counted = [name for name, type in _leaves(table.schema) if name in others and _is_plain(type)]
    # Where a table has few rows, its numbers are in their lists: to pack the rest takes longer.
    packed = others if table.num_rows > _FEW else []
    pq.write_table(
        table,
        place,
        compression=dict.fromkeys([*packed, *known], "zstd"),  # pyright: ignore[reportArgumentType]
        use_dictionary=others,  # pyright: ignore[reportArgumentType]  lists are fine too
        column_encoding=dict(known),
        write_statistics=counted,  # pyright: ignore[reportArgumentType]
        store_schema=not any(pa.types.is_dictionary(field.type) for field in table.schema),
    )


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType]]:
    for field in schema:
        if pa.types.is_list(field.type):
            yield f"{field.name}.list.element", field.type.value_type
        else:
            yield field.name, field.type


def _is_plain(type: pa.DataType) -> bool:
    return not (pa.types.is_string(type) or pa.types.is_dictionary(type))
