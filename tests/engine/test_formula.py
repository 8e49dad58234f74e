"""Formula text: what it means, how it is printed, and what a reader is told when it is wrong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.text_strategies import THOROUGH, expressions
from whence.engine.errors import FormulaError
from whence.engine.formula import expression_text, formula, parse_expression
from whence.engine.functions import FUNCTIONS, IN_PYTHON, import_function
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.formula.faults import RESERVED
from whence.engine.processors import Group
from whence.engine.testing import run

A, B, C = Field("a"), Field("b"), Field("c")


def group(text: str, id: str = "formula") -> Group:
    """A formula that is a Group of processors."""
    made = formula(text, id)
    assert isinstance(made, Group)
    return made


def call(name: str, *arguments: Expression) -> Call:
    return Call(FUNCTIONS[name], arguments)


MEANINGS: list[tuple[str, Expression]] = [
    ("a -> b -> c", call("implies", A, call("implies", B, C))),
    ("a -> b or c", call("implies", A, call("or", B, C))),
    ("a or b and c", call("or", A, call("and", B, C))),
    ("a xor b xor c", call("xor", A, B, C)),
    ("a or b xor c", call("xor", call("or", A, B), C)),
    ("a and b and c", call("and", A, B, C)),
    ("(a and b) and c", call("and", call("and", A, B), C)),
    ("not a = b", call("not", call("eq", A, B))),
    ("not a and b", call("and", call("not", A), B)),
    ("a + b < c", call("lt", call("add", A, B), C)),
    ("1 + 2 + 3", call("add", Constant(1), Constant(2), Constant(3))),
    ("a + b - c", call("sub", call("add", A, B), C)),
    ("a - b - c", call("sub", call("sub", A, B), C)),
    ("a - b + c + 1", call("add", call("sub", A, B), C, Constant(1))),
    ("a + b * c", call("add", A, call("product", B, C))),
    ("a * b / c", call("div", call("product", A, B), C)),
    ("-a * b", call("product", call("sub", Constant(0), A), B)),
    ("-3", Constant(-3)),
    ("a - -3.5", call("sub", A, Constant(-3.5))),
    ("-9223372036854775808", Constant(-(2**63))),
    ("2e3", Constant(2000.0)),
    ("a in ('x', 'y')", call("in", A, Constant("x"), Constant("y"))),
    ("a not in (1)", call("not", call("in", A, Constant(1)))),
    ("a is missing", call("is_missing", A)),
    ("a is not missing", call("not", call("is_missing", A))),
    ("a = missing", call("eq", A, Constant(None))),
    ("a != true", call("ne", A, Constant(True))),
    ("if a then b else c", call("if", A, B, C)),
    ("if a then b else c -> a", call("if", A, B, call("implies", C, A))),
    ("max(a, b)", call("max", A, B)),
    ("and(a)", call("and", A)),
    ("a[0]", call("element", A, Constant(0))),
    ("-a[0]", call("sub", Constant(0), call("element", A, Constant(0)))),
    (
        "tests.engine.own_functions:hypot(a, b)",
        Call(import_function("tests.engine.own_functions:hypot"), (A, B)),
    ),
    ("$1", Input(1)),
    ("$1.case", Field("case", 1)),
    ('$2."concept:name"', Field("concept:name", 2)),
    ("value", Field("value")),
    ("'event time'", Field("event time")),
    ("('event time')", Constant("event time")),
    ('"event time"', Field("event time")),
    ("`event time`", Field("event time")),
    ('"G"', Field("G")),
    ("Gold", Field("Gold")),
    ("android", Field("android")),
    ("größe", Field("größe")),
    ("a = 'it''s'", call("eq", A, Constant("it's"))),
    ("a\n  and b", call("and", A, B)),
]


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_text_means_this_expression(text: str, meaning: Expression) -> None:
    assert parse_expression(text, IN_PYTHON) == meaning


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_has_a_text(name: str) -> None:
    low, high = FUNCTIONS[name].arity
    made = call(name, *[Field("x")] * max(low, 1 if high is None else high))
    assert parse_expression(expression_text(made), IN_PYTHON) == made


@THOROUGH
@given(expressions)
def test_printed_expressions_read_back_as_they_were(expression: Expression) -> None:
    assert parse_expression(expression_text(expression), IN_PYTHON) == expression


@pytest.mark.parametrize(
    ("given_text", "printed"),
    [
        ("(a)+(b)+(c)", "a + b + c"),
        ("(a+b)+c", "(a + b) + c"),
        ("a-(b-c)", "a - (b - c)"),
        ("not(a and(b or c))", "not (a and (b or c))"),
        ("not a in (1,2)", "a not in (1, 2)"),
        ("(if a then b else c) + 1", "(if a then b else c) + 1"),
        ("(a -> b) -> c", "(a -> b) -> c"),
        ("`not` = 'x'", "\"not\" = 'x'"),
    ],
)
def test_printing_keeps_only_the_parentheses_that_matter(given_text: str, printed: str) -> None:
    assert expression_text(parse_expression(given_text)) == printed


ERRORS: list[tuple[str, int, int, str, str]] = [
    ("a and", 1, 6, "got the end", "completing"),
    ("a and\n  or b", 2, 6, "expected `(`", '"or" in double quotes'),
    ("a == b", 1, 4, "got '='", "`=`"),
    ("a && b", 1, 3, "got '&'", "`and`"),
    ("a AND b", 1, 3, "expected an operator", "did you mean"),
    ("mx(a, b)", 1, 1, "expected a known function; got 'mx'", "'max' (did you mean"),
    ("qqq(a)", 1, 1, "expected a known function", "one of abs"),
    ("a b", 1, 3, "expected an operator or the end", "quotes"),
    ("(a or b", 1, 8, "expected `)`", "closing"),
    ("a < b < c", 1, 7, "got '<'", "`and` between"),
    ("and = 3", 1, 5, "got '='", "reserved words: and or xor not"),
    ("3x > 1", 1, 1, "got '3'", "'3x' in quotes"),
    ("if a then b", 1, 12, "expected `else`", "closing"),
    ("a in 'x'", 1, 6, "expected `(`", "x in ('a', 'b')"),
    ("a = 'x", 1, 5, 'got "\'"', "closing quote"),
    ("a is null", 1, 6, "expected `missing` or `not`", "is missing"),
    ("x.y", 1, 2, "got '.'", "double quotes"),
    ("abs(a, b)", 1, 1, "expected 1 argument of abs; got 2", "removing"),
    ("a > 9223372036854775808", 1, 5, "64 bits", "9223372036854775808.0"),
    ("a + $1000000.b", 1, 5, "a pipe below $1000; got $1000000", "$0"),
    ("a > 1e999", 1, 5, "a float below", "smaller"),
    ("G (a)", 1, 1, "the temporal operator G", "`formula:`"),
    ("a + nosuchmodule:f(a)", 1, 5, "importable function", "installing"),
    ("", 1, 1, "expected formula text", "x > 0"),
    ("not " * 200 + "a", 1, 401, "at most 100 levels", "splitting"),
]


@pytest.mark.parametrize(("text", "line", "column", "what", "hint"), ERRORS)
def test_an_error_is_one_line_with_place_and_advice(
    text: str, line: int, column: int, what: str, hint: str
) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_expression(text, IN_PYTHON)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"formula, line {line}, column {column}: ")
    assert what in message
    assert hint in message.partition("; try ")[2]


@THOROUGH
@given(st.text(alphabet="ab1 ()[]'\"`$.,:<>=!-+*/GFXUnotadri", max_size=24))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    refused = None
    try:
        parse_expression(text, IN_PYTHON)
    except FormulaError as error:
        refused = str(error)
    assert refused is None or re.fullmatch(
        r"formula, line \d+, column \d+: .*expected .+; got .+; try .+", refused
    )


@pytest.mark.parametrize("word", RESERVED)
def test_a_reserved_word_is_no_column_unless_quoted(word: str) -> None:
    assert parse_expression(f'"{word}" = 1') == call("eq", Field(word), Constant(1))
    if word not in ("true", "false", "missing"):
        with pytest.raises(FormulaError):
            parse_expression(f"{word} = 1")


def test_the_papers_formula_is_explained_by_the_premise_and_the_broken_promise() -> None:
    rule = group("G (p < 0 -> X (action = 'a' and X action = 'a'))")
    log = [{"p": 1}, {"p": -1}, {"p": 2, "action": "a"}, {"p": 1, "action": "c"}]
    assert run(rule, log) == [(False, {1, 3}), (False, {1, 3})]


def test_equal_parts_of_a_formula_are_one_processor() -> None:
    rule = group("G (p < 0 -> X (action = 'a' and X action = 'a'))", "rule")
    wiring = {c.processor.id: c.sources for c in rule.chain.connections}
    assert wiring == {
        "p-lt-0": ("log",),
        "action-eq-a": ("log",),
        "X": ("action-eq-a",),
        "and": ("action-eq-a", "X"),
        "X-2": ("and",),
        "implies": ("p-lt-0", "X-2"),
        "G": ("implies",),
    }


def test_operators_bind_as_documented() -> None:
    for text, same in [
        ("X action = 'a'", "X (action = 'a')"),
        ("a U b U c", "a U (b U c)"),
        ("not a U b and c", "((not a) U b) and c"),
        ("G a -> F b", "(G a) -> (F b)"),
        ("G not F X a", "G (not (F (X a)))"),
    ]:
        assert group(text).chain.tree() == group(same).chain.tree(), text
    with pytest.raises(AssertionError):
        assert group("(a U b) U c").chain.tree() == group("a U b U c").chain.tree()


def test_until_reads_two_conditions_of_one_log() -> None:
    log = [{"p": True, "q": False}, {"p": True, "q": False}, {"p": False, "q": True}]
    assert run(formula("p U q"), log) == [(True, {0, 1, 2}), (True, {1, 2}), (True, {2})]


def test_a_formula_may_read_several_logs() -> None:
    both = formula("G ($0.ok and $1.ok)")
    logs = {"log0": [{"ok": True}], "log1": [{"ok": False}]}
    assert both.input_count == 2
    assert run(both, logs) == [(False, {"log1@0"})]


def test_constants_and_repeats_under_a_connective_need_no_pipe_of_their_own() -> None:
    rule = group("(G p) and (G p) and true")
    assert [c.processor.id for c in rule.chain.connections] == ["p", "G", "and"]
    assert run(rule, [{"p": False}]) == [(False, {0})]


def test_a_formula_without_temporal_operator_is_a_function_of_each_event() -> None:
    assert run(formula("value > 1"), [1, 2]) == [(False, {0}), (True, {1})]


def test_inner_ids_are_legal_and_unique_whatever_the_text() -> None:
    rule = group("""G ("a/b.c@d" = 'x' or "a/b c@d" = 'x' or F (log and $0 = ',,,'))""")
    ids = [c.processor.id for c in rule.chain.connections]
    assert len(ids) == len(set(ids))
    assert "log" not in ids
    assert not any(set(name) & set("/@.") for name in ids)
