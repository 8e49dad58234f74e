"""For each kind of processor: which events of its pipes an output can depend on, at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from whence.engine.analysis.items import THERE, Item, Mask, Pipe, add, joined, read, told_by
from whence.engine.functions import Function
from whence.engine.language.expression import Call, Constant, Expression, Field, Input
from whence.engine.language.processor import Processor

__all__ = ["is_plain", "reads_of", "rule_of", "shifted"]

Rule = Callable[[Any, Sequence[Pipe]], list[Pipe] | None]


def reads_of(expression: Expression) -> Iterator[tuple[int, str | None]]:
    """The pipes and fields that an expression reads."""
    stack = [expression]
    while stack:
        item = stack.pop()
        if isinstance(item, Call):
            stack.extend(item.arguments)
        elif isinstance(item, Field):
            yield item.pipe, item.name
        elif isinstance(item, Input):
            yield item.pipe, None


def _fronts(pipes: Sequence[Pipe]) -> list[tuple[Item, ...]]:
    return list(zip(*pipes, strict=False))


def _there(front: Sequence[Item]) -> Mask:
    return add({}, *(item.exists for item in front))


def _computed(expression: Expression, front: Sequence[Item]) -> Item:
    """A function of a front, which waits for all of it."""
    found = Item(exists=_there(front))
    for pipe, name in reads_of(expression):
        add(found.value, read(front[pipe], name))
        add(found.why, told_by(front[pipe], name))
    return found


def _copy(item: Item, front: Sequence[Item]) -> Item:
    return Item(item.raw, item.value, _there(front), item.why)


def _apply(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    return [[_computed(processor.function, front) for front in _fronts(pipes)]]


def _upwards(items: list[Item]) -> list[Item]:
    """Each together with all before it."""
    return list(accumulate(items, lambda left, right: joined((left, right))))


def _downwards(items: list[Item]) -> list[Item]:
    """Each together with all behind it."""
    return _upwards(items[::-1])[::-1]


def _whole(item: Item) -> Item:
    return Item(value=read(item, None), exists=dict(item.exists), why=told_by(item, None))


def _cumulate(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    if _is_absorbed(processor):
        return [[Item(exists=item.exists) for item in pipes[0]]]
    return [_upwards([_whole(item) for item in pipes[0]])]


def _is_absorbed(processor: Any) -> bool:
    """Whether the start value decides everything."""
    function = processor.function
    if not isinstance(function, Function) or function.absorbing is None:
        return False
    start = processor.start
    return type(start) in (bool, int, float) and start == function.absorbing


def _filter(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    fronts = _fronts(pipes)
    if processor.where is not None:
        conditions = [_computed(processor.where, front) for front in fronts]
    else:
        conditions = [_whole(front[1]) for front in fronts]
    exists: Mask = {}
    for front, condition in zip(fronts, conditions, strict=True):
        add(exists, condition.value, _there(front))
    passing = [
        Item(front[0].raw, front[0].value, {}, add({}, front[0].why, condition.why))
        for front, condition in zip(fronts, conditions, strict=True)
    ]
    return [[Item(i.raw, i.value, exists, i.why) for i in _downwards(passing)]]


def _freeze(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    (pipe,) = pipes
    return [[_copy(pipe[0], (pipe[0], item)) for item in pipe]]


def _multiplex(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    return [[_copy(item, front) for front in _fronts(pipes) for item in front]]


def _turn_into(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    return [[Item(exists=item.exists, why=told_by(item, THERE)) for item in pipes[0]]]


def _moore(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    steps = []
    for item in pipes[0]:
        found = Item(exists=dict(item.exists), why=told_by(item, THERE))
        for _, guard, _ in processor.transitions:
            step = _computed(guard, (item,))
            add(found.value, step.value)
            add(found.why, step.why)
        steps.append(found)
    if not processor.is_silent():
        return [_upwards(steps)]
    # Any of its outputs may come as late as the last input, and lean on all before.
    whole = joined(steps)
    add(whole.exists, whole.value)
    return [[whole for _ in steps]]


def _eventually(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    """G, F, U: a verdict that may need everything from its position on."""
    fronts = [joined(map(_whole, front)) for front in _fronts(pipes)]
    found = _downwards(fronts)
    return [[Item({}, i.value, add({}, i.exists, i.value), i.why) for i in found]]


def _ltl(processor: Any, pipes: Sequence[Pipe]) -> list[Pipe]:
    if processor.symbol == "X":
        return [[_whole(item) for item in pipes[0][1:]]]
    return _eventually(processor, pipes)


_RULES: dict[str, Rule] = {
    "apply": _apply,
    "cumulate": _cumulate,
    "decimate": lambda p, pipes: [pipes[0][:: p.n]],
    "trim": lambda p, pipes: [pipes[0][p.n :]],
    "filter": _filter,
    "fork": lambda p, pipes: [pipes[0]] * p.m,
    "turn_into": _turn_into,
    "passthrough": lambda p, pipes: [pipes[0]],
    "freeze": _freeze,
    "insert": lambda p, pipes: [[Item() for _ in range(p.n)] + pipes[0]],
    "stutter": lambda p, pipes: [[item for item in pipes[0] for _ in range(p.n)]],
    "multiplex": _multiplex,
    "moore": _moore,
    "ltl": _ltl,
}
"""The rules of our processors that hold no chain, by tag."""


def rule_of(processor: Processor) -> Rule | None:
    """The rule of a processor that holds no chain; ``None`` if nothing is known of it."""
    own = type(processor).dependencies
    return _RULES.get(processor.tag) if own is Processor.dependencies else own


def shifted(inner: Item, pipes: Sequence[Pipe], names: Sequence[str], k: int) -> Item:
    """An event of P as one of the whole chain: what P reads are events k and following."""
    found = Item()
    for log, bits in inner.raw.items():
        for item in _some(pipes[names.index(log)], bits, k):
            found = joined((found, Item(item.raw, item.value, {}, item.why)))
    for into, mask, reading in (
        (found.value, inner.value, read),
        (found.exists, inner.exists, read),
        (found.why, inner.why, told_by),
    ):
        for (log, asked), bits in mask.items():
            for item in _some(pipes[names.index(log)], bits, k):
                add(into, reading(item, asked))
    return found


def _some(pipe: Pipe, bits: int, k: int) -> Iterator[Item]:
    at = 0
    while bits:
        if bits & 1:
            yield pipe[k + at]
        bits >>= 1
        at += 1


def is_plain(expression: Expression) -> bool:
    """Whether every cell is read once, and no part is constant: then each of them can matter."""
    read_twice = list(reads_of(expression))
    if len(set(read_twice)) < len(read_twice):
        return False
    stack = [expression]
    while stack:
        item = stack.pop()
        if isinstance(item, Call):
            if all(isinstance(argument, Constant) for argument in item.arguments):
                return False
            stack.extend(item.arguments)
    return True
