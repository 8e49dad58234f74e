"""Expressions on columns compute, explain and fail as the interpreter does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.random_columns import (
    KINDS,
    leaves_of,
    random_expression,
    random_values,
)
from whence.engine.functions import FUNCTIONS, function
from whence.engine.kernels.batch import Batch, Front
from whence.engine.kernels.columns.column import Column, guessed, records
from whence.engine.kernels.expressions.expression import RowFault, compile_columns
from whence.engine.kernels.expressions.functions import COLUMN_FUNCTIONS
from whence.engine.kernels.kernel import Run
from whence.engine.kernels.trails.entries import ASKED
from whence.engine.kernels.trails.trail import Line, Trail
from whence.engine.language.compiled import Compiled, compile_expression
from whence.engine.language.events import Event, Part, Stream, Term
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.traits import Traits
from whence.engine.values import ValueFault

Reads = set[tuple[int, str | None]]


def front_of(columns: Sequence[Column], run: Run) -> Front:
    """A front whose pipes lead to logs of their own, row by row."""
    count = len(columns[0])
    moment = np.arange(count)
    pipes = []
    for number, column in enumerate(columns):
        trail = Line(run.names.target(f"log {number}"), ASKED, count, 0, 0)
        pipes.append(Batch(column, moment, None, trail, trail, None))
    return Front(tuple(pipes), moment, None)


def reads_of(term: Term, pipes: Sequence[Event]) -> Reads:
    """The fields of the front's events that a term names; the whole event swallows its fields."""
    found: Reads = set()
    stack = [term]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(item)
        elif isinstance(item, Part):
            pipe = pipes.index(item.event)
            fields: set[str | None] = {None} if item.fields is None else {*item.fields}
            found |= {(pipe, name) for name in fields}
        elif isinstance(item, Event):
            found.add((pipes.index(item), None))
    return swallowed(found)


def swallowed(reads: Reads) -> Reads:
    whole = {pipe for pipe, name in reads if name is None}
    return {(pipe, name) for pipe, name in reads if name is None or pipe not in whole}


def rows_of(trail: Trail, count: int, run: Run) -> list[Reads]:
    """What a trail names, row by row."""
    found: list[Reads] = [set() for _ in range(count)]
    entries = trail.entries(np.arange(count))
    for row, target, fields, lo, hi in zip(*(a.tolist() for a in entries), strict=True):
        assert lo == hi == row
        names = run.names.fields[fields]
        found[row] |= {(target, name) for name in ([None] if names is None else names)}
    return [swallowed(reads) for reads in found]


def interpreted(compiled: Compiled, rows: Sequence[Sequence[Any]]) -> Any:
    """Values and picks by the interpreter, or the first row that fails and why."""
    stream = Stream("log", is_log=True)
    told = []
    for number, row in enumerate(rows):
        events = [Event(value, stream=stream) for value in row]
        try:
            value, why, support = compiled.trace(events)
        except ValueFault as fault:
            return number, str(fault)
        sup = reads_of(why if support is None else support, events)
        told.append((shown(value), reads_of(why, events), sup))
    return told


def shown(value: Any) -> str:
    """A value with its kind; NaN equals NaN, and a record has its fields in any order."""
    if isinstance(value, dict):
        return repr({name: shown(part) for name, part in sorted(value.items())})
    return repr(value)


def by_columns(expression: Expression, pipes: Sequence[Traits], columns: Sequence[Column]) -> Any:
    """The same on columns."""
    run = Run(tracked=True, closed=False)
    run.texts = columns[0].texts
    front = front_of(columns, run)
    compiled = compile_columns(expression, pipes, run)
    count = len(front)
    try:
        values, why, sup = compiled.trace(front)
    except RowFault as bad:
        return bad.row, str(bad.fault)
    whys, sups = rows_of(why, count, run), rows_of(sup, count, run)
    return list(zip([shown(v) for v in values.to_list()], whys, sups, strict=True))


def _drawn(
    random: Random, leaves: Sequence[tuple[Expression, str]], traits: Sequence[Traits]
) -> tuple[Expression, Compiled]:
    """An expression that is not refused before any event is seen."""
    while True:
        expression = random_expression(random, leaves, random.choice("BBNNFTIDL"), 3)
        try:
            return expression, compile_expression(expression, traits)
        except ValueFault:
            continue


def check(seed: int) -> bool:
    """Draw a case and compare; whether the interpreter took all rows."""
    random = Random(seed)
    run = Run(tracked=True, closed=False)
    count = random.choice((1, 2, 5, 12))
    names = {name: random.choice(KINDS) for name in "pqrst"}
    plain = random.choice(KINDS)
    leaves = leaves_of(names, plain)
    traits = [Traits(may_vanish=random.random() < 0.3), Traits(may_vanish=random.random() < 0.3)]
    expression, compiled = _drawn(random, leaves, traits)
    fields = {name: random_values(random, kind, count) for name, kind in names.items()}
    others = random_values(random, plain, count)
    typed = records({n: guessed(v, run.texts) for n, v in fields.items()}, count, run.texts)
    lost = np.array([random.random() < 0.1 for _ in range(count)])
    events = typed.take(np.where(lost, -1, np.arange(count)))
    if random.random() < 0.1:
        events = events.to_any()
    columns = [events, guessed(others, run.texts)]
    rows = list(zip(events.to_list(), others, strict=True))
    expected = interpreted(compiled, rows)
    assert by_columns(expression, traits, columns) == expected, (seed, expression)
    return isinstance(expected, list)


def test_random_expressions_agree_with_the_interpreter() -> None:
    taken = sum(check(seed) for seed in range(1_500))
    assert 600 < taken < 1_400  # both what fits and what fails was drawn


@pytest.mark.full
def test_many_random_expressions_agree_with_the_interpreter() -> None:
    for seed in range(10_000, 60_000):
        check(seed)


def _call(name: str, *arguments: Expression) -> Call:
    return Call(FUNCTIONS[name], arguments)


def _given(run: Run, **fields: list[Any]) -> Front:
    count = len(next(iter(fields.values())))
    columns = {name: guessed(values, run.texts) for name, values in fields.items()}
    return front_of([records(columns, count, run.texts)], run)


def _run() -> Run:
    return Run(tracked=True, closed=False)


X, Y = Field("x"), Field("y")


def test_every_function_computes_columns_unless_it_is_about_lists_or_choice() -> None:
    assert set(FUNCTIONS) - set(COLUMN_FUNCTIONS) == {"list", "element", "size", "if"}


TYPED: dict[str, Sequence[str]] = {
    **dict.fromkeys(("and", "or", "implies", "xor"), ("boolean", "boolean")),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne", "min", "max"), ("text", "text")),
    **dict.fromkeys(("add", "sub", "product"), ("integer", "integer")),
    **dict.fromkeys(("starts_with", "ends_with", "contains", "concat"), ("text", "text")),
    **dict.fromkeys(("length", "lower", "upper", "strip"), ("text",)),
    **dict.fromkeys(("days", "hours", "minutes", "seconds"), ("integer",)),
    **dict.fromkeys(("days_between", "seconds_between"), ("instant", "instant")),
    **dict.fromkeys(("hour", "weekday", "instant"), ("instant",)),
    "not": ("boolean",),
    "is_missing": ("text",),
    "div": ("float", "float"),
    "abs": ("float",),
    "in": ("text", "text", "text"),
    "matches": ("text", "text"),
    "coalesce": ("text", "text", "text"),
}


@pytest.mark.parametrize("name", sorted(COLUMN_FUNCTIONS))
def test_typed_columns_are_never_computed_row_by_row(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("a row was computed by itself")

    monkeypatch.setattr("whence.engine.kernels.expressions.nodes.by_rows", refuse)
    monkeypatch.setattr("whence.engine.kernels.expressions.nodes.explain_by_rows", refuse)
    plain: dict[str, Sequence[Any]] = {
        "boolean": (True, False, None),
        "integer": (3, -2, None),
        "float": (0.5, -2.0, None),
        "text": ("a", "b", None),
        "instant": (None, *random_values(Random(1), "instant", 2)),
    }
    kinds = TYPED[name]
    run = _run()
    fields = {f"f{n}": list(plain[kind]) for n, kind in enumerate(kinds)}
    expression = _call(name, *(Field(field) for field in fields))
    _, why, sup = compile_columns(expression, [Traits()], run).trace(_given(run, **fields))
    assert len(why.entries(np.arange(3)).row) >= 3
    assert len(sup.entries(np.arange(3)).row) >= 3


def test_the_first_row_that_fails_is_named_whichever_part_fails_there() -> None:
    run = _run()
    # The left argument fails on row 3, the right one on row 1 already.
    front = _given(run, x=[1, 1, 1, 0], y=[1, "a", 1, 1])
    expression = _call("add", _call("div", Constant(1), X), _call("add", Y, Constant(1)))
    with pytest.raises(RowFault) as caught:
        compile_columns(expression, [Traits()], run).evaluate(front)
    assert caught.value.row == 1
    assert "expected a number; got text 'a'" in str(caught.value.fault)


def test_only_the_branch_taken_is_computed_in_the_rows_that_take_it() -> None:
    run = _run()
    front = _given(run, x=[2, 0, 4])
    zero = _call("eq", X, Constant(0))
    safe = _call("if", zero, Constant(0.0), _call("div", Constant(1), X))
    assert compile_columns(safe, [Traits()], run).evaluate(front).to_list() == [0.5, 0.0, 0.25]
    unsafe = _call("if", zero, _call("div", Constant(1), X), Constant(0.0))
    with pytest.raises(RowFault) as caught:
        compile_columns(unsafe, [Traits()], run).evaluate(front)
    assert caught.value.row == 1


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("add", 2**63 - 1, 1),
        ("sub", -(2**63), 1),
        ("product", 2**32, 2**31),
        ("product", -(2**63), -1),
        ("add", 1e308, 1e308),
        ("product", 1e200, -1e200),
        ("div", 1e308, 1e-10),
        ("div", 1, 0),
    ],
)
def test_an_overflow_fails_in_its_row_but_not_where_a_value_is_missing(
    name: str, x: Any, y: Any
) -> None:
    run = _run()
    compiled = compile_columns(_call(name, X, Y), [Traits()], run)
    with pytest.raises(RowFault) as caught:
        compiled.evaluate(_given(run, x=[type(x)(3), x, x], y=[type(y)(1), y, y]))
    assert caught.value.row == 1
    columns = {
        "x": Column("integer" if type(x) is int else "float", np.array([x, x]), None, run.texts),
        "y": Column(
            "integer" if type(y) is int else "float",
            np.array([y, y]),
            np.zeros(2, np.bool_),
            run.texts,
        ),
    }
    front = front_of([records(columns, 2, run.texts)], run)
    assert compiled.evaluate(front).to_list() == [None, None]


def test_an_integer_beyond_53_bits_is_compared_with_a_float_by_value() -> None:
    run = _run()
    front = _given(run, x=[2**53 + 1, 2**53], y=[2.0**53, 2.0**53])
    assert compile_columns(_call("eq", X, Y), [Traits()], run).evaluate(front).to_list() == [
        False,
        True,
    ]


def test_picks_are_worked_out_only_when_somebody_follows_them() -> None:
    run = _run()
    asked: list[int] = []

    def rule(arguments: Sequence[Any], result: Any) -> list[tuple[int, ...]]:
        asked.append(1)
        return [(0,)]

    own = function(lambda x, y: x, rule, "first")
    front = _given(run, x=[1, 2], y=[3, 4])
    _, why, sup = compile_columns(Call(own, (X, Y)), [Traits()], run).trace(front)
    assert not asked
    assert rows_of(why, 2, run) == [{(0, "x")}] * 2
    assert rows_of(sup, 2, run) == [{(0, "x"), (0, "y")}] * 2
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("expression", "same"),
    [
        (_call("add", X, Y), True),
        (_call("and", _call("lt", X, Y), _call("eq", X, Y)), True),
        (_call("product", X, Y), True),
        (_call("if", _call("lt", X, Y), X, Y), True),
        (_call("min", X, Y), False),
        (_call("product", X, _call("if", _call("lt", X, Y), X, Constant(None))), False),
    ],
)
def test_one_trail_serves_both_relations_wherever_they_agree(
    expression: Expression, same: bool
) -> None:
    run = _run()
    _, why, sup = compile_columns(expression, [Traits()], run).trace(_given(run, x=[1], y=[2]))
    assert (sup is why) is same


def test_fields_that_are_always_read_make_one_entry_a_row() -> None:
    run = _run()
    expression = _call("add", X, Y, X)
    front = _given(run, x=[1, 2, 3], y=[1, 2, 3])
    why = compile_columns(expression, [Traits()], run).trace(front).why
    assert isinstance(why, Line)
    assert run.names.fields[why.fields] == frozenset({"x", "y"})


def test_without_tracking_nothing_is_explained() -> None:
    run = Run(tracked=False, closed=False)
    values, why, _ = compile_columns(_call("min", X, Y), [Traits()], run).trace(
        _given(run, x=[1, 5], y=[2, 4])
    )
    assert values.to_list() == [1, 4]
    assert not len(why.entries(np.arange(2)).row)


def test_a_text_is_computed_once_however_often_it_comes() -> None:
    run = _run()
    called: list[str] = []
    lower = FUNCTIONS["lower"]

    def counted(text: Any) -> Any:
        called.append(text)
        return lower.compute(text)

    start = COLUMN_FUNCTIONS["lower"].start(replace(lower, compute=counted))
    for _ in range(3):
        column = guessed(["A", "B", None, "A", "A", "B"], run.texts)
        found = start([column])
        assert found is not None
        assert found.to_list() == ["a", "b", None, "a", "a", "b"]
    assert sorted(called) == ["A", "B"]


def test_an_input_is_read_whole() -> None:
    run = _run()
    why = (
        compile_columns(_call("is_missing", Input()), [Traits()], run)
        .trace(_given(run, x=[1, 2]))
        .why
    )
    assert rows_of(why, 2, run) == [{(0, None)}] * 2
