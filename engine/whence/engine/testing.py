"""List in, list out: try a processor or a chain in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from whence.engine.errors import ParameterError
from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain, Log
from whence.engine.language.chain_file import with_log
from whence.engine.language.processor import Processor
from whence.engine.lineage.terms import Inputs
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.rules.findings import Findings, findings_of
from whence.engine.values import Value

__all__ = ["Findings", "findings", "run"]

_RULE_RUNNERS = ("interpreter",)
Explained = tuple[Value, set[int] | set[str]]


def run(
    chain: Chain | Processor,
    logs: Mapping[str, Iterable[Value]] | Iterable[Value],
    *,
    closed: bool = False,
    time: str | None = None,
) -> list[Explained] | list[list[Explained]]:
    """Run a chain and return each output with what explains it.

    Args:
        chain: a processor or a chain.
        logs: a list of events; or, for several logs, a list per name (a single processor then
            reads them in that order).
        closed: close the logs after the last event.
        time: the field that holds the time of an event: an instant, or a number of seconds.

    Returns:
        Pairs of value and explanation: positions for one log, names such as ``p@3`` for several.
        With several output pipes, a list of such pairs per pipe.

    >>> from whence.engine.processors import Window, Cumulate
    >>> run(Window("two", n=2, of=Cumulate("sum", "add")), [1, 2, 3])
    [(3, {0, 1}), (5, {1, 2})]
    >>> from whence.engine.formula import formula
    >>> run(formula("F[..5s] paid"), [{"t": 0}, {"paid": True, "t": 9}], time="t")
    [(False, {0, 1}), (True, {1})]
    """
    if isinstance(chain, Processor) and isinstance(logs, Mapping):
        names = [str(name) for name in logs]
        chain = Chain.graph(names, [(chain, names)])
    if time is not None:
        chain = Chain.of(chain)
        for name in chain.inputs:
            chain = with_log(chain, name, Log(time=time))
    result = interpret(chain, logs, tracker=MemoryTracker(), closed=closed)
    outputs = result.interpreter.chain.outputs
    single = len(result.interpreter.chain.inputs) == 1
    pipes: list[list[Explained]] = [
        [
            (output.value, _shown(result.explain(output.position, name).inputs, single))
            for output in result.of(name)
        ]
        for name in outputs
    ]
    return pipes[0] if len(pipes) == 1 else pipes


def findings(
    rule: Mapping[str, Any],
    log: Iterable[Mapping[str, Value]],
    closed: bool = False,
    grace: float = 0,
    as_of: Any = None,
    closes: Any = None,
    runner: str = "interpreter",
) -> Findings:
    """Run one rule over a log and return its findings, kept ones included, pending ones last.

    Args:
        rule: ``when`` and ``must``, or ``case``; ``per``: another key than the field ``case``.
        log: records whose field ``time`` is an instant or a number of seconds.
        closed: no further events come; verdicts that still wait are given.
        grace: so many seconds after a deadline an event may still come.
        as_of: a time to which the clock is moved after the last event, before closing.
        closes: a condition on a case's last event, or ``{"after": "30d"}``.
        runner: who runs it.

    Returns:
        Findings as dicts; the list knows which events were ``late`` and which ``reopened`` a case,
        and which fields are ``open``: they could make a further verdict appear.

    >>> log = [{"case": "A", "paid": True, "time": 0}, {"case": "B", "paid": False, "time": 6}]
    >>> found = findings({"when": "paid", "must": "F[..5s] audited"}, log)
    >>> [(each["case"], each["status"], each["decided"], each["since"]) for each in found]
    [('A', 'violated', 1, 5)]
    >>> found[0]["explains"]
    [[0, 'audited'], [0, 'paid'], [0, 'time'], [1, 'time']]
    """
    if runner not in _RULE_RUNNERS:
        known, first = " or ".join(_RULE_RUNNERS), _RULE_RUNNERS[0]
        msg = f"a runner of rules: expected {known}; got {runner!r}; try runner={first!r}"
        raise ParameterError(msg)
    return findings_of(rule, log, closed=closed, grace=grace, as_of=as_of, closes=closes)


def _shown(inputs: Inputs, single: bool) -> set[int] | set[str]:
    if single:
        return {position for _, position in inputs if isinstance(position, int)}
    return {f"{log}@{position}" for log, position in inputs}
