"""A stream of a run, as the run's manifest lists it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from whence.engine.language.stream_roles import StreamRole
from whence.engine.lineage.positions import Intervals
from whence.engine.record.manifest.parts import Parts
from whence.engine.record.manifest.stated import Stated

__all__ = ["LISTS", "Listed", "StreamInfo"]

Listed = Literal["outputs", "associations"]
LISTS: tuple[Listed, Listed] = ("outputs", "associations")
"""What a stream has parts of."""


@dataclass(frozen=True, kw_only=True)
class StreamInfo(Stated):
    """A stream of a run.

    Attributes:
        name: such as ``total``, ``fork.1`` or, inside a Slice, ``per-case/order``.
        processor: the processor that it comes from.
        pipe: which of its pipes.
        role: what it is to the chain.
        w: inside a Slice, how many positions belong to one of the whole stream; else 1.
        length: how many events are in complete parts.
        tracked: how many of them have associations.
        outputs: the parts of its events.
        associations: the parts of what these refer to.
        unselected: of the erased events those that ``where`` had left out.
        erased: the events whose values were erased.
    """

    name: str
    processor: str
    pipe: int
    role: StreamRole
    w: int
    length: int
    tracked: int
    outputs: Parts
    associations: Parts
    unselected: Intervals = ()
    erased: Intervals = ()

    @classmethod
    def new(cls, name: str, processor: str, pipe: int, role: StreamRole, w: int) -> StreamInfo:
        """A stream without parts."""
        return cls(
            name=name,
            processor=processor,
            pipe=pipe,
            role=role,
            w=w,
            length=0,
            tracked=0,
            outputs=Parts(),
            associations=Parts(),
        )

    def parts(self, what: Listed) -> Parts:
        """The parts of its outputs or of its associations."""
        return self.outputs if what == "outputs" else self.associations

    def without_parts(self) -> StreamInfo:
        """The same before its first part."""
        return replace(self, length=0, tracked=0, outputs=Parts(), associations=Parts())

    def with_more(self, later: StreamInfo) -> StreamInfo:
        """The same stream as stated later, whose lists have only the parts added since."""
        return replace(
            later,
            outputs=self.outputs.with_more(later.outputs),
            associations=self.associations.with_more(later.associations),
        )
