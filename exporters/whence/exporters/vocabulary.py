"""The words that Whence adds to PROV. The reference page on the vocabulary lists the same."""

from __future__ import annotations

from functools import cache

from whence.exporters.prov.identifiers import WHENCE, Name

__all__ = ["CLASSES", "PROPERTIES", "VALUES", "term"]

CLASSES = {
    "Run": "a run of a chain over its logs; an activity",
    "Work": "one processor at work in a run; an activity",
    "Export": "the making of a bundle; an activity",
    "Chain": "the definition of a chain; a plan, and the collection of its processors",
    "Processor": "the definition of a processor; a plan",
    "Log": "an input log; the collection of its events",
    "Stream": "what an output pipe of a processor gave in a run; the collection of its events",
    "Input": "an event of a log",
    "Output": "an event of a pipe that leaves the chain",
    "Inner": "an event of another pipe, or from inside a Slice",
    "Knot": "no event of the chain: a point of a helper stream that gathers what many rest on",
    "Choice": "a point where any one of several alternatives is enough; its value is their number",
    "End": "the end of an output pipe: that nothing more came",
    "Range": "the events of a log or stream from one position to another; a collection",
    "Explains": "a derivation: the input is part of the reason for the output's value",
    "Trigger": "a derivation: the input explains the output, but does not support it",
    "Supports": "an influence: the input supports the output beyond what explains it",
    "Band": "relates each output of a range to a range of its own",
    "Zone": "relates each output of a range to one and the same event",
    "Answer": "the answer to a question about a run; an entity",
    "Explanation": "why an output has its value, whichever of its witnesses is taken",
    "Witness": "one of several sets of events, each of which explains an output; a collection",
    "Finding": "one set of events that an answer names; a collection of ranges",
    "Erasure": "the erasing of the values of events; an activity that invalidates them",
    "Adjustment": "the correcting of a log by hand; an activity that generates the corrected log",
}

PROPERTIES = {
    "name": "what a person calls it: a log or processor by its id in the chain",
    "source": "where a log was read from",
    "count": "number of members, which a collection in PROV does not state by itself",
    "digest": "a digest of the content, with its algorithm before the colon",
    "definition": "the definition, as canonical JSON",
    "kind": "of a processor: its kind; of an event: the kind of its value, where PROV has no type, "
    "missing if there is none, erased if it was erased",
    "reason": "why something was erased, or corrected by hand, in words",
    "cut": "true: the value is only the beginning of a long one, as the graph keeps it",
    "processor": "the processor's id in the chain",
    "pipe": "the number of an output pipe",
    "role": "what a stream is to the chain: output, step, inner, choices, heads or end",
    "helper": "of a stream that is stored next to a processor's own events: its name there",
    "tracked": "how many events of a stream have associations",
    "width": "inside a Slice: how many positions there are for each one of the stream outside",
    "position": "position of an event in its log or stream, from 0",
    "moment": "the input position after which an output appeared; -1 before any input",
    "case": "the case that an event belongs to",
    "activity": "the activity that an event records",
    "time": "the time that an event records; PROV's own times are those of processing",
    "field": "a field of the input that matters; none: the whole event",
    "presence": "true: only that the input is there matters, none of its fields",
    "copy": "true: the output is a copy, so its fields are those of the input",
    "witness": "the number of the alternative, of those of a choice, that the relation is part of",
    "of": "the log, stream or processor that something is a part of",
    "first": "the first position of a range",
    "last": "the last position of a range; none: to the end",
    "from": "a of a band: output o is derived from positions from o * fromFactor + a",
    "to": "b of a band: output o is derived from positions up to o * toFactor + b",
    "fromFactor": "see from",
    "toFactor": "see to",
    "status": "running, complete, failed or interrupted",
    "error": "why a run failed",
    "runner": "what ran the chain",
    "options": "the options of a run, as canonical JSON",
    "metadata": "the metadata that the run's owner stated, as canonical JSON",
    "versions": "the versions of what ran, as canonical JSON",
    "pending": "how many verdicts wait, for each processor, as canonical JSON",
    "version": "the version of the engine",
    "question": "the question in words",
    "more": "true: there are more witnesses than are listed",
    "mayAppear": "an output pipe on which outputs could appear that do not exist now",
    "coverage": "which share of the outputs the answer rests on, as canonical JSON",
}

_WHOLE = ("count", "first", "from", "fromFactor", "last", "moment", "pipe", "position", "to",
          "toFactor", "tracked", "width", "witness")  # fmt: skip
VALUES = {
    **dict.fromkeys(_WHOLE, "integer"),
    **dict.fromkeys(("copy", "cut", "more", "presence"), "boolean"),
    "of": "Entity",
    "case": None,
    "activity": None,
    "time": None,
}
"""What a property's value is: of XML Schema, an entity, or anything; text unless said here."""


@cache
def term(word: str) -> Name:
    """A word of the vocabulary as a name; words that are not in it are refused.

    >>> term("position").iri
    'urn:whence:ns#position'
    """
    if word not in CLASSES and word not in PROPERTIES:
        raise KeyError(word)
    return Name(WHENCE, word)
