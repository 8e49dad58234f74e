"""Functions in a row run as one: equal to the interpreter, and one by one where a value fails."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.comparing import columns_of, difference
from tests.engine.random_chains import Case
from whence.engine.errors import EventError
from whence.engine.functions.user import import_function
from whence.engine.interpreter import interpret
from whence.engine.kernels.columns.column import Column
from whence.engine.kernels.columns.lazy_ints import made
from whence.engine.kernels.trails.trail import Line
from whence.engine.kernels.work import KernelWork
from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree

NUMBERS = (
    *("value * 3", "value + 7", "value * value", "value - 11", "0 - value", "abs(value)"),
    *("value * 0.5", "value + value * 2", "if value > 3 then value else 3", "max(value, 2)"),
    *("value * 0", "2 * value - value", "value * value * value + 1"),
)
LAST = (*NUMBERS, "value > 200", "value != 0", "value is missing", "value / (value * value + 1)")


class _Line(Case):
    """Functions in a row; here texts are formulas, not constants."""

    def chain(self) -> Chain:
        return chain_from_tree(self.tree, make_ids=True)

    def texts(self) -> list[str]:
        return [step["apply"] for step in self.tree["line"]]


def _drawn(seed: int, values: Any) -> _Line:
    random = Random(seed)
    texts = [random.choice(NUMBERS) for _ in range(random.randint(1, 5))] + [random.choice(LAST)]
    log = [values(random) for _ in range(random.randint(0, 30))]
    return _Line(seed, {"line": [{"apply": text} for text in texts]}, {"log": log}, False)


def _integer(random: Random) -> int | None:
    return random.choice([None, 0, 0, random.randint(-9, 9), random.randint(-(10**5), 10**5)])


def _float(random: Random) -> float | None:
    return random.choice([None, 0.0, -0.0, random.uniform(-9, 9), 1e200, float("nan")])


def _of_both(random: Random) -> float | None:
    return random.choice([_integer, _float])(random)


def _large(random: Random) -> int:
    return random.choice([random.randint(-9, 9), random.randint(2**40, 2**62)])


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("values", [_integer, _float, _of_both, _large])
def test_functions_in_a_row_say_what_the_interpreter_says(values: Any, steps: bool) -> None:
    for seed in range(40):
        case = _drawn(seed, values)
        told = difference(case, steps=steps)
        assert told is None, f"{case.texts()} over {case.logs['log']}: {told}"


def _work(*texts: str, steps: bool = False) -> KernelWork:
    tree = {"line": [{"apply": text} for text in texts]}
    return KernelWork(_Line(0, tree, {}, False).chain(), steps=steps)


def test_they_run_as_one_and_their_explanation_is_one_line() -> None:
    work = _work("value * 3", "value + 7", "value * value", "value - 11", "value > 200")
    (line,) = set(work.kernels.segments.values())
    assert line.steps == (0, 1, 2, 3, 4)
    work.feed({"log": columns_of(list(range(1000)), work.run)})
    (part,) = work.run.kept[work.chain.outputs[0]].parts
    assert isinstance(part.why, Line)
    assert part.sup is part.why
    assert part.values is not None
    assert part.values.to_list() == [(n * 3 + 7) ** 2 - 11 > 200 for n in range(1000)]
    assert made(part.moments).tolist() == list(range(1000))


def test_the_events_that_were_given_stay_as_they_were() -> None:
    """Results take each other's place in memory, never that of an event, nor of what is kept."""
    work = _work("value + 1", "value * 2", "value - 3")
    given = np.arange(100)
    for _ in range(2):
        work.feed({"log": Column("integer", given, None, work.run.texts)})
    assert given.tolist() == list(range(100))
    parts = work.run.kept[work.chain.outputs[0]].parts
    for part in parts:
        assert part.values is not None
        assert part.values.to_list() == [(n + 1) * 2 - 3 for n in range(100)]
        assert not part.values.spare


def test_with_steps_every_processor_has_its_events() -> None:
    work = _work("value + 1", "value * 2", steps=True)
    assert not work.kernels.segments
    work.feed({"log": columns_of([1, 2], work.run)})
    kept = [[p.values.to_list() for p in k.parts if p.values] for k in work.run.kept.values()]
    assert kept == [[[2, 3]], [[4, 6]]]


def test_the_one_that_fails_is_told_with_its_position_after_many_batches() -> None:
    texts = ("value + 1", "10 / value", "value * 2")
    events = [1, 2, 3, 4, 5, 6, -1, -1]
    chain = _Line(0, {"line": [{"apply": text} for text in texts]}, {}, False).chain()
    with pytest.raises(EventError) as expected:
        interpret(chain, events)
    work = KernelWork(chain)
    work.feed({"log": columns_of(events[:3], work.run)})
    work.feed({"log": columns_of([], work.run)})
    with pytest.raises(EventError) as told:
        work.feed({"log": columns_of(events[3:], work.run)})
    assert str(told.value) == str(expected.value)
    assert "position 6" in str(told.value)


def test_a_pipe_that_two_read_ends_the_row() -> None:
    tree = {
        "graph": {
            "inputs": ["log"],
            "nodes": {
                "one": {"from": ["log"], "is": {"apply": "value + 1"}},
                "two": {"from": ["one"], "is": {"apply": "value * 2"}},
                "three": {"from": ["one", "two"], "is": {"apply": "$0 + $1"}},
            },
            "output": "three",
        }
    }
    case = _Line(0, tree, {"log": [1, 2, 3]}, False)
    assert not KernelWork(case.chain()).kernels.segments
    assert difference(case) is None


def test_a_function_of_the_user_is_called_once_for_every_event() -> None:
    from whence.engine.language.expression import Call, Input
    from whence.engine.processors import ApplyFunction

    own = Call(import_function("tests.engine.own_functions:neg"), (Input(0),))
    chain = Chain.of(ApplyFunction("own", own)) | ApplyFunction("more", "value + 1")
    assert not KernelWork(chain).kernels.segments
