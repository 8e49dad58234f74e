"""Worked cases: small chains with outputs, explanations and supports, and how to check them."""

from __future__ import annotations

from whence.engine.vectors.check import RUNNERS, Report, check_file

__all__ = ["RUNNERS", "Report", "check_file"]
