"""Compiled loops: the same without Numba, and Numba not imported before a loop runs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.engine.kernels.comparing import difference
from tests.engine.random_chains import random_case
from whence.engine.kernels import folds, jit, totals, window_folds, window_loops


def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the loops as Python does."""
    for module, users in ((folds, (totals,)), (window_loops, (window_folds,))):
        for name in module.__all__:
            loop = getattr(getattr(module, name), "__wrapped__", None)
            if loop is not None:
                for user in users:
                    if hasattr(user, name):
                        monkeypatch.setattr(user, name, loop)


def test_without_numba_all_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    _plain(monkeypatch)
    assert vars(totals)["fold_numbers"] is not folds.fold_numbers
    for seed in range(60):
        told = difference(random_case(seed, ("cumulate", "window", "slice", "apply")))
        assert told is None, f"seed {seed}: {told}"


def test_numba_is_here_in_the_development_environment() -> None:
    assert jit.is_compiled()


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
        assert not jit.is_compiled()
        assert double(4) == 8
    finally:
        jit._compiler.cache_clear()


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
