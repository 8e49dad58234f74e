"""What an export holds: the document of a run, and the document of an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from whence.engine.lineage.heads import HeadZones
from whence.engine.progress import Listener, Reporter
from whence.exporters.describing import (
    about_bundle,
    about_run,
    event_rows,
    event_statements,
    event_type,
    facts,
    range_entity,
)
from whence.exporters.expanding import pairs_of
from whence.exporters.invalidating import about_erasures
from whence.exporters.model import Answer
from whence.exporters.names import STANDARD, Prefixes, RunNames
from whence.exporters.prov.identifiers import PROV, Name
from whence.exporters.prov.rows import Rows
from whence.exporters.prov.statements import KINDS, TYPE, Bundle, Document, Statement, clean
from whence.exporters.recorded import RecordedRun
from whence.exporters.relations import Heads, Relations, edge_rows
from whence.exporters.vocabulary import term

__all__ = ["answer_document", "expanded_size", "run_document", "runs_document"]


def run_document(source: RecordedRun) -> Document:
    """The document of a whole run."""
    return runs_document([source])


def runs_document(
    sources: Sequence[RecordedRun],
    progress: Listener | None = None,
    *,
    doing: str = "exporting",
    expand: bool = False,
) -> Document:
    """The document of several runs: a bundle for each.

    Args:
        sources: the runs.
        progress: called with the number of events and associations done.
        doing: the text of the progress.
        expand: write every pair of output and input by itself, and no ranges.
    """
    report = Reporter(progress, "exporting", "rows")
    prefixes = Prefixes()
    total = sum(source.size for source in sources)
    top: dict[Statement, None] = {}
    bundles = []
    before = 0
    for source in sources:
        names = RunNames(source.run, prefixes)
        top.update(dict.fromkeys(about_bundle(names, names.bundle)))
        told = partial(_tell, report, before, total, doing)
        make = partial(_run_statements, source, names, told, expand=expand)
        bundles.append(Bundle(names.bundle, make))
        before += source.size
    return Document((*STANDARD, *prefixes.spaces), tuple(top), tuple(bundles))


def _tell(report: Reporter, before: int, total: int, doing: str, done: int) -> None:
    report(before + done, total, doing)


def _run_statements(
    source: RecordedRun, names: RunNames, progress: Callable[[int], None], *, expand: bool
) -> Iterator[Statement | Rows]:
    run, done = source.run, 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(done)

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
    heads = _heads(source) if expand else None
    for stream in run.streams:
        relations = Relations(run, names, stream.place, heads)
        for count, found in source.associations(stream.place):
            yield from relations.part(found)
            advance(count)
        yield from relations.rest()
    yield from about_erasures(run, names)


def _heads(source: RecordedRun) -> Heads:
    return {
        stream.place: HeadZones.of(
            block for _, found in source.associations(stream.place) for block in found.blocks
        )
        for stream in source.run.streams
        if stream.role.is_heads
    }


def expanded_size(source: RecordedRun) -> int:
    """How many relations there are at most if every pair is written by itself."""
    run, names = source.run, RunNames(source.run)
    heads = _heads(source)
    size = 0
    for stream in run.streams:
        if stream.role.is_heads:
            continue
        relations = Relations(run, names, stream.place, heads)
        for _, found in source.associations(stream.place):
            for to, several in relations.leads(found).items():
                for leads in several:
                    size += 0 if to in heads else int((leads.width + 1).sum())
                    for zones in heads.get(to, {}).values():
                        size += zones.size(pairs_of(leads)[1])
    return size


def answer_document(answer: Answer) -> Document:
    names = RunNames(answer.run)
    # The question makes the name, so that two answers about one run are two bundles.
    asked = hashlib.sha256(clean(answer.question).encode()).hexdigest()[:16]
    name = names.space.name(f"answer-{asked}")

    def statements() -> Iterator[Statement | Rows]:
        yield from about_run(answer.run, names)
        types = {place: event_type(answer.run, place) for place in names.places}
        there: set[tuple[str, int]] = set()
        for event in answer.events:
            collection = names.collection(event.place)
            there.add((event.place, event.position))
            yield from event_statements(event, types[event.place], collection)
        yield from edge_rows(answer.edges, answer.run, names)
        yield from _witnesses(answer, names, name)
        yield from _findings(answer, names, name)
        yield from about_erasures(answer.run, names, lambda *event: event in there)

    said = ((TYPE, term("Answer")), *facts(question=answer.question), *answer.facts)
    bundle = Bundle(name, statements)
    return Document((*STANDARD, *names.spaces), about_bundle(names, name, said), (bundle,))


def _witnesses(answer: Answer, names: RunNames, own: Name) -> Iterator[Statement]:
    """Each alternative is a collection, and a special case of the explanation as such."""
    if not answer.witnesses:
        return
    whole = names.space.name(f"{own.local}-explanation")
    yield Statement(
        *(KINDS["entity"], whole, ()),
        ((TYPE, term("Explanation")), *facts(count=len(answer.witnesses))),
    )
    for witness in answer.witnesses:
        name = names.space.name(f"{own.local}-w{witness.number}")
        count = sum(last - first + 1 for _, first, last in witness.ranges)
        types = ((TYPE, Name(PROV, "Collection")), (TYPE, term("Witness")))
        said = facts(witness=witness.number, count=count)
        yield Statement(KINDS["entity"], name, (), (*types, *said))
        yield Statement(KINDS["specializationOf"], None, (name, whole))
        for place, first, last in witness.ranges:
            for position in range(first, last + 1):
                member = names.at(place).event(position)
                yield Statement(KINDS["hadMember"], None, (name, member))


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
