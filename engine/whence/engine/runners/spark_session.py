"""The public name of `whence.engine.spark_session`."""

from __future__ import annotations

from whence.engine.spark_session import is_here, spark_session

__all__ = ["is_here", "spark_session"]
