"""Open a PROV document in whichever syntax it is written, and check it."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from whence.engine.errors import LogError, ParameterError, WhenceError
from whence.engine.sources.limits import Limits
from whence.engine.sources.ocel.json_stream import JsonStream
from whence.engine.sources.opening import LogBytes, on_one_line, shown
from whence.exporters.validating.checking import check
from whence.exporters.validating.instance import Document
from whence.exporters.validating.naming import PROV
from whence.exporters.validating.prov_json import read_prov_json
from whence.exporters.validating.prov_jsonld import read_prov_jsonld
from whence.exporters.validating.prov_n import read_prov_n
from whence.exporters.validating.prov_xml import read_prov_xml
from whence.exporters.validating.rdf import SYNTAXES, read_rdf
from whence.exporters.validating.report import Report

__all__ = ["FORMATS", "format_of", "read_document", "validate"]

FORMATS = {
    "prov-json": (".json", ".provjson"),
    "prov-n": (".provn", ".pn", ".asn"),
    "prov-xml": (".provx", ".xml"),
    "nquads": (".nq",),
    "ntriples": (".nt",),
    "turtle": (".ttl",),
    "trig": (".trig",),
    "jsonld": (".jsonld",),
    "prov-jsonld": (".provjsonld",),
    "rdfxml": (".rdf", ".owl"),
}
"""Each syntax, and how the names of its files end; ``.gz`` may follow."""

_HEAD = 1 << 14
_PROV_JSONLD = (b"openprovenance.org/prov-jsonld", b'"generatedEntity"', b'"Generation"')
"""What the beginning of PROV-JSONLD has, and other JSON-LD has not."""


class _Limits(Limits):
    """The limits of logs; here they are fixed."""

    def exceeded(self, name: str, where: str) -> LogError:
        """The error for more than the limit."""
        what = {
            "unpacked": "bytes after unpacking",
            "row": "bytes in one piece",
            "text": "characters in one value",
            "nesting": "levels of nesting",
        }
        most = f"{self.by_name(name):,} {what[name]}"
        return LogError(f"{where}: expected at most {most}; got more; try splitting the file")


def validate(path: str | Path, format: str | None = None, *, beyond: bool = True) -> Report:
    """Check a file by W3C PROV-CONSTRAINTS, and beyond.

    Args:
        path: the file; with ``.gz`` behind its name, or packed without, it is unpacked.
        format: one of `FORMATS`, if neither the name nor the beginning of the file says it.
        beyond: check also what the standard does not ask for: cycles across bundles, clock times.

    Raises:
        WhenceError: the file cannot be read, or is no PROV.
    """
    path = Path(path)
    chosen = format_of(path, format)
    return check(read_document(path, chosen), chosen, beyond=beyond)


def format_of(path: Path, given: str | None = None) -> str:
    """The syntax of a file: as given, by how its name ends, or by how it begins.

    Raises:
        WhenceError: it cannot be told, or there is no such file.
    """
    if given is not None and given not in FORMATS:
        known = ", ".join(FORMATS)
        msg = f"a format: expected one of {known}; got {given!r}; try prov-json"
        raise ParameterError(msg)
    _there(path)
    if given is not None:
        return given
    name = path.name.lower().removesuffix(".gz")
    found = next((f for f, ends in FORMATS.items() if name.endswith(ends)), None)
    if found not in (None, "prov-json", "prov-xml", "jsonld"):
        return found
    with LogBytes(path, _Limits()) as stream:
        head = stream.read(_HEAD).lstrip()
    if head.startswith((b"{", b"[")):
        if any(word in head for word in _PROV_JSONLD):
            return "prov-jsonld"
        linked = any(word in head for word in (b'"@context"', b'"@graph"', b'"@id"'))
        return "jsonld" if linked or head.startswith(b"[") else "prov-json"
    if head.startswith(b"<") and found == "prov-xml":
        return (
            "rdfxml"
            if b"RDF" in head.split(b">", 2)[0] + head.split(b">", 2)[-1][:200]
            else ("prov-xml")
        )
    if head.startswith(b"document"):
        return "prov-n"
    if found is not None:
        return found
    listed = ", ".join(ending for each in FORMATS.values() for ending in each)
    msg = (
        f"{shown(path)}: expected a name that ends in one of {listed} (and .gz); "
        f"got {on_one_line(''.join(path.suffixes)) or 'none of them'!r}; try --format prov-json"
    )
    raise ParameterError(msg)


def _there(path: Path) -> None:
    place = on_one_line(str(path))
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as fault:
        said = getattr(fault, "strerror", None) or str(fault)
        msg = f"a PROV document: expected the file {place}; got: {said}; try its full path"
        raise WhenceError(msg) from fault
    if not stat.S_ISREG(mode):
        msg = f"a PROV document: expected a file; got {place}, which is none; try saving it first"
        raise WhenceError(msg)


def read_document(path: Path, format: str) -> Document:
    """Read a file; a document without a single statement is none.

    Raises:
        WhenceError: the file cannot be read, or is no PROV.
    """
    where, limits = shown(path), _Limits()
    with ExitStack() as stack:
        opened: Callable[[], LogBytes] = lambda: stack.enter_context(  # noqa: E731
            LogBytes(path, limits)
        )
        if format == "prov-json":
            document = read_prov_json(lambda: JsonStream(opened(), where, limits), where)
        elif format == "prov-jsonld":
            document = read_prov_jsonld(lambda: JsonStream(opened(), where, limits), where)
        else:
            document = Document()
            if format == "prov-n":
                read_prov_n(opened(), document, where, limits)
            elif format == "prov-xml":
                read_prov_xml(opened(), document, where, limits)
            else:
                assert format in SYNTAXES
                read_rdf(opened(), document, where, limits, format)
    if not len(document):
        msg = (
            f"{where}: expected statements of W3C PROV ({PROV}); got none; "
            "try another --format, and look at the namespace"
        )
        raise WhenceError(msg)
    return document
