"""Open a PROV document in whichever syntax it is written."""

from __future__ import annotations

import stat
from contextlib import ExitStack
from pathlib import Path

from whence.engine.errors import LogError, WhenceError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes, on_one_line, shown
from whence.exporters.prov.formats import READ, TABLE, by_ending, named, no_ending, part_of
from whence.exporters.prov.reading.instance import Document
from whence.exporters.prov.reading.naming import PROV
from whence.exporters.prov.reading.source import Source

__all__ = ["format_of", "read_document"]

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


def format_of(path: Path, given: str | None = None) -> str:
    """The syntax of a file: as given, by how its name ends, or by how it begins.

    Raises:
        WhenceError: it cannot be determined, or there is no such file.
    """
    if given is not None:
        named(given, READ)
    _there(path)
    if given is not None:
        return given
    found = by_ending(path.name.lower(), READ)
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
        begins = head.split(b">", 2)
        return "rdfxml" if b"RDF" in begins[0] + begins[-1][:200] else "prov-xml"
    if head.startswith(b"document"):
        return "prov-n"
    if found is not None:
        return found
    got = on_one_line("".join(path.suffixes))
    raise no_ending(shown(path), got, READ, "--format prov-json")


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
        source = Source(lambda: stack.enter_context(LogBytes(path, limits)), where, limits, format)
        document: Document = part_of(TABLE[format].reader or "reading.rdf:read_rdf")(source)
    if not len(document):
        msg = (
            f"{where}: expected statements of W3C PROV ({PROV}); got none; "
            "try another --format, and look at the namespace"
        )
        raise WhenceError(msg)
    return document
