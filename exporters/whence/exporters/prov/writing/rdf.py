"""RDF through libraries: what is written as N-Quads, in other syntaxes and as an rdflib dataset."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from whence.engine.errors import MissingExtraError
from whence.exporters.prov.formats import Format
from whence.exporters.prov.statements import Document
from whence.exporters.prov.writing.nquads import nquads

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib

__all__ = ["rdflib_dataset", "write_rdf"]

_STRING = "http://www.w3.org/2001/XMLSchema#string"


class _Pieces(io.RawIOBase):
    """Pieces of a text, to be read as a file."""

    def __init__(self, pieces: Iterator[bytes | memoryview]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer)
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(room), len(self._left))
        room[:count] = self._left[:count]
        self._left = self._left[count:]
        return count


def _quads(document: Document) -> Iterator[pyoxigraph.Quad]:
    """Every statement of a document in RDF, as pyoxigraph reads it."""
    try:
        import pyoxigraph as ox
    except ImportError as error:
        raise MissingExtraError.for_extra("prov", "pyoxigraph") from error
    pieces = io.BufferedReader(_Pieces(nquads(document)), 1 << 20)
    yield from ox.parse(pieces, ox.RdfFormat.N_QUADS)


def write_rdf(document: Document, file: IO[bytes], format: Format) -> None:
    """Write a syntax of RDF, statement by statement.

    Where there are no bundles, what is in them and what is outside becomes one graph.
    """
    quads = _quads(document)
    first = next(quads, None)  # here it shows whether the package is there
    import pyoxigraph as ox

    syntax = getattr(ox.RdfFormat, format.rdf or "")
    given: Iterator[Any] = iter(()) if first is None else _again(first, quads)
    if not format.bundles:
        given = (quad.triple for quad in given)
    known = {space.prefix: space.iri for space in document.namespaces}
    ox.serialize(given, file, syntax, prefixes=known)


def _again(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from others


def rdflib_dataset(document: Document) -> rdflib.Dataset:
    """The document as an rdflib dataset: one named graph a bundle."""
    try:
        import rdflib
    except ImportError as error:
        raise MissingExtraError.for_extra("prov", "rdflib") from error
    dataset = rdflib.Dataset()
    for space in document.namespaces:
        dataset.bind(space.prefix, space.iri, override=True, replace=True)

    def term(value: Any) -> Any:
        if not hasattr(value, "datatype"):
            return rdflib.URIRef(value.value)
        datatype = value.datatype.value
        return rdflib.Literal(
            value.value,
            datatype=None if datatype == _STRING else rdflib.URIRef(datatype),
            normalize=False,  # else -0.0 or 1e300 would be written in another way than it came
        )

    graphs: dict[str | None, rdflib.Graph] = {None: dataset.default_graph}
    for bundle in document.bundles:
        graphs[bundle.name.iri] = dataset.graph(rdflib.URIRef(bundle.name.iri))
    for quad in _quads(document):
        graph = graphs[getattr(quad.graph_name, "value", None)]
        graph.add((term(quad.subject), term(quad.predicate), term(quad.object)))
    return dataset
