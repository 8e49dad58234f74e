"""Values as XES writes them: XML Schema's way with space, signs and booleans, and nested values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from xml.parsers import expat

import pyarrow as pa

from whence.engine.sources.cells import converter
from whence.engine.sources.typed import Faults, typed
from whence.engine.values import Value, ValueFault
from whence.engine.values.columns import column_type

__all__ = ["KIND_OF", "Element", "decoded", "element", "nested", "one", "own_value", "values"]

KIND_OF = {
    "string": "text",
    "id": "text",
    "date": "instant",
    "int": "integer",
    "float": "float",
    "boolean": "boolean",
    "list": "any",
    "container": "any",
}
"""The kind of each type of attribute."""

_SPACE = " \t\r\n"
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_REFERENCE = re.compile(r"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([a-z]+));")
_LITERAL = re.compile(r"\r\n|[\r\n\t]")
_POINT_FIRST = re.compile(r"([-+]?)(\.[0-9]+([eE][-+]?[0-9]+)?)")
_NOT_FINITE = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def decoded(raw: str) -> str:
    """What an attribute's text in the file means.

    >>> decoded("A &amp; B &#233;")
    'A & B é'
    """
    return _REFERENCE.sub(_referred, _LITERAL.sub(" ", raw))


def _referred(found: re.Match[str]) -> str:
    if found[3]:
        return _NAMED.get(found[3], found[0])
    return chr(int(found[1], 16) if found[1] else int(found[2]))


def one(kind: str, text: str, zone: tzinfo) -> Value:
    """Read one value.

    >>> from datetime import UTC
    >>> one("integer", " 7", UTC), one("boolean", "TRUE", UTC)
    (7, True)

    Raises:
        ValueFault: it is not of this kind.
    """
    if kind == "text":
        return text
    bare = text.strip(_SPACE)
    if kind == "boolean":
        if bare.lower() not in _BOOLEANS:
            raise ValueFault("true or false", repr(text[:60]), "the kind text (--type NAME=text)")
        return _BOOLEANS[bare.lower()]
    if kind == "float":
        if bare in _NOT_FINITE:
            return _NOT_FINITE[bare]
        if found := _POINT_FIRST.fullmatch(bare):
            bare = f"{found[1]}0{found[2]}"
    convert: Callable[[str], Value] | None = converter(kind, zone)
    assert convert is not None
    return convert(bare)


def values(kind: str, texts: pa.Array, timezone: str, zone: tzinfo) -> tuple[pa.Array, Faults]:
    """Read many values of one kind; null where one does not fit, or where there was none."""
    made, faults = typed(texts, kind, timezone)
    if not faults:
        return made, faults
    found = made.to_pylist()
    left: Faults = []
    for index, _ in faults:
        try:
            found[index] = one(kind, texts[index].as_py(), zone)
        except ValueFault as fault:
            left.append((index, fault))
    return pa.array(found, column_type(kind)), left


@dataclass
class Element:
    """An attribute with all that is in it.

    Attributes:
        name: the element's name, without prefix.
        own: its key and value, as far as they are there.
        inside: its children.
    """

    name: str
    own: dict[str, str]
    inside: list[Element] = field(default_factory=list)


def element(data: bytes) -> Element:
    parser = expat.ParserCreate("utf-8")
    stack = [Element("", {})]

    def start(name: str, attributes: dict[str, str]) -> None:
        made = Element(name.rpartition(":")[2], attributes)
        stack[-1].inside.append(made)
        stack.append(made)

    def end(_: str) -> None:
        stack.pop()

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(data, True)
    return stack[0].inside[0]


def own_value(given: Element, zone: tzinfo) -> Value:
    """An attribute's value without what is nested in it; of lists and containers, what they list.

    Raises:
        ValueFault: something in it does not fit.
    """
    if given.name not in KIND_OF:
        raise ValueFault("an attribute", f"<{given.name}>", "one of " + ", ".join(KIND_OF))
    if given.name in ("list", "container"):
        return [{_key(item): _with_nested(item, zone)} for item in _listed(given)]
    if "value" not in given.own:
        raise ValueFault("an attribute with a value", "none", 'value="..."')
    return one(KIND_OF[given.name], given.own["value"], zone)


def nested(given: Element, zone: tzinfo) -> dict[str, Value]:
    """The attributes of an attribute.

    Raises:
        ValueFault: something in it does not fit, or is there twice.
    """
    made: dict[str, Value] = {}
    if given.name in ("list", "container"):
        has_values = any(child.name == "values" for child in given.inside)
        inside = [child for child in given.inside if has_values and child.name != "values"]
    else:
        inside = given.inside
    for child in inside:
        key = _key(child)
        if key in made:
            raise ValueFault("keys that differ", f"{key!r} twice", "a list")
        made[key] = _with_nested(child, zone)
    return made


def _listed(given: Element) -> list[Element]:
    for child in given.inside:
        if child.name == "values":
            return child.inside
    return given.inside


def _with_nested(given: Element, zone: tzinfo) -> Value:
    value = own_value(given, zone)
    inside = nested(given, zone)
    return {"value": value, "nested": inside} if inside else value


def _key(given: Element) -> str:
    if "key" not in given.own:
        raise ValueFault("an attribute with a key", f"<{given.name}> without", 'key="..."')
    return given.own["key"]
