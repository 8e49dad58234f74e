"""What a stream of a run is to its chain."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["StreamRole"]


class StreamRole(StrEnum):
    """What a stream of a run is to its chain; equal to its name in the manifest.

    >>> StreamRole("output").is_output, StreamRole.END.has_events
    (True, False)
    """

    OUTPUT = "output"
    STEP = "step"
    INNER = "inner"
    CHOICES = "choices"
    HEADS = "heads"
    END = "end"

    @property
    def is_output(self) -> bool:
        """A pipe that leaves the chain."""
        return self is StreamRole.OUTPUT

    @property
    def is_step(self) -> bool:
        """Another pipe of the chain."""
        return self is StreamRole.STEP

    @property
    def is_inner(self) -> bool:
        """A pipe inside a Slice, or a helper of a kernel."""
        return self is StreamRole.INNER

    @property
    def is_choices(self) -> bool:
        """The choices that another stream's events refer to."""
        return self is StreamRole.CHOICES

    @property
    def is_heads(self) -> bool:
        """The heads of all slices, at each output of a Slice."""
        return self is StreamRole.HEADS

    @property
    def is_end(self) -> bool:
        """The end of an output pipe."""
        return self is StreamRole.END

    @property
    def is_pipe(self) -> bool:
        """A pipe of the chain itself: what another run can read as a log."""
        return self in (StreamRole.OUTPUT, StreamRole.STEP)

    @property
    def has_pipe(self) -> bool:
        """Whether its events are those of a processor's pipe, in the chain or inside a Slice."""
        return self in (StreamRole.OUTPUT, StreamRole.STEP, StreamRole.INNER)

    @property
    def has_events(self) -> bool:
        """Whether the stream has events of its own."""
        return self not in (StreamRole.HEADS, StreamRole.END)
