"""Follow a chain over logs of some length: what each output can depend on, whatever they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whence.engine.analysis.items import Item, Mask, Pipe, add, joined, read, told_by
from whence.engine.analysis.rules import reads_of, rule_of, shifted
from whence.engine.language.chain import Chain, Source
from whence.engine.language.processor import Processor
from whence.engine.language.traits import Traits
from whence.engine.processors import Slice, Window
from whence.engine.processors.slice import EACH

__all__ = ["log_pipe", "outputs_of"]


def log_pipe(name: str, length: int) -> Pipe:
    """The events of a log."""
    return [Item(raw={name: 1 << at}) for at in range(length)]


def outputs_of(
    chain: Chain, inputs: Mapping[str, Pipe], traits: tuple[Traits, ...], *, closed: bool
) -> dict[str, Pipe]:
    """Every output that a chain can give, at most, and what each can depend on.

    Args:
        chain: the chain.
        inputs: what it reads.
        traits: what is known of that.
        closed: whether the logs are closed at the end.
    """
    known: dict[Source, Pipe] = {Source(name, 0): pipe for name, pipe in inputs.items()}
    facts = chain.pipe_traits(traits, closed)
    for connection in chain.ordered:
        processor = connection.processor
        sources = [chain.source(name, processor.id) for name in connection.sources]
        pipes = [known[source] for source in sources]
        about = tuple(facts[source] for source in sources)
        for number, pipe in enumerate(_made(processor, pipes, about, closed)):
            known[Source(processor.id, number)] = pipe
    return {name: known[chain.source(name, "output")] for name in chain.outputs}


def _made(
    processor: Any, pipes: Sequence[Pipe], traits: tuple[Traits, ...], closed: bool
) -> list[Pipe]:
    if processor.inlined:
        inner = dict(zip(processor.chain.inputs, pipes, strict=True))
        return list(outputs_of(processor.chain, inner, traits, closed=closed).values())
    if isinstance(processor, Window):
        return [_window(processor, pipes, traits)]
    if isinstance(processor, Slice) and processor.combine != EACH:
        return [_slice(processor, pipes, traits, closed)]
    rule = rule_of(processor)
    made = None if rule is None else rule(processor, pipes)
    if made is None:
        return _anything(processor, pipes)
    if closed and processor.closes:
        made = [_closed(processor, pipes, pipe) for pipe in made]
    return made


def _closed(processor: Processor, pipes: Sequence[Pipe], pipe: Pipe) -> Pipe:
    """At the end all verdicts are given; behind an irregular pipe they lean on every input."""
    whole = joined(item for source in pipes for item in source)
    exists = add({}, whole.exists, *(read(item, None) for p in pipes for item in p if item.exists))
    missing = min(map(len, pipes)) - len(pipe)
    made = []
    why: Mask = {}  # at the end: all inputs from its position on
    for item, front in zip(
        [Item()] * missing + pipe[::-1], list(zip(*pipes, strict=False))[::-1], strict=True
    ):
        add(why, *(told_by(each, None) for each in front))
        made.append(
            Item(item.raw, item.value, add({}, item.exists, exists), add({}, item.why, why))
        )
    return made[::-1]


def _anything(processor: Processor, pipes: Sequence[Pipe]) -> list[Pipe]:
    """A processor of which nothing is known may read everything for every output."""
    whole = joined(item for pipe in pipes for item in pipe)
    found = Item(value=read(whole, None), why=told_by(whole, None))
    add(found.exists, whole.exists, found.value)
    length = max(map(len, pipes), default=0)
    return [[found] * length for _ in range(processor.output_count)]


def _inside(
    processor: Any, pipes: Sequence[Pipe], traits: tuple[Traits, ...], many: int, closed: bool
) -> tuple[list[str], Pipe, bool]:
    """P over this many events: the names of what it reads, its outputs, whether it is regular."""
    chain: Chain = processor.of
    names = list(chain.inputs)
    inner = tuple(each.without_existence() for each in traits)
    regular = chain.output_traits(inner, closed)[0].regular
    logs = {name: log_pipe(name, many) for name in names}
    (found,) = outputs_of(chain, logs, inner, closed=closed).values()
    return names, found, regular


def _window(processor: Any, pipes: Sequence[Pipe], traits: tuple[Traits, ...]) -> Pipe:
    n = processor.n
    names, inner, regular = _inside(processor, pipes, traits, n, False)
    silent = Item(why={(name, None): (1 << n) - 1 for name in names})
    if regular:
        last = inner[-1] if inner else silent
    else:
        last = joined(inner)
        for log, name in [*last.value, *last.exists, *((log, None) for log in last.raw)]:
            last.value[log, name] = (1 << n) - 1
        last = joined((last, silent))
        last.exists = {}
    made = []
    for k in range(min(map(len, pipes)) - n + 1):
        item = shifted(last, pipes, names, k)
        for pipe in pipes:
            add(item.exists, *(each.exists for each in pipe[k : k + n]))
        made.append(item)
    return made


def _slice(processor: Any, pipes: Sequence[Pipe], traits: tuple[Traits, ...], closed: bool) -> Pipe:
    many = min(map(len, pipes))
    names, inner, regular = _inside(processor, pipes, traits, many, closed)
    whole = joined(inner)
    cells = {(names.index(log), name) for log, name in (*whole.value, *whole.exists)}
    cells |= {(names.index(log), None) for log in whole.raw}
    reasons = cells | {(names.index(log), name) for log, name in whole.why}
    if not regular or not inner or len(inner) < many:
        reasons |= {(number, None) for number in range(len(pipes))}  # g over none: all so far
    keys = set(reads_of(processor.by))
    so_far = Item()
    made: Pipe = []
    for front in zip(*pipes, strict=False):
        for number, name in cells | keys:
            add(so_far.value, read(front[number], name))
        for number, name in reasons:
            add(so_far.why, told_by(front[number], name))
        for item in front:
            add(so_far.exists, item.exists)
        made.append(joined((so_far,)))
    if closed and processor.of.closes and made:
        made.append(Item({}, so_far.value, add({}, so_far.exists, so_far.value), so_far.why))
    return made
