"""Slice: one P per key, and what their last outputs give together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.aggregates import AGGREGATES, Aggregate
from whence.engine.language.compiled import Compiled, compile_expression
from whence.engine.language.events import Event, Stream, Term, all_exist
from whence.engine.language.expression import Expression, raw_field
from whence.engine.language.instance import Instance, Planned
from whence.engine.language.notation import expression_json
from whence.engine.language.processor import Machine, MachineFactory, Processor, Scope, Site
from whence.engine.language.traits import Traits
from whence.engine.processors.each import require_whole_clock
from whence.engine.processors.slice_each import (
    checked_as_rule,
    closes_of,
    each_machine,
    rule_in,
    usual_take,
)
from whence.engine.sketch import Expressible, as_expression, call, field
from whence.engine.values import as_condition, key_of

if TYPE_CHECKING:
    from whence.engine.language.chain import Chain
    from whence.engine.lineage.words import Told

__all__ = ["Slice", "SliceMachine"]

MAP = "map"
EACH = "each"


@dataclass(frozen=True)
class Slice(Processor):
    """After every input: a function over the last output of each slice's P.

    Args:
        id: its name.
        by: the key: a field, or an expression over the front. A list key sends the event to
            several slices.
        of: P, started afresh for every new key.
        combine: ``and``, ``or``, ``add``, ``product``, ``min``, ``max``, ``count``; without it the
            output is the map from key to last output. ``each`` combines nothing: whatever a slice's
            P gives is an output, a record of ``key`` and ``value``.
        take: ``last`` or ``first``: which output of each slice's P counts. With ``each``: ``every``
            or ``first``, which is the default where P is a formula.
        closes: with ``each``: when a slice has come to its end: a condition on its last event, or
            ``{"after": "30d"}``. An event of the same key then begins a new one.

    >>> from whence.engine.processors.apply_function import ApplyFunction
    >>> from whence.engine.testing import run
    >>> ok = ApplyFunction("ok", "x > 0")
    >>> log = [{"case": 1, "x": 5}, {"case": 2, "x": -1}, {"case": 1, "x": 7}]
    >>> run(Slice("all-ok", by="case", of=ok, combine="and"), log)
    [(True, {0}), (False, {1}), (False, {1})]
    >>> run(Slice("ok-each", by="case", of=ok, combine="each"), log)[1]
    ({'key': 2, 'value': False}, {1})
    """

    by: Expressible
    of: Chain | Processor
    combine: str = MAP
    take: str = "last"
    closes_when: Any = None

    tag: ClassVar[str] = "slice"
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters; accept a single processor as P and formula text as key."""
        super().__post_init__()
        from whence.engine.language.chain import Chain

        by: Any = self.by
        if isinstance(by, (list, tuple)):
            by = call("list", *[field(name) if isinstance(name, str) else name for name in by])
        object.__setattr__(self, "by", as_expression(by, self.id))
        object.__setattr__(self, "of", Chain.of(self.of))
        names = sorted({*AGGREGATES, EACH} - {MAP})
        self.require(
            self.combine in (*AGGREGATES, EACH), "a known combine", self.combine, " or ".join(names)
        )
        if self.combine == EACH:
            if self.take == "last":
                object.__setattr__(self, "take", usual_take(self.inner))
            takes = ("first", "every")
            self.require(self.take in takes, "take first or every", self.take, "take='every'")
            closes_of(self, Traits())
        else:
            self.require(
                self.take in ("first", "last"), "take first or last", self.take, "take='last'"
            )
            hint = "combine='each'"
            self.require(self.closes_when is None, "closes with each only", self.combine, hint)
        if self.combine != EACH or rule_in(self) is None:
            require_whole_clock(self)
        outputs = self.inner.outputs
        self.require(len(outputs) == 1, "P with one output pipe", outputs, "output: NAME")

    @property
    def inner(self) -> Chain:
        return self.of  # type: ignore[return-value]

    @property
    def key(self) -> Expression:
        """The key as an expression tree."""
        return self.by  # type: ignore[return-value]

    @property
    def input_count(self) -> int | None:
        return len(self.inner.inputs)

    @property
    def closes(self) -> bool:  # type: ignore[override]
        """Closing goes into every slice's P."""
        return self.inner.closes

    @property
    def holds(self) -> tuple[Chain, ...]:
        return (self.inner,)

    def key_given(self, inputs: tuple[Traits, ...]) -> bool:
        """Whether the key is a raw field of input events, and not met behind an irregular pipe."""
        return raw_field(self.key, inputs) and all(t.regular for t in inputs)

    def _inner(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        return self.inner.output_traits(tuple(t.without_existence() for t in inputs), closed)[0]

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """One output per input; a closed run may add one that depends on values."""
        compile_expression(self.key, inputs)
        if self.combine == EACH:
            if not checked_as_rule(self, inputs[0]):
                self._inner(inputs, closed)
            return Traits(regular=False, may_be_missing=False, kind="record")
        inner = self._inner(inputs, closed)
        settled = inner.regular and raw_field(self.key, inputs)
        may_be, may_vanish = AGGREGATES[self.combine].missing(inner, settled)
        return Traits(
            regular=all(t.regular for t in inputs)
            and (not (closed and self.inner.closes) or settled),
            may_be_missing=may_be,
            may_vanish=may_vanish,
            kind=AGGREGATES[self.combine].kind(inner.kind),
        )

    @property
    def delay(self) -> float:
        """As long as what it holds."""
        return max(self.holds[0].delays().values())

    def because(self, told: Told) -> str:
        many = len(told.causes)
        if self.combine == EACH:
            return f"that is what its slice gives: {told}"
        if self.combine in ("and", "or") and as_condition(told.value) is (self.combine == "or"):
            if self.combine == "and":
                return f"one slice fails, and all must hold: {told}"
            return f"one slice holds, and one is enough: {told}"
        if self.combine in ("and", "or"):
            return f"{'all slices hold' if self.combine == 'and' else 'no slice holds'}: {told}"
        if self.combine in ("min", "max") and many == 1:
            return f"no slice is {'below' if self.combine == 'min' else 'above'} {told}"
        kind = "lists" if self.combine == MAP else f"combines by {self.combine}"
        return f"it {kind} the values of the slices: {told}"

    def machine(self, site: Site) -> MachineFactory:
        if self.combine == EACH:
            return each_machine(self, site)
        scope = Scope()
        inner = site.plan(
            self.inner, tuple(t.without_existence() for t in site.inputs), scope, site.closed
        )
        key = compile_expression(self.key, site.inputs, all_witnesses=site.all_witnesses)
        return lambda: SliceMachine(site, self, inner, key, scope)

    def parameters(self) -> Any:
        """Key, P, and what is combined how."""
        value: dict[str, Any] = {"by": expression_json(self.key), "of": self.inner.tree()}
        if self.combine != MAP:
            value["combine"] = self.combine
        if self.take != ("last" if self.combine != EACH else usual_take(self.inner)):
            value["take"] = self.take
        if self.closes_when is not None:
            value["closes"] = self.closes_when
        return value

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Slice:
        read["keys"](value, {"by", "of", "combine", "take", "closes"}, {"by", "of"})
        by = value["by"]
        key = by if isinstance(by, list) else read["expression"](by, key=True)
        combine, take = value.get("combine", MAP), value.get("take", "last")
        return cls(id, key, read["chain"](value["of"]), combine, take, value.get("closes"))


class _OneSlice:
    """One key's P at work."""

    __slots__ = ("events", "head", "instance", "slot")

    def __init__(self, slot: int, instance: Instance) -> None:
        self.slot = slot
        self.instance = instance
        self.events: Term = None
        self.head: Event | None = None


class SliceMachine(Machine):
    """All slices at work, and what they give together.

    Attributes:
        heads: the stream of events that stand for the heads of all slices at an output.
        changes: slot, output position and new head of every slice that changed; the writer of the
            record takes them away. Kept only where the Slice is not inside another processor.
    """

    __slots__ = (
        "aggregate",
        "changes",
        "declared",
        "first",
        "given",
        "heads",
        "in_slices",
        "inner",
        "inner_scope",
        "inputs_so_far",
        "irregular",
        "key",
        "keys_so_far",
        "raw",
        "said_at_closing",
        "slices",
    )

    def __init__(
        self, site: Site, declared: Slice, inner: Planned, key: Compiled, scope: Scope
    ) -> None:
        super().__init__(site)
        self.declared = declared
        self.first = declared.take == "first"
        self.inner = inner
        self.inner_scope = scope
        self.key = key
        self.irregular = not inner.outputs[0].regular
        self.given = declared.key_given(site.inputs)
        self.raw = raw_field(declared.key, site.inputs)
        self.slices: dict[object, _OneSlice] = {}
        self.aggregate: Aggregate = AGGREGATES[declared.combine](
            tracked=site.tracked,
            all_witnesses=site.all_witnesses,
            irregular=self.irregular,
            may_vanish=inner.outputs[0].may_vanish,
            may_be_missing=inner.outputs[0].may_be_missing,
        )
        self.heads = Stream(f"{site.name}/heads", hidden=True)
        self.changes: list[tuple[int, int, Event]] = []
        self.inputs_so_far: Term = None
        self.in_slices: Term = None
        self.keys_so_far: Term = None
        self.said_at_closing = False

    def feed(self, *front: Event) -> list[Event]:
        """Feed the slices of the front's key; explained by the slices that decide the result."""
        self.inner_scope.at = self.next_position()
        if self.tracked:
            key, why, support = self.key.trace(front)
            self.inputs_so_far = (self.inputs_so_far, *front)
            if key != []:
                self.in_slices = (self.in_slices, *front)
            if not self.given:
                # A raw key is given; which events there are is not, behind an irregular pipe.
                computed = None if self.raw else why if support is None else support
                self.keys_so_far = (self.keys_so_far, computed, all_exist(front))
        else:
            key = self.key.value(front)
        if isinstance(key, (list, tuple)):
            several: dict[object, object] = {}
            for one in key:
                several.setdefault(key_of(one), one)
            for name, shown in several.items():
                self._feed_slice(name, shown, front)
        else:
            self._feed_slice(key_of(key), key, front)
        return [self._say(all_exist(front) if self.tracked else None)]

    def _feed_slice(self, one: object, key: object, front: tuple[Event, ...]) -> None:
        state = self.slices.get(one)
        outputs: list[Event] = []
        if state is None:
            state = _OneSlice(len(self.slices), self.inner.start())
            self.slices[one] = state
            self.aggregate.new_slice(key)
            outputs.extend(state.instance.begin())
        outputs.extend(state.instance.feed(front))
        if self.tracked:
            state.events = (state.events, *front)
        self._update(state, outputs)

    def _update(self, state: _OneSlice, outputs: list[Event]) -> None:
        if outputs:
            before = state.head
            if not self.first:
                state.head = outputs[-1]
            elif state.head is None:
                state.head = outputs[0]
            if self.tracked and self.scope is None and state.head is not before:
                self.changes.append((state.slot, self.count, state.head))
        if not self.tracked:
            if outputs:
                self.aggregate.update(state.slot, state.head)
        elif self.irregular:
            # Which output is the last one depends on every event of the slice.
            self.aggregate.update(state.slot, state.head, state.events)
        elif outputs:
            self.aggregate.update(state.slot, state.head)

    def _say(self, exists: Term) -> Event:
        value = self.aggregate.value()
        if not self.tracked:
            return self.emit(value)
        if self.aggregate.speaking == 0:
            why: Term = self.inputs_so_far
            support: Term = None
        else:
            root = self.aggregate.all_heads.root
            heads = Event(
                self.aggregate.speaking, root, None, None, self.heads, self.next_position()
            )
            why, support = self.aggregate.terms(heads, self.in_slices)
        if not self.given:
            support = (why if support is None else support, self.keys_so_far)
        return self.emit(value, why, support, exists)

    def close(self) -> list[Event]:
        """Close every slice's P and, if that gave any output, say once more."""
        if not self.declared.inner.closes:
            return []
        self.inner_scope.at = self.next_position()
        spoke: list[_OneSlice] = []
        for state in self.slices.values():
            outputs = state.instance.close()
            if outputs:
                spoke.append(state)
                self._update(state, outputs)
        if not spoke:
            return []
        self.said_at_closing = True
        return [self._say(self._why_once_more(spoke) if self.tracked else None)]

    def _why_once_more(self, spoke: list[_OneSlice]) -> Term:
        """What the closing output rests on: that one slice's P gave something."""
        if not all(t.regular for t in self.site.inputs):
            return self.site.everything()
        if not self.irregular and self.given:
            return None
        picked = self.aggregate.picked_slots() if self.aggregate.speaking else ()
        best = next((s for s in spoke if s.slot in picked), spoke[0])
        if not self.irregular:
            return self.keys_so_far
        return (best.events, self.keys_so_far)

    def undecided(self) -> list[int]:
        """How many verdicts wait in each slice; one whose first output counts waits no longer."""
        return [
            0
            if self.first and state.head is not None
            else sum(machine.waits() for machine in state.instance.machines)
            for state in self.slices.values()
        ]

    def waits(self) -> int:
        """How many verdicts wait, in all slices."""
        return sum(self.undecided())

    def open(self) -> Term:
        """All inputs, if closing could have given an output but did not."""
        could = self.site.closed and self.declared.inner.closes
        if could and not self.said_at_closing and (self.irregular or not self.given):
            return self.inputs_so_far
        return None
