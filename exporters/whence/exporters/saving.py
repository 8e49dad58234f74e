"""Write a document to a file: there whole or not at all, the same bytes each time."""

from __future__ import annotations

import gzip
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from whence.engine.errors import ParameterError, WhenceError
from whence.exporters.nquads import nquads
from whence.exporters.prov_json import prov_json
from whence.exporters.prov_jsonld import prov_jsonld
from whence.exporters.prov_n import prov_n
from whence.exporters.prov_xml import prov_xml
from whence.exporters.rdf import write_rdf
from whence.exporters.statements import Document

__all__ = ["BUNDLES", "FORMATS", "RUN_FORMATS", "format_of", "write_document", "write_pieces"]

FORMATS = {
    "prov-json": (".json", ".provjson"),
    "prov-n": (".provn",),
    "prov-xml": (".provx", ".xml"),
    "prov-jsonld": (".provjsonld",),
    "nquads": (".nq",),
    "trig": (".trig",),
    "turtle": (".ttl",),
    "jsonld": (".jsonld",),
}
"""Each format, and how the names of its files end; ``.gz`` may follow."""

RUN_FORMATS = {**FORMATS, "openlineage": (".openlineage",)}
"""The same of runs, which have one more that is no PROV."""

BUNDLES = frozenset(FORMATS) - {"turtle"}
"""The formats that can hold bundles."""


def format_of(
    path: Path, given: str | None = None, known: Mapping[str, tuple[str, ...]] = FORMATS
) -> str:
    """The format that was asked for, by its name or by how the file's name ends.

    >>> format_of(Path("why.nq.gz"))
    'nquads'
    """
    if given is not None:
        if given not in known:
            names = ", ".join(known)
            msg = f"a format: expected one of {names}; got {given!r}; try prov-json"
            raise ParameterError(msg)
        return given
    name = path.name.removesuffix(".gz")
    for format, endings in known.items():
        if name.endswith(endings):
            return format
    listed = ", ".join(ending for each in known.values() for ending in each)
    msg = (
        f"{path.name}: expected a name that ends in one of {listed} (and .gz); "
        f"got {''.join(path.suffixes) or 'none of them'!r}; try why.json"
    )
    raise ParameterError(msg)


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
    """A file that is there whole or not at all, compressed if its name says so."""
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
    if format in ("trig", "turtle", "jsonld"):
        write_rdf(document, file, format)
        return
    for piece in _WRITERS[format](document, beside):
        file.write(piece)


_WRITERS: dict[str, Callable[[Document, Path], Iterator[bytes | memoryview]]] = {
    "prov-json": prov_json,
    "prov-n": lambda document, beside: prov_n(document),
    "prov-xml": lambda document, beside: prov_xml(document),
    "prov-jsonld": lambda document, beside: prov_jsonld(document),
    "nquads": lambda document, beside: nquads(document),
}


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
