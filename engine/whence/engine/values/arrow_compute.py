"""Arrow's functions on columns; it makes them while it is loaded, so no checker sees them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["pc"]

pc: Any = import_module("pyarrow.compute")
