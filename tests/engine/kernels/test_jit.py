"""Compiled loops: the same without Numba, and Numba not imported before a loop runs."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.comparing import difference
from tests.engine.random_chains import random_case
from whence.engine import kernels
from whence.engine.kernels.folds import window_loops
from whence.engine.values import jit

MODULES = [
    import_module(found.name) for found in walk_packages(kernels.__path__, f"{kernels.__name__}.")
]
COMPILED = jit.jit(lambda: None).__code__
"""The code of every function that `jit` made."""


def test_without_numba_all_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is where few rows run: whatever was compiled before runs as plain Python does."""
    monkeypatch.setattr(jit, "FEW", 2**60)
    loops = 0
    for module in MODULES:
        for name, found in vars(module).items():
            if getattr(found, "__code__", None) is COMPILED:
                loops += 1
                monkeypatch.setattr(module, name, partial(jit._plain, found.__wrapped__))
    assert loops > 15
    for seed in range(120):
        told = difference(random_case(seed))
        assert told is None, f"seed {seed}: {told}"
        told = difference(random_case(seed, ("cumulate", "window", "slice", "apply")))
        assert told is None, f"seed {seed}: {told}"


def test_numba_is_here_in_the_development_environment() -> None:
    assert jit.is_compiled(1)


def test_nothing_but_a_loop_imports_numba() -> None:
    code = (
        "import sys, whence.engine, whence.engine.kernels.work, whence.cli\n"
        "sys.exit('numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_numba_a_loop_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    jit._compiler.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)

    @jit.jit
    def double(x: int) -> int:
        return 2 * x

    try:
        assert not jit.is_compiled(1)
        assert double(4) == 8
    finally:
        jit._compiler.cache_clear()


def test_a_loop_is_compiled_once_it_has_had_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "FEW", 100)
    monkeypatch.setattr(jit._Counted, "rows", 0)
    ran: list[int] = []

    @jit.jit
    def add(numbers: Any, more: int) -> int:
        total = 0
        for number in numbers:
            total += number
        return total + more

    def plain(loop: Any, numbers: Any, more: int) -> Any:
        ran.append(len(numbers))
        return loop(numbers, more)

    monkeypatch.setattr(jit, "_plain", plain)
    for length in (60, 39, 0, 1, 5):
        assert add(np.ones(length, np.int64), 7) == length + 7
    assert ran == [60, 39, 0]


def test_where_nothing_can_be_kept_on_disk_loops_are_compiled_all_the_same() -> None:
    """As in a package that nobody may write, run by somebody without a home."""
    names: dict[str, Any] = {}
    exec("def double(x):\n    return 2 * x\n", names)  # what has no file has no folder
    compiler = jit._compiler()
    assert compiler is not None
    double = compiler(names["double"])
    assert double(4) == 8
    assert double.signatures


@pytest.mark.parametrize("product", [False, True])
def test_windows_by_whole_arrays_are_those_of_the_loop(product: bool) -> None:
    random = np.random.default_rng(4)
    for n in (1, 2, 3, 7):
        for early in range(n):
            before, values = (random.integers(-2, 4, size) for size in (early, 40))
            made = []
            for loop in (window_loops.steady_windows, window_loops.steady_arrays):
                count = early + len(values) - n + 1
                out, lo, hi = np.empty((3, count), np.int64)
                place = np.empty(count + n, np.int64)
                runs = loop(product, before, values, n, 10, out, lo, hi, place)
                made.append([a.tolist() for a in (out, lo[:runs], hi[:runs], place[:runs])])
            assert made[0] == made[1], (n, early)
    few = np.full(9, 11)
    assert window_loops.steady_arrays(product, few[:0], few, 2, 10, few, few, few, few) == -1
