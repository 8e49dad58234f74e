"""RDF through libraries: TriG streamed by pyoxigraph, and a dataset for rdflib."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from whence.engine.errors import MissingExtraError
from whence.exporters.identifiers import Name
from whence.exporters.nquads import check_iri, lexical
from whence.exporters.statements import Document, Literal

if TYPE_CHECKING:
    import rdflib

__all__ = ["rdflib_dataset", "write_trig"]

Quad = tuple[Name, Name, Name | Literal, Name | None]


def _quads(document: Document) -> Iterator[Quad]:
    """Every statement of a document in RDF, with the bundle that it is in."""
    for statement in document.top:
        for triple in statement.triples():
            yield (*triple, None)
    for bundle in document.bundles:
        for statement in bundle.statements():
            for triple in statement.triples():
                yield (*triple, bundle.name)


def write_trig(document: Document, file: IO[bytes]) -> None:
    """Write TriG, statement by statement."""
    try:
        import pyoxigraph as ox
    except ImportError as error:
        raise MissingExtraError.for_extra("prov", "pyoxigraph") from error
    for space in document.namespaces:
        check_iri(space)

    def node(name: Name) -> ox.NamedNode:
        return ox.NamedNode(name.space.iri + name.local)

    def term(value: Name | Literal) -> ox.NamedNode | ox.Literal:
        if isinstance(value, Name):
            return node(value)
        text, datatype = lexical(value)
        return ox.Literal(text) if datatype is None else ox.Literal(text, datatype=node(datatype))

    default = ox.DefaultGraph()
    ox.serialize(
        (
            ox.Quad(node(s), node(p), term(o), default if graph is None else node(graph))
            for s, p, o, graph in _quads(document)
        ),
        file,
        ox.RdfFormat.TRIG,
        prefixes={space.prefix: space.iri for space in document.namespaces},
    )


def rdflib_dataset(document: Document) -> rdflib.Dataset:
    """The document as an rdflib dataset: one named graph a bundle."""
    try:
        import rdflib
    except ImportError as error:
        raise MissingExtraError.for_extra("prov", "rdflib") from error
    dataset = rdflib.Dataset()
    for space in document.namespaces:
        dataset.bind(space.prefix, space.iri, override=True, replace=True)

    def term(value: Name | Literal) -> Any:
        if isinstance(value, Name):
            return rdflib.URIRef(value.iri)
        text, datatype = lexical(value)
        return rdflib.Literal(
            text,
            datatype=None if datatype is None else rdflib.URIRef(datatype.iri),
            normalize=False,  # else -0.0 or 1e300 would be written in another way than it came
        )

    graphs: dict[Name | None, rdflib.Graph] = {None: dataset.default_graph}
    for bundle in document.bundles:
        graphs[bundle.name] = dataset.graph(rdflib.URIRef(bundle.name.iri))
    for s, p, o, graph in _quads(document):
        graphs[graph].add((rdflib.URIRef(s.iri), rdflib.URIRef(p.iri), term(o)))
    return dataset
