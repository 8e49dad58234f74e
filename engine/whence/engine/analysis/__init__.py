"""What a chain can ever need, whatever the logs hold: worked out without any run."""

from __future__ import annotations

from whence.engine.analysis.analysis import Affected, Analysis, LogUse, PipeUse, analyse

__all__ = ["Affected", "Analysis", "LogUse", "PipeUse", "analyse"]
