"""The names of a run and all its parts, with the prefixes that one document gives them."""

from __future__ import annotations

import re
from importlib.metadata import version

from whence.engine.errors import ParameterError
from whence.exporters.identifiers import (
    DCTERMS,
    PROV,
    RDF,
    WHENCE,
    XSD,
    Name,
    Namespace,
    chain_space,
    engine_space,
    log_space,
    processor_space,
    run_space,
    stream_space,
    work_space,
)
from whence.exporters.model import Run, Stream

__all__ = ["STANDARD", "RunNames"]

STANDARD = (PROV, XSD, RDF, DCTERMS, WHENCE)
"""The namespaces of every document."""

_RESERVED = {*(space.prefix for space in STANDARD), "default", "xml", "xmlns", "rdfs", "dn"}


class RunNames:
    """Names for one run in one document.

    Attributes:
        spaces: every namespace, in the order of the export.
        places: the namespace of each log and stream, by the name that relations use.
        space: the namespace of the run itself.
        run: the run, an activity.
        bundle: what the run's statements are in.
        engine: the software that ran it, if that is known.
        exporter: the software that writes the document.
        chain: the chain's definition, if the run has one.
        plans: the definition of each processor.
        works: each processor at work in the run.
    """

    def __init__(self, run: Run) -> None:
        """Give every part of the run its namespace."""
        self._taken = set(_RESERVED)
        self._by_iri: dict[str, Namespace] = {}
        self.spaces: list[Namespace] = []
        space = self._add(run_space(self._prefix("run"), run.id))
        self.run, self.bundle = space.name("run"), space.name("bundle")
        self.space = space
        self.engine = None if run.engine is None else self._software(run.engine)
        self.exporter = self._software(version("whence"))
        self.places = {
            log.place: self._add(log_space(self._prefix(log.name), log.id)) for log in run.logs
        }
        for stream in run.streams:
            self.places[stream.place] = self._add(
                stream_space(
                    self._prefix(stream.place), run.id, stream.processor, _pipe_segment(stream)
                )
            )
        self.chain: Name | None = None
        self.plans: dict[str, Name] = {}
        if run.chain_digest is not None:
            digest = run.chain_digest
            self.chain = self._add(chain_space(self._prefix("chain"), digest)).name("chain")
            for each in run.processors:
                space = processor_space(self._prefix(f"{each.id}-plan"), digest, each.id)
                self.plans[each.id] = self._add(space).name("plan")
        workers = dict.fromkeys([*(p.id for p in run.processors), *_workers(run)])
        self.works = {
            each: self._add(work_space(self._prefix(f"{each}-work"), run.id, each)).name("work")
            for each in workers
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

    def _software(self, which: str) -> Name:
        return self._add(engine_space(self._prefix("engine"), which)).name("agent")

    def _add(self, space: Namespace) -> Namespace:
        # One namespace, one prefix: a chain may read one log under two names.
        found = self._by_iri.setdefault(space.iri, space)
        if found is space:
            self.spaces.append(space)
        return found

    def _prefix(self, wanted: str) -> str:
        """A prefix that looks like what it stands for and is free in this document."""
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", wanted)[:40]
        base = plain if plain[:1].isascii() and plain[:1].isalpha() else f"s{plain}"
        prefix, number = base, 1
        while prefix in self._taken:
            number += 1
            prefix = f"{base}_{number}"
        self._taken.add(prefix)
        return prefix


def _workers(run: Run) -> list[str]:
    return [stream.processor for stream in run.streams if stream.role != "end"]


def _pipe_segment(stream: Stream) -> str:
    # Beside the pipe's own events: choices, heads, the end, and what kernels keep.
    return f"{stream.beside or ''}{stream.pipe}"
