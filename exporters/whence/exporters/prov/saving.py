"""Write a document to a file: there whole or not at all, the same bytes each time."""

from __future__ import annotations

import gzip
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from whence.engine.errors import ParameterError, WhenceError
from whence.exporters.prov.formats import TABLE, format_of, part_of
from whence.exporters.prov.statements import Document
from whence.exporters.prov.writing.rdf import write_rdf

__all__ = ["write_document", "write_pieces"]


def write_document(document: Document, path: Path, format: str | None = None) -> Path:
    """Write a document; with ``.gz`` behind the name, compressed.

    Args:
        document: what to write.
        path: the file; what was there before is replaced when the new one is complete.
        format: one of `FORMATS`; by the name of the file unless given.
    """
    chosen = format_of(path, format)
    with _opened(path) as file:
        _write(document, chosen, file, path.parent)
    return path


def write_pieces(path: Path, pieces: Iterable[bytes | memoryview]) -> Path:
    """Write a text that is no document of PROV in the same way."""
    with _opened(path) as file:
        for piece in pieces:
            file.write(piece)
    return path


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears complete or not at all, compressed if its name ends in ``.gz``."""
    if path.exists() and not path.is_file():
        msg = f"{path}: expected the name of a file; got something else; try another name"
        raise ParameterError(msg)
    try:
        with _whole(path) as raw:
            if path.name.endswith(".gz"):
                # No name and no time in the header: the same export has the same bytes.
                with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield raw
    except OSError as error:
        what = error.strerror or str(error)
        msg = f"{path}: expected a file that can be written; got: {what}; try another folder"
        raise WhenceError(msg) from error


def _write(document: Document, format: str, file: IO[bytes], beside: Path) -> None:
    writer = TABLE[format].writer
    if writer is None:
        write_rdf(document, file, TABLE[format])
        return
    for piece in part_of(writer)(document, beside):
        file.write(piece)


@contextmanager
def _whole(path: Path) -> Iterator[IO[bytes]]:
    beside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
