"""Chain files: loss-free both ways, and an error that names file, line and column."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.text_strategies import BROAD, FULL, expressions
from whence.engine.errors import ChainError, DefinitionError, ParameterError
from whence.engine.language.chain import Chain, Log
from whence.engine.language.chain_file import dump_chain, load_chain, with_log
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.expression import Expression, Field
from whence.engine.language.file_tree import read_tree
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.processors import ApplyFunction, Filter, Slice, Trim, TurnInto
from whence.engine.testing import run

CASES = json.loads((Path(__file__).parents[1] / "vectors" / "nested.json").read_text("utf-8"))
VECTORS = CASES["cases"] if isinstance(CASES, dict) else CASES

FORMATS: list[Literal["yaml", "json"]] = ["yaml", "json"]


def equal_after(chain: Chain, format: Literal["yaml", "json"]) -> bool:
    again = load_chain(dump_chain(chain, format), allow=["tests"])
    return again == chain and again.digest == chain.digest and again.tree() == chain.tree()


@pytest.mark.parametrize("format", FORMATS)
def test_every_chain_of_the_vectors_comes_back_as_it_was(format: Literal["yaml", "json"]) -> None:
    chains = [chain_from_tree(c["chain"], make_ids=True, formulas=False) for c in VECTORS]
    assert len(chains) == 200
    assert [c.digest for c in chains if not equal_after(c, format)] == []


AWKWARD = [
    "yes", "no", "on", "null", "~", "1e5", "0x1F", "0123", "1_000", "2026-03-01", ".inf", "1:30",
    "true", "-", "", " ", "a: b", "# c", "x > 0", "\u2028", "\x85", "\t", "a\nb", "!x", "*a", "<<",
]  # fmt: skip
TEXTS = st.sampled_from(AWKWARD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | TEXTS
)
STATES = st.lists(TEXTS, min_size=1, max_size=4, unique=True)
IDS = TEXTS.filter(lambda text: bool(text.strip()) and not set(text) & set("/@."))


@st.composite
def chains(draw: st.DrawFn) -> Chain:
    """Awkward ids, texts and constants everywhere a chain file can hold one."""
    names = draw(st.lists(IDS.filter(lambda n: n != "log"), min_size=5, max_size=5, unique=True))
    states = draw(STATES)
    guards = draw(st.lists(expressions, max_size=2))
    pick = st.sampled_from(states)
    moore = MooreMachine(
        names[0],
        draw(pick),
        {state: draw(VALUES) for state in states},
        [(draw(pick), _over_one(guard), draw(pick)) for guard in guards],
        {state: draw(pick) for state in states},
    )
    line = (
        Filter(names[1], _over_one(draw(expressions)))
        | ApplyFunction(names[2], _over_one(draw(expressions)))
        | TurnInto(names[3], draw(VALUES))
    )
    sliced = Slice(names[4], _over_one(draw(expressions)), line)
    column = draw(TEXTS)
    logs = {"log": Log({column: "text"}, case=column)} if draw(st.booleans()) else {}
    chain = Chain.of(sliced) | moore
    return Chain(chain.inputs, chain.connections, chain.outputs, logs)


def _over_one(expression: Expression) -> Expression:
    from whence.engine.language.expression import Call, Input

    if isinstance(expression, Input):
        return Input(0)
    if isinstance(expression, Field):
        return Field(expression.name)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(_over_one(x) for x in expression.arguments))
    return expression


@pytest.mark.parametrize("format", FORMATS)
@BROAD
@given(chain=chains())
def test_awkward_texts_survive_both_formats(format: Literal["yaml", "json"], chain: Chain) -> None:
    assert equal_after(chain, format)


def test_only_true_and_false_are_booleans_and_keys_are_texts() -> None:
    text = """
    on: yes
    no: [off, "true", true, False, null, ~, 1, -2.5e3, 0123, 0x1F, 1_000, .5, 2026-03-01, 12:30]
    1: {true: }
    """
    assert read_tree(text, "t").tree == {
        "on": "yes",
        "no": [
            *("off", "true", True, "False", None, None, 1, -2500.0),
            *("0123", "0x1F", "1_000", ".5", "2026-03-01", "12:30"),
        ],
        "1": {"true": None},
    }


def test_states_may_be_called_on_and_off() -> None:
    chain = load_chain(
        """
        id: switch
        moore:
          initial: off
          states: {on: 1, off: 0}
          transitions:
            - [off, value > 0, on]
            - [on, value <= 0, off]
          otherwise: {on: on, off: off}
        """
    )
    assert [value for value, _ in run(chain, [0, 1, 1, -1])] == [0, 1, 1, 0]


def test_formula_text_stands_wherever_an_expression_may() -> None:
    chain = load_chain(
        """
        line:
          - {id: keep, filter: {where: p is not missing}}
          - id: per-case
            slice: {by: case, of: {id: negative, apply: p < 0}, combine: or}
        """
    )
    log = [{"case": "x", "p": 1}, {"case": "y"}, {"case": "y", "p": -1}]
    assert [value for value, _ in run(chain, log)] == [False, True]


def test_a_temporal_formula_is_a_group() -> None:
    chain = load_chain("{id: rule, formula: \"G (p < 0 -> X action = 'a')\"}")
    log = [{"p": 1, "action": "b"}, {"p": -1, "action": "b"}, {"p": 1, "action": "c"}]
    assert run(chain, log) == [(False, {1, 2}), (False, {1, 2})]
    assert equal_after(chain, "yaml")


def test_logs_declare_kinds_and_the_usual_columns() -> None:
    chain = load_chain(
        """
        logs:
          log: {columns: {p: integer, who: text}, case: who, activity: what, time: when}
        id: low
        apply: p < 0
        """
    )
    assert chain.logs["log"] == Log({"p": "integer", "who": "text"}, "who", "what", "when")
    assert equal_after(chain, "json")


GRAPH = "graph:\n  inputs: [log]\n  nodes:\n    a: {from: [log], is: {trim: 1}}\n"
ERRORS: list[tuple[str, int, int, str]] = [
    ("line:\n  - {id: a, trmi: 2}", 2, 13, "got 'trmi'; try 'trim' (did you mean that?)"),
    ("line:\n  - {id: a, fromula: G p}", 2, 13, "try 'formula' (did you mean that?)"),
    ("id: a\nwindow:\n  m: 2\n  of: {id: b, trim: 1}", 3, 3, "expected one of n, of; got 'm'"),
    ("id: a\nwindow:\n  n: 2", 2, 1, "expected the key 'of'"),
    ("id: a\nwindow:\n  n: 2\n  of:\n    id: b\n    trim: -1", 6, 11, "Trim 'b': expected"),
    ("id: a\nslice:\n  by: case\n  of: {trim: 1}", 4, 14, "expected an id beside 'trim'"),
    ("line:\n  - {id: a, trim: 1}\n  - {id: a, trim: 2}", 3, 5, "got 'a' twice"),
    ("id: a\nid: b\ntrim: 1", 2, 1, "expected each key once; got 'id' twice"),
    ("id: a\napply: p > > 0", 2, 8, "formula, line 1, column 5: expected a value"),
    ("id: a\napply: |\n  p >\n  > 0", 2, 8, "formula, line 2, column 1: expected a value"),
    ("id: a\nformula: G (p -> )", 2, 10, "formula, line 1, column 9: expected a value"),
    ("id: a\napply: F p", 2, 8, "got the temporal operator F; try `formula:`"),
    (
        "id: m\nmoore:\n  initial: x\n  states: {x: 1}\n  transitions:\n    - [x, p >, x]",
        6, 11, "formula, line 1, column 4",
    ),
    (GRAPH + "    b: {from: [c], is: {trim: 1}}\n    c: {from: b, is: {trim: 1}}",
     2, 3, "expected no cycle; got b -> c -> b"),
    (GRAPH + "    b: {from: [a], is: {filter: {}}}",
     5, 8, "Filter 'b': expected 2 inputs; got 1 (a pipe is free)"),
    (GRAPH + "    b: {from: [aa], is: {trim: 1}}", 5, 8, "got 'aa'; try 'a' (did you mean that?)"),
    (GRAPH + "  output: b", 2, 3, "the chain's output: expected a known name to read; got 'b'"),
    (GRAPH + "  outputs: [a]\n  output: a", 2, 3, "`output` or `outputs`"),
    (GRAPH + "    b: {from: [a], is: {id: c, trim: 1}}",
     5, 24, "expected the id 'b', its name; got 'c'"),
    ("logs: {lgo: {}}\nid: a\ntrim: 1", 1, 1, "got 'lgo'; try 'log'"),
    ("logs:\n  log:\n    columns: {p: int}\nid: a\ntrim: 1", 3, 18, "got 'int'"),
    ("logs:\n  log:\n    colums: {p: integer}\nid: a\ntrim: 1", 3, 5, "'columns' (did you mean"),
    (GRAPH + "    b: {from: [{a: 1}], is: {trim: 1}}", 5, 15, "expected its name; got {'a': 1}"),
    (GRAPH + "  output: 3", 5, 11, "expected its name; got 3"),
    ("id: a\nturn_into: {instant: 3}", 2, 12, "expected another shape here; got {'instant': 3}"),
    ("a: &x [1]\nb: *x", 2, 4, "got the alias *x"),
    ("a: !!python/object/apply:os.system [ls]", 1, 4, "got the tag 'python/object/apply:"),
    ("id: a\napply: \"x y\" > 0", 2, 16, "got '0'; try quotes around a whole formula"),
    ("id: a\n\ttrim: 1", 2, 1, "expected YAML; got a tab; try spaces for indentation"),
    ("[1, 2]", 1, 1, "expected a chain; got a list"),
    ("", 1, 1, "expected a chain; got nothing"),
    ("id: [a]\ntrim: 1", 2, 7, "expected an id without"),
    ("id: a\ncumulate: {function: ad}", 2, 11, "try did you mean 'and'?"),
    ("id: a\nltl: Q", 2, 6, "expected one of G, F, X, U; got 'Q'"),
    ('{"id": "a",\n\t"trim": 1,\n\t"trim": 2}', 3, 2, "got 'trim' twice"),
    ('{"id": "a",\n\t"apply": "p >"}', 2, 11, "formula, line 1, column 4"),
    ('{"id": "a", "turn_into": NaN}', 1, 1, 'try {"float": "NaN"}'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "what"), ERRORS)
def test_an_error_names_file_line_and_column(
    text: str, line: int, column: int, what: str, tmp_path: Path
) -> None:
    file = tmp_path / ("chain.json" if text.startswith("{") else "chain.yaml")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DefinitionError) as caught:
        load_chain(file)
    message = str(caught.value)
    assert what in message
    assert message.startswith(f"{file.name}, line {line}, column {column}: ")
    assert re.search("expected .+; got .+; try .+", message)
    assert "\n" not in message


def test_broken_json_in_a_json_file_is_an_error_of_json(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('{"id": "a"\n "trim": 1}')
    with pytest.raises(DefinitionError, match=r"c.json, line 2, column 2: expected JSON; got"):
        load_chain(tmp_path / "c.json")


def test_a_file_that_is_not_there_is_told_from_one_that_is_nearly(tmp_path: Path) -> None:
    (tmp_path / "chain.yaml").write_text("id: a\ntrim: 1")
    with pytest.raises(DefinitionError, match=r"no such file; try .*chain.yaml \(did you mean"):
        load_chain(tmp_path / "chian.yaml")
    assert load_chain(str(tmp_path / "chain.yaml")) == Chain.of(Trim("a", 1))


def test_bytes_that_are_not_utf8_are_refused_with_their_offset(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_bytes(b"id: a\xe9\ntrim: 1")
    with pytest.raises(DefinitionError, match="got byte 0xe9 at offset 5; try saving it as UTF-8"):
        load_chain(tmp_path / "c.yaml")


@pytest.mark.parametrize("text", ["[" * 5_000, "{a: " * 5_000, '{"a":' * 5_000 + "1" + "}" * 5_000])
def test_endless_nesting_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(DefinitionError, match="expected"):
        load_chain(text)


@pytest.mark.parametrize("form", ["{id: x, trim: %s}", '{"id": "x",\n "trim": %s}'])
def test_a_number_of_endless_digits_is_refused_where_it_stands(form: str) -> None:
    with pytest.raises(DefinitionError, match=r"line [12], column .*got one of 5,000 digits") as no:
        load_chain(form % ("9" * 5000))
    assert len(str(no.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "x\\ud800", "trim": 1}',
        '{"id": "x", "turn_into": "\\udc00"}',
        '{"id": "x", "apply": "value = \'\\ud800\'"}',
        '{"logs": {"log": {"columns": {"\\ud800": "text"}}}, "line": [{"id": "x", "trim": 1}]}',
        'id: "x\\ud800"\ntrim: 1',
    ],
)
def test_half_of_a_character_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(DefinitionError, match=r"got half of a character, U\+D[8C]00") as refused:
        load_chain(text)
    str(refused.value).encode()


def test_a_whole_character_in_two_escapes_is_one() -> None:
    chain = load_chain('{"id": "x", "turn_into": "\\ud83d\\ude00"}')
    assert chain == load_chain("{id: x, turn_into: 😀}")


def test_groups_nested_without_end_are_refused_in_one_line() -> None:
    tree: Any = {"id": "a", "trim": 1}
    for _ in range(400):
        tree = {"id": "a", "group": tree}
    with pytest.raises(DefinitionError, match="expected less nesting"):
        load_chain(json.dumps(tree))


def test_columns_are_added_to_what_is_declared() -> None:
    chain = with_log(load_chain("id: a\napply: p > 0"), "log", Log({"p": "integer"}))
    assert with_log(chain, "log", Log({"q": "float"})).logs["log"].columns == {
        "p": "integer",
        "q": "float",
    }
    with pytest.raises(ParameterError, match="got 'intger'; try 'integer'"):
        with_log(chain, "log", Log({"p": "intger"}))
    with pytest.raises(ChainError, match="expected one of log; got 'x'"):
        with_log(chain, "x", Log({"p": "integer"}))


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ParameterError, match="expected yaml or json; got 'toml'"):
        dump_chain(Chain.of(Trim("a", 1)), "toml")  # type: ignore[arg-type]


JUNK: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 10**30, "", "x", "a b", "$9999999", [], {}, [1], ["x"], {"x": 1}),
    *({"id": "q", "trim": 1}, {"instant": 3}, {"map": 3}, {"field": 3}, {"input": 10**9}),
    *({"and": []}, {"call": 3, "arguments": []}, {"constant": {"duration": "x"}}),
)


def _damaged(tree: Any, random: Random) -> Any:
    """A copy with one part replaced, removed or renamed."""
    tree = json.loads(json.dumps(tree))
    holders: list[Any] = [tree]
    for holder in holders:
        inner = holder.values() if isinstance(holder, dict) else holder
        holders += [item for item in inner if isinstance(item, (dict, list)) and item]
    holder = random.choice(holders)
    place = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    part = holder.pop(place) if random.random() < 0.4 else None
    if part is None:
        holder[place] = json.loads(json.dumps(random.choice(JUNK)))
    elif isinstance(holder, dict) and random.random() < 0.5:
        holder[random.choice(["x", "id", "of", "wher", "line"])] = part
    return tree


def test_damaged_files_are_refused_in_one_line_and_in_no_time() -> None:
    random = Random(5)
    refused = []
    for _ in range(20_000 if FULL else 600):
        tree = _damaged(random.choice(VECTORS)["chain"], random)
        try:
            load_chain(json.dumps(tree), make_ids=True)
        except DefinitionError as error:
            refused.append(str(error))
    form = re.compile(r"the text, line \d+, column \d+: .*expected .+; got .+; try .+")
    assert len(refused) > 300
    assert [message for message in refused if not form.fullmatch(message)] == []


def test_a_users_function_is_written_by_its_import_path() -> None:
    chain = load_chain(
        "{id: a, apply: 'tests.engine.own_functions:hypot(x, y) > 5'}", allow=["tests"]
    )
    assert '"call": "tests.engine.own_functions:hypot"' in dump_chain(chain, "json")
    assert run(chain, [{"x": 3, "y": 4}, {"x": 6, "y": 8}]) == [(False, {0}), (True, {1})]
    assert equal_after(chain, "yaml")
