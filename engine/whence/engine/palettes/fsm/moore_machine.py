"""MooreMachine: a state machine whose states say something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from whence.engine.language.compiled import Compiled, compile_expression
from whence.engine.language.events import Event, Part, Term
from whence.engine.language.expression import pipes_read
from whence.engine.language.notation import expression_json
from whence.engine.language.processor import Machine, MachineFactory, Processor, Site
from whence.engine.language.traits import Traits
from whence.engine.sketch import as_expression
from whence.engine.values import Value, ValueFault, as_condition, describe, is_odd, kind_of
from whence.engine.values.value_json import value_json

if TYPE_CHECKING:
    from whence.engine.language.expression import Expression
    from whence.engine.lineage.words import Told

__all__ = ["MooreMachine"]


@dataclass(frozen=True)
class MooreMachine(Processor):
    """Output the symbol of the state reached by each input.

    Args:
        id: its name.
        initial: the state before any input.
        states: the symbol of each state; a state that is not here has none and outputs nothing.
        transitions: (from, guard, to), tried in the order written; a guard is an expression over
            the input event.
        otherwise: per state, where to go if no guard holds; without it that is an error.

    >>> from whence.engine.testing import run
    >>> door = MooreMachine(
    ...     "door",
    ...     initial="shut",
    ...     states={"shut": True, "open": True, "broken": False},
    ...     transitions=[("shut", "value = 'open'", "open"), ("open", "value = 'shut'", "shut")],
    ...     otherwise={"shut": "broken", "open": "broken", "broken": "broken"},
    ... )
    >>> run(door, ["open", "shut", "open", "open"])
    [(True, {0}), (True, {0, 1}), (True, {2}), (False, {2, 3})]
    """

    initial: str
    states: Mapping[str, Value] = field(hash=False)
    transitions: Sequence[tuple[str, Any, str]]
    otherwise: Mapping[str, str] = field(default_factory=dict, hash=False)

    tag: ClassVar[str] = "moore"
    selects: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Read the guards and check that every state leads somewhere known."""
        super().__post_init__()
        steps = []
        for step in self.transitions:
            shape = isinstance(step, (list, tuple)) and len(step) == 3
            self.require(shape, "transitions [from, guard, to]", step, "['new', \"x > 0\", 'paid']")
            steps.append((step[0], as_expression(step[1], self.id), step[2]))
            reads = pipes_read(steps[-1][1])
            self.require(reads == 1, "guards over the input event", reads, "a field of it")
        object.__setattr__(self, "transitions", tuple(steps))
        object.__setattr__(self, "states", dict(self.states))
        object.__setattr__(self, "otherwise", dict(self.otherwise))
        targets = {to for _, _, to in steps} | set(self.otherwise.values())
        sources = {start for start, _, _ in steps} | set(self.otherwise)
        known = sources | targets | set(self.states)
        self.require(
            self.initial in known,
            "an initial state with transitions",
            self.initial,
            ", ".join(sorted(map(str, known))),
        )
        lost = sorted((targets | {self.initial}) - sources, key=str)
        self.require(
            not lost, "a way on from every state that is reached", lost, "otherwise: {state: state}"
        )

    def all_states(self) -> list[str]:
        """Every state, the initial one first, then in the order written."""
        names = [self.initial, *self.states]
        for start, _, to in self.transitions:
            names += [start, to]
        for start, to in self.otherwise.items():
            names += [start, to]
        return list(dict.fromkeys(names))

    def traps(self) -> set[str]:
        """States that lead only to themselves, "otherwise" included."""
        return {
            state
            for state in self.all_states()
            if self.otherwise.get(state) == state
            and all(to == state for start, _, to in self.transitions if start == state)
        }

    def traits(self, inputs: tuple[Traits, ...], closed: bool) -> Traits:
        """Irregular if some state says nothing; missing if some symbol is."""
        for start, guard, to in self.transitions:
            kind = compile_expression(guard, inputs).kind
            if kind not in ("any", "boolean", "missing"):
                wanted = f"a boolean guard from {start!r} to {to!r}"
                raise ValueFault(wanted, kind, "a comparison such as `x > 0`")
        symbols = list(self.states.values())
        missing = any(is_odd(s) for s in symbols)
        kinds = {kind_of(s) for s in symbols}
        return Traits(
            regular=inputs[0].regular and not self.is_silent(),
            may_be_missing=missing,
            may_vanish=missing,
            kind=kinds.pop() if len(kinds) == 1 else "any",
        )

    def is_silent(self) -> bool:
        """Whether some state that can be entered has no symbol."""
        entered = {to for _, _, to in self.transitions} | set(self.otherwise.values())
        return not entered <= set(self.states)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(guard for _, guard, _ in self.transitions)

    def because(self, told: Told) -> str:
        """In words: the loop-free way from state to state, each with the event that led there."""
        from whence.engine.lineage.words import listed

        if not told.way:
            return f"it follows from {told}"
        if not all(cause.known for cause in told.way):
            return f"{listed(told.way)} led to its state, in this order"
        state, ways = self.initial, []
        for cause in told.way:
            before, (state, meant) = state, self._next(state, Event(cause.step.value))
            where = f"stayed {state}" if state == before else f"became {state}"
            unmeant = "" if meant else f", for which {before} has no transition"
            ways.append(f"{where} with {cause}{unmeant}")
        return f"it was {self.initial}, " + ", then ".join(ways)

    def _next(self, state: str, event: Event) -> tuple[str, bool]:
        """The state that follows, and whether a transition says so."""
        for start, guard, to in self.transitions:
            if start == state:
                compiled = compile_expression(guard, [Traits()])
                if as_condition(compiled.value((event,))):
                    return to, True
        return self.otherwise[state], False

    def machine(self, site: Site) -> MachineFactory:
        table: dict[str, list[tuple[Compiled, str]]] = {s: [] for s in self.all_states()}
        for start, guard, to in self.transitions:
            compiled = compile_expression(guard, site.inputs, all_witnesses=False)
            table[start].append((compiled, to))
        traps = self.traps()
        return lambda: _Moore(site, self, table, traps)

    def parameters(self) -> Any:
        value: dict[str, Any] = {
            "initial": self.initial,
            "states": {name: value_json(symbol) for name, symbol in self.states.items()},
            "transitions": [
                [start, expression_json(guard), to] for start, guard, to in self.transitions
            ],
        }
        if self.otherwise:
            value["otherwise"] = dict(self.otherwise)
        return value

    @classmethod
    def from_parameters(cls, id: str, value: Any, read: Any) -> MooreMachine:
        allowed = {"initial", "states", "transitions", "otherwise"}
        read["keys"](value, allowed, allowed - {"otherwise"})
        return cls(
            id,
            value["initial"],
            {name: read["value"](symbol) for name, symbol in value["states"].items()},
            [
                (step[0], read["expression"](step[1]), step[2]) if len(step) == 3 else step
                for step in value["transitions"]
            ],
            value.get("otherwise", {}),
        )


class _Moore(Machine):
    """Keeps the loop-free way to the present state: a stack of states with what explains each."""

    __slots__ = ("declared", "depth", "regular", "so_far", "stack", "state", "table", "traps")

    def __init__(
        self,
        site: Site,
        declared: MooreMachine,
        table: dict[str, list[tuple[Compiled, str]]],
        traps: set[str],
    ) -> None:
        super().__init__(site)
        self.declared = declared
        self.table = table
        self.traps = traps
        self.state = declared.initial
        self.stack: list[tuple[str, Term]] = [(declared.initial, None)]
        self.depth: dict[str, int] = {declared.initial: 0}
        self.so_far: Term = ()
        self.regular = not declared.is_silent()

    def feed(self, event: Event) -> list[Event]:  # type: ignore[override]
        """Take the first transition whose guard holds, or "otherwise"; that way explains."""
        read: list[Term] = []
        enough: list[Term] = []
        before, target = self.state, self._choose(event, read, enough)
        self.state = target
        symbols = self.declared.states
        if not self.tracked:
            return [self.emit(symbols[target])] if target in symbols else []
        came = Part(event, frozenset())
        why: Term = (came, *read) if read else came
        below = self.stack[-1][1]
        if below is not None:
            why = (why, below)
        if before not in self.traps:
            # Once in a trap, no input can change the output.
            self.so_far = (self.so_far, came, *enough)
        said: Event | None = None
        if target in symbols:
            exists = event.exists if self.regular else (self.so_far, event.exists)
            said = self.emit(symbols[target], why, self.so_far, exists)
            # From here on the output carries the history of its state.
            self.so_far = said if before not in self.traps else self.so_far
        self._enter(target, why if said is None else said)
        return [] if said is None else [said]

    def _choose(self, event: Event, read: list[Term], enough: list[Term]) -> str:
        """Find the next state; note what the guards that were tried read and lean on."""
        front = (event,)
        for guard, to in self.table[self.state]:
            if self.tracked:
                value, why, support = guard.trace(front)
                read.append(why)
                enough.append(why if support is None else support)
            else:
                value = guard.value(front)
            if as_condition(value):
                return to
        target = self.declared.otherwise.get(self.state)
        if target is None:
            wanted = f"a transition from state {self.state!r}"
            hint = "an 'otherwise' for that state"
            raise ValueFault(wanted, describe(event.value), hint)
        return target

    def _enter(self, target: str, term: Term) -> None:
        """Append the new state, then cut back to the earliest entry with that state."""
        known = self.depth.get(target)
        if known is None:
            self.depth[target] = len(self.stack)
            self.stack.append((target, term))
            return
        for state, _ in self.stack[known + 1 :]:
            del self.depth[state]
        del self.stack[known + 1 :]

    def open(self) -> Term:
        """Where states are silent, every input so far could have made it say more."""
        return None if self.regular else self.so_far
