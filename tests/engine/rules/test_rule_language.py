"""The language of rules: read, written again, old words where they were, hostile texts."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.engine.rules.random_rules import drawn
from whence.engine import Chain, Each, Slice
from whence.engine.chain_file import dump_chain, load_chain
from whence.engine.errors import FormulaError, WhenceError
from whence.engine.formula import formula, parse_expression
from whence.engine.language.expression import Field
from whence.engine.language.formula.faults import LATER
from whence.engine.language.formula.nodes import Node
from whence.engine.language.formula.parser import parse
from whence.engine.language.formula.rule_text import rule_text
from whence.engine.testing import findings, run


def shape(node: Node) -> object:
    return (node.head, [shape(x) for x in node.arguments])


@pytest.mark.parametrize("seed", range(200))
def test_a_rule_is_written_as_it_was_read(seed: int) -> None:
    for text in drawn(Random(seed), depth=4).rule.values():
        node = parse(text, rules=True)
        assert shape(parse(rule_text(node), rules=True)) == shape(node)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("F[..90d] a", "F[..P90D] a"),
        ("F[1d12h..2w] a", "F[P1DT12H..P14D] a"),
        ("F[..PT1M] a", "F[0s..60s] a"),
        ("not F a = 1 and b", "(not (F (a = 1))) and b"),
        ("a S b and c", "(a S b) and c"),
        ("a U b S c", "a U (b S c)"),
        ("O[..3s] a or b", "(O[..3s] a) or b"),
        ("min(x) > 3", "(min(x)) > 3"),
        ("sum(x where O c) <= 3", "(sum(x where (O c))) <= 3"),
    ],
)
def test_how_texts_are_read(text: str, same: str) -> None:
    assert shape(parse(text, rules=True)) == shape(parse(same, rules=True))


@pytest.mark.parametrize("word", LATER)
def test_new_words_stay_names_where_they_were(word: str) -> None:
    assert parse_expression(word) == Field(word)
    assert run(formula(f"F ({word} > 1)"), [{word: 1}, {word: 2}]) == [(True, {1}), (True, {1})]
    assert load_chain(f"{{id: x, apply: '{word} > 1'}}").outputs == ("x",)
    with pytest.raises(FormulaError, match=f'"{word}" in double quotes'):
        Each("x", must=f"{word} > 1", when="true")
    assert Each("x", must=f'"{word}" > 1', when="true").must == f'"{word}" > 1'


def test_min_and_max_of_one_argument_look_back_in_rules_only() -> None:
    log = [{"x": 3}, {"x": 1}, {"x": 2}]
    assert [v for v, _ in run(formula("min(x) > 1"), log)] == [True, False, True]
    assert [v for v, _ in run(Each("e", must="min(x) > 1", when="true"), log)] == [
        True,
        False,
        False,
    ]


REFUSED = [
    ("F[5d..2d] a", "expected the shorter time first; got [5d..2d]"),
    ("F[..3q] a", "expected a time in s, m, h, d or w"),
    ("F[..5] a", "try a unit: 5s or 5d"),
    ("F[..P1M] a", "months and years differ in length"),
    ("F[-3s..] a", "no minus"),
    ("F[..] a", "expected a time before or after"),
    ("F[5d] a", "two dots in a bound"),
    (f"F[..{'9' * 60}d] a", "at most 100,000 years"),
    ("O F a", "expected a bound on what looks ahead inside O"),
    ("H[..3d] (a U b)", "expected a bound on what looks ahead inside H"),
    ("Y end", "expected a bound on what looks ahead inside Y"),
    ("count(F[..3d] a) > 1", "expected the present and the past inside count"),
    ("sum(a)", "expected a condition; got sum"),
    ("not sum(a)", "expected a condition; got sum"),
    ("median[..3d](a) > 1", "expected one of count, sum, min, max, mean, distinct"),
    ("$1.a > 1", "expected a column of the log"),
    ("not " * 3000 + "a", "at most 100 levels"),
    ("O " * 3000 + "a", "at most 100 levels"),
    ("(" * 3000, "expected a value"),
    ("a" * 300_000, "at most 100,000 characters"),
    ("a and " * 30_000 + "a", "expected"),
    ("F[..", "expected"),
    ("trigger.", "expected"),
    ("", "expected formula text"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=[text[:20] for text, _ in REFUSED])
def test_what_cannot_be_meant_is_one_line_before_the_run(text: str, words: str) -> None:
    with pytest.raises(WhenceError) as fault:
        Each("rule", must=text, when="true")
    assert words in str(fault.value)
    assert len(str(fault.value).splitlines()) == 1
    assert len(str(fault.value)) < 600


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"must": "a", "when": "trigger.a = 1"}, "expected no trigger in `when`"),
        ({"must": "a", "when": "X a"}, "expected the present and the past in `when`; got X"),
        ({"must": "trigger.a = 1"}, "expected no trigger in a rule about a case"),
        ({"must": "a", "when": "true", "grace": "1M"}, "grace: expected a time"),
        ({"must": 3, "when": "true"}, "expected `must` as text"),
    ],
)
def test_rules_that_cannot_be_meant(rule: dict[str, Any], words: str) -> None:
    with pytest.raises(WhenceError) as fault:
        Each("rule", **rule)
    assert words in str(fault.value)


def test_a_bound_needs_times() -> None:
    rule = Each("rule", must="F[..5s] a", when="true")
    with pytest.raises(WhenceError, match="expected a column that holds the time"):
        run(rule, [{"a": True}])
    with pytest.raises(WhenceError, match=r"position 1: expected a time in 't'; got missing"):
        run(rule, [{"a": True, "t": 1}, {"a": True}], time="t")
    with pytest.raises(WhenceError, match=r"position 0: expected a time: an instant or a number"):
        run(rule, [{"a": True, "t": "soon"}], time="t")
    log = "logs: {log: {time: t, columns: {t: text, a: boolean}}}"
    chain = load_chain(f"{log}\nid: r\neach: {{when: a, must: 'F[..5s] a'}}")
    with pytest.raises(WhenceError, match="expected instants or seconds in 't'; got text"):
        chain.output_traits(chain.input_traits(), closed=False)


@pytest.mark.parametrize(
    ("closes", "words"),
    [
        ({"after": "3"}, "a unit: 3s or 3d"),
        ({"after": 3}, "a condition or {after: TIME}"),
        ({"before": "3d"}, "a condition or {after: TIME}"),
        ("a >", "expected a value"),
    ],
)
def test_closing_that_cannot_be_meant(closes: object, words: str) -> None:
    with pytest.raises(WhenceError, match="expected") as fault:
        findings({"when": "a", "must": "a"}, [], closes=closes)
    assert words in str(fault.value)


def test_a_rule_is_a_chain_like_any_other() -> None:
    rule = Each("audited", when="pay", must="F[..5s] audit", grace="2s")
    chain = Chain.of(
        Slice("cases", by=["case", "account"], of=rule, combine="each", closes_when={"after": "3d"})
    )
    assert load_chain(dump_chain(chain)) == chain
    assert load_chain(dump_chain(chain, "json")) == chain
