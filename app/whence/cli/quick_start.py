"""What makes a command begin sooner."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["leave_pandas_out"]


class _WithoutPandas(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)
        return None


def leave_pandas_out() -> None:
    """Let Arrow look for pandas now, and not find it: loading it takes longer than most commands.

    Arrow looks once, when it is first given a list, to know a pandas column when it sees one; no
    command has any. Who asks for pandas later gets it.
    """
    import pyarrow as pa

    finder = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
