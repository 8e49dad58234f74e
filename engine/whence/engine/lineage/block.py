"""Associations in columns: many outputs an item, no Python object for each of them.

A `Block` holds items of one relation to one stream. Item i speaks of the outputs
``outputs[i] + j*step`` for j from 0 to ``more[i]``; the j-th of them leads to the positions
``inputs[i] + j*sa`` to ``inputs[i] + width[i] + j*sb``. A window that moves on is one item with
sa = sb = 1, a zone one with sa = sb = 0, a prefix one with sa = 0 and sb = 1; parent pointers are
items of one output and one input. While a slice's head is still the head, ``more`` is below 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from whence.engine.lineage.association import Association, Relation
from whence.engine.lineage.positions import Bools, Ints, Positions, flat_ranges

__all__ = ["LITERAL", "OPEN", "Associations", "Block", "Leads"]

Kind = Literal["each", "zones", "bands"]
Key = tuple[Relation, Kind, str, tuple[str, ...] | None, bool, tuple[int, ...] | None]

LITERAL = 16
"""Up to so many inputs an output names one by one; more of them are a band."""

OPEN = 2**62
"""The last output of a zone that is still open."""

_COMPOSED: dict[tuple[Relation, Relation], Relation] = {
    ("explains", "explains"): "explains",
    ("explains", "trigger"): "trigger",
    ("trigger", "explains"): "trigger",
    ("trigger", "trigger"): "trigger",
    ("explains", "supports"): "supports",
    ("supports", "explains"): "supports",
    ("supports", "supports"): "supports",
}
"""What two steps are together; the others lead nowhere: neither a reason nor a support."""


class Leads(NamedTuple):
    """Single outputs and the interval that each leads to, as parallel arrays."""

    output: Ints
    lo: Ints
    hi: Ints

    def where(self, chosen: Bools | Ints) -> Leads:
        """Some of them."""
        return Leads(*(array[chosen] for array in self))


@dataclass(frozen=True, slots=True)
class Block:
    """Items of one relation to one stream: the one form of what a part of the record holds.

    Attributes:
        relation: how they matter.
        kind: ``zones`` of a stream of role ``heads``; ``bands`` stay bands as rows, however few
            inputs they name; ``each`` are all others.
        to: the log, or stream, that they lead to.
        fields: those that matter; ``None`` for the whole event.
        copy: what is asked of the output is asked of the input.
        step: how far the outputs of an item are apart.
        sa: how the first input of an item moves from output to output.
        sb: how the last one does.
        outputs: of each item its first output.
        more: how many outputs follow; below 0 while a zone is open.
        inputs: of each item the first input of its first output.
        width: how many inputs follow that one.
        witness: of a choice, the options that the items are part of.
    """

    relation: Relation
    kind: Kind
    to: str
    fields: tuple[str, ...] | None
    copy: bool
    step: int
    sa: int
    sb: int
    outputs: Ints
    more: Ints
    inputs: Ints
    width: Ints
    witness: tuple[int, ...] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        """How many items."""
        return len(self.outputs)

    @property
    def key(self) -> Key:
        """What all its items share, however their outputs go on."""
        return self.relation, self.kind, self.to, self.fields, self.copy, self.witness

    @property
    def nbytes(self) -> int:
        """The size of its arrays."""
        return sum(a.nbytes for a in (self.outputs, self.more, self.inputs, self.width))

    def where(self, chosen: Bools | Ints) -> Block:
        """Some of the items."""
        arrays = (a[chosen] for a in (self.outputs, self.more, self.inputs, self.width))
        return self.of(*arrays)

    def of(self, outputs: Ints, more: Ints, inputs: Ints, width: Ints) -> Block:
        """The same with other items."""
        return replace(self, outputs=outputs, more=more, inputs=inputs, width=width)

    def leads(self) -> Leads:
        """Every output with its interval, empty ones left out; of an open zone the first output."""
        if not bool((self.more > 0).any()):
            if not self.width.any():
                return Leads(self.outputs, self.inputs, self.inputs)
            found = Leads(self.outputs, self.inputs, self.inputs + self.width)
            return found if bool((self.width >= 0).all()) else found.where(self.width >= 0)
        nth, item = flat_ranges(np.zeros(len(self), np.int64), np.maximum(self.more, 0) + 1)
        lo = self.inputs[item] + nth * self.sa
        hi = self.inputs[item] + self.width[item] + nth * self.sb
        found = Leads(self.outputs[item] + nth * self.step, lo, hi)
        return found if bool((hi >= lo).all()) else found.where(hi >= lo)

    @property
    def ends(self) -> Ints:
        """Of each item the last output; `OPEN` while a zone is open."""
        return np.where(self.more < 0, OPEN, self.outputs + self.more * self.step)

    @property
    def is_first(self) -> bool:
        """Whether the first alternative rests on it."""
        return self.witness is None or 0 in self.witness

    def within(self, wanted: Positions) -> Block:
        """Only what it says of some outputs: bands and zones are cut, all others told singly."""
        if self.kind == "each":
            leads = self.leads()
            output, lo, hi = leads.where(wanted.contains(leads.output))
            single = self.of(output, np.zeros(len(output), np.int64), lo, hi - lo)
            return replace(single, step=1, sa=0, sb=0)
        ends = self.ends
        begin = np.searchsorted(wanted.hi, self.outputs)
        end = np.searchsorted(wanted.lo, ends, side="right")
        which, item = flat_ranges(begin, np.maximum(end - begin, 0))
        first = np.maximum(self.outputs[item], wanted.lo[which])
        last = np.minimum(ends[item], wanted.hi[which])
        before = first - self.outputs[item]
        return self.of(
            first,
            last - first,
            self.inputs[item] + before * self.sa,
            self.width[item] + before * (self.sb - self.sa),
        )

    def slice(self, first: int, last: int) -> Block:
        """Only what it says of the outputs first..last."""
        open_ = self.more < 0
        # Of an open zone everything from its first output on; it stays as it is.
        before = np.maximum(-((self.outputs - first) // self.step), 0)
        begins = np.where(open_, 0, before)
        ends = np.where(open_, 0, np.minimum(self.more, (last - self.outputs) // self.step))
        chosen = np.where(open_, self.outputs <= last, begins <= ends)
        cut = self.of(
            self.outputs + begins * self.step,
            np.where(open_, self.more, ends - begins),
            self.inputs + begins * self.sa,
            self.width + begins * (self.sb - self.sa),
        )
        return cut.where(chosen)

    def inverted(self, stream: str) -> Block:
        """From the inputs to the outputs of that stream."""
        back = replace(self, to=stream, kind="each")
        if self.sa == self.sb == 0 and self.step == 1 and bool((self.more >= 0).all()):
            return replace(
                back.of(self.inputs, self.width, self.outputs, self.more), step=1, sa=0, sb=0
            )
        if self.sa == self.sb > 0 and not self.width.any():
            swapped = back.of(self.inputs, self.more, self.outputs, self.width)
            return replace(swapped, step=self.sa, sa=self.step, sb=self.step)
        output, lo, hi = self.leads()
        items = back.of(lo, hi - lo, output, np.zeros(len(lo), np.int64))
        return replace(items, step=1, sa=0, sb=0)

    @property
    def wide(self) -> Bools:
        """Which items are bands as rows: too many inputs to name one by one."""
        if self.kind == "bands":
            return np.ones(len(self), np.bool_)
        widest = self.width + np.maximum(0, self.more * (self.sb - self.sa))
        found: Bools = (widest >= LITERAL) & ((self.more == 0) | (self.step == 1))
        return found

    def rows(self, stream: str) -> Iterator[Association]:
        """The same as rows: few inputs an output one by one, more of them as bands."""
        if self.kind == "zones":
            zones = (self.outputs, self.more, self.inputs)
            for output, more, position in zip(*(a.tolist() for a in zones), strict=True):
                hi = None if more < 0 else output + more * self.step
                yield self._row(stream, "zone", output, hi, (position,))
            return
        wide = self.wide
        narrow = self.where(~wide).leads()
        order = np.argsort(narrow.output, kind="stable")
        waiting: list[int] = []
        at = -1
        for o, first, last in zip(*(array[order].tolist() for array in narrow), strict=True):
            if last - first >= LITERAL:
                yield replace(
                    self._row(stream, "band", o, o), a=first, b=last
                )  # of outputs that are apart from each other
                continue
            if o != at and waiting:
                yield self._row(stream, "list", at, at, tuple(waiting))
                waiting = []
            at = o
            waiting.extend(range(first, last + 1))
        if waiting:
            yield self._row(stream, "list", at, at, tuple(waiting))
        bands = self.where(wide)
        columns = (bands.outputs, bands.more, bands.inputs, bands.width)
        for o, more, place, width in zip(*(a.tolist() for a in columns), strict=True):
            sa, sb = (self.sa, self.sb) if more or self.kind == "bands" else (0, 0)
            a, b = place - o * sa, place + width - o * sb
            hi = None if more < 0 else o + more
            yield replace(self._row(stream, "band", o, hi), a=a, b=b, sa=sa, sb=sb)

    def as_bands(self, stream: str) -> Iterator[Association]:
        """As `rows`, but outputs in a row that go on in step are one band, however few inputs.

        >>> arrays = (np.array([4]), np.array([2]), np.array([3]), np.array([0]))
        >>> moving = Block("explains", "each", "log:log", None, False, 1, 1, 1, *arrays)
        >>> [(row.kind, row.lo, row.hi, row.a, row.b) for row in moving.as_bands("w")]
        [('band', 4, 6, -1, -1)]
        """
        if self.kind != "each" or self.step != 1:
            yield from self.rows(stream)
            return
        several = self.more > 0
        if not bool(several.all()):
            yield from self.where(~several).rows(stream)
        items = self.where(several)
        columns = (items.outputs, items.more, items.inputs, items.width)
        for o, more, place, width in zip(*(a.tolist() for a in columns), strict=True):
            a, b = place - o * self.sa, place + width - o * self.sb
            band = self._row(stream, "band", o, o + more)
            yield replace(band, a=a, b=b, sa=self.sa, sb=self.sb)

    def _row(
        self,
        stream: str,
        kind: Literal["list", "zone", "band"],
        lo: int,
        hi: int | None,
        inputs: tuple[int, ...] = (),
    ) -> Association:
        return Association(
            stream,
            self.relation,
            kind,
            lo,
            hi,
            self.to,
            inputs,
            fields=self.fields,
            copy=self.copy,
            witness=self.witness,
        )


@dataclass(frozen=True, slots=True)
class Associations:
    """What the outputs of a stream lead to.

    Attributes:
        stream: whose outputs.
        blocks: everything, in any order.
    """

    stream: str
    blocks: tuple[Block, ...] = ()

    def __len__(self) -> int:
        """How many items."""
        return sum(len(block) for block in self.blocks)

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(block.nbytes for block in self.blocks)

    @property
    def row_count(self) -> int:
        """How many rows `rows` gives, or a few more: lists of one output are joined there."""
        return sum(
            len(b) if b.kind == "zones" else int((np.where(b.wide, 0, b.more) + 1).sum())
            for b in self.blocks
        )

    def expand(self) -> dict[Key, tuple[Ints, Ints]]:
        """Every single pair of output and input, by what it is; an open zone by its first output.

        >>> arrays = (np.array([0]), np.array([1]), np.array([1]), np.array([1]))
        >>> each = Block("explains", "each", "log:log", None, False, 1, 1, 1, *arrays)
        >>> {key[2]: pairs for key, pairs in Associations("w", (each,)).expand().items()}
        {'log:log': (array([0, 0, 1, 1]), array([1, 2, 2, 3]))}
        """
        found: dict[Key, list[tuple[Ints, Ints]]] = {}
        for block in self.blocks:
            output, lo, hi = block.leads()
            inputs, which = flat_ranges(lo, hi - lo + 1)
            found.setdefault(block.key, []).append((output[which], inputs))
        return {
            key: (np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs]))
            for key, pairs in found.items()
        }

    def slice(self, first: int, last: int) -> Associations:
        """Only what is said of the outputs first..last."""
        cut = (block.slice(first, last) for block in self.blocks)
        return Associations(self.stream, tuple(block for block in cut if len(block)))

    def invert(self) -> dict[str, Associations]:
        """From inputs to outputs, for every stream that is led to."""
        found: dict[str, list[Block]] = {}
        for block in self.blocks:
            found.setdefault(block.to, []).append(block.inverted(self.stream))
        return {name: Associations(name, tuple(blocks)) for name, blocks in found.items()}

    def compose(self, below: Associations) -> Associations:
        """The same with whatever leads to the other stream led on to where that one leads.

        A copy passes on the fields that are asked of it. What the other stream leads to in itself
        stays a lead to it.
        """
        blocks: list[Block] = []
        for block in self.blocks:
            if block.to != below.stream:
                blocks.append(block)
                continue
            for other in below.blocks:
                relation = _COMPOSED.get((block.relation, other.relation))
                if relation is not None and len(other):
                    blocks.append(_through(block, other, relation))
        return Associations(self.stream, tuple(block for block in blocks if len(block)))

    def rows(self) -> Iterator[Association]:
        """The same as rows."""
        for block in self.blocks:
            yield from block.rows(self.stream)

    def joined(self) -> Associations:
        """Blocks that differ in nothing but their items as one, in the order of outputs.

        Of a zone that is said to be open, and to have ended too, the end is left.
        """
        from whence.engine.lineage.joining import joined_arrays

        groups: dict[object, list[Block]] = {}
        for block in self.blocks:
            groups.setdefault((block.key, block.step, block.sa, block.sb), []).append(block)
        blocks = [
            one.of(*joined_arrays(group, zones=one.kind == "zones"))
            for group in groups.values()
            for one in group[:1]
        ]
        return Associations(self.stream, tuple(blocks))


def _through(block: Block, other: Block, relation: Relation) -> Block:
    """From the outputs of one block to where another leads."""
    output, lo, hi = block.leads()
    below = other.leads()
    order = np.argsort(below.output, kind="stable")
    sources = below.output[order]
    begins = np.searchsorted(sources, lo)
    counts = np.searchsorted(sources, hi, side="right") - begins
    places, which = flat_ranges(begins, counts)
    chosen = order[places]
    fields, copy = (block.fields, block.copy) if other.copy else (other.fields, False)
    return Block(
        relation,
        "each",
        other.to,
        fields,
        copy,
        1,
        0,
        0,
        output[which],
        np.zeros(len(which), np.int64),
        below.lo[chosen],
        below.hi[chosen] - below.lo[chosen],
    )
