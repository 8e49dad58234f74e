"""Window, temporal logic and life cycles over the first events of each real log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from random import Random
from typing import Any

from tests.engine.corruptor import Cell
from tests.engine.random_chains import Case
from tests.engine.sources._support.real_logs import open_real
from whence.engine import ApplyFunction, Chain, Cumulate, Slice, Window
from whence.engine.formula import formula
from whence.engine.palettes.fsm import MooreMachine
from whence.engine.values.columns import records_of

__all__ = ["REAL", "RealCase", "real_cases"]

REAL = {
    "ccc19.csv": ("CASEID", "ACTIVITY"),
    "sepsis.csv": ("Case ID", "Activity"),
    "traffic_fines.csv": ("case_id", "activity"),
    "apache_logs": ("address", "status"),
    "receipt.xes.gz": ("case:concept:name", "concept:name"),
    "RequestForPayment.xes.gz": ("case:concept:name", "concept:name"),
    "bpic2012.xes.gz": ("case:concept:name", "concept:name"),
    "ocel2-running-example.sqlite": ("ocel:type:orders", "ocel:activity"),
    "derived/bpic2013_latin1.csv": ("case", "concept:name"),
}
"""Every real log, with the columns that name case and activity."""

Events = list[dict[str, Any]]


@dataclass(frozen=True)
class RealCase:
    """A chain over a real log.

    Attributes:
        name: the log's name and the chain's.
        least: the share of truly unaffected outputs that must be called so.
        case: chain and log.
        choices: what to corrupt: single events, or innocent cases.
    """

    name: str
    least: float
    case: Case
    choices: tuple[Sequence[Cell], ...]


def read(name: str, many: int) -> Events:
    """The first events of a real log, their case, activity, and how long its name is."""
    case, activity = REAL[name]
    source = open_real(name)
    events: Events = []
    for batch in source.batches():
        for record in records_of(batch, source.columns):
            said = str(record[activity])
            key = record[case]
            key = str(key[0] if isinstance(key, list) and key else key)
            events.append({"case": key, "activity": said, "size": len(said)})
            if len(events) == many:
                return events
    return events


def real_cases(name: str, many: int, corruptions: int) -> Iterator[RealCase]:
    """The chains over a log; each is corrupted in so many places."""
    events = read(name, many)
    random = Random(name)
    first, second = _loose_step(events)
    some = min(event["size"] for event in events)
    singles = tuple(
        [("log", random.randrange(len(events)), field)]
        for field in ("activity", "size")
        for _ in range((corruptions + 1) // 2)
    )
    window = ApplyFunction("short", f"size - {some}") | Window(
        "three", n=3, of=Cumulate("product", "product")
    )
    rule = formula(f"G (activity = {first!r} -> X (activity = {second!r} and X size > {some}))")
    whole = {
        "window": (Chain.of(window), 0.99, singles),
        "temporal rule": (Chain.of(rule), 0.99, singles),
        "life cycle": (_lifecycle(events), 0.95, tuple(islice(_innocent(events), corruptions))),
    }
    for title, (chain, least, choices) in whole.items():
        case = Case(0, chain.tree(), {"log": events}, False, {"case"})
        yield RealCase(f"{name}, {title}", least, case, choices)


def _steps(events: Events) -> Counter[tuple[str, str]]:
    """How often one activity follows another in a case; every case begins after ``start``."""
    last: dict[str, str] = {}
    found: Counter[tuple[str, str]] = Counter()
    for event in events:
        found[last.get(event["case"], "start"), event["activity"]] += 1
        last[event["case"]] = event["activity"]
    return found


def _loose_step(events: Events) -> tuple[str, str]:
    """An activity and what mostly follows, of those that something else follows often enough."""
    followers: dict[str, Counter[str]] = {}
    for one, other in pairwise(event["activity"] for event in events):
        followers.setdefault(one, Counter())[other] += 1
    loose = {
        one: found
        for one, found in followers.items()
        if found.most_common(1)[0][1] < 0.9 * found.total()
    }
    one = max(loose, key=lambda name: loose[name].total())
    return one, loose[one].most_common(1)[0][0]


def _usual(events: Events) -> list[tuple[str, str]]:
    """The most frequent steps: so many that some cases keep to them, and some do not."""
    steps = _steps(events)
    cases = _said(events)
    usual: list[tuple[str, str]] = []
    for step, _ in steps.most_common():
        usual.append(step)
        kept = sum(set(usual).issuperset(pairwise(said)) for said in cases.values())
        if kept >= 0.2 * len(cases):
            break
    return usual


def _said(events: Events) -> dict[str, list[str]]:
    """What happens in each case."""
    found: dict[str, list[str]] = {}
    for event in events:
        found.setdefault(event["case"], ["start"]).append(event["activity"])
    return found


def _lifecycle(events: Events) -> Chain:
    usual = _usual(events)
    names = sorted({name for step in usual for name in step} | {"start"})
    states = {name: f"s{number}" for number, name in enumerate(names)}
    machine = MooreMachine(
        "cycle",
        initial=states["start"],
        states={**dict.fromkeys(states.values(), True), "violation": False},
        transitions=[(states[a], f"activity = {b!r}", states[b]) for a, b in usual],
        otherwise=dict.fromkeys((*states.values(), "violation"), "violation"),
    )
    return Chain.of(Slice("per-case", by="case", of=machine, combine="and"))


def _innocent(events: Events) -> Iterator[Sequence[Cell]]:
    """Cases that keep to the life cycle, each with all that could be corrupted of it."""
    usual = set(_usual(events))
    good = {case for case, said in _said(events).items() if usual.issuperset(pairwise(said))}
    by_case: dict[str, list[Cell]] = {}
    for position, event in enumerate(events):
        if event["case"] in good:
            by_case.setdefault(event["case"], []).append(("log", position, "activity"))
    yield from by_case.values()
