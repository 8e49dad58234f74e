"""The vocabulary as an ontology in Turtle; ``ontology.ttl`` beside this file is its text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files

from whence.exporters.prov.identifiers import DCTERMS, PROV, WHENCE, XSD
from whence.exporters.vocabulary import CLASSES, PROPERTIES, VALUES

__all__ = ["SUPERS", "ontology", "shapes"]

SUPERS = {
    "Run": "Activity",
    "Work": "Activity",
    "Export": "Activity",
    "Chain": "Plan Collection",
    "Processor": "Plan",
    "Log": "Collection",
    "Stream": "Collection",
    "Input": "Entity",
    "Output": "Entity",
    "Inner": "Entity",
    "Knot": "Entity",
    "Choice": "Entity",
    "End": "Entity",
    "Range": "Collection",
    "Explains": "Derivation",
    "Trigger": "Derivation",
    "Supports": "Influence",
    "Band": "Influence",
    "Zone": "Influence",
    "Answer": "Entity",
    "Explanation": "Entity",
    "Witness": "Collection",
    "Finding": "Collection",
    "Erasure": "Activity",
    "Adjustment": "Activity",
}
"""The classes of PROV that each class belongs to."""


def ontology() -> str:
    """The ontology as Turtle: every word of the vocabulary, the same text each time."""
    return "".join(_pieces())


def shapes() -> str:
    """The SHACL shapes of the vocabulary, as Turtle."""
    return files("whence.exporters").joinpath("shapes.ttl").read_text("utf-8")


def _pieces() -> Iterator[str]:
    spaces = {
        "dcterms": DCTERMS.iri,
        "owl": "http://www.w3.org/2002/07/owl#",
        "prov": PROV.iri,
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "whence": WHENCE.iri,
        "xsd": XSD.iri,
    }
    yield from (f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in spaces.items())
    yield f"\n<{WHENCE.iri.removesuffix('#')}> a owl:Ontology ;\n"
    yield '    dcterms:title "The vocabulary of Whence"@en ;\n'
    yield '    rdfs:comment "Terms of exports beyond W3C PROV."@en .\n'
    for word, meaning in CLASSES.items():
        supers = ", ".join(f"prov:{each}" for each in SUPERS[word].split())
        yield _about(word, "owl:Class", f"rdfs:subClassOf {supers}", meaning)
    for word, meaning in PROPERTIES.items():
        value = VALUES.get(word, "string")
        if value == "Entity":
            yield _about(word, "owl:ObjectProperty", "rdfs:range prov:Entity", meaning)
        else:
            said = "" if value is None else f"rdfs:range xsd:{value}"
            yield _about(word, "owl:DatatypeProperty", said, meaning)


def _about(word: str, kind: str, said: str, meaning: str) -> str:
    lines = [f"whence:{word} a {kind}", *([said] if said else [])]
    lines.append(f"rdfs:label {json.dumps(word)}")
    lines.append(f"rdfs:comment {json.dumps(meaning, ensure_ascii=False)}@en")
    lines.append(f"rdfs:isDefinedBy <{WHENCE.iri.removesuffix('#')}>")
    return "\n" + " ;\n    ".join(lines) + " .\n"
