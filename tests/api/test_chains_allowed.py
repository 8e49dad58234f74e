"""Chains that the semantics allow: nothing but an input, and a function that names fewer pipes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whence.api import analyse, run
from whence.engine import ApplyFunction, Chain, MemoryTracker, interpret
from whence.engine.drawing import FORMATS, draw, picture_of_chain
from whence.engine.errors import ChainError
from whence.engine.language.chain_file import dump_chain, load_chain
from whence.engine.lineage.steps import steps_of
from whence.engine.lineage.words import in_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from whence.api import Runner

RUNNERS = ["interpreter", "local", pytest.param("spark", marks=pytest.mark.spark)]
INPUT_ONLY = (
    "graph: {inputs: [log], nodes: {}, output: log}",
    "graph: {inputs: [log], nodes: {}}",
    "line: []",
)
SURPLUS = """
graph:
  inputs: [p, q, r]
  nodes:
    larger: {from: [p, q, r], is: {apply: "$0.x > $1.x"}}
  output: larger
"""


def _records(*values: int) -> list[dict[str, int]]:
    return [{"x": value} for value in values]


@pytest.mark.parametrize("text", INPUT_ONLY)
def test_a_chain_that_is_nothing_but_its_input_outputs_its_input(text: str) -> None:
    result = interpret(load_chain(text), [3, 1], tracker=MemoryTracker())
    assert result.values == [3, 1]
    assert [set(result.explain(k).inputs) for k in range(2)] == [{("log", 0)}, {("log", 1)}]


@pytest.mark.parametrize("runner", RUNNERS)
def test_every_runner_keeps_what_a_chain_without_processors_passes_on(
    runner: Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session: SparkSession | None = request.getfixturevalue("spark") if runner == "spark" else None
    result = run(
        load_chain(INPUT_ONLY[0]), [3, 1, 4], runner=runner, record=tmp_path, session=session
    )
    assert list(result.outputs()) == [(0, 3), (1, 1), (2, 4)]
    why = result.explain(1)
    assert [event.position for event in why.events] == [1]
    assert json.dumps(why.to_prov().serialize(format="json"))


@pytest.mark.parametrize("runner", RUNNERS)
def test_an_input_that_is_an_output_beside_others_is_recorded_too(
    runner: Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session: SparkSession | None = request.getfixturevalue("spark") if runner == "spark" else None
    chain = load_chain(
        "graph: {inputs: [log], nodes: {sum: {from: log, is: {cumulate: add}}}, "
        "outputs: [log, sum]}"
    )
    assert chain.outputs == ("log-same", "sum")
    result = run(chain, [3, 1], runner=runner, record=tmp_path, session=session)
    assert list(result.outputs("log-same")) == [(0, 3), (1, 1)]
    assert list(result.outputs("sum")) == [(0, 3), (1, 4)]


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_function_waits_for_inputs_that_it_does_not_name(
    runner: Runner, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    session: SparkSession | None = request.getfixturevalue("spark") if runner == "spark" else None
    logs = {"p": _records(5, 1, 7), "q": _records(3, 2, 2), "r": _records(0, 0)}
    result = run(load_chain(SURPLUS), logs, runner=runner, record=tmp_path, session=session)
    assert list(result.outputs()) == [(0, True), (1, False)]
    why = result.explain(1)
    assert sorted((event.log, event.position) for event in why.events) == [("p", 1), ("q", 1)]


@pytest.mark.parametrize("text", [*INPUT_ONLY, SURPLUS])
def test_it_is_written_and_read_back_drawn_and_analysed(text: str) -> None:
    chain = load_chain(text)
    for again in (load_chain(dump_chain(chain)), load_chain(dump_chain(chain, "json"))):
        assert again == chain
        assert again.digest == chain.digest
    for format in FORMATS:
        assert draw(picture_of_chain(chain), format)
    used = analyse(chain)
    assert {use.log for use in used.logs} == set(chain.inputs)


def test_it_is_told_in_words() -> None:
    chain = load_chain(INPUT_ONLY[0])
    result = interpret(chain, [3, 1], tracker=MemoryTracker())
    told = in_words(steps_of(result.explain(1).event), chain)
    assert told == ["log-same@1 is 1 because it is log@1 (1), unchanged"]


def test_a_function_still_needs_all_that_it_names() -> None:
    with pytest.raises(ChainError, match=r"expected at least 2 inputs; got 1 \(a pipe is free\)"):
        Chain.graph(["log"], [(ApplyFunction("both", "$0 > $1"), ["log"])])
