"""What a manifest states is read and written in one place; everybody else uses typed objects."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT, tracked

READER = "engine/whence/engine/record/manifest/"
PRODUCT = ("engine/", "store/", "exporters/", "app/")
ROLES = {"output", "step", "inner", "choices", "heads", "end"}
STREAM, PART = {"role", "outputs", "associations"}, {"part", "rows", "first", "last"}
KEYS = {"stream": STREAM, "each": STREAM, "s": STREAM, "part": PART, "p": PART}
"""Names that streams and parts go by, and what they have."""


def name_of(node: ast.expr) -> str:
    """What an expression is called, whatever it is an attribute of."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def key_of(node: ast.AST) -> tuple[str, str] | None:
    """What is looked up where, by a text that stands in the code."""
    if isinstance(node, ast.Subscript):
        base, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr not in ("get", "pop", "setdefault"):
            return None
        base, key = node.func.value, node.args[0]
    else:
        return None
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        return name_of(base), key.value
    return None


def texts(node: ast.expr) -> set[object]:
    """The texts of a comparison's side."""
    several = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    return {each.value for each in several if isinstance(each, ast.Constant)}


def compares_role(node: ast.AST) -> bool:
    """Whether a role is compared with its name."""
    if not isinstance(node, ast.Compare) or name_of(node.left) != "role":
        return False
    return any(texts(side) & ROLES for side in node.comparators)


def takes_mapping(node: ast.AST) -> bool:
    """Whether a parameter is a manifest, or a stream of one, as a mapping."""
    if not isinstance(node, ast.arg) or node.arg not in ("manifest", "stream"):
        return False
    return node.annotation is not None and "Mapping" in ast.unparse(node.annotation)


def untyped(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The lines that take a manifest for a dict, or a role for a text."""
    for node in ast.walk(tree):
        if (looked_up := key_of(node)) is not None:
            name, key = looked_up
            if "manifest" in name or key in KEYS.get(name, ()):
                yield getattr(node, "lineno", 0), f"{name}[{key!r}]"
        if compares_role(node) or takes_mapping(node):
            yield getattr(node, "lineno", 0), ast.unparse(node)
        if isinstance(node, ast.Constant) and node.value == "manifest.json":
            yield node.lineno, "manifest.json"


@pytest.mark.parametrize(
    "line",
    [
        'run.manifest["chunk"]',
        'self._manifest.get("chain")',
        'stream["role"]',
        'self.streams[name].stream["outputs"]',
        'part["rows"]',
        'stream.role == "output"',
        'role in ("heads", "end")',
        'folder / "manifest.json"',
        "def read(manifest: Mapping[str, Any]) -> None: ...",
    ],
)
def test_the_scan_finds_what_it_looks_for(line: str) -> None:
    assert len(list(untyped(ast.parse(line)))) == 1


def test_manifests_are_dicts_nowhere() -> None:
    files = [f for f in tracked() if str(f).endswith(".py") and str(f).startswith(PRODUCT)]
    assert sum(str(file).startswith(READER) for file in files) > 3
    found = [
        f"{file}:{line}: {what}"
        for file in files
        if not str(file).startswith(READER)
        for line, what in untyped(ast.parse((ROOT / Path(file)).read_text(encoding="utf-8")))
    ]
    assert found == []
