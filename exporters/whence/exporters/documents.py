"""What an export holds: the document of a run, and the document of an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from whence.exporters.describing import (
    about_bundle,
    about_run,
    event_rows,
    event_statements,
    event_type,
    facts,
    range_entity,
)
from whence.exporters.identifiers import PROV, Name
from whence.exporters.model import Answer
from whence.exporters.names import STANDARD, RunNames
from whence.exporters.recorded import RecordedRun
from whence.exporters.relations import Relations, edge_rows
from whence.exporters.rows import Rows
from whence.exporters.statements import KINDS, TYPE, Bundle, Document, Statement, clean
from whence.exporters.vocabulary import term

__all__ = ["Progress", "answer_document", "run_document"]

Progress = Callable[[int, int], None]
"""Called with how many events and associations are done and how many there are."""


def run_document(source: RecordedRun, progress: Progress | None = None) -> Document:
    """The document of a whole run."""
    names = RunNames(source.run)

    def statements() -> Iterator[Statement | Rows]:
        return _run_statements(source, names, progress)

    bundle = Bundle(names.bundle, statements)
    return Document((*STANDARD, *names.spaces), about_bundle(names, names.bundle), (bundle,))


def _run_statements(
    source: RecordedRun, names: RunNames, progress: Progress | None
) -> Iterator[Statement | Rows]:
    run, done = source.run, 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, source.size)

    yield from about_run(run, names)
    told: set[Name] = set()
    for place in [*(log.place for log in run.logs), *(stream.place for stream in run.streams)]:
        collection = names.collection(place)
        if collection in told:
            continue  # a log that the chain reads under a second name
        told.add(collection)
        type_ = event_type(run, place)
        for positions, said in source.events(place):
            yield from event_rows(positions, said, type_, collection)
            advance(len(positions))
    for stream in run.streams:
        relations = Relations(run, names, stream.place)
        for count, table in source.associations(stream.place):
            yield from relations.part(table)
            advance(count)
        yield from relations.rest()


def answer_document(answer: Answer) -> Document:
    """The document of one answer."""
    names = RunNames(answer.run)
    # What was asked makes the name, so that two answers about one run are two bundles.
    asked = hashlib.sha256(clean(answer.question).encode()).hexdigest()[:16]
    name = names.space.name(f"answer-{asked}")

    def statements() -> Iterator[Statement | Rows]:
        yield from about_run(answer.run, names)
        types = {place: event_type(answer.run, place) for place in names.places}
        for event in answer.events:
            collection = names.collection(event.place)
            yield from event_statements(event, types[event.place], collection)
        yield from edge_rows(answer.edges, answer.run, names)
        yield from _findings(answer, names, name)

    said = ((TYPE, term("Answer")), *facts(question=answer.question), *answer.facts)
    bundle = Bundle(name, statements)
    return Document((*STANDARD, *names.spaces), about_bundle(names, name, said), (bundle,))


def _findings(answer: Answer, names: RunNames, own: Name) -> Iterator[Statement | Rows]:
    for number, finding in enumerate(answer.findings):
        whole = names.space.name(f"{own.local}-f{number}")
        types = ((TYPE, Name(PROV, "Collection")), (TYPE, term("Finding")))
        count = sum(last - first + 1 for _, first, last in finding.ranges)
        yield Statement(
            KINDS["entity"], whole, (), (*types, *facts(name=finding.name, count=count))
        )
        for piece, (place, first, last) in enumerate(finding.ranges):
            part = names.space.name(f"{own.local}-f{number}-r{piece}")
            yield range_entity(part, names.collection(place), first, last)
            yield Statement(KINDS["hadMember"], None, (whole, part))
