"""Filter: let events through while a condition holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.compiled import Compiled, compile_expression
from whence.engine.language.events import Event, Part, Stream, Term
from whence.engine.language.expression import Expression, pipes_read
from whence.engine.language.notation import expression_json
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import Traits
from whence.engine.sketch import Expressible, as_expression
from whence.engine.values import ValueFault, as_condition

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["Filter"]


@dataclass(frozen=True)
class Filter(Processor):
    """Input 0 where input 1 is true; or, with ``where``, the input where an expression is true.

    >>> from whence.engine.testing import run
    >>> run(Filter("positive", where="value > 0"), [3, -1, 5])
    [(3, {0}), (5, {2})]
    """

    where: Expressible = None

    tag: ClassVar[str] = "filter"
    selects: ClassVar[bool] = True
    copies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Read the condition, which may be given as formula text."""
        super().__post_init__()
        if self.where is not None:
            object.__setattr__(self, "where", as_expression(self.where, self.id))
            reads = pipes_read(self.condition)
            self.require(reads == 1, "a condition over one pipe", reads, "a Filter of two pipes")

    @property
    def condition(self) -> Expression:
        """The condition as an expression tree."""
        return self.where  # type: ignore[return-value]

    @property
    def input_count(self) -> int | None:
        return 2 if self.where is None else 1

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """Irregular: values decide how many events there are."""
        kind = inputs[1].kind if self.where is None else self._compiled(inputs).kind
        if kind not in ("any", "boolean", "missing"):
            raise ValueFault("a boolean condition", kind, "a comparison such as `x > 0`")
        return inputs[0].but(regular=False)

    def _compiled(self, inputs: tuple[Traits, ...], all_witnesses: bool = False) -> Compiled:
        return compile_expression(self.condition, inputs, all_witnesses=all_witnesses)

    def because(self, told: Told) -> str:
        """In words: the event and the condition that it passed."""
        if self.where is None:
            return f"it passes the filter with its condition: {told}"
        from whence.engine.language.formula.printing import expression_text

        return f"it passes the filter `{expression_text(self.condition)}`: {told}"

    def machine(self, site: Site) -> MachineFactory:
        """Two pipes, or one with a condition of its own."""
        if self.where is None:
            return lambda: _Filter(site)
        compiled = self._compiled(site.inputs, site.all_witnesses)
        return lambda: _Where(site, compiled)

    def parameters(self) -> Any:
        return {} if self.where is None else {"where": expression_json(self.condition)}

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Filter:
        read["keys"](value, {"where"}, set())
        return cls(id, read["expression"](value["where"]) if "where" in value else None)


class _Filter(Machine):
    __slots__ = ("conditions", "refused")

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.conditions: Term = None
        self.refused: Term = None

    def feed(self, event: Event, condition: Event) -> list[Event]:  # type: ignore[override]
        """Let the event through if the condition at the same front is true.

        Explained by both; supported also by every earlier condition: they decide which is the k-th.
        """
        holds = as_condition(condition.value)
        if not self.tracked:
            return [self.emit(event.value)] if holds else []
        return self._judge(event, condition, holds)

    def _judge(self, event: Event, condition: Event, holds: bool) -> list[Event]:
        self.conditions = (self.conditions, condition, event.exists)
        if not holds:
            self.refused = (self.refused, condition)
            return []
        # The fields of an output are those of the event that passed, never of the condition.
        return [self.emit(event.value, (event, Part(condition, None)), None, self.conditions)]

    def open(self) -> Term:
        """The conditions that were not true: one of them turning true would add an output."""
        return self.refused


class _Where(_Filter):
    __slots__ = ("compiled", "shadow")

    def __init__(self, site: Site, compiled: Compiled) -> None:
        super().__init__(site)
        self.compiled = compiled
        self.shadow = Stream(f"{site.name}/where", hidden=True)

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """The condition is computed from the event itself, as an ApplyFunction before it would."""
        if not self.tracked:
            holds = as_condition(self.compiled.value((event,)))
            return [self.emit(event.value)] if holds else []
        value, why, support = self.compiled.trace((event,))
        condition = Event(value, why, support, event.exists, self.shadow, event.position)
        return self._judge(event, condition, as_condition(value))
