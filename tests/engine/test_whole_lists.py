"""The interpreter, event by event, agrees with a reading of the specification on whole lists."""

from __future__ import annotations

import os

from tests.engine.corruptor import equal
from tests.engine.random_chains import TAGS, random_case
from tests.engine.seeing import relations
from tests.engine.whole_lists import outputs_of
from whence.engine import MemoryTracker, WhenceError, interpret
from whence.engine.values.slice_map import SliceMap

CASES = 20_000 if os.environ.get("WHENCE_TEST_PROFILE") == "full" else 1_000


def _opened(value: object) -> object:
    """A map as the pairs that the other reading has, those inside it too."""
    if isinstance(value, SliceMap):
        return [(key, _opened(each)) for key, each in value.pairs()]
    return value


def test_outputs_and_first_witnesses_agree_on_random_chains() -> None:
    agreed, tags = 0, set()
    for seed in range(30_000_000, 30_000_000 + CASES):
        case = random_case(seed)
        try:
            result = interpret(case.chain(), case.logs, tracker=MemoryTracker(), closed=case.closed)
        except WhenceError:
            continue
        expected = outputs_of(case.tree, case.logs, case.closed)
        for name, pipe in zip(result.interpreter.chain.outputs, expected, strict=True):
            outputs = result.of(name)
            assert len(outputs) == len(pipe), seed
            for output, (value, why) in zip(outputs, pipe, strict=True):
                shown = _opened(output.value)
                assert equal(shown, value), (seed, name, output.position, shown, value)
                inputs = {place for place, _ in relations(output)[0]}
                assert inputs == why, (seed, name, output.position)
                agreed += 1
        tags |= {processor.tag for _, processor in result.interpreter.chain.processors()}
    assert agreed > CASES
    assert tags == set(TAGS)
