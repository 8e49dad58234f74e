"""Arrow's functions on columns, which Arrow makes while it is loaded, so that no checker sees them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["pc"]

pc: Any = import_module("pyarrow.compute")
