"""What an export states of a run as a whole: who ran what, on which logs, with which result."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from whence.engine.lineage.positions import Ints
from whence.exporters.model import Event, Log, Run, Stream
from whence.exporters.names import RunNames
from whence.exporters.prov.identifiers import DCTERMS, PROV, Name, link
from whence.exporters.prov.rows import Names, Rows, Value, number_column
from whence.exporters.prov.statements import (
    END_TIME,
    KINDS,
    START_TIME,
    TYPE,
    Attributes,
    Literal,
    Statement,
    clean,
)
from whence.exporters.vocabulary import term

__all__ = [
    "about_bundle",
    "about_run",
    "event_rows",
    "event_statements",
    "event_type",
    "facts",
    "range_entity",
    "range_rows",
]

_ENTITY, _MEMBER = KINDS["entity"], KINDS["hadMember"]
_POSITION = term("position")
_COLLECTION = (TYPE, Name(PROV, "Collection"))
_PLAN = (TYPE, Name(PROV, "Plan"))
_EVENT_TYPES = {"output": "Output", "choices": "Choice", "end": "End"}


def facts(**known: Literal | None) -> Attributes:
    """Attributes in Whence's own words; what is not known is left out."""
    return tuple(
        (term(word), clean(value) if isinstance(value, str) else value)
        for word, value in known.items()
        if value is not None
    )


def about_bundle(names: RunNames, bundle: Name, extra: Attributes = ()) -> tuple[Statement, ...]:
    """The statements outside the bundle: that it is one, and which software made it."""
    export = Name(bundle.space, f"{bundle.local}-export")
    space = bundle.space
    return (
        Statement(_ENTITY, bundle, (), ((TYPE, Name(PROV, "Bundle")), *extra)),
        _software(names.exporter, version("whence")),
        Statement(KINDS["activity"], export, (), ((TYPE, term("Export")),)),
        Statement(
            KINDS["wasGeneratedBy"],
            space.name(f"{bundle.local}-generation"),
            (bundle, export),
        ),
        Statement(
            KINDS["wasAttributedTo"],
            space.name(f"{bundle.local}-attribution"),
            (bundle, names.exporter),
        ),
        Statement(
            KINDS["wasAssociatedWith"],
            space.name(f"{bundle.local}-association"),
            (export, names.exporter, None),
        ),
    )


def _software(name: Name, which: str) -> Statement:
    known = facts(name="Whence", version=which)
    return Statement(KINDS["agent"], name, (), ((TYPE, Name(PROV, "SoftwareAgent")), *known))


def _associated(activity: Name, names: RunNames, plan: Name | None) -> Iterator[Statement]:
    if names.engine is not None or plan is not None:
        own = activity.space.name("association")
        yield Statement(KINDS["wasAssociatedWith"], own, (activity, names.engine, plan))


def _people(names: RunNames) -> Iterator[Statement]:
    """Who answers for the run: the engine acted for the first, each of them for the next."""
    acting = names.engine
    for number, (agent, name) in enumerate(names.people.items()):
        known = ((TYPE, Name(PROV, agent.kind)), *facts(name=agent.name))
        yield Statement(KINDS["agent"], name, (), known)
        if acting is not None:
            own = names.space.name(f"delegation-{number}")
            yield Statement(KINDS["actedOnBehalfOf"], own, (acting, name, names.run))
        acting = name


def about_run(run: Run, names: RunNames) -> Iterator[Statement]:
    """The run, its chain and processors, its logs and streams."""
    times: Attributes = ()
    if run.started is not None:
        times += ((START_TIME, run.started),)
    if run.ended is not None:
        times += ((END_TIME, run.ended),)
    yield Statement(
        KINDS["activity"],
        names.run,
        (),
        (*times, (TYPE, term("Run")), *facts(name=run.id), *run.facts),
    )
    if names.engine is not None and run.engine is not None:
        yield _software(names.engine, run.engine)
    yield from _associated(names.run, names, names.chain)
    yield from _people(names)
    yield from _chain(run, names)
    yield from _works(names)
    yield from _logs(run, names)
    for stream in run.streams:
        yield from _stream(stream, names)


def _logs(run: Run, names: RunNames) -> Iterator[Statement]:
    by_collection: dict[Name, list[Log]] = {}
    for log in run.logs:
        by_collection.setdefault(names.collection(log.place), []).append(log)
    for collection, same in by_collection.items():
        # A chain may read one log under several names.
        called = [fact for log in same for fact in facts(name=log.name)]
        log = same[0]
        known = facts(count=log.count, digest=log.digest, source=log.source)
        types: Attributes = (_COLLECTION, (TYPE, term("Log")))
        if log.stream is not None:
            types += ((TYPE, term("Stream")),)
        yield Statement(_ENTITY, collection, (), (*types, *called, *known))
        usage = names.space.name(f"used-{link(collection.space)}")
        yield Statement(KINDS["used"], usage, (names.run, collection))
        before = names.revised.get(log.place)
        if before is not None:
            old = before.name("all")
            if old not in by_collection:
                yield Statement(_ENTITY, old, (), types)
            own = names.space.name(f"revision-{link(collection.space)}")
            revision = (TYPE, Name(PROV, "Revision"))
            yield Statement(KINDS["wasRevisionOf"], own, (collection, old), (revision,))
            yield from _adjusted(log, names, collection, old)


def _adjusted(log: Log, names: RunNames, collection: Name, old: Name) -> Iterator[Statement]:
    """Who corrected a log by hand: an activity that used the old one and generated the new one."""
    if log.adjusted is None:
        return
    told, space = log.adjusted, collection.space
    activity, person = space.name("adjustment"), names.adjusters[log.place]
    said = facts(reason=told.reason, count=told.count)
    when = (END_TIME, told.time)
    yield Statement(KINDS["activity"], activity, (), (when, (TYPE, term("Adjustment")), *said))
    if person not in names.people.values():
        known = ((TYPE, Name(PROV, "Person")), *facts(name=told.who))
        yield Statement(KINDS["agent"], person, (), known)
    yield Statement(
        KINDS["wasAssociatedWith"], space.name("adjustment-association"), (activity, person, None)
    )
    yield Statement(KINDS["used"], space.name("adjustment-usage"), (activity, old))
    generation = space.name("adjustment-generation")
    yield Statement(KINDS["wasGeneratedBy"], generation, (collection, activity))


def _chain(run: Run, names: RunNames) -> Iterator[Statement]:
    if names.chain is None:
        return
    known = facts(digest=run.chain_digest, definition=run.chain)
    types = ((TYPE, Name(PROV, "Plan")), _COLLECTION, (TYPE, term("Chain")))
    yield Statement(_ENTITY, names.chain, (), (*types, *known))
    for processor in run.processors:
        plan = names.plans[processor.id]
        known = facts(name=processor.id, kind=processor.kind, definition=processor.definition)
        yield Statement(_ENTITY, plan, (), (_PLAN, (TYPE, term("Processor")), *known))
        yield Statement(_MEMBER, None, (names.chain, plan))


def _works(names: RunNames) -> Iterator[Statement]:
    for processor, work in names.works.items():
        part = (Name(DCTERMS, "isPartOf"), names.run)
        known = ((TYPE, term("Work")), *facts(processor=processor), part)
        yield Statement(KINDS["activity"], work, (), known)
        yield from _associated(work, names, names.plans.get(processor))
        yield Statement(KINDS["wasStartedBy"], work.space.name("start"), (work, None, names.run))


def _stream(stream: Stream, names: RunNames) -> Iterator[Statement]:
    collection = names.collection(stream.place)
    known = facts(
        name=stream.place,
        processor=stream.processor,
        pipe=stream.pipe,
        role=stream.role,
        helper=stream.helper,
        count=stream.count,
        tracked=stream.tracked,
        width=stream.width if stream.width > 1 else None,
    )
    yield Statement(_ENTITY, collection, (), (_COLLECTION, (TYPE, term("Stream")), *known))
    work = names.works.get(stream.processor)
    if work is not None:
        generation = collection.space.name("generation")
        yield Statement(KINDS["wasGeneratedBy"], generation, (collection, work))


def event_type(run: Run, place: str) -> Name:
    """The class of the events of a log or stream."""
    for stream in run.streams:
        if stream.place == place:
            if stream.helper is not None:
                return term("Knot")
            return term(_EVENT_TYPES.get(stream.role, "Inner"))
    return term("Input")


def event_rows(
    positions: Ints, said: tuple[tuple[Name, Value], ...], type_: Name, collection: Name
) -> tuple[Rows, Rows]:
    """Events, and that they belong to their log or stream."""
    names = Names.numbered(collection.space, "e", positions)
    position: tuple[Name, Value] = (_POSITION, number_column(positions))
    attributes: tuple[tuple[Name, Value], ...] = ((TYPE, type_), position, *said)
    count = len(positions)
    return (
        Rows(_ENTITY, count, names, (), attributes),
        Rows(_MEMBER, count, None, (collection, names)),
    )


def event_statements(event: Event, type_: Name, collection: Name) -> tuple[Statement, Statement]:
    """An event, and that it belongs to its log or stream."""
    name = collection.space.event(event.position)
    attributes: Attributes = ((TYPE, type_), (_POSITION, event.position), *event.attributes)
    return (
        Statement(_ENTITY, name, (), attributes),
        Statement(_MEMBER, None, (collection, name)),
    )


def range_entity(name: Name, of: Name, first: int, last: int | None) -> Statement:
    """The events of a log or stream from one position to another, without naming them."""
    part = ((TYPE, term("Range")), (term("of"), of))
    count = None if last is None else last - first + 1
    return Statement(
        _ENTITY, name, (), (_COLLECTION, *part, *facts(first=first, last=last, count=count))
    )


def range_rows(names: Names, of: Name, first: Ints, last: Ints | None) -> Rows:
    """The same for many ranges of one log or stream."""
    said: list[tuple[Name, Value]] = [_COLLECTION, (TYPE, term("Range")), (term("of"), of)]
    said.append((term("first"), number_column(first)))
    if last is not None:
        said.append((term("last"), number_column(last)))
        said.append((term("count"), number_column(last - first + 1)))
    return Rows(_ENTITY, len(first), names, (), tuple(said))
