"""Expressions ready to compute: values and, when tracked, the terms that explain them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whence.engine.functions import Function, NotLoaded
from whence.engine.functions.choice import IF
from whence.engine.language.events import Either, Event, Part, Term
from whence.engine.language.expression import (
    Call,
    Constant,
    Expression,
    Field,
    Input,
    pipes_read,
    subexpressions,
)
from whence.engine.language.expression_traits import (
    kind_of_expression,
    may_be_missing,
    may_vanish,
    no_record,
)
from whence.engine.language.traits import Traits
from whence.engine.values import Value, ValueFault, as_condition, describe

__all__ = ["Compiled", "compile_expression", "field_of", "guarded"]

Front = Sequence[Event]
Traced = tuple[Value, Term, Term]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression ready to run.

    Attributes:
        value: from a front to the value.
        trace: from a front to the value, what explains it, and what supports it if that differs.
        plain: the term, if every argument always explains: it does not depend on the values.
        may_vanish: the value may become missing while all inputs stay present.
        may_be_missing: the value may be missing.
        kind: the kind of the value, as far as it is known.
    """

    value: Callable[[Front], Value]
    trace: Callable[[Front], Traced]
    plain: Callable[[Front], Term] | None
    may_vanish: bool
    may_be_missing: bool
    kind: str


def compile_expression(
    expression: Expression, pipes: Sequence[Traits], *, all_witnesses: bool = False
) -> Compiled:
    """Check an expression against its pipes and make it ready to run.

    >>> from whence.engine.functions import FUNCTIONS
    >>> twice = compile_expression(Call(FUNCTIONS["add"], (Input(), Input())), [Traits()])
    >>> twice.value([Event(21)])
    42
    """
    needed = pipes_read(expression)
    if needed > len(pipes):
        wanted = f"pipes 0 to {len(pipes) - 1}"
        raise ValueFault(wanted, f"pipe {needed - 1}", "connecting one more input")
    kind = kind_of_expression(expression, pipes)
    value = _value(expression)
    if all(x.function.explains_all for x in subexpressions(expression) if isinstance(x, Call)):
        plain = _plain_term(expression)
        term: Callable[[Front], Term] | None = plain
        trace: Callable[[Front], Traced] = lambda front: (value(front), plain(front), None)  # noqa: E731
    else:
        trace, term = _trace(expression, pipes, all_witnesses), None
    return Compiled(
        value,
        trace,
        term,
        may_vanish(expression, pipes),
        may_be_missing(expression, pipes),
        kind,
    )


def _field(name: str, pipe: int) -> Callable[[Front], Value]:
    def read(front: Front) -> Value:
        record = front[pipe].value
        if type(record) is dict:
            return record.get(name)
        return field_of(record, name)

    return read


def field_of(record: Value, name: str) -> Value:
    """A field of a record; of a plain value only ``value``, which is the value itself."""
    if record is None or isinstance(record, Mapping):
        return record.get(name) if record is not None else None
    if name == "value":
        return record
    raise no_record(name, describe(record))


def guarded(function: Function) -> Callable[..., Value]:
    """A user's function may raise anything; the error must still name the place."""
    if not function.path or isinstance(function.compute, NotLoaded):
        return function.compute

    def compute(*arguments: Value) -> Value:
        try:
            return function.compute(*arguments)
        except ValueFault:
            raise
        except Exception as fault:
            wanted = f"{function.name!r} to take {', '.join(map(describe, arguments))}"
            raise ValueFault(wanted, f"{type(fault).__name__}: {fault}", "its code") from fault

    return compute


def _value(expression: Expression) -> Callable[[Front], Value]:
    if isinstance(expression, Constant):
        constant = expression.value
        return lambda front: constant
    if isinstance(expression, Input):
        pipe = expression.pipe
        return lambda front: front[pipe].value
    if isinstance(expression, Field):
        return _field(expression.name, expression.pipe)
    parts = [_value(x) for x in expression.arguments]
    if expression.function == IF:
        condition, x, y = parts
        return lambda front: x(front) if as_condition(condition(front)) else y(front)
    compute = guarded(expression.function)
    if len(parts) == 1:
        (only,) = parts
        return lambda front: compute(only(front))
    if len(parts) == 2:
        left, right = parts
        pair = expression.function.pair or compute
        if isinstance(expression.arguments[1], Constant):
            constant = expression.arguments[1].value
            return lambda front: pair(left(front), constant)
        return lambda front: pair(left(front), right(front))
    return lambda front: compute(*[part(front) for part in parts])


def _plain_term(expression: Expression) -> Callable[[Front], Term]:
    """The term of an expression all of whose arguments always explain it."""
    reads: dict[int, set[str] | None] = {}
    for item in subexpressions(expression):
        if isinstance(item, Input):
            reads[item.pipe] = None
        elif isinstance(item, Field):
            known = reads.setdefault(item.pipe, set())
            if known is not None:
                known.add(item.name)
    pieces = [(p, None if f is None else frozenset(f)) for p, f in sorted(reads.items())]
    if not pieces:
        return lambda front: ()
    if len(pieces) == 1:
        ((pipe, fields),) = pieces
        if fields is None:
            return lambda front: front[pipe]
        return lambda front: Part(front[pipe], fields)
    return lambda front: tuple([front[p] if f is None else Part(front[p], f) for p, f in pieces])


def _trace(
    expression: Expression, pipes: Sequence[Traits], all_witnesses: bool
) -> Callable[[Front], Traced]:
    assert isinstance(expression, Call)
    parts = [
        compile_expression(x, pipes, all_witnesses=all_witnesses) for x in expression.arguments
    ]
    if expression.function == IF:
        return _trace_choice(parts)
    traces = [part.trace for part in parts]
    vanishing = tuple(part.may_vanish for part in parts)
    compute, rule = guarded(expression.function), expression.function.rule

    def trace(front: Front) -> Traced:
        traced = [t(front) for t in traces]
        values = [t[0] for t in traced]
        result = compute(*values)
        picks = rule.explain(values, result)
        if not all_witnesses or len(picks) == 1:
            why, support = pick_terms(traced, picks[0], rule.support(picks[0], vanishing))
            return result, why, support
        terms = [pick_terms(traced, p, rule.support(p, vanishing)) for p in picks]
        whys = Either([why for why, _ in terms])
        if all(support is None for _, support in terms):
            return result, whys, None
        return result, whys, Either([why if s is None else s for why, s in terms])

    return trace


def pick_terms(
    traced: Sequence[Traced], pick: Sequence[int], enough: Sequence[int]
) -> tuple[Term, Term]:
    """The explaining and the supporting term of some arguments."""
    why: Term = traced[pick[0]][1] if len(pick) == 1 else tuple([traced[i][1] for i in pick])
    if pick == enough and all([traced[i][2] is None for i in pick]):
        return why, None
    return why, tuple([traced[i][1] if traced[i][2] is None else traced[i][2] for i in enough])


def _trace_choice(parts: Sequence[Compiled]) -> Callable[[Front], Traced]:
    condition, yes, no = parts

    def trace(front: Front) -> Traced:
        c = condition.trace(front)
        taken = (yes if as_condition(c[0]) else no).trace(front)
        why, support = pick_terms((c, taken), (0, 1), (0, 1))
        return taken[0], why, support

    return trace
