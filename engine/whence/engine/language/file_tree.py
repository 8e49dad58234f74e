"""Read YAML or JSON as a plain tree that knows the line and column of everything in it.

YAML is read in the sense of JSON: only ``true`` and ``false`` are booleans (never ``yes``, ``on``),
only ``null``, ``~`` and nothing are null, numbers look as in JSON, and every key is a text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from whence.engine.errors import DefinitionError

__all__ = ["FileTree", "add_scalar_forms", "read_tree", "too_deep"]

Path = tuple[str | int, ...]
Place = tuple[int, int]

INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)$")
FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)$")
_SCALARS = {
    "bool": (re.compile(r"(?:true|false)$"), "tf"),
    "null": (re.compile(r"(?:null|~|)$"), ["n", "~", ""]),
    "int": (INTEGER, "-0123456789"),
    "float": (FLOAT, "-0123456789"),
}
_TAG = "tag:yaml.org,2002:"
_DIGITS = 4300
"""Python reads no longer integers from text; no parameter takes one of a hundredth of it."""


@dataclass
class FileTree:
    """A tree of mappings, lists and values, with places.

    Attributes:
        tree: what was read.
        keys: where the key of a path is, as line and column from 1.
        values: where the value of a path is.
    """

    tree: Any = None
    keys: dict[Path, Place] = field(default_factory=dict)
    values: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Where a path is; if it does not exist, its nearest ancestor."""
        while path:
            if key and path in self.keys:
                return self.keys[path]
            if path in self.values:
                return self.values[path]
            path = path[:-1]
        return self.values.get((), (1, 1))


def add_scalar_forms(kind: Any) -> None:
    """Let a YAML loader or dumper know which plain words are not texts."""
    for name, (pattern, first) in _SCALARS.items():
        kind.add_implicit_resolver(_TAG + name, pattern, list(first))


class _Loader(yaml.SafeLoader):
    """Composes nodes only; none of YAML's own constructors is ever called."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  as PyYAML declares it

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse aliases, with which a small file could unfold to a huge one."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise _fault(event.start_mark, "each part written out", f"the alias *{event.anchor}",
                         "a copy of the value")  # fmt: skip
        return super().compose_node(parent, index)


add_scalar_forms(_Loader)


class _Fault(DefinitionError):
    """An error that already knows its place."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


def _fault(mark: Any, expected: str, got: str, hint: str) -> _Fault:
    place = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    return _Fault(place, f"expected {expected}; got {got}; try {hint}")


def read_tree(text: str, name: str, *, form: str = "") -> FileTree:
    """Read text as a tree.

    Args:
        text: YAML or JSON.
        name: what errors call it.
        form: ``json`` or ``yaml``; found out unless given.

    Raises:
        DefinitionError: with name, line and column.

    >>> read_tree("on: [1, yes]", "text").tree
    {'on': [1, 'yes']}
    """
    try:
        is_json = form == "json" or (not form and _is_json(text))
        made = _read_json(text) if is_json else _read_yaml(text)
        _check_texts(made.tree, (), made)
        return made
    except _Fault as fault:
        line, column = fault.place
        msg = f"{name}, line {line}, column {column}: {fault}"
        raise DefinitionError(msg) from fault
    except RecursionError as fault:
        raise too_deep(name) from fault


def too_deep(name: str) -> DefinitionError:
    """The error for a file nested so deep that Python cannot follow."""
    msg = f"{name}: expected less nesting; got hundreds of levels; try Groups side by side"
    return DefinitionError(msg)


def _check_texts(part: Any, path: Path, made: FileTree) -> None:
    """Refuse half of a pair of surrogates: JSON can write one, and it is no text."""
    if isinstance(part, str) and not part.isascii():
        try:
            part.encode()
        except UnicodeEncodeError as error:
            got = f"half of a character, U+{ord(part[error.start]):04X}"
            place = made.values.get(path, (1, 1))
            raise _Fault(place, f"expected text; got {got}; try the whole character") from error
    elif isinstance(part, dict):
        for key, value in part.items():
            _check_texts(key, (*path, key), made)
            _check_texts(value, (*path, key), made)
    elif isinstance(part, list):
        for number, value in enumerate(part):
            _check_texts(value, (*path, number), made)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


def _read_yaml(text: str) -> FileTree:
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise _Fault(
            (line, column),
            f"expected printable text; got the character U+{ord(str(error.character)[0]):04X}; "
            "try removing it",
        ) from error
    except yaml.MarkedYAMLError as error:
        problem = error.problem or error.context or "something else"
        got = "a tab" if _is_tab(problem) else problem.rpartition("but found ")[2]
        raise _fault(
            error.problem_mark or error.context_mark, "YAML", got, _yaml_hint(problem)
        ) from error
    made = FileTree()
    made.tree = _value(root, (), made) if root is not None else None
    return made


def _is_tab(problem: str) -> bool:
    return "\\t" in problem or "'\t'" in problem


def _yaml_hint(problem: str) -> str:
    if _is_tab(problem):
        return "spaces for indentation"
    return "quotes around a whole formula, or `|` and the formula on the next line"


def _value(node: Any, path: Path, made: FileTree) -> Any:
    made.values[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.SequenceNode):
        _plain_tag(node, "seq")
        return [_value(item, (*path, i), made) for i, item in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        _plain_tag(node, "map")
        return _mapping(node, path, made)
    return _scalar(node)


def _mapping(node: Any, path: Path, made: FileTree) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _fault(key_node.start_mark, "a text as key", "a list or mapping", "a name")
        key = str(key_node.value)
        if key in mapping:
            raise _fault(key_node.start_mark, "each key once", f"{key!r} twice", "removing one")
        made.keys[(*path, key)] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        mapping[key] = _value(value_node, (*path, key), made)
    return mapping


def _plain_tag(node: Any, name: str) -> None:
    if node.tag != _TAG + name:
        shown = node.tag.removeprefix(_TAG)
        raise _fault(node.start_mark, "plain YAML", f"the tag {shown!r}", "quotes around a text")


def _scalar(node: Any) -> Any:
    text = str(node.value)
    kind = node.tag.removeprefix(_TAG)
    if kind == "str":
        return text
    if kind == "bool" and text in ("true", "false"):
        return text == "true"
    if kind == "null":
        return None
    if kind == "int" and INTEGER.match(text):
        if len(text) > _DIGITS:
            got = f"one of {len(text):,} digits"
            raise _fault(node.start_mark, "a number", got, f"fewer than {_DIGITS:,}")
        return int(text)
    if kind == "float" and (FLOAT.match(text) or INTEGER.match(text)):
        return float(text)
    raise _fault(node.start_mark, "plain YAML", f"{text!r} tagged {kind!r}", "no tag")


def _read_json(text: str) -> FileTree:
    def pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(given)
        if len(made) < len(given):
            raise _PlacedByYamlError
        return made

    def constant(word: str) -> Any:
        line = text.count("\n", 0, text.find(word)) + 1
        raise _Fault((line, 1), f'expected JSON; got {word}; try {{"float": "{word}"}}')

    def integer(digits: str) -> int:
        if len(digits) > _DIGITS:
            raise _PlacedByYamlError
        return int(digits)

    try:
        tree = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_int=integer)
    except json.JSONDecodeError as error:
        msg = f"expected JSON; got {error.msg}; try a comma, a quote or a bracket here"
        raise _Fault((error.lineno, error.colno), msg) from error
    except _PlacedByYamlError:
        # The places, and with them the error, come from the YAML reader: JSON is YAML.
        return _json_places(text)
    made = FileTree(tree)
    try:
        places = _json_places(text)
        made.keys, made.values = places.keys, places.values
    except _Fault:
        # JSON that YAML cannot read; errors then name the path without its line.
        pass
    return made


def _json_places(text: str) -> FileTree:
    return _read_yaml(text.replace("\t", " "))


class _PlacedByYamlError(Exception):
    """JSON has a key twice, or too long an integer: the YAML reader says so with the place."""
