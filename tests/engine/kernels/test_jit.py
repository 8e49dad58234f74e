"""Compiled loops: the same without Numba, and Numba not imported before a loop runs."""

from __future__ import annotations

import subprocess
import sys

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
