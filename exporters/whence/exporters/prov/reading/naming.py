"""Prefixes and the names that are written with them."""

from __future__ import annotations

from collections.abc import Mapping

from whence.engine.errors import WhenceError

__all__ = ["PROV", "XSD", "Namespaces", "UndeclaredPrefix", "check_prov"]

PROV = "http://www.w3.org/ns/prov#"
XSD = "http://www.w3.org/2001/XMLSchema#"


class UndeclaredPrefix(WhenceError, ValueError):
    """A name whose prefix is not declared, at least not yet."""


def check_prov(iri: str, where: str) -> None:
    """Refuse a prefix ``prov`` with another namespace."""
    if iri != PROV:
        msg = (
            f"{where}: expected the prefix 'prov' to stand for {PROV}; "
            f"got {iri[:80]!r}; try the namespace of W3C PROV"
        )
        raise WhenceError(msg)


class Namespaces:
    """The prefixes that hold at one place of a file.

    Attributes:
        where: the file.
        linked: whether it is PROV-JSONLD, whose own words have no prefix.
        places: where readers remember what they made of the names of attributes.

    >>> Namespaces("a.provn", {"ex": "http://example.org/"}).iri("ex:e1")
    'http://example.org/e1'
    """

    def __init__(self, where: str, known: Mapping[str, str], *, linked: bool = False) -> None:
        """Begin with some prefixes.

        Args:
            where: the file, for messages.
            known: each prefix and its IRI; the empty prefix is for names without one.
            linked: whether it is PROV-JSONLD, whose own words have no prefix.
        """
        self.where, self.linked = where, linked
        self._known = {"prov": PROV, "xsd": XSD, **known}
        self._outer: Namespaces | None = None
        self.places: dict[str, dict[str, int]] = {}

    def within(self, known: Mapping[str, str]) -> Namespaces:
        """The same, with further prefixes; nothing is copied, however many there are."""
        inner = Namespaces(self.where, {}, linked=self.linked)
        inner._known, inner._outer = dict(known), self
        return inner

    def declare(self, known: Mapping[str, str]) -> None:
        """Add prefixes; those of the same name are replaced."""
        self._known.update(known)

    def space(self, prefix: str) -> str | None:
        """The IRI of a prefix; ``None`` if it is not declared."""
        scope: Namespaces | None = self
        while scope is not None:
            found = scope._known.get(prefix)
            if found is not None:
                return found
            scope = scope._outer
        return None

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
            UndeclaredPrefix: the prefix is not declared.
        """
        prefix, colon, local = name.partition(":")
        if not colon:
            prefix, local = "", name
        space = self.space(prefix)
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
