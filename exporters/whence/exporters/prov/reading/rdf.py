"""Read PROV-O from any syntax of RDF, quad by quad.

A relation may be said plainly, with a qualified node, or both; a qualified node names what the
plain triple says as well, so the triple adds nothing then. The graph of a quad is its bundle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from whence.engine.errors import MissingExtraError, WhenceError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes, on_one_line
from whence.exporters.prov.formats import TABLE
from whence.exporters.prov.reading.instance import Document, Instance
from whence.exporters.prov.reading.kinds import KINDS
from whence.exporters.prov.reading.naming import PROV
from whence.exporters.prov.reading.source import Source

__all__ = ["read_rdf"]

_RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_CLASSES = {
    "Entity": "entity",
    "Plan": "entity",
    "Collection": "entity",
    "EmptyCollection": "entity",
    "Bundle": "entity",
    "Activity": "activity",
    "Agent": "agent",
    "Person": "agent",
    "Organization": "agent",
    "SoftwareAgent": "agent",
}
_PLAIN = {
    **{word: word for word, kind in KINDS.items() if not kind.element},
    "wasRevisionOf": "wasDerivedFrom",
    "wasQuotedFrom": "wasDerivedFrom",
    "hadPrimarySource": "wasDerivedFrom",
}
_INVERSE = {
    "generated": "wasGeneratedBy",
    "invalidated": "wasInvalidatedBy",
    "influenced": "wasInfluencedBy",
}
_QUALIFIED: dict[str, tuple[str, tuple[str, ...]]] = {
    "qualifiedGeneration": ("wasGeneratedBy", ("activity",)),
    "qualifiedUsage": ("used", ("entity",)),
    "qualifiedCommunication": ("wasInformedBy", ("activity",)),
    "qualifiedStart": ("wasStartedBy", ("entity", "hadActivity")),
    "qualifiedEnd": ("wasEndedBy", ("entity", "hadActivity")),
    "qualifiedInvalidation": ("wasInvalidatedBy", ("activity",)),
    "qualifiedAttribution": ("wasAttributedTo", ("agent",)),
    "qualifiedAssociation": ("wasAssociatedWith", ("agent", "hadPlan")),
    "qualifiedDelegation": ("actedOnBehalfOf", ("agent", "hadActivity")),
    "qualifiedInfluence": ("wasInfluencedBy", ("influencer",)),
    **{
        f"qualified{each}": (
            "wasDerivedFrom", ("entity", "hadActivity", "hadGeneration", "hadUsage"),
        )
        for each in ("Derivation", "Revision", "Quotation", "PrimarySource")
    },
}  # fmt: skip
_INFLUENCES = {word.removeprefix("qualified"): word for word in _QUALIFIED}
_ENDS = ("influencer", "entity", "activity", "agent")
_PARTS = frozenset((*_ENDS, "hadActivity", "hadGeneration", "hadUsage", "hadPlan"))
_TIMES = {
    "startedAtTime": ("activity", 0),
    "endedAtTime": ("activity", 1),
    "generatedAtTime": ("wasGeneratedBy", 0),
    "invalidatedAtTime": ("wasInvalidatedBy", 0),
}


def read_rdf(source: Source) -> Document:
    """Read a file; blank nodes keep the labels that the parser gives them.

    Raises:
        WhenceError: it is not in this syntax.
    """
    try:
        import pyoxigraph as ox
    except ImportError as error:
        raise MissingExtraError.for_extra("prov", "pyoxigraph") from error
    document, graphs = Document(), dict[Any, _Graph]()
    where, syntax = source.where, source.format
    bytes_ = _Guarded(source.bytes(), where, source.limits, markup=syntax == "rdfxml")
    try:
        parser: Any = ox.parse(bytes_, format=getattr(ox.RdfFormat, TABLE[syntax].rdf or ""))  # type: ignore[arg-type]
        _collect(parser, graphs, document, bytes_)
        for prefix, iri in parser.prefixes.items():
            document.prefixes.setdefault(iri, prefix)
    except WhenceError:
        raise
    except (SyntaxError, ValueError, OSError, MemoryError) as fault:
        said = on_one_line(str(fault))[:200]
        msg = f"{where}: expected {syntax}; got: {said}; try mending the file, or another --format"
        raise WhenceError(msg) from fault
    for graph in graphs.values():
        graph.finish()
    return document


class _Guarded:
    """The bytes of a file, as long as quads come out of them."""

    def __init__(self, stream: LogBytes, where: str, limits: Limits, *, markup: bool) -> None:
        self._stream, self._where, self._limits, self._markup = stream, where, limits, markup
        self._last = b""
        self.since = 0

    def read(self, size: int = 1 << 20) -> bytes:
        block = self._stream.read(max(size, 1))
        self.since += len(block)
        self._limits.check("row", self.since, self._where)
        if self._markup:
            if b"<!DOCTYPE" in self._last + block:
                msg = (
                    f"{self._where}: expected RDF/XML without a document type; "
                    "got <!DOCTYPE, which can make a small file endless; try removing it"
                )
                raise WhenceError(msg)
            self._last = block[-8:]
        return block


def _collect(
    quads: Iterable[Any], graphs: dict[Any, _Graph], document: Document, bytes_: _Guarded
) -> None:
    known: dict[str, str | None] = {}
    for quad in quads:
        bytes_.since = 0
        predicate = quad.predicate.value
        word = known.get(predicate, "")
        if word == "":
            word = known[predicate] = _word(predicate)
        if word is None:
            continue
        graph = graphs.get(quad.graph_name)
        if graph is None:
            graph = graphs[quad.graph_name] = _Graph(_instance(document, quad.graph_name))
        graph.take(word, quad.subject, quad.object)


def _instance(document: Document, graph: Any) -> Instance:
    return document.bundle(_text(graph)) if hasattr(graph, "value") else document.top


def _word(predicate: str) -> str | None:
    if predicate == _RDF_TYPE:
        return "type"
    if not predicate.startswith(PROV):
        return None
    word = predicate[len(PROV) :]
    known = (_PLAIN, _INVERSE, _QUALIFIED, _PARTS, _TIMES, ("atTime", "asInBundle"))
    return word if any(word in each for each in known) else None


def _text(node: Any) -> str:
    return str(node) if type(node).__name__ == "BlankNode" else str(node.value)


class _Graph:
    """The PROV statements of one graph."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.elements: dict[str, set[int]] = {}
        self.plain: dict[str, list[tuple[int, int]]] = {}
        self.qualified: dict[str, list[tuple[int, int]]] = {}
        self.parts: dict[str, dict[int, list[int]]] = {}
        self.times: list[tuple[str, int, str]] = []
        self.at: dict[int, list[str]] = {}
        self.blank: set[int] = set()
        self.nodes: dict[int, str] = {}

    def number(self, node: Any) -> int:
        """The number of a node; what is a literal is none."""
        kind = type(node).__name__
        if kind == "NamedNode":
            return self.instance.number(node.value)
        if kind == "BlankNode":
            number = self.instance.number(str(node))
            self.blank.add(number)
            return number
        return 0

    def take(self, word: str, subject: Any, object: Any) -> None:
        one = self.number(subject)
        if word == "type":
            name = getattr(object, "value", "")
            if name.startswith(PROV):
                element = _CLASSES.get(name[len(PROV) :])
                if element is not None:
                    self.elements.setdefault(element, set()).add(one)
                    if name == PROV + "EmptyCollection":
                        self.instance.empty.add(one)
                elif (linked := _INFLUENCES.get(name[len(PROV) :])) is not None:
                    self.nodes.setdefault(one, linked)
            return
        if word in _TIMES:
            self.times.append((word, one, object.value))
            return
        if word == "atTime":
            self.at.setdefault(one, []).append(object.value)
            return
        other = self.number(object)
        if word in _PARTS or word == "asInBundle":
            self.parts.setdefault(word, {}).setdefault(one, []).append(other)
        elif word in _QUALIFIED:
            self.qualified.setdefault(word, []).append((one, other))
        elif word in _INVERSE:
            self.plain.setdefault(_INVERSE[word], []).append((other, one))
        else:
            self.plain.setdefault(_PLAIN[word], []).append((one, other))

    def finish(self) -> None:
        self._elements()
        self._loose_ends()
        told: dict[str, set[tuple[int, int]]] = {}
        for word, pairs in self.qualified.items():
            relation, parts = _QUALIFIED[word]
            seen = told.setdefault(relation, set())
            for subject, node in pairs:
                for slots in self._slots(subject, node, parts):
                    seen.add((slots[0], slots[1]))
                    self._relation(relation, node, slots)
        for relation, pairs in self.plain.items():
            seen = told.get(relation, set())
            kind = KINDS[relation]
            more = len(kind.slots) - 2
            for pair in pairs:
                if pair not in seen:
                    rest = [0] * more
                    if relation == "mentionOf":
                        rest = self.parts.get("asInBundle", {}).get(pair[0], [0])[:1]
                    self.instance.add(relation, 0, [*pair, *rest], [0] * len(kind.times))

    def _elements(self) -> None:
        instance = self.instance
        for word in ("entity", "agent"):
            for number in self.elements.get(word, ()):
                instance.add(word, number)
        rows: dict[int, list[list[int]]] = {
            number: [[0, 0]] for number in self.elements.get("activity", ())
        }
        for word, subject, text in self.times:
            relation, which = _TIMES[word]
            time = instance.time(text, relation)
            if relation != "activity":
                instance.add(relation, 0, (subject, 0), (time,))
                continue
            known = rows.setdefault(subject, [[0, 0]])
            if known[0][which]:
                known.append([0, 0])  # a second time is a second statement
            known[-1][which] = time
        for number, several in rows.items():
            for times in several:
                instance.add("activity", number, (), times)

    def _loose_ends(self) -> None:
        """A qualified node that nothing refers to leaves out what it is about."""
        for pairs in self.qualified.values():
            for _, node in pairs:
                self.nodes.pop(node, None)
        for part in ("hadGeneration", "hadUsage"):
            for several in self.parts.get(part, {}).values():
                for node in several:
                    self.nodes.pop(node, None)
        for node, word in self.nodes.items():
            self.qualified.setdefault(word, []).append((0, node))

    def _slots(self, subject: int, node: int, parts: tuple[str, ...]) -> Iterator[list[int]]:
        """The arguments of a qualified relation; once for each of several values of a part."""
        choices: list[list[int]] = [[subject]]
        for place, part in enumerate(parts):
            found = self.parts.get(part, {}).get(node)
            if not place and found is None:
                # The word for any influence may stand for the one that fits, and the other way.
                ends = _ENDS if part == "influencer" else ("influencer",)
                found = next(
                    (self.parts[e][node] for e in ends if node in self.parts.get(e, ())), None
                )
            values = found or [0]
            if part in ("hadGeneration", "hadUsage"):
                values = [0 if value in self.blank else value for value in values]
            choices.append(values)
        yield [values[0] for values in choices]
        for place, values in enumerate(choices):
            for value in values[1:]:
                yield [*(v[0] for v in choices[:place]), value,
                       *(v[0] for v in choices[place + 1 :])]  # fmt: skip

    def _relation(self, relation: str, node: int, slots: list[int]) -> None:
        instance, kind = self.instance, KINDS[relation]
        own = 0 if node in self.blank else node
        slots = slots + [0] * (len(kind.slots) - len(slots))
        texts = self.at.get(node, []) if kind.times else []
        if not texts:
            instance.add(relation, own, slots, [0] * len(kind.times))
        for text in texts:
            instance.add(relation, own, slots, [instance.time(text, relation)])
