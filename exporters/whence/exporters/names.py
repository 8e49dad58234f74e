"""The names of a run and all its parts, with the prefixes that one document gives them."""

from __future__ import annotations

import re
from importlib.metadata import version

from whence.engine.errors import ParameterError
from whence.exporters.model import Log, Run, Stream
from whence.exporters.prov.identifiers import (
    DCTERMS,
    PROV,
    RDF,
    WHENCE,
    XSD,
    Name,
    Namespace,
    minted,
)

__all__ = ["STANDARD", "Prefixes", "RunNames"]

STANDARD = (PROV, XSD, RDF, DCTERMS, WHENCE)
"""The namespaces of every document."""

_RESERVED = {*(space.prefix for space in STANDARD), "default", "xml", "xmlns", "rdfs", "dn"}


class Prefixes:
    """The namespaces of one document, each with a prefix of its own.

    Attributes:
        spaces: every namespace, in the order of the export.
    """

    def __init__(self) -> None:
        self._taken = set(_RESERVED)
        self._by_iri: dict[str, Namespace] = {}
        self.spaces: list[Namespace] = []

    def add(self, wanted: Namespace) -> Namespace:
        """A namespace under a prefix that is free, or as it was added before.

        A chain may read one log under two names, and two runs may read one log.
        """
        found = self._by_iri.get(wanted.iri)
        if found is None:
            found = Namespace(self._free(wanted.prefix), wanted.iri)
            self._by_iri[wanted.iri] = found
            self.spaces.append(found)
        return found

    def _free(self, wanted: str) -> str:
        """A prefix that resembles its namespace and is free in this document."""
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted)[:40]
        base = plain if plain[:1].isascii() and plain[:1].isalpha() else f"s{plain}"
        prefix, number = base, 1
        while prefix in self._taken:
            number += 1
            prefix = f"{base}_{number}"
        self._taken.add(prefix)
        return prefix


class RunNames:
    """Names for one run in one document.

    Attributes:
        spaces: every namespace of the document so far, in the order of the export.
        places: the namespace of each log and stream, by the name that relations use.
        revised: the namespace of the log that a log corrects, likewise.
        space: the namespace of the run itself.
        run: the run, an activity.
        bundle: what the run's statements are in.
        engine: the software that ran it, if that is known.
        exporter: the software that writes the document.
        people: the agents that a run names, by what they are to it.
        adjusters: who corrected a log by hand, by the log's place.
        erasures: the namespace of each erasure that took something of it, and who did it.
        chain: the chain's definition, if the run has one.
        plans: the definition of each processor.
        works: each processor at work in the run.
    """

    def __init__(self, run: Run, prefixes: Prefixes | None = None) -> None:
        """Give every part of the run its namespace."""
        prefixes = prefixes or Prefixes()
        self.spaces, add = prefixes.spaces, prefixes.add
        self.space = add(minted("run", "run", run.id))
        self.run, self.bundle = self.space.name("run"), self.space.name("bundle")

        def software(which: str) -> Name:
            return add(minted("engine", "engine", which)).name("agent")

        self.engine = None if run.engine is None else software(run.engine)
        self.exporter = software(version("whence"))
        self.people = {
            agent: add(minted(agent.name, "agent", agent.name)).name("agent")
            for agent in run.agents
        }
        self.erasures = {
            each.id: (
                add(minted("erasure", "erasure", each.id)),
                add(minted(each.who, "agent", each.who)).name("agent"),
            )
            for each in run.erased
        }
        self.adjusters = {
            log.place: add(minted(log.adjusted.who, "agent", log.adjusted.who)).name("agent")
            for log in run.logs
            if log.adjusted is not None
        }
        self.places = {log.place: add(_log_space(log)) for log in run.logs}
        self.revised = {
            log.place: add(minted(f"{log.name}-before", "log", log.revises))
            for log in run.logs
            if log.revises is not None
        }
        for stream in run.streams:
            self.places[stream.place] = add(
                minted(stream.place, "run", run.id, stream.processor, _pipe_segment(stream))
            )
        self.chain: Name | None = None
        self.plans: dict[str, Name] = {}
        digest = run.chain_digest
        if digest is not None:
            self.chain = add(minted("chain", "chain", digest)).name("chain")
            for each in run.processors:
                self.plans[each.id] = add(minted(f"{each.id}-plan", "chain", digest, each.id)).name(
                    "plan"
                )
        workers = dict.fromkeys([*(p.id for p in run.processors), *_workers(run)])
        self.works = {
            each: add(minted(f"{each}-work", "run", run.id, each)).name("work") for each in workers
        }

    def collection(self, place: str) -> Name:
        """A log or stream itself."""
        return self.at(place).name("all")

    def at(self, place: str) -> Namespace:
        """The namespace of a log or stream."""
        found = self.places.get(place)
        if found is None:
            known = ", ".join(self.places)
            msg = f"an export: expected a log or stream of the run; got {place!r}; try {known}"
            raise ParameterError(msg)
        return found


def _workers(run: Run) -> list[str]:
    return [stream.processor for stream in run.streams if not stream.role.is_end]


def _log_space(log: Log) -> Namespace:
    if log.stream is None:
        return minted(log.name, "log", log.id)
    return minted(log.name, "run", *log.stream)  # its events are those of an earlier run


def _pipe_segment(stream: Stream) -> str:
    # Beside the pipe's own events: choices, heads, the end, and what kernels keep.
    return f"{stream.beside or ''}{stream.pipe}"
