"""No module of the engine imports itself through others, imports inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT

ENGINE = ROOT / "engine" / "whence" / "engine"

MEANT = {
    # A processor may be written as a chain of one: `a | b`, and what a notebook shows of it.
    ("whence.engine.language.processor", "whence.engine.language.chain"),
    # A function is pickled by its name, and found again among all.
    ("whence.engine.functions.base", "whence.engine.functions"),
}
"""Calls back inside one room, where an import inside a function is meant."""


def modules(engine: Path) -> dict[str, Path]:
    """The files of the engine by their dotted names."""
    found = {}
    for path in sorted(engine.rglob("*.py")):
        parts = path.relative_to(engine).with_suffix("").parts
        names = parts[:-1] if parts[-1] == "__init__" else parts
        found[".".join(("whence", "engine", *names))] = path
    return found


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """All of a module but what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from running(node)


def imports(engine: Path) -> dict[str, set[str]]:
    """What each module imports of the engine, anywhere in its code."""
    known = modules(engine)
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        graph[name] = reads = set[str]()
        for node in running(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                reads.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                reads.update(each if each in known else node.module for each in full)
        reads &= known.keys() - {name}
    return graph


def circle(engine: Path) -> list[str]:
    """Modules that import each other in turn, if there are any."""
    graph = {
        name: {read for read in reads if (name, read) not in MEANT}
        for name, reads in imports(engine).items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_module_imports_itself_through_others() -> None:
    assert circle(ENGINE) == []


def test_what_is_meant_is_there() -> None:
    graph = imports(ENGINE)
    assert [pair for pair in sorted(MEANT) if pair[1] not in graph[pair[0]]] == []


def test_the_engine_s_rooms_do_not_import_its_front_door() -> None:
    graph = imports(ENGINE)
    assert [name for name, reads in graph.items() if "whence.engine" in reads] == []


@pytest.mark.parametrize(
    "line", ["from whence.engine.values import a", "import whence.engine.values.a"]
)
def test_a_planted_circle_is_found(tmp_path: Path, line: str) -> None:
    room = tmp_path / "values"
    room.mkdir()
    (tmp_path / "__init__.py").write_text("")
    (room / "__init__.py").write_text("")
    (room / "a.py").write_text("from whence.engine.values import b\n")
    (room / "b.py").write_text(f"def late() -> None:\n    {line}\n")
    assert {"whence.engine.values.a", "whence.engine.values.b"} == set(circle(tmp_path))
    (room / "b.py").write_text(f"if TYPE_CHECKING:\n    {line}\n")
    assert circle(tmp_path) == []
