"""Kernels and their processors: one file each, of the same name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import pytest

from whence.engine.kernels import processors as room
from whence.engine.kernels.registry import kernel_module
from whence.engine.language.processor import Processor
from whence.engine.language.registry import processor_types
from whence.engine.processors import ApplyFunction, Each, Group, PythonProcessor

KERNELS = sorted(found.name for found in iter_modules(room.__path__))
OURS = [kind for kinds in processor_types().values() for kind in kinds]


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_has_the_name_of_its_processor_s_file(name: str) -> None:
    assert callable(import_module(f"{room.__name__}.{name}").kernel)
    assert [kind for kind in OURS if kind.__module__.endswith(f".{name}")] != []


def test_all_of_ours_have_one_but_those_that_a_plan_opens_or_a_user_writes() -> None:
    without = {kind for kind in OURS if kernel_module(kind) is None}
    # Rules run as the interpreter runs them, until they have kernels of their own.
    assert without == {Each, Group, PythonProcessor} & set(OURS)


def test_what_is_derived_from_ours_has_none() -> None:
    class Mine(ApplyFunction):
        pass

    class Other(Processor):
        pass

    assert kernel_module(Mine) is None
    assert kernel_module(Other) is None
