"""Finite-state machines."""

from __future__ import annotations

from whence.engine.palettes.fsm.moore_machine import MooreMachine

__all__ = ["PROCESSORS", "MooreMachine"]

PROCESSORS = (MooreMachine,)
"""What this palette brings; every palette has this name."""
