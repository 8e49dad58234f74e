"""Search files for texts that must not be in them, byte by byte, compressed parts unpacked."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

__all__ = ["holding"]

_ZSTD = b"\x28\xb5\x2f\xfd"


def holding(folder: Path, sentinels: Iterable[bytes]) -> list[tuple[str, bytes]]:
    """The files of a folder that hold one of these texts, and which."""
    wanted = list(sentinels)
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files, folder
    return [
        (str(path.relative_to(folder)), sentinel)
        for path in files
        for sentinel in wanted
        if any(sentinel in text for text in _texts(path.read_bytes()))
        or sentinel in str(path.relative_to(folder)).encode()
    ]


def _texts(data: bytes) -> Iterator[bytes]:
    yield data
    if data[:2] == b"\x1f\x8b":
        yield gzip.decompress(data)
    at = data.find(_ZSTD)
    while at >= 0:
        yield from _unpacked(data[at:])
        at = data.find(_ZSTD, at + 1)


def _unpacked(data: bytes) -> Iterator[bytes]:
    """A frame of Zstandard, as far as it goes: what follows it is something else."""
    stream = pa.CompressedInputStream(pa.BufferReader(data), "zstd")
    found = b""
    try:
        while piece := stream.read(1):
            found += piece
    except (OSError, pa.ArrowException):
        pass
    yield found
