"""Chains that ask for more than any machine has are refused: soon, alike everywhere, by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Cli
from tests.engine.runners._support.kernel_records import logs_of
from tests.engine.sources.test_hostile import bounded
from whence.engine.errors import (
    ChainError,
    DefinitionError,
    FormulaError,
    ParameterError,
    WhenceError,
)
from whence.engine.formula import parse_expression
from whence.engine.interpreter import interpret
from whence.engine.interpreter.bounds import check_bounds
from whence.engine.language.chain import Chain
from whence.engine.language.chain_file import load_chain
from whence.engine.language.processor import Processor
from whence.engine.processors import (
    ApplyFunction,
    CountDecimate,
    Cumulate,
    Fork,
    Group,
    Insert,
    Multiplex,
    Slice,
    Stutter,
    Window,
)
from whence.engine.record import RunRecord
from whence.engine.runners import RunOptions
from whence.engine.runners.local import run_recorded
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.options import CHUNK
from whence.engine.runners.spark.batch import run_on_spark
from whence.engine.values.limits import VARIABLE, RunLimits, current, limited

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def line(*processors: Processor) -> Chain:
    """Processors one after the other."""
    chain = Chain.of(processors[0])
    for processor in processors[1:]:
        chain = chain | processor
    return chain


DOUBLED = line(*(ApplyFunction(f"d{n}", "concat(value, value)") for n in range(40)))
NESTED = line(*(ApplyFunction(f"n{n}", "list(value, value)") for n in range(40)))
GROWING = Chain.of(Cumulate("all", "concat"))
EXPLODING: list[tuple[Chain, list[Any], str]] = [
    (DOUBLED, ["abc"], "expected at most 67,108,864 bytes in one value (the limit 'value'); got "),
    (NESTED, ["abc"], "expected at most 67,108,864 bytes in one value (the limit 'value'); got "),
    (
        GROWING,
        ["x" * 200] * 20_000,
        "concat: expected at most 536,870,912 bytes in all texts over 1,000 characters that a run "
        "makes (the limit 'texts'); got more; try ",
    ),
    (
        Chain.of(Stutter("echo", n=10**9)),
        ["a"],
        "Stutter 'echo': expected at most 1,000 events made of one event (the limit 'repeats'); "
        "got 1,000,000,000; try a smaller n, or --run-limit repeats=1000000000",
    ),
    (
        Chain.of(Insert("lag", n=10**12, value="-")),
        ["a"],
        "Insert 'lag': expected at most 1,000,000 events before any input (the limit 'outputs'); "
        "got 1,000,000,000,000; try a smaller n",
    ),
]


def refusal(run: Callable[[], object]) -> str:
    """The one line of a run that is refused, soon and without much memory."""
    with bounded(3_000, 60), pytest.raises(WhenceError) as caught:
        run()
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(("chain", "log", "expected"), EXPLODING)
def test_what_explodes_is_refused_alike_by_interpreter_and_kernels(
    chain: Chain, log: list[Any], expected: str, tmp_path: Path
) -> None:
    logs = logs_of(tmp_path, chain, {"log": log}, 100_000)
    said = {
        refusal(lambda: interpret(chain, log)),
        refusal(lambda: run_recorded(tmp_path, chain, logs)),
        refusal(lambda: run_kernels(tmp_path, chain, logs)),
    }
    assert len(said) == 1
    assert expected in said.pop()


@pytest.mark.spark
def test_what_explodes_is_refused_on_spark_with_the_same_words(
    tmp_path: Path, spark: SparkSession
) -> None:
    for number, (chain, log, expected) in enumerate(EXPLODING):
        if chain is NESTED:
            continue  # its two gigabytes a worker would be all there is
        root = tmp_path / str(number)
        logs = logs_of(root, chain, {"log": log}, 100_000)
        with pytest.raises(WhenceError) as caught:
            run_on_spark(root, chain, logs, session=spark)
        assert expected in str(caught.value)
    by_case = Chain.of(
        Slice(
            "each",
            by="case",
            of=line(ApplyFunction("t", "text"), GROWING.connections[0].processor),
            combine="count",
        )
    )
    log = [{"case": n % 2, "text": "x" * 400} for n in range(20_000)]
    logs = logs_of(tmp_path, by_case, {"log": log}, 100_000)
    with pytest.raises(WhenceError, match="the limit 'texts'"):
        run_on_spark(tmp_path, by_case, logs, session=spark, partitions=2)


def value_of(run: RunRecord, stream: str) -> str:
    return str(run.outputs(stream, 0).to_pylist()[0]["value"])


def test_every_limit_can_be_raised_and_the_run_remembers_it(tmp_path: Path) -> None:
    chain = line(ApplyFunction("d0", "concat(value, value)"), Stutter("echo", n=2_000))
    log = ["x" * 600]
    small = RunLimits(value=1_000)
    assert "the limit 'value'" in refusal(
        lambda: interpret(chain, log, limits=RunLimits(value=1_000, repeats=2_000))
    )
    logs = logs_of(tmp_path, chain, {"log": log}, 100)
    assert "the limit 'repeats'" in refusal(lambda: run_kernels(tmp_path, chain, logs))
    raised = RunOptions(limits=RunLimits(repeats=2_000))
    run = run_kernels(tmp_path, chain, logs, raised)
    assert run.manifest.options.limits == {"repeats": 2_000}
    assert run.manifest.streams[0].length == 2_000
    assert run.manifest.chunk < CHUNK
    assert len(value_of(run, "echo")) >= 1_200
    with limited(small):
        assert current().value == 1_000
    assert "limits" not in RunOptions().as_json()


def test_the_environment_and_unknown_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "value=7 repeats=5_000")
    assert (current().value, current().repeats) == (7, 5_000)
    monkeypatch.setenv(VARIABLE, "size=7")
    with pytest.raises(ParameterError, match="a run limit: expected one of value, texts, outputs"):
        current()
    with pytest.raises(ParameterError, match="the run limit value: expected a whole number above"):
        RunLimits.stated(["value=much"])


@pytest.mark.parametrize(
    ("chain", "most"),
    [
        (line(Stutter("a", n=10), Stutter("b", n=10)), 100),
        (line(Stutter("a", n=10), CountDecimate("b", n=10), Stutter("c", n=7)), 10),
        (line(Insert("a", n=5, value=0), Stutter("b", n=3)), 3),
        (line(*(Slice(f"s{n}", by="value", of=Insert("i", n=1, value=0)) for n in range(20))), 2),
        (Chain.of(Slice("s", by="value", of=Insert("i", n=99, value=0), combine="count")), 100),
        (Chain.of(Window("w", n=50, of=Insert("i", n=50, value=0))), 2),
        (Chain.of(Group("g", line(Stutter("a", n=4), Stutter("b", n=5)))), 20),
        (Chain.of(Window("w", n=1_000_000, of=Cumulate("sum", "add"))), 1),
    ],
)
def test_how_many_events_a_chain_makes_of_one_is_known_before_it_runs(
    chain: Chain, most: int
) -> None:
    assert check_bounds(chain, RunLimits(repeats=most)) == most
    if most > 1:
        with pytest.raises(ChainError, match=rf"the limit 'repeats'\); got {most:,}; try"):
            check_bounds(chain, RunLimits(repeats=most - 1))


@pytest.mark.parametrize(
    "form", ["trim: {}", "decimate: {}", "window: {{n: {}, of: {{id: s, cumulate: add}}}}"]
)
def test_a_number_that_fits_into_no_column_is_refused_before_anything_runs(form: str) -> None:
    for digits in ("9223372036854775808", "9" * 4_000):
        with pytest.raises(WhenceError, match=r"expected n below 2\^63; got one of") as caught:
            load_chain("id: many\n" + form.format(digits))
        assert len(str(caught.value)) < 200
    load_chain("id: many\n" + form.format("9223372036854775807"))


def test_several_pipes_are_added_up_where_they_meet() -> None:
    met = (Multiplex("m"), ["f.0", "f.1", "f.2"])
    chain = Chain.graph(["log"], [(Fork("f", 3), ["log"]), met], ["m"])
    assert check_bounds(chain) == 3


@pytest.mark.parametrize("parts", [6_000, 50_000])
@pytest.mark.parametrize("form", ["{} + {}", "{} and {}", "max({}, {})", "x in ({}, {})"])
def test_formulas_of_many_parts_are_refused_at_once_with_their_place(form: str, parts: int) -> None:
    begin, sign, end = form.split("{}")
    text = begin + sign.join(["x"] * parts) + end
    with bounded(200, 20), pytest.raises(FormulaError) as caught:
        parse_expression(text)
    assert str(caught.value).startswith("formula, line 1, column ")
    assert "the limit 'formula'" in str(caught.value)


def test_formulas_as_long_as_allowed_are_read_in_time_that_grows_with_them() -> None:
    with bounded(200, 20):
        parse_expression(" + ".join(["x"] * 4_999))
        with limited(RunLimits(formula=20_000)):
            parse_expression(" + ".join(["x"] * 19_999))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "id: a\napply: x" + " " * 300_000,
            "at most 262,144 bytes in a chain file (the limit 'cha",
        ),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "expected each part written out; got the al"),
        ("line: [" + "[" * 100_000, "expected less nesting; got hundreds of levels"),
        ('{"line": ' + '{"a": ' * 40_000, "expected less nesting; got hundreds of levels"),
        ("line:\n" + "".join(f"- {{id: a{n}, trim: 1}}\n" for n in range(1_001)), "'processors'"),
    ],
)
def test_chain_files_that_are_too_much_are_refused(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "chain.yaml"
    file.write_text(text)
    for source in (text, file):
        with bounded(300, 60), pytest.raises(DefinitionError) as caught:
            load_chain(source)
        assert said in str(caught.value)


def test_check_and_run_refuse_before_anything_is_read_and_say_how_to_allow_it(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "chain.yaml").write_text("id: echo\nstutter: 2000\n")
    (tmp_path / "log.csv").write_text("a\n1\n")
    allow = "--run-limit", "repeats=2000"
    for command in (
        ("check", "chain.yaml"),
        ("run", "chain.yaml", "--log", "log.csv", "--runner", "interpreter"),
        ("run", "chain.yaml", "--log", "log.csv", "--runner", "local", "--record", "record"),
    ):
        refused = cli(*command)
        assert refused.returncode == 1
        assert "(the limit 'repeats'); got 2,000; try a smaller n, or --run-limit repeats=2000" in (
            refused.stderr
        )
        assert not (tmp_path / "record" / "runs").exists()
        assert cli(*command, *allow).returncode == 0
    assert cli("check", "chain.yaml", env={VARIABLE: "repeats=2000"}).returncode == 0
