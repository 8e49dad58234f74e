"""Cumulate: fold a function over the input, one output per input."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.functions import Function, function_named, in_force, returns_by_path
from whence.engine.functions.arithmetic import is_zero
from whence.engine.functions.logic import AND, OR
from whence.engine.language.events import Either, Event, Term
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import Traits
from whence.engine.values import Value, as_condition

if TYPE_CHECKING:
    from whence.engine.lineage.words import Told

__all__ = ["UNSET", "Cumulate"]


class _Unset:
    """No start value was given: the function's neutral element, else the first input."""

    def __repr__(self) -> str:
        return "UNSET"

    def __reduce__(self) -> str:
        return "UNSET"


UNSET: Any = _Unset()


@dataclass(frozen=True)
class Cumulate(Processor):
    """Output f(previous output, input), beginning with a start value.

    Without a start value it begins with the function's neutral element; a function that has none
    outputs its first input first.

    >>> from whence.engine.testing import run
    >>> run(Cumulate("sum", "add"), [1, 2, 3])
    [(1, {0}), (3, {0, 1}), (6, {0, 1, 2})]
    >>> run(Cumulate("all", "and"), [True, False, True])
    [(True, {0}), (False, {1}), (False, {1})]
    """

    function: str | Function
    start: Value = UNSET

    tag: ClassVar[str] = "cumulate"
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.function, str):
            named = self.function
            found = in_force().named(named) if ":" in named else function_named(named)
            object.__setattr__(self, "function", found)
        known = isinstance(self.function, Function)
        self.require(known, "a function or its name", self.function, "'add' or 'and'")
        low, high = self.folded.arity
        fits = low <= 2 and (high is None or high >= 2)
        self.require(fits, "a function of two arguments", self.folded.name, "'add' or 'and'")
        if self.folded in (AND, OR) and self.start is not UNSET:
            fits = self.start is None or isinstance(self.start, bool)
            self.require(fits, "a boolean to start with", self.start, "start=True")

    @property
    def folded(self) -> Function:
        """The function that is folded."""
        assert isinstance(self.function, Function)
        return self.function

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """Missing once an input is missing, unless the function never gives missing."""
        kind = self.folded.check([inputs[0].kind, inputs[0].kind])
        never = self.folded.missing == "never"
        always = self.folded.missing == "always"
        return Traits(
            regular=inputs[0].regular,
            may_be_missing=not never and (always or inputs[0].may_be_missing),
            may_vanish=not never and (always or inputs[0].may_vanish),
            kind=kind,
        )

    def because(self, told: Told) -> str:
        """In words: the deciding input, or all of them."""
        name, many = self.folded.name, len(told.causes)
        if not many:
            return "it is the start value"
        if name in ("and", "or") and as_condition(told.value) is self.folded.absorbing:
            if name == "and":
                return f"{told} is not true, and all inputs must be"
            return f"{told} is true, and one is enough"
        if name in ("and", "or"):
            all_are = "all inputs so far are true" if name == "and" else "no input so far is true"
            return f"{all_are}: {told}"
        if name == "product" and many == 1 and is_zero(told.value):
            return f"{told} is zero, and one is enough"
        if name in ("min", "max") and many == 1:
            return f"{told} is the {'smallest' if name == 'min' else 'largest'} so far"
        return f"{name} folds {told}"

    def machine(self, site: Site) -> MachineFactory:
        """Choose the machine whose explain rule is the function's."""
        name = "" if self.folded.path else self.folded.name
        kind: type[_Cumulate]
        if name in ("and", "or"):
            kind = _Logical
        elif name == "product":
            kind = _Product
        elif name in ("min", "max"):
            kind = _Extreme
        else:
            kind = _Cumulate
        return lambda: kind(site, self)

    def parameters(self) -> Any:
        """The function's name, with the start value if one was given."""
        name = self.folded.path or self.folded.name
        if self.folded.path:
            returns_by_path(self.folded)
        if self.start is UNSET:
            return name
        from whence.engine.values.value_json import value_json

        return {"function": name, "start": value_json(self.start)}

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> Cumulate:
        """From a name, or a name and a start value."""
        if isinstance(value, dict):
            read["keys"](value, {"function", "start"}, {"function"})
            start = read["value"](value["start"]) if "start" in value else UNSET
            return cls(id, value["function"], start)
        return cls(id, value)


class _Cumulate(Machine):
    """Explained and supported by all inputs so far."""

    __slots__ = ("all_so_far", "fresh", "step", "total")

    def __init__(self, site: Site, declared: Cumulate) -> None:
        super().__init__(site)
        folded = declared.folded
        self.step: Callable[[Value, Value], Value] = folded.pair or folded.compute
        given = declared.start is not UNSET
        self.total: Value = declared.start if given else folded.neutral
        if not given and folded.neutral is None:
            self.total = UNSET
        self.fresh = not given and folded.name == "add"
        self.all_so_far: Term = None

    def take(self, event: Event) -> tuple[Term, Term]:
        """Fold one input in: f(previous output, input). Return what explains the new total."""
        total = self.total
        if total is UNSET or (self.fresh and isinstance(event.value, timedelta)):
            # Durations are added too, and the neutral element is a number.
            total = event.value
        else:
            total = self.step(total, event.value)
        self.fresh = False
        self.total = total
        if not self.tracked:
            return None, None
        self.all_so_far = event if self.all_so_far is None else (self.all_so_far, event)
        return self.explain(event)

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Output the new total."""
        why, support = self.take(event)
        return [self.emit(self.total, why, support, event.exists)]

    def feed_last(self, events: Iterable[Event]) -> Event | None:
        """In a window only the last total is output."""
        why: Term = None
        support: Term = None
        last: Event | None = None
        for last in events:
            self.fed += 1
            why, support = self.take(last)
        if last is None:
            return None
        self.skip(self.fed - 1)
        return self.emit(self.total, why, support, last.exists)

    def explain(self, event: Event) -> tuple[Term, Term]:
        """Explain rule: all inputs so far; the second term says what supports, if different."""
        return self.all_so_far, None


class _Logical(_Cumulate):
    """``and``, ``or``: an absorbing input alone explains every output from there on."""

    __slots__ = ("decided", "decisive")

    def __init__(self, site: Site, declared: Cumulate) -> None:
        super().__init__(site, declared)
        self.decisive = declared.folded.absorbing
        # An absorbing start value decides everything, and explains nothing.
        self.decided: Term = () if as_condition(self.total) is self.decisive else None

    def explain(self, event: Event) -> tuple[Term, Term]:
        """The earliest absorbing input (alternatives: each so far), else all inputs so far."""
        if as_condition(event.value) is self.decisive:
            if self.decided is None:
                self.decided = event
            elif self.site.all_witnesses and self.decided != ():
                self.decided = Either((self.decided, event))
        return (self.all_so_far if self.decided is None else self.decided), None


class _Product(_Cumulate):
    """A zero alone explains, as long as every input is present and finite."""

    __slots__ = ("plain", "zero")

    def __init__(self, site: Site, declared: Cumulate) -> None:
        super().__init__(site, declared)
        self.zero: Term = () if is_zero(self.total) else None
        self.plain = self.total is not None and not (
            isinstance(self.total, float) and not math.isfinite(self.total)
        )

    def explain(self, event: Event) -> tuple[Term, Term]:
        """The earliest zero, supported by itself and by what could become missing."""
        value = event.value
        if value is None or (type(value) is float and not math.isfinite(value)):
            self.plain = False
        elif value == 0:
            if self.zero is None:
                self.zero = event
            elif self.site.all_witnesses and self.zero != ():
                self.zero = Either((self.zero, event))
        if self.zero is None or not self.plain:
            return self.all_so_far, None
        return self.zero, (self.all_so_far if self.site.inputs[0].may_vanish else None)


class _Extreme(_Cumulate):
    """``min``, ``max``: explained by an input that attains it, supported by all."""

    __slots__ = ("attained", "best")

    def __init__(self, site: Site, declared: Cumulate) -> None:
        super().__init__(site, declared)
        self.best: Value = self.total
        self.attained: Term = ()

    def explain(self, event: Event) -> tuple[Term, Term]:
        """The earliest attaining input (alternatives: each); missing and NaN: all inputs."""
        total = self.total
        if total is None or total != total:
            return self.all_so_far, None
        if self.best is UNSET or total != self.best:
            self.best = total
            self.attained = event
        elif event.value == total and self.site.all_witnesses and self.attained != ():
            self.attained = Either((self.attained, event))
        return self.attained, self.all_so_far
