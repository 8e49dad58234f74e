"""Every IRI of an export is minted here: the same thing has the same name in every export.

A name is a namespace and a local part. Text that comes from outside (ids of runs, processors and
logs) is percent-encoded into the namespace; the local part is made of letters, digits, ``-`` and
``_`` alone and begins with a letter, so that it is a name in every syntax of PROV.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import NamedTuple
from urllib.parse import quote

from whence.engine.errors import ParameterError

__all__ = [
    "DCTERMS",
    "PROV",
    "RDF",
    "ROOT",
    "WHENCE",
    "XSD",
    "Name",
    "Namespace",
    "link",
    "mint",
    "minted",
]

ROOT = "urn:whence:"
"""Begins every IRI of Whence's own."""

_LOCAL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def mint(*segments: str) -> str:
    """The IRI of a namespace: the segments, percent-encoded, with a colon behind each.

    >>> mint("log", "5f0c")
    'urn:whence:log:5f0c:'
    >>> mint("run", "r 1", "a:b/é")
    'urn:whence:run:r%201:a%3Ab%2F%C3%A9:'
    """
    return ROOT + "".join(quote(s, safe="", errors="surrogatepass") + ":" for s in segments)


class Namespace(NamedTuple):
    """What the names of one thing's parts have in common.

    Attributes:
        prefix: the short form in this document; it means nothing outside it.
        iri: the long form.
    """

    prefix: str
    iri: str

    def name(self, local: str) -> Name:
        """A name in this namespace.

        >>> Namespace("log", mint("log", "5f0c")).name("e17").iri
        'urn:whence:log:5f0c:e17'
        """
        if not _LOCAL.fullmatch(local):
            msg = f"a local name: expected letters, digits, - and _; got {local!r}; try 'e17'"
            raise ParameterError(msg)
        return Name(self, local)

    def event(self, position: int) -> Name:
        """The event at a position of this log or stream."""
        return Name(self, f"e{position}")


class Name(NamedTuple):
    """An identifier, in its short and in its long form."""

    space: Namespace
    local: str

    @property
    def iri(self) -> str:
        """The long form."""
        return self.space.iri + self.local

    @property
    def short(self) -> str:
        """The short form, ``prefix:local``."""
        return f"{self.space.prefix}:{self.local}"


PROV = Namespace("prov", "http://www.w3.org/ns/prov#")
XSD = Namespace("xsd", "http://www.w3.org/2001/XMLSchema#")
RDF = Namespace("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#")
DCTERMS = Namespace("dcterms", "http://purl.org/dc/terms/")
WHENCE = Namespace("whence", ROOT + "ns#")


def minted(prefix: str, *path: str) -> Namespace:
    """The namespace of a thing and of what belongs to it, by its path.

    ``log, ID`` is a log with its events: the same in every run. ``chain, DIGEST`` is a definition,
    and with a processor's id the processor's. ``agent, NAME``, ``engine, VERSION``, ``erasure, ID``
    and ``run, ID`` are what they say. ``run, ID, PROCESSOR`` is a processor at work, and with a
    pipe an output pipe and its events; before the pipe's number stands ``heads`` or ``end`` where
    not the events of the pipe are meant, but what the record calls so.
    """
    return Namespace(prefix, mint(*path))


@cache
def link(space: Namespace) -> str:
    """A short stand-in for a namespace inside a local name: relations name their other end by it.

    >>> len(link(minted("log", "log", "5f0c")))
    12
    """
    return hashlib.sha256(space.iri.encode()).hexdigest()[:12]
