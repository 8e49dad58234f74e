"""Logs to try things on: generated, of any size, with planted faults that are known."""

from __future__ import annotations

from whence.engine.sources.generate.payments import (
    FAULTS,
    LIMIT,
    PaymentLog,
    Planted,
    payment_log,
)
from whence.engine.sources.generate.writing import FORMATS, write_log

__all__ = ["FAULTS", "FORMATS", "LIMIT", "PaymentLog", "Planted", "payment_log", "write_log"]
