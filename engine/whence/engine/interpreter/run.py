"""Run a chain over logs, one event at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from whence.engine.errors import ChainError, ParameterError
from whence.engine.interpreter.bounds import check_bounds
from whence.engine.interpreter.pending import Pending, in_slices, summed
from whence.engine.interpreter.plan import Options, Plan, Step
from whence.engine.interpreter.rows import RowSource
from whence.engine.language.chain import Chain
from whence.engine.language.events import Event, Shelf, Stream, Term
from whence.engine.language.processor import Machine, Processor
from whence.engine.lineage.terms import Inputs, flatten
from whence.engine.lineage.tracker import Explanation, MemoryTracker, Tracker
from whence.engine.processors.slice import SliceMachine
from whence.engine.values import Value, describe
from whence.engine.values.collecting import calm_collector
from whence.engine.values.limits import RunLimits, current, limited

__all__ = ["Interpreter", "Output", "RunResult", "interpret"]


Logs = Mapping[str, Iterable[Value]] | Iterable[Value]
"""Events by log name; or, for a chain with one log, just the events."""


class Output(NamedTuple):
    """One event that left the chain.

    Attributes:
        name: the pipe's name, ``total`` or ``fork.1``.
        position: counted per pipe.
        value: what was said.
        moment: the input position after which it appeared; -1 before any input.
        event: the tracked event; in an untracked run it carries only the value.
    """

    name: str
    position: int
    value: Value
    moment: int
    event: Event


class _Everything:
    """All inputs of the run, as one term; asked for only when the logs are closed."""

    def __init__(self, logs: list[Shelf]) -> None:
        self.logs = logs
        self.term: Term = None

    def __call__(self) -> Term:
        if self.term is None:
            self.term = tuple([event for log in self.logs for event in log.events])
        return self.term


class Interpreter:
    """A chain at work on its logs.

    Args:
        chain: what to run; a single processor will do.
        tracker: who wants to know what explains the outputs; ``None`` for nobody.
        closed: the logs will be closed at the end.
    """

    def __init__(
        self, chain: Chain | Processor, tracker: Tracker | None = None, *, closed: bool = False
    ) -> None:
        """Compile the chain; no event is read yet."""
        self.chain = Chain.of(chain)
        self.tracker = tracker
        self.closed = closed
        tracked = tracker is not None
        self.logs = {name: Shelf(Stream(name, is_log=True)) for name in self.chain.inputs}
        memory = tracker if isinstance(tracker, MemoryTracker) else None
        options = Options(
            tracked,
            memory is not None and memory.witnesses == "all",
            closed,
            _Everything(list(self.logs.values())),
        )
        self.plan = Plan(self.chain, self.chain.input_traits(), options)
        if memory is not None:
            memory.attach(self.logs, self.plan)
        self._instance = self.plan.start()
        self._rows = RowSource(tracker, self.plan, self.logs) if tracked and not memory else None
        self._counts = [0] * len(self.plan.exits)
        self._fed = dict.fromkeys(self.logs, 0)
        self._numbers = {name: number for number, name in enumerate(self.chain.inputs)}
        self._last = -1
        self._begun = False

    def begin(self) -> list[Output]:
        """What is output before any input; `feed` does it by itself."""
        self._begun = True
        return self._collect(self._instance.begin_all())

    def feed(self, log: str, value: Value) -> list[Output]:
        """Let the next event of a log arrive; return what appeared."""
        before = None if self._begun else self.begin()
        shelf = self.logs.get(log)
        if shelf is None:
            msg = f"a log: expected one of {', '.join(self.logs)}; got {log!r}; try one of these"
            raise ChainError(msg)
        position = self._fed[log]
        self._fed[log] = position + 1
        self._last = max(self._last, position)
        event = Event(value, None, None, None, shelf.stream, position)
        if self.tracker is not None:
            shelf.events.append(event)
        self._instance.push(self._numbers[log], event)
        outputs = self._collect(self._instance.drain())
        return before + outputs if before else outputs

    def close(self) -> list[Output]:
        """Finish: close the logs, if the run was declared closed; return the remaining outputs."""
        outputs = [] if self._begun else self.begin()
        if not self.closed:
            return outputs
        return outputs + self._collect(self._instance.close_all())

    def _collect(self, taken: list[list[Event]]) -> list[Output]:
        if self._rows is not None:
            self._rows.report()
        outputs = []
        for number, events in enumerate(taken):
            for event in events:
                position = self._counts[number]
                self._counts[number] = position + 1
                name = self.chain.outputs[number]
                outputs.append(Output(name, position, event.value, self._last, event))
        return outputs

    def pending(self) -> Pending:
        """How many verdicts wait, per processor; of a Slice also in how many of its slices."""
        found: Pending = {}
        for step, machine in zip(self.plan.steps, self._instance.machines, strict=True):
            if isinstance(machine, SliceMachine):
                found[step.name] = in_slices(machine.undecided())
            else:
                found[step.name] = machine.waits()
        return summed([found])

    def open_inputs(self, output: str | None = None) -> Inputs:
        """Inputs that could make further outputs appear on a pipe; on any pipe, unless named."""
        names = self.chain.outputs
        if output is not None and output not in names:
            raise _no_output(output, names)
        numbers = range(len(names)) if output is None else [names.index(output)]
        return flatten(tuple([self._instance.end(n) for n in numbers]), support=True)

    @property
    def machines(self) -> Sequence[Machine]:
        """The machines of the steps, in the same order."""
        return self._instance.machines

    def end(self, output: int) -> Term:
        """What the end of an output pipe leans on."""
        return self._instance.end(output)

    @property
    def steps(self) -> Sequence[Step]:
        """The processors in order, Groups opened."""
        return self.plan.steps


@dataclass(frozen=True)
class RunResult:
    """What a run gave.

    Attributes:
        outputs: every output, in order of appearance.
        interpreter: the run itself, for questions.
    """

    outputs: tuple[Output, ...]
    interpreter: Interpreter = field(repr=False)

    def of(self, name: str | None = None) -> list[Output]:
        """The outputs of one pipe; of the only one, unless named."""
        names = self.interpreter.chain.outputs
        if name is None:
            if len(names) != 1:
                msg = f"an output: expected a name; got none; try one of {', '.join(names)}"
                raise ChainError(msg)
            name = names[0]
        if name not in names:
            raise _no_output(name, names)
        return [output for output in self.outputs if output.name == name]

    @property
    def values(self) -> list[Value]:
        """The values of the only output pipe."""
        return [output.value for output in self.of()]

    def explain(self, position: int, name: str | None = None) -> Explanation:
        """Why has this output its value?"""
        tracker = self.interpreter.tracker
        if tracker is None:
            msg = (
                "an explanation: expected a tracked run; got one without a tracker; "
                "try tracker=MemoryTracker()"
            )
            raise ParameterError(msg)
        outputs = self.of(name)
        if not 0 <= position < len(outputs):
            last = f"0 to {len(outputs) - 1}" if outputs else "none"
            msg = f"an output: expected a position, {last}; got {position}; try one in this range"
            raise ParameterError(msg)
        witnesses = tracker.witnesses if isinstance(tracker, MemoryTracker) else "first"
        return Explanation(outputs[position].event, witnesses)


def _no_output(name: str, names: Sequence[str]) -> ChainError:
    return ChainError(
        f"an output: expected one of {', '.join(names)}; got {name!r}; try one of these"
    )


def interpret(
    chain: Chain | Processor,
    logs: Logs,
    *,
    tracker: Tracker | None = None,
    closed: bool = False,
    limits: RunLimits | None = None,
) -> RunResult:
    """Run a chain over logs, one event at a time, and return every output.

    Args:
        chain: what to run.
        logs: events by log name; a plain sequence for a chain with one log.
        tracker: who wants to know what explains the outputs.
        closed: close the logs after the last event.
        limits: what is refused beyond; those that hold now unless given.

    >>> from whence.engine.processors import Cumulate
    >>> interpret(Cumulate("sum", "add"), [1, 2, 3]).values
    [1, 3, 6]
    """
    interpreter = Interpreter(chain, tracker, closed=closed)
    names = interpreter.chain.inputs
    given = {name: _whole(events) for name, events in _by_name(logs, names[0]).items()}
    if set(given) != set(names):
        msg = (
            f"the logs: expected {', '.join(names)}; got {', '.join(given) or 'none'}; "
            "try naming each log as the chain does"
        )
        raise ChainError(msg)
    limits = limits or current()
    check_bounds(interpreter.chain, limits)
    with calm_collector(), limited(limits):
        outputs = interpreter.begin()
        for name, value in _rounds({name: given[name] for name in names}):
            outputs += interpreter.feed(name, value)
        outputs += interpreter.close()
    return RunResult(tuple(outputs), interpreter)


def _by_name(logs: Logs, only: str) -> Mapping[str, Iterable[Value]]:
    if isinstance(logs, Mapping):
        return {str(name): events for name, events in logs.items()}
    if not isinstance(logs, Iterable):
        msg = f"the log: expected events; got {describe(logs)}; try a list of events"
        raise ChainError(msg)
    return {only: logs}


def _whole(events: Iterable[Value]) -> Iterable[Value]:
    """The same events; a field that a record lacks and others have is there, and missing.

    As a log of the record has it. Of events that come one by one nothing more is known.
    """
    if not isinstance(events, Sequence) or isinstance(events, str):
        return events
    names = dict.fromkeys(name for event in events if type(event) is dict for name in event)
    lacking = dict.fromkeys(names)
    return [
        {**lacking, **event} if type(event) is dict and len(event) < len(names) else event
        for event in events
    ]


_END = object()


def _rounds(logs: Mapping[str, Iterable[Value]]) -> Iterator[tuple[str, Value]]:
    """Position by position, the logs in the chain's order."""
    for front in zip_longest(*logs.values(), fillvalue=_END):
        for name, value in zip(logs, front, strict=True):
            if value is not _END:
                yield name, value
