"""The one table of PROV formats: what each is called, and what reads and writes it.

Commands, the page and the manual follow this table. A new syntax is a row here, a module with its
writer or reader, and a row in ``docs/how-to/export-prov.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from whence.engine.errors import ParameterError

__all__ = [
    "BUNDLES",
    "FORMATS",
    "IMPORTED",
    "OFFERED",
    "READ",
    "RUN_FORMATS",
    "TABLE",
    "Endings",
    "Format",
    "by_ending",
    "format_of",
    "named",
    "no_ending",
    "part_of",
]


@dataclass(frozen=True)
class Format:
    """A syntax of PROV.

    Attributes:
        name: as ``--format`` takes it.
        title: as people write it.
        endings: of the names of its files; the first is the usual one, ``.gz`` may follow.
        media: the media type.
        writer: module and function below ``whence.exporters.prov``; ``None``: as RDF.
        reader: likewise.
        rdf: pyoxigraph's name, if it is a syntax of RDF.
        exported: whether it is written; else it is read only.
        imported: whether runs come back from it.
        bundles: whether it can hold bundles.
        offered: whether the page offers it.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    media: str
    writer: str | None = None
    reader: str | None = None
    rdf: str | None = None
    exported: bool = True
    imported: bool = False
    bundles: bool = True
    offered: bool = False


TABLE = {
    row.name: row
    for row in (
        Format(
            "prov-json", "PROV-JSON", (".json", ".provjson"), "application/json",
            "writing.prov_json:prov_json", "reading.prov_json:read_prov_json",
            imported=True, offered=True,
        ),
        Format(
            "prov-n", "PROV-N", (".provn", ".pn", ".asn"),
            "text/provenance-notation; charset=utf-8",
            "writing.prov_n:prov_n", "reading.prov_n:read_prov_n", offered=True,
        ),
        Format(
            "prov-xml", "PROV-XML", (".provx", ".xml"), "application/provenance+xml",
            "writing.prov_xml:prov_xml", "reading.prov_xml:read_prov_xml",
        ),
        Format(
            "prov-jsonld", "PROV-JSONLD", (".provjsonld",), "application/ld+json",
            "writing.prov_jsonld:prov_jsonld", "reading.prov_jsonld:read_prov_jsonld",
        ),
        Format(
            "nquads", "N-Quads", (".nq",), "application/n-quads",
            "writing.nquads:nquads", rdf="N_QUADS", imported=True,
        ),
        Format("trig", "TriG", (".trig",), "application/trig", rdf="TRIG", imported=True),
        Format("turtle", "Turtle", (".ttl",), "text/turtle", rdf="TURTLE", bundles=False),
        Format(
            "jsonld", "JSON-LD", (".jsonld",), "application/ld+json", rdf="JSON_LD", imported=True
        ),
        Format(
            "ntriples", "N-Triples", (".nt",), "application/n-triples",
            rdf="N_TRIPLES", exported=False, bundles=False,
        ),
        Format(
            "rdfxml", "RDF/XML", (".rdf", ".owl"), "application/rdf+xml",
            rdf="RDF_XML", exported=False, bundles=False,
        ),
    )
}  # fmt: skip
"""Every format by its name."""

Endings = Mapping[str, tuple[str, ...]]

READ: Endings = {row.name: row.endings for row in TABLE.values()}
"""The formats that are read, and how the names of their files end."""

FORMATS: Endings = {row.name: row.endings for row in TABLE.values() if row.exported}
"""The formats that are written, likewise."""

RUN_FORMATS: Endings = {**FORMATS, "openlineage": (".openlineage",)}
"""The same of runs, which have one more that is no PROV."""

BUNDLES = frozenset(name for name in FORMATS if TABLE[name].bundles)
"""The written formats that can hold bundles."""

IMPORTED = tuple(row.name for row in TABLE.values() if row.imported)
"""The formats from which runs come back."""

OFFERED = tuple(row for row in TABLE.values() if row.offered)
"""The formats that the page offers."""


def part_of(place: str) -> Any:
    """A reader or writer, loaded when it is used."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"whence.exporters.prov.{module}"), name)


def named(given: str, known: Endings) -> str:
    """The name of a format, if it is one.

    Raises:
        ParameterError: it is none of the known ones.
    """
    if given not in known:
        msg = f"a format: expected one of {', '.join(known)}; got {given!r}; try prov-json"
        raise ParameterError(msg)
    return given


def by_ending(name: str, known: Endings) -> str | None:
    """The format whose files end as this name does, less ``.gz``."""
    bare = name.removesuffix(".gz")
    return next((format for format, ends in known.items() if bare.endswith(ends)), None)


def no_ending(shown: str, got: str, known: Endings, hint: str) -> ParameterError:
    """The error for a file whose name does not determine its format."""
    listed = ", ".join(ending for each in known.values() for ending in each)
    msg = (
        f"{shown}: expected a name that ends in one of {listed} (and .gz); "
        f"got {got or 'none of them'!r}; try {hint}"
    )
    return ParameterError(msg)


def format_of(path: Path, given: str | None = None, known: Endings = FORMATS) -> str:
    """The format in which a file is written: as given, else as its name ends.

    >>> format_of(Path("why.nq.gz"))
    'nquads'

    Raises:
        ParameterError: there is no such format, or the name does not determine it.
    """
    if given is not None:
        return named(given, known)
    found = by_ending(path.name, known)
    if found is None:
        raise no_ending(path.name, "".join(path.suffixes), known, "why.json")
    return found
