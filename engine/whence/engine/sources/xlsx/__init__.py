"""Workbooks of Excel (.xlsx) as logs: one sheet, a header, then one event a row."""

from __future__ import annotations

from whence.engine.sources.xlsx.source import XlsxSource

__all__ = ["XlsxSource"]
