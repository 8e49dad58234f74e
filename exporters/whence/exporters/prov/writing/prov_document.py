"""A document of the ``prov`` package, built statement by statement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from whence.engine.errors import MissingExtraError
from whence.exporters.prov.identifiers import PROV, XSD, Name
from whence.exporters.prov.rows import Rows, each_statement
from whence.exporters.prov.statements import Document, Literal, Statement, Typed, clean

if TYPE_CHECKING:
    from prov.model import ProvBundle, ProvDocument

__all__ = ["prov_document"]


def prov_document(document: Document) -> ProvDocument:
    """The same statements as in the files, for programs that work with ``prov``."""
    try:
        from prov.model import ProvDocument
    except ImportError as error:
        raise MissingExtraError.for_extra("prov", "prov") from error
    made = ProvDocument()
    for space in document.namespaces:
        if space not in (PROV, XSD):  # prov knows these two
            made.add_namespace(space.prefix, space.iri)
    names = _Names(made)
    _add(made, document.top, names)
    for bundle in document.bundles:
        _add(made.bundle(names.of(bundle.name)), bundle.statements(), names)
    return made


class _Names:
    """Names of ``prov``, made from ours."""

    def __init__(self, made: ProvDocument) -> None:
        from prov.constants import PROV as PROV_SPACE
        from prov.constants import XSD as XSD_SPACE

        known = [*made.get_registered_namespaces(), PROV_SPACE, XSD_SPACE]
        self.spaces: dict[str, Any] = {each.prefix: each for each in known}

    def of(self, name: Name) -> Any:
        return self.spaces[name.space.prefix][name.local]

    def value(self, value: Name | Literal) -> Any:
        from prov.model import Literal as ProvLiteral

        if isinstance(value, Name):
            return self.of(value)
        if isinstance(value, Typed):
            return ProvLiteral(clean(value.text), self.of(value.datatype))
        return clean(value) if isinstance(value, str) else value


def _add(made: ProvBundle, statements: Iterable[Statement | Rows], names: _Names) -> None:
    from prov.constants import PROV_RECORD_IDS_MAP

    for statement in each_statement(statements):
        ends = {
            names.of(Name(PROV, role)): names.of(end)
            for role, end in zip(statement.kind.roles, statement.ends, strict=False)
            if end is not None
        }
        said = [(names.of(key), names.value(value)) for key, value in statement.attributes]
        own = None if statement.id is None else names.of(statement.id)
        made.new_record(PROV_RECORD_IDS_MAP[statement.kind.word], own, ends, said)
