"""Ways to run worked cases; all must agree. Alternatives are always the interpreter's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, Protocol

from whence.engine.errors import EventError, WhenceError
from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain
from whence.engine.lineage.terms import Inputs
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.values import Value
from whence.engine.values.columns import from_canonical

__all__ = ["RUNNERS", "Case", "Ran"]


class Case(NamedTuple):
    """A chain, the logs that it is run on, and whether they are closed."""

    chain: Chain
    logs: Mapping[str, list[Value]]
    closed: bool


class _Told(Protocol):
    """What explains and what supports an output."""

    @property
    def inputs(self) -> Inputs: ...

    @property
    def support(self) -> Inputs: ...


@dataclass(frozen=True)
class Ran:
    """What a runner gave: values, explanations of the first witness, and open inputs."""

    values: Sequence[Value]
    explain: Callable[[int], _Told]
    open_inputs: Inputs


Runner = Callable[[Sequence[Case]], Iterator[Ran | WhenceError]]
"""Runs several cases; gives for each what came of it."""


def _each(run: Callable[[Case], Ran]) -> Runner:
    def runner(cases: Sequence[Case]) -> Iterator[Ran | WhenceError]:
        for case in cases:
            try:
                yield run(case)
            except WhenceError as error:
                yield error

    return runner


def _interpreter(case: Case) -> Ran:
    result = interpret(case.chain, case.logs, tracker=MemoryTracker(), closed=case.closed)
    return Ran(result.values, result.explain, result.interpreter.open_inputs())


def _local(case: Case) -> Ran:
    from whence.engine.vectors.followed import run_in_memory

    result = run_in_memory(case.chain, case.logs, closed=case.closed, batch=3)
    return Ran(result.values, result.explain, result.open_inputs())


def _spark(cases: Sequence[Case]) -> Iterator[Ran | WhenceError]:
    """All cases in one Spark job; what they say is read from the record that it leaves."""
    from whence.engine.record import RunRecord, ingest
    from whence.engine.runners import RunOptions
    from whence.engine.runners.spark.batch import Job, run_each
    from whence.engine.spark_session import spark_session

    session = spark_session("local[2]")
    with TemporaryDirectory() as folder:
        root = Path(folder)
        jobs = []
        for number, (chain, logs, closed) in enumerate(cases):
            kept = {name: ingest(root, name, log).id for name, log in logs.items()}
            options = RunOptions(closed=closed)
            jobs.append(Job(folder, chain, kept, options, f"case-{number}", batch=3))
        errors = run_each(jobs, session, tasks=2)
        for job, error in zip(jobs, errors, strict=True):
            if error is not None:
                yield EventError(error)
            else:
                yield _recorded(RunRecord(root, job.run_id), job.chain)


class _Explained(NamedTuple):
    inputs: Inputs
    support: Inputs


def _recorded(run: object, chain: Chain) -> Ran:
    """What the record of a run says."""
    from whence.engine.lineage.positions import positions
    from whence.engine.record import RunRecord
    from whence.engine.record.reaching import Reaching

    assert isinstance(run, RunRecord)
    reaching = Reaching(run)
    (name,) = chain.outputs
    stream = run.manifest.by_name[name]
    tables = [run.outputs(name, part) for part in stream.outputs.numbers]
    values = [from_canonical(text) for t in tables for text in t.column("value").to_pylist()]

    def up(of: str, position: int, *, support: bool) -> Inputs:
        found = reaching.up(of, position, support=support)
        return {(log, place): None for log, ranges in found.items() for place in positions(ranges)}

    def explain(k: int) -> _Explained:
        return _Explained(up(name, k, support=False), up(name, k, support=True))

    return Ran(values, explain, up(f"{name}/end", 0, support=True))


RUNNERS: dict[str, Runner] = {
    "interpreter": _each(_interpreter),
    "local": _each(_local),
    "spark": _spark,
}
