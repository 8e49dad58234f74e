"""Which functions a text may name: by default none, and never one of Python's own."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from whence.engine import ApplyFunction, Chain, Cumulate, Filter, function
from whence.engine.errors import (
    DefinitionError,
    FormulaError,
    ParameterError,
    RunnerError,
    WhenceError,
)
from whence.engine.formula import formula, parse_expression
from whence.engine.functions import BY_NAME, LOADED, AllowedFunctions, checked_modules
from whence.engine.language.chain_file import dump_chain, load_chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.runners import RunOptions
from whence.engine.runners.local import selector
from whence.engine.testing import run

MODULE = """
import functools
import os
import os.path as paths
import subprocess
from pathlib import Path
from os import system as shell
from whence.engine import function

Path(__file__).with_name("imported").touch()

def double(x):
    return 2 * x

def add(x, y):
    return x + y

class Tools:
    @staticmethod
    def half(x):
        return x / 2

least = function(min, name="least")
bound = functools.partial(os.system)
table = {}
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Modules of a user's own that leave a file when they are imported, and how they are named."""
    for name in ("ours_of_test", "ours_of_test_too"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "tools.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("whence.engine.functions.user._KNOWN", {})  # as in a fresh process
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("ours_of_test")]:
        del sys.modules[name]


def imported(package: Path) -> bool:
    return any(
        (package / name / "imported").exists() for name in ("ours_of_test", "ours_of_test_too")
    )


PYTHONS_OWN = [
    "os:system",
    "os.path:exists",
    "posix:system",
    "builtins:eval",
    "builtins:exec",
    "subprocess:run",
    "importlib:import_module",
    "math:hypot",
]
FORMS = {
    "formula": "{{id: a, apply: '{path}(x)'}}",
    "call": "{{id: a, apply: {{call: '{path}', arguments: [x]}}}}",
    "inside a function": "{{id: a, apply: {{not: {{call: '{path}', arguments: [x]}}}}}}",
    "fold": "{{id: a, cumulate: '{path}'}}",
    "fold with start": "{{id: a, cumulate: {{function: '{path}', start: 0}}}}",
    "condition": "{{id: a, filter: {{where: '{path}(x)'}}}}",
    "key of a slice": "{{id: a, slice: {{by: '{path}(x)', of: {{id: b, trim: 1}}}}}}",
    "temporal": "{{id: a, formula: 'G {path}(x)'}}",
    "inside a window": "{{id: a, window: {{n: 2, of: {{id: b, cumulate: '{path}'}}}}}}",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("path", PYTHONS_OWN)
def test_a_chain_file_never_calls_pythons_own(path: str, form: str) -> None:
    with pytest.raises(DefinitionError, match=r"a function of your own; got .* standard"):
        load_chain(form.format(path=path), allow=["mypackage"])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_chain_file_imports_nothing_that_is_not_allowed(package: Path, form: str) -> None:
    text = form.format(path="ours_of_test.tools:add")
    for allow in ([], ["ours"], ["ours_of_test_too"], ["ours_of_test.other"]):
        with pytest.raises(DefinitionError, match="try --allow ours_of_test "):
            load_chain(text, allow=allow)
    assert not imported(package)
    assert not any(name.startswith("ours_of_test") for name in sys.modules)


@pytest.mark.parametrize("allow", [["ours_of_test"], ["ours_of_test.tools"], "ours_of_test"])
def test_an_allowed_module_counts_with_all_that_is_below(
    package: Path, allow: list[str] | str
) -> None:
    chain = load_chain("{id: a, apply: 'ours_of_test.tools:double(value)'}", allow=allow)
    assert run(chain, [1, 2]) == [(2, {0}), (4, {1})]
    half = load_chain("{id: a, apply: 'ours_of_test.tools:Tools.half(value)'}", allow=allow)
    assert run(half, [1]) == [(0.5, {0})]
    least = load_chain("{id: a, apply: 'ours_of_test.tools:least(value, 0)'}", allow=allow)
    assert run(least, [1]) == [(0, {0})]
    assert imported(package)


FOREIGN = [
    "os.system",
    "subprocess.run",
    "paths.exists",
    "shell",
    "bound",
    "Path",
    "Path.unlink",
    "table.get",
    "functools.partial",
]


@pytest.mark.parametrize("name", FOREIGN)
def test_what_an_allowed_module_has_from_python_is_not_its_own(package: Path, name: str) -> None:
    text = f"{{id: a, apply: 'ours_of_test.tools:{name}(x)'}}"
    with pytest.raises(DefinitionError, match=r"a function of your own; got .* standard"):
        load_chain(text, allow=["ours_of_test"])
    with pytest.raises(FormulaError, match=r"a function of your own; got .* standard"):
        ApplyFunction("a", f"ours_of_test.tools:{name}(x)")


def test_what_an_allowed_module_has_from_another_is_not_its_own(package: Path) -> None:
    (package / "ours_of_test" / "more.py").write_text("from ours_of_test_too.tools import double\n")
    text = "{id: a, apply: 'ours_of_test.more:double(value)'}"
    with pytest.raises(
        DefinitionError, match=r"defined in ours_of_test_too.*--allow ours_of_test_"
    ):
        load_chain(text, allow=["ours_of_test"])
    assert run(load_chain(text, allow=["ours_of_test", "ours_of_test_too"]), [4]) == [(8, {0})]


@pytest.mark.parametrize(
    "path",
    ["double.__globals__", "double.__class__", "Tools.__init__", "__builtins__", "__loader__.load"],
)
def test_no_path_goes_through_pythons_machinery(package: Path, path: str) -> None:
    form = "{{id: a, apply: {{call: 'ours_of_test.tools:{path}', arguments: [x]}}}}"
    with pytest.raises(DefinitionError, match="machinery"):
        load_chain(form.format(path=path), allow=["ours_of_test"])
    assert not imported(package)


@pytest.mark.parametrize("path", ["", ":", "os", "a:b:c", "a b:c", "../x:y", "a:<lambda>", 7, None])
def test_a_path_that_is_none_is_refused(path: object) -> None:
    tree = {"id": "a", "apply": {"call": path, "arguments": [1]}}
    for own in (BY_NAME, LOADED, AllowedFunctions(["a"])):
        with pytest.raises(DefinitionError, match=r"expected package\.module:name; got"):
            chain_from_tree(tree, own=own)


@pytest.mark.parametrize("modules", [["os"], ["builtins"], ["os.path"], ["mine", "subprocess"]])
def test_the_standard_library_cannot_be_allowed(modules: list[str]) -> None:
    with pytest.raises(ParameterError, match="standard library, which no chain may call"):
        checked_modules(modules)


@pytest.mark.parametrize("name", ["", "a:b", "a/b", "../a", "a b", "*", "a..b"])
def test_only_names_of_modules_can_be_allowed(name: str) -> None:
    with pytest.raises(ParameterError, match="expected its name, with dots"):
        checked_modules([name])


def test_a_condition_calls_no_function_of_ones_own(package: Path) -> None:
    for path in ("os:system", "ours_of_test.tools:double"):
        with pytest.raises(FormulaError, match="expected no function but Whence's own"):
            parse_expression(f"value > 0 and {path}('x') = 0")
        with pytest.raises(FormulaError, match="expected no function but Whence's own"):
            selector(RunOptions(True, where=f"{path}(value)"))
    assert not imported(package)


def test_a_condition_calls_none_even_if_a_chain_of_this_process_may(package: Path) -> None:
    load_chain("{id: a, apply: 'ours_of_test.tools:double(value)'}", allow=["ours_of_test"])
    with pytest.raises(FormulaError, match="expected no function but Whence's own"):
        parse_expression("ours_of_test.tools:double(value) = 2")


def test_nothing_is_imported_for_a_text_that_is_wrong_further_on(package: Path) -> None:
    with pytest.raises(FormulaError):
        parse_expression(
            "ours_of_test.tools:double(value) = = 2", AllowedFunctions(["ours_of_test"])
        )
    assert not imported(package)


def test_python_may_name_functions_in_texts_of_its_own_but_none_of_pythons(package: Path) -> None:
    assert run(ApplyFunction("a", "ours_of_test.tools:double(value)"), [2]) == [(4, {0})]
    assert run(Cumulate("a", "ours_of_test.tools:add"), [1, 2])[-1][0] == 3
    assert len(run(Filter("a", where="ours_of_test.tools:double(value) > 2"), [1, 2])) == 1
    assert formula("G (ours_of_test.tools:double(value) > 2)").id == "formula"
    for path in PYTHONS_OWN:
        for make in (lambda p: ApplyFunction("a", f"{p}(x)"), lambda p: Cumulate("a", p)):
            with pytest.raises(WhenceError, match="expected a function of your own"):
                make(path)


def test_a_live_function_of_python_goes_on_working() -> None:
    import math

    root = ApplyFunction("a", function(math.sqrt))
    assert run(root, [4.0]) == [(2.0, {0})]
    assert '"call": "math:sqrt"' in dump_chain(Chain.of(root), "json")


TREE = {
    "line": [
        {"id": "a", "apply": {"call": "ours_of_test.tools:double", "arguments": [{"input": 0}]}},
        {"id": "b", "cumulate": "ours_of_test.tools:add"},
    ]
}


def test_a_recorded_chain_is_read_by_name_and_refuses_to_compute(package: Path) -> None:
    chain = chain_from_tree(TREE)
    assert chain.tree() == TREE
    assert chain == chain_from_tree(chain.tree())
    again = pickle.loads(pickle.dumps(chain))
    assert again == chain
    for each in (chain, again):
        with pytest.raises(RunnerError, match="try --allow ours_of_test "):
            run(each, [1])
    with pytest.raises(RunnerError, match="try --allow ours_of_test "):
        chain_from_tree(TREE, own=LOADED)
    assert not imported(package)
    assert chain.digest == load_chain(json.dumps(TREE), allow=["ours_of_test"]).digest


def test_a_chain_that_was_allowed_before_is_run_again_in_the_same_process(package: Path) -> None:
    load_chain(json.dumps(TREE), allow=["ours_of_test"])
    assert run(chain_from_tree(TREE, own=LOADED), [1, 2])[-1][0] == 6


def test_pythons_own_in_a_recorded_chain_is_never_loaded() -> None:
    tree = {"id": "a", "apply": {"call": "os:system", "arguments": ["touch /tmp/x"]}}
    own = AllowedFunctions(["mypackage"], others=True)
    for chain in (chain_from_tree(tree), chain_from_tree(tree, own=own)):
        assert chain.tree() == tree
        with pytest.raises(RunnerError, match="standard library"):
            run(chain, [1])
