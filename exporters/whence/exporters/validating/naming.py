"""Prefixes and the names that are written with them."""

from __future__ import annotations

from collections.abc import Mapping

from whence.engine.errors import WhenceError

__all__ = ["PROV", "XSD", "Namespaces", "UndeclaredPrefix"]

PROV = "http://www.w3.org/ns/prov#"
XSD = "http://www.w3.org/2001/XMLSchema#"


class UndeclaredPrefix(WhenceError, ValueError):
    """A name whose prefix nobody has declared, at least not yet."""


class Namespaces:
    """The prefixes that hold at one place of a file.

    Attributes:
        where: the file.
        linked: whether it is PROV-JSONLD, whose own words have no prefix.
        known: each prefix and its IRI.
        places: where readers remember what they made of the names of attributes.

    >>> Namespaces("a.provn", {"ex": "http://example.org/"}).iri("ex:e1")
    'http://example.org/e1'
    """

    def __init__(self, where: str, known: Mapping[str, str], *, linked: bool = False) -> None:
        """Begin with some prefixes.

        Args:
            where: the file, for messages.
            known: each prefix and its IRI; the empty prefix stands for names without one.
            linked: whether it is PROV-JSONLD, whose own words have no prefix.
        """
        self.where, self.linked = where, linked
        self.known = {"prov": PROV, "xsd": XSD, **known}
        self.places: dict[str, dict[str, int]] = {}

    def within(self, known: Mapping[str, str]) -> Namespaces:
        """The same, with further prefixes."""
        return Namespaces(self.where, {**self.known, **known}, linked=self.linked)

    def key(self, name: str) -> str:
        """The name of an attribute written out."""
        if self.linked and ":" not in name:
            return name if name.startswith("@") else PROV + name
        return self.iri(name)

    def said(self, name: str) -> str:
        """A name that is only a value: written out if its prefix is known, else as it is."""
        try:
            return self.iri(name)
        except UndeclaredPrefix:
            return name

    def iri(self, name: str) -> str:
        """A name written out; what has no known prefix but looks like an IRI is one.

        Raises:
            UndeclaredPrefix: nobody says what the prefix stands for.
        """
        prefix, colon, local = name.partition(":")
        if not colon:
            prefix, local = "", name
        space = self.known.get(prefix)
        if space is not None:
            return space + local
        if name.startswith("_:") or "://" in name or name.startswith("urn:"):
            return name
        declared = "a default namespace" if not prefix else f"the prefix {prefix[:60]!r} declared"
        msg = (
            f"{self.where}: expected {declared}; got {name[:60]!r} without it; "
            "try adding the declaration"
        )
        raise UndeclaredPrefix(msg)
