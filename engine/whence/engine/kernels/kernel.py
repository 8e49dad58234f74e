"""What a kernel is: a processor at work on batches, for all instances of its chain at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from whence.engine.errors import EventError
from whence.engine.interpreter.pending import InSlices
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Column, Ints, from_values
from whence.engine.kernels.columns.lazy_ints import Counted, Numbers, made
from whence.engine.kernels.columns.texts import Texts
from whence.engine.kernels.trails.entries import ASKED, NONE, WHOLE, Entries, Names
from whence.engine.kernels.trails.trail import Line, Nothing, Sets, Spans, Trail
from whence.engine.language.events import Position, position_text
from whence.engine.language.processor import MachineFactory, Processor
from whence.engine.language.stream_roles import StreamRole
from whence.engine.language.traits import Traits
from whence.engine.lineage.association import INNER_WIDTH, too_many_inside
from whence.engine.values import ValueFault

if TYPE_CHECKING:
    from whence.engine.interpreter.plan import Plan

__all__ = ["Born", "Heads", "Kept", "Kernel", "Part", "Place", "Run", "State"]

State = Mapping[str, object]
"""What a kernel keeps between batches: arrays and plain values, by name."""


@dataclass(frozen=True, slots=True)
class Born:
    """The instances that begin with this batch.

    Attributes:
        slots: their numbers, in order.
        moments: the input that each begins with.
        count: how many instances there are by now.
    """

    slots: Ints
    moments: Ints
    count: int


class Part(NamedTuple):
    """Some events of a kept stream, for the record."""

    positions: Numbers
    moments: Numbers
    values: Column | None
    why: Trail
    sup: Trail


@dataclass(slots=True)
class Kept:
    """A stream of which the record keeps every event: others lead to it and no further.

    Attributes:
        name: as in the record.
        processor: the processor's full id.
        pipe: its output pipe.
        role: what it is to the chain.
        w: by what the outer position is multiplied, inside a Slice.
        target: its number.
        parts: what was added since somebody last took it away.
        count: how many events it has.
        last: inside a Slice, the outer position of the last one.
        run: how many there are at that position so far.
        asked: the positions that were worked out for some moments, until these are added.
    """

    name: str
    processor: str
    pipe: int
    role: StreamRole
    w: int
    target: int
    parts: list[Part] = field(default_factory=list)
    count: int = 0
    last: int = -1
    run: int = 0
    asked: tuple[Ints, Ints] | None = None

    def add(self, moments: Numbers, values: Column | None, why: Trail, sup: Trail) -> Trail:
        """Take in some events; return the trail that leads to each of them.

        Args:
            moments: of the whole chain, when each appeared.
            values: what they hold; ``None`` for a helper that holds nothing.
            why: what explains each.
            sup: what supports each.
        """
        size = len(moments)
        if not size:
            return Nothing(0)
        trail: Trail
        if self.w == 1:
            part = Part(Counted(self.count, size), moments, values, why, sup)
            trail = Line(self.target, ASKED, size, self.count, self.count)
        else:
            moments = made(moments)
            positions = self.positions(moments)
            self.asked = None
            part = Part(positions, moments, values, why, sup)
            trail = Spans(self.target, ASKED, positions, positions)
            self.last = int(moments[-1])
            self.run = int(positions[-1]) - self.last * self.w + 1
        self.count += size
        self.parts.append(part)
        return trail

    def positions(self, moments: Ints) -> Ints:
        """The positions that the next events will have, if they appear at these moments.

        Raises:
            EventError: more events at one position of the whole stream than there are numbers.
        """
        if self.w == 1:
            return np.arange(self.count, self.count + len(moments))
        if self.asked is None or self.asked[0] is not moments:
            self.asked = (moments, self._inside(moments))
        return self.asked[1]

    def _inside(self, moments: Ints) -> Ints:
        first = self.run if len(moments) and moments[0] == self.last else 0
        if first < self.w and bool((moments[1:] > moments[:-1]).all()):
            positions = moments * self.w
            positions[:1] += first
            return positions
        begins = np.flatnonzero(np.diff(moments, prepend=moments[0] - 1))
        sizes = np.diff(np.append(begins, len(moments)))
        index = np.arange(len(moments)) - np.repeat(begins, sizes)
        index[: sizes[0]] += first
        if int(index.max()) >= self.w:
            at = int(moments[index.argmax()])
            raise too_many_inside(self.processor, self.name, at, self.w)
        return moments * self.w + index


@dataclass(slots=True)
class Heads:
    """The heads of a Slice's slices: position p leads to the head of every slice at output p.

    Attributes:
        name: as in the record.
        processor: the Slice's full id.
        target: its number.
        head_target: the stream of the heads themselves.
        changes: output position, slot and head's position of every slice that changed, in order;
            whoever writes the record takes them away.
    """

    name: str
    processor: str
    target: int
    head_target: int
    changes: list[tuple[Ints, Ints, Ints]] = field(default_factory=list)


class Run:
    """What all kernels of a run share.

    Attributes:
        texts: the numbers of texts.
        names: the numbers of targets and field sets.
        tracked: whether trails are built.
        closed: whether the logs will be closed at the end.
        steps: whether every processor's events are kept.
        kept: the streams that the record keeps, by name.
        heads: the heads of Slices, by name.
        lengths: how many events of each log have arrived, by target.
    """

    def __init__(self, *, tracked: bool, closed: bool, steps: bool = False) -> None:
        self.texts = Texts()
        self.names = Names()
        self.tracked = tracked
        self.closed = closed
        self.steps = steps
        self.kept: dict[str, Kept] = {}
        self.heads: dict[str, Heads] = {}
        self.lengths: dict[int, int] = {}

    def keep(self, name: str, processor: str, pipe: int, role: StreamRole, w: int) -> Kept:
        """Let the record keep a stream."""
        kept = Kept(name, processor, pipe, role, w, self.names.target(name))
        self.kept[name] = kept
        return kept

    def everything(self) -> Sets:
        """All inputs of the run so far, as the trail of one row."""
        logs = [(target, length) for target, length in self.lengths.items() if length]
        held = Entries(
            np.zeros(len(logs), np.int64),
            np.array([target for target, _ in logs], np.int64),
            np.full(len(logs), WHOLE),
            np.zeros(len(logs), np.int64),
            np.array([length - 1 for _, length in logs], np.int64),
        )
        return Sets(np.array([0, len(logs)]), held)

    def save(self) -> State:
        """How far names, texts and kept streams have come; their events are written elsewhere."""
        return {
            "texts": self.texts.to_arrow(),
            "targets": list(self.names.targets),
            "fields": [None if f is None else sorted(f) for f in self.names.fields],
            "lengths": {str(target): length for target, length in self.lengths.items()},
            "kept": [
                [k.name, k.processor, k.pipe, k.role.value, k.w, k.count, k.last, k.run]
                for k in self.kept.values()
            ],
            "heads": {name: heads.head_target for name, heads in self.heads.items()},
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.texts.from_arrow(state["texts"])
        for name in state["targets"]:
            self.names.target(name)
        for fields in state["fields"]:
            self.names.field_set(None if fields is None else frozenset(fields))
        self.lengths = {int(target): length for target, length in state["lengths"].items()}
        for name, processor, pipe, role, w, count, last, run in state["kept"]:
            kept = self.kept.get(name) or self.keep(name, processor, pipe, StreamRole(role), w)
            kept.count, kept.last, kept.run = count, last, run
        for name, target in state["heads"].items():
            self.heads[name].head_target = target

    def empty(self, *, slotted: bool) -> Batch:
        """A batch without events."""
        none = np.empty(0, np.int64)
        trail = Nothing(0)
        values = from_values([], "any", self.texts)
        return Batch(values, none, none if slotted else None, trail, trail, None)


@dataclass(slots=True)
class Place:
    """What a kernel knows of its place in a chain.

    Attributes:
        name: the processor's full id.
        processor: its declaration.
        inputs: what is known of the input pipes.
        outputs: what is known of the output pipes.
        run: what all kernels share.
        slotted: whether there may be several instances.
        window: whether it is inside a Window, so that instances live no longer than a batch and
            the record keeps none of their events.
        outer: from a moment to the position outside, for errors and for kept events.
        top: from moments to the positions in the whole stream.
        inner: the plan of the chain inside it.
        factory: starts its machine, for those that run as the interpreter does.
        own: where the record keeps its outputs, pipe by pipe, if it does.
        in_window: whether it is the very P of a Window, not deeper inside it.
    """

    name: str
    processor: Processor
    inputs: tuple[Traits, ...]
    outputs: tuple[Traits, ...]
    run: Run
    slotted: bool
    window: bool
    outer: Callable[[int], Position]
    top: Callable[[Ints], Ints]
    inner: Plan | None
    factory: MachineFactory
    own: tuple[Kept | None, ...] = ()
    in_window: bool = False

    @property
    def regular(self) -> bool:
        """Whether all inputs are there whatever the values are."""
        return all(t.regular for t in self.inputs)

    def inside(self, moments: Ints, row: int) -> Position:
        """The position of a row among those of the same position outside.

        Args:
            moments: when each row appeared, in order.
            row: which of them.
        """
        at = self.outer(int(moments[row]))
        first = row
        while first and self.outer(int(moments[first - 1])) == at:
            first -= 1
        return (at, row - first)

    def chain(self, suffix: str) -> Kept | None:
        """A helper stream of linked events; ``None`` where nothing can be kept."""
        if self.window or not self.run.tracked:
            return None
        name = f"{self.name}/{suffix}"
        w = INNER_WIDTH if self.slotted else 1
        return self.run.keep(name, self.name, 0, StreamRole.INNER, w)


class Kernel:
    """A processor at work on batches. Outputs come in the order of moments, instance by instance.

    Attributes:
        place: where it stands.
        fed: how many fronts came before this batch.
    """

    def __init__(self, place: Place) -> None:
        """Begin before the first front."""
        self.place = place
        self.run = place.run
        self.tracked = place.run.tracked
        self.fed = 0

    def feed(self, front: Front, born: Born) -> list[Batch]:
        """Take some fronts; return the outputs of every pipe."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget all instances: inside a Window every batch begins with new ones."""
        self.fed = 0

    def close(self, slots: Ints, moments: Ints) -> list[Batch] | None:
        """The log is finished: return the remaining outputs, if closing gives any.

        Args:
            slots: all instances, in order.
            moments: when each is closed.
        """
        return None

    def open(self) -> Entries:
        """What this processor's own end leans on, whatever the row."""
        return NONE

    def pending(self) -> int | InSlices:
        """How many verdicts are not known yet; of a Slice also in how many slices."""
        return 0

    def waiting_in(self, count: int) -> Ints | None:
        """How many verdicts wait in each of the first ``count`` slots; ``None``: none ever."""
        return None

    def save(self) -> State:
        """What is needed to go on elsewhere."""
        return {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from what `save` gave."""

    def fail(self, front: Front, row: int, fault: ValueFault) -> NoReturn:
        """Say where a value did not fit: the processor and the position that it was reading."""
        where = f"position {position_text(self.place.outer(int(front.moment[row])))}"
        if not self.place.slotted:
            where = f"position {self.fed + row}"
        if self.place.in_window and front.slot is not None:
            before = int((front.slot[:row] == front.slot[row]).sum())
            where = f"event {before} of the window at {where}"
        msg = f"{self.place.name}, {where}: {fault}"
        raise EventError(msg) from fault
