"""What holds for every processor, multiplied over an example of each type."""

from __future__ import annotations

import doctest
import json
import pickle
import sys
from random import Random

import pytest

from tests.engine.corruptor import equal
from tests.engine.examples import EXAMPLES, Example
from tests.engine.seeing import Seen, interleaved, relations, same, seen
from whence.engine import Chain, Group, Interpreter, MemoryTracker, Window, interpret
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.registry import processor_types
from whence.engine.lineage.tracker import Witnesses

TYPES = sorted(
    {kind for kinds in processor_types().values() for kind in kinds}, key=lambda kind: kind.__name__
)

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)

single_output = [
    example
    for example in EXAMPLES
    if example.processor.output_count == 1 and len({len(e) for e in example.logs.values()}) == 1
]


def run(example: Example, witnesses: Witnesses = "first") -> Seen:
    result = interpret(
        example.chain, example.logs, tracker=MemoryTracker(witnesses), closed=example.closed
    )
    return seen(result.outputs)


def test_every_processor_type_has_an_example() -> None:
    assert {type(example.processor) for example in EXAMPLES} == set(TYPES)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_processor_type_has_a_doctest(kind: type) -> None:
    examples = doctest.DocTestParser().get_examples(kind.__doc__ or "")
    assert any(example.want for example in examples)


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_processor_type_has_a_file_of_its_own(kind: type) -> None:
    file = sys.modules[kind.__module__].__file__ or ""
    named = {"G": "globally", "F": "eventually", "X": "next", "U": "until"}.get(kind.__name__)
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind.__name__).lstrip("_")
    assert file.endswith(f"/{named or snake}.py")


@every_example
def test_it_says_something(example: Example) -> None:
    assert run(example)


@every_example
def test_an_explanation_names_only_inputs_at_or_before_the_moment_of_output(
    example: Example,
) -> None:
    interpreter = Interpreter(example.chain, MemoryTracker(), closed=example.closed)
    assert all(not relations(o)[0] for o in interpreter.begin())
    fed = dict.fromkeys(example.logs, 0)
    for name, value in interleaved(example.logs, Random(0)):
        outputs = interpreter.feed(name, value)
        fed[name] += 1
        for output in outputs:
            for relation in relations(output):
                assert all(position < fed[log] for (log, position), _ in relation)
    for output in interpreter.close():
        for relation in relations(output):
            assert all(position < fed[log] for (log, position), _ in relation)


@every_example
def test_it_comes_back_from_json_as_it_was(example: Example) -> None:
    tree = json.loads(json.dumps(example.chain.tree()))
    back = chain_from_tree(tree)
    assert back == example.chain
    assert back.digest == example.chain.digest
    assert back.tree() == example.chain.tree()


@every_example
def test_it_comes_back_from_a_pickle_as_it_was(example: Example) -> None:
    back: Chain = pickle.loads(pickle.dumps(example.chain))
    assert back == example.chain
    again = Example(example.name, back.connections[0].processor, example.logs, example.closed)
    assert same(run(again), run(example))


@every_example
@pytest.mark.parametrize("seed", range(5))
def test_nothing_depends_on_how_the_input_arrives(example: Example, seed: int) -> None:
    interpreter = Interpreter(example.chain, MemoryTracker(), closed=example.closed)
    outputs = []
    for name, value in interleaved(example.logs, Random(seed)):
        outputs += interpreter.feed(name, value)
    outputs += interpreter.close()
    assert same(seen(outputs), run(example))


@every_example
def test_tracking_never_changes_an_output(example: Example) -> None:
    untracked = interpret(example.chain, example.logs, closed=example.closed).outputs
    for witnesses in ("first", "all"):
        tracker = MemoryTracker(witnesses)
        tracked = interpret(example.chain, example.logs, tracker=tracker, closed=example.closed)
        assert len(tracked.outputs) == len(untracked)
        for with_, without in zip(tracked.outputs, untracked, strict=True):
            assert (with_.name, with_.position, with_.moment) == (
                without.name,
                without.position,
                without.moment,
            )
            assert equal(with_.value, without.value)


@every_example
def test_the_first_witness_is_the_same_when_all_are_kept(example: Example) -> None:
    result = interpret(
        example.chain, example.logs, tracker=MemoryTracker("all"), closed=example.closed
    )
    first = run(example)
    assert same(seen(result.outputs), first)
    for name, position, _, explains, _ in first:
        alternatives = result.explain(position, name).alternatives
        assert alternatives.sets[0] == {place for place, _ in explains}
        assert len(set(alternatives.sets)) == len(alternatives.sets)


@every_example
def test_a_second_run_gives_the_same(example: Example) -> None:
    assert same(run(example), run(example))


@every_example
def test_it_works_inside_a_group_as_in_its_place(example: Example) -> None:
    grouped = Example("grouped", Group("group", example.chain), example.logs, example.closed)
    assert same([("", *o[1:]) for o in run(grouped)], [("", *o[1:]) for o in run(example)])


@pytest.mark.parametrize("example", single_output, ids=lambda example: example.name)
def test_a_window_over_everything_gives_its_last_output(example: Example) -> None:
    length = len(next(iter(example.logs.values())))
    whole = Example("window", Window("all", n=length, of=example.chain), example.logs)
    # A Window does not close its P.
    unclosed = run(Example(example.name, example.processor, example.logs))
    ((_, _, value, explains, _),) = run(whole)
    if unclosed:
        assert equal(value, unclosed[-1][2])
        assert explains == unclosed[-1][3]
    else:
        assert value is None
