"""What holds for every chain, tried on random ones."""

from __future__ import annotations

import json
import os
import pickle
from collections import defaultdict
from random import Random

import pytest

from tests.engine.corruptor import equal
from tests.engine.random_chains import Case, random_case
from tests.engine.seeing import interleaved, relations, same, seen
from whence.engine import Interpreter, MemoryTracker, RunResult, WhenceError, interpret
from whence.engine.language.definition import chain_from_tree
from whence.engine.lineage.tracker import Tracker, Witnesses

CASES = 3_000 if os.environ.get("WHENCE_TEST_PROFILE") == "full" else 250


def cases(first: int) -> list[Case]:
    """Cases that run on their own log."""
    found = []
    for seed in range(first, first + CASES):
        case = random_case(seed)
        try:
            interpret(case.chain(), case.logs, closed=case.closed)
        except WhenceError:
            continue
        found.append(case)
    assert len(found) > CASES * 0.9
    return found


def run(case: Case, witnesses: Witnesses = "first") -> RunResult:
    return interpret(case.chain(), case.logs, tracker=MemoryTracker(witnesses), closed=case.closed)


def test_a_chain_comes_back_from_json_and_pickle_as_it_was() -> None:
    for seed in range(CASES):
        chain = random_case(seed).chain()
        back = chain_from_tree(json.loads(json.dumps(chain.tree())), formulas=False)
        assert back == chain, seed
        assert back.digest == chain.digest, seed
        assert pickle.loads(pickle.dumps(chain)) == chain, seed


def test_nothing_depends_on_how_the_logs_are_interleaved() -> None:
    for case in cases(1_000):
        random = Random(case.seed)
        interpreter = Interpreter(case.chain(), MemoryTracker(), closed=case.closed)
        outputs = []
        for name, value in interleaved(case.logs, random):
            outputs += interpreter.feed(name, value)
        outputs += interpreter.close()
        expected = run(case)
        assert same(seen(outputs), seen(expected.outputs)), case.seed
        assert interpreter.open_inputs().keys() == expected.interpreter.open_inputs().keys()


def test_an_output_and_its_explanation_are_there_as_soon_as_its_inputs_are() -> None:
    """What came out so far is what a run over just that much of the log gives."""
    for case in cases(2_000):
        if case.closed:
            continue
        interpreter = Interpreter(case.chain(), MemoryTracker())
        outputs, fed = interpreter.begin(), {name: 0 for name in case.logs}
        stop = Random(case.seed).randint(0, sum(map(len, case.logs.values())))
        for name, value in list(interleaved(case.logs, Random(case.seed)))[:stop]:
            outputs += interpreter.feed(name, value)
            fed[name] += 1
        logs = {name: events[: fed[name]] for name, events in case.logs.items()}
        less = interpret(case.chain(), logs, tracker=MemoryTracker())
        assert same(seen(outputs), seen(less.outputs)), case.seed


def test_tracking_never_changes_an_output() -> None:
    for case in cases(3_000):
        plain = interpret(case.chain(), case.logs, closed=case.closed).outputs
        for witnesses in ("first", "all"):
            tracked = run(case, witnesses).outputs
            assert len(tracked) == len(plain), case.seed
            for a, b in zip(tracked, plain, strict=True):
                assert (a.name, a.position, a.moment) == (b.name, b.position, b.moment)
                assert equal(a.value, b.value), case.seed


def test_the_first_witness_stays_first_and_no_other_contains_one() -> None:
    several = 0
    for case in cases(4_000):
        first, every = run(case), run(case, "all")
        assert same(seen(first.outputs), seen(every.outputs)), case.seed
        for output in every.outputs:
            alternatives = every.explain(output.position, output.name).alternatives
            shown, *others = alternatives.sets
            assert shown == {place for place, _ in relations(output)[0]}, case.seed
            several += len(others) > 0
            assert len(alternatives.sets) <= 64
            for number, other in enumerate(others):
                rest = [shown, *others[:number], *others[number + 1 :]]
                assert not any(one <= other for one in rest), case.seed
    assert several > CASES / 10


class Rows:
    """A tracker of the tests: it keeps plain rows, and composes them when asked."""

    def __init__(self) -> None:
        """Begin empty."""
        self.rows: list[tuple[str, int, int, int, int]] = []

    def associate(
        self, processor: str, out_pipe: int, out_pos: int, in_pipe: int, in_pos: int
    ) -> None:
        """Keep a row."""
        self.rows.append((processor, out_pipe, out_pos, in_pipe, in_pos))

    def inputs_of(self, run: Interpreter, name: str, pipe: int, pos: int) -> set[tuple[str, int]]:
        """Follow the rows up to the logs."""
        below = defaultdict(list)
        for processor, out_pipe, out_pos, in_pipe, in_pos in self.rows:
            below[processor, out_pipe, out_pos].append((in_pipe, in_pos))
        logs = list(run.logs)
        steps = {step.name: step for step in run.steps}
        found: set[tuple[str, int]] = set()
        todo, done = [(name, pipe, pos)], set()
        while todo:
            place = todo.pop()
            if place in done:
                continue
            done.add(place)
            for in_pipe, in_pos in below[place]:
                number, source_pipe = steps[place[0]].sources[in_pipe]
                if number < 0:
                    found.add((logs[-1 - number], in_pos))
                else:
                    todo.append((run.steps[number].name, source_pipe, in_pos))
        return found


def test_a_tracker_of_ones_own_gets_rows_that_compose_to_the_same_explanation() -> None:
    rows = Rows()
    assert isinstance(rows, Tracker)
    composed = 0
    for case in cases(5_000):
        expected = run(case)
        tracker = Rows()
        result = interpret(case.chain(), case.logs, tracker=tracker, closed=case.closed)
        for output, other in zip(expected.outputs, result.outputs, strict=True):
            stream = other.event.stream
            assert stream is not None
            got = tracker.inputs_of(
                result.interpreter, stream.name, stream.pipe, int(str(other.event.position))
            )
            if stream.is_log:  # an output that is an input as it is
                got = {(stream.name, int(str(other.event.position)))}
            assert got == {place for place, _ in relations(output)[0]}, case.seed
            composed += 1
    assert composed > CASES


def test_without_a_tracker_nothing_is_kept() -> None:
    for case in cases(6_000)[:20]:
        result = interpret(case.chain(), case.logs, closed=case.closed)
        for output in result.outputs:
            assert output.event.why is None
            assert output.event.support is None


@pytest.mark.parametrize("seed", [7, 77])
def test_a_case_is_repeated_by_its_number(seed: int) -> None:
    assert random_case(seed) == random_case(seed)
