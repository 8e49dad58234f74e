"""The public name of `whence.engine.language.log`."""

from __future__ import annotations

from whence.engine.language.log import COLUMN_KINDS, DECLARABLE, ROLES, Log, base_kind, check_kind

__all__ = ["COLUMN_KINDS", "DECLARABLE", "ROLES", "Log", "base_kind", "check_kind"]
