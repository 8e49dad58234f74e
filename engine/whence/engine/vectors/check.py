"""Run worked cases and compare outputs, explanations, alternatives and supports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whence.engine.errors import DefinitionError, WhenceError
from whence.engine.interpreter import interpret
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.events import Position
from whence.engine.lineage.tracker import MemoryTracker
from whence.engine.values.slice_map import SliceMap
from whence.engine.vectors.named import NAMED
from whence.engine.vectors.runners import RUNNERS, Case, Ran

__all__ = ["RUNNERS", "Report", "check_file"]


@dataclass
class Report:
    """What came of a file of cases.

    Attributes:
        passed: cases without a failure.
        failed: cases with one.
        failures: one line each.
        extra: events in a support beyond what the rules give (legal, but lost precision).
        fewer: events of the rules' support that ours does without (legal if it is still enough).
        extra_open: the same for open inputs.
        fewer_open: the same for open inputs.
    """

    passed: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    extra: int = 0
    fewer: int = 0
    extra_open: int = 0
    fewer_open: int = 0


def check_file(path: str | Path, runner: str = "interpreter") -> Report:
    """Run every case of a file.

    Args:
        path: a file in the form of ``chains.json`` or ``nested.json``.
        runner: a name in `RUNNERS`.
    """
    try:
        cases = json.loads(Path(path).read_text(encoding="utf-8"))["cases"]
    except (ValueError, KeyError, TypeError) as fault:
        msg = f"{path}: expected a JSON file with cases; got {fault!r}; try chains.json"
        raise DefinitionError(msg) from fault
    report = Report()
    read = [_read(case) for case in cases]
    ran = RUNNERS[runner]([case for case in read if isinstance(case, Case)])
    for case, prepared in zip(cases, read, strict=True):
        try:
            problems = list(_check(case, prepared, ran, report))
        except WhenceError as error:
            problems = [f"does not run: {error}"]
        if problems:
            report.failed += 1
            report.failures += [f"{case.get('id', '?')}: {problem}" for problem in problems]
        else:
            report.passed += 1
    return report


def _read(case: dict[str, Any]) -> Case | WhenceError:
    """The chain and the logs of a case, or why there are none."""
    named = isinstance(case["chain"], str)
    if named and case["chain"] not in NAMED:
        return DefinitionError(f"an unknown chain {case['chain']!r}")
    tree = NAMED[case["chain"]] if named else case["chain"]
    try:
        chain = chain_from_tree(tree, make_ids=True, formulas=False)
    except WhenceError as error:
        return error
    logs = {
        name: list(case["inputs"][theirs]) for name, theirs in _names(case, chain.inputs).items()
    }
    return Case(chain, logs, bool(case.get("closed", False)))


def _names(case: dict[str, Any], inputs: Sequence[str]) -> dict[str, str]:
    """A chain of one log calls it `log`, whatever the case calls it."""
    return dict(zip(inputs, case["inputs"], strict=True))


def _check(
    case: dict[str, Any],
    prepared: Case | WhenceError,
    ran: Iterator[Ran | WhenceError],
    report: Report,
) -> Iterator[str]:
    if isinstance(prepared, WhenceError):
        raise prepared
    chain, logs, closed = prepared
    named = isinstance(case["chain"], str)
    names = _names(case, chain.inputs)
    first = next(ran)
    if isinstance(first, WhenceError):
        raise first
    every = interpret(chain, logs, tracker=MemoryTracker("all"), closed=closed)
    if [_plain(v) for v in first.values] != [_plain(v) for v in case["outputs"]]:
        yield f"outputs {first.values}, expected {case['outputs']}"
        return
    for k in range(len(first.values)):
        told = first.explain(k)
        why = _places(told.inputs, names)
        if _places(every.explain(k).inputs, names) != why:
            yield f"output {k}: the first witness differs when alternatives are kept"
        sets = every.explain(k).alternatives
        found = None if sets.cut else [_places(s, names) for s in sets.sets]
        if named:
            yield from _check_named(case, k, why, found)
        else:
            support = _places(told.support, names)
            yield from _check_nested(case, k, why, found, support, report)
    if not named:
        ours, theirs = _places(first.open_inputs, names), _given(case["open"])
        report.extra_open += len(ours - theirs)
        report.fewer_open += len(theirs - ours)


def _check_named(
    case: dict[str, Any], k: int, why: set[tuple[str, int]], found: list[Any] | None
) -> Iterator[str]:
    """The explanation must be one of those expected, and the alternatives all of them."""
    expected = case["expected"][k] if case["expected"] is not None else None
    if expected is None:
        return
    allowed = [_given(s) for s in expected]
    if why not in allowed:
        yield f"output {k}: explained by {sorted(why)}, expected one of {expected}"
    elif found is None or _sorted(found) != _sorted(allowed):
        yield f"output {k}: alternatives {found}, expected {expected}"


def _check_nested(
    case: dict[str, Any],
    k: int,
    why: set[tuple[str, int]],
    found: list[Any] | None,
    support: set[tuple[str, int]],
    report: Report,
) -> Iterator[str]:
    if why != _given(case["explains"][k]):
        yield f"output {k}: explained by {sorted(why)}, expected {case['explains'][k]}"
    listed = case["alternatives"][k]
    if listed is None or found is None:
        if (listed is None) != (found is None):
            yield f"output {k}: alternatives cut: {found is None}, expected {listed is None}"
    else:
        allowed = [_given(s) for s in listed]
        if found[0] != allowed[0] or _sorted(found) != _sorted(allowed):
            yield f"output {k}: alternatives {found}, expected {listed}"
    lacking = _given(case["needed"][k]) - support
    if lacking:
        yield f"output {k}: the support lacks {sorted(lacking)}"
    report.extra += len(support - _given(case["supports"][k]))
    report.fewer += len(_given(case["supports"][k]) - support)


def _given(places: Iterable[Any]) -> set[tuple[str, int]]:
    return {(log, position) for log, position in places}


def _places(
    inputs: Iterable[tuple[str, Position]], names: Mapping[str, str]
) -> set[tuple[str, int]]:
    return {(names[log], p) for log, p in inputs if isinstance(p, int)}


def _sorted(sets: list[set[tuple[str, int]]]) -> list[list[tuple[str, int]]]:
    return sorted(sorted(s) for s in sets)


def _plain(value: Any) -> Any:
    """Compare numbers by value and maps without order, but never a boolean with a number."""
    if isinstance(value, SliceMap):
        return ("map", {_text(k): _plain(v) for k, v in value.pairs()})
    if isinstance(value, dict):
        if list(value) == ["map"]:
            return ("map", {_text(k): _plain(v) for k, v in value["map"]})
        return ("map", {k: _plain(v) for k, v in value.items() if v is not None})
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, (bool, str)) or value is None:
        return (type(value).__name__, value)
    return float(value)


def _text(key: Any) -> str:
    """A map's key as JSON text, so that 1 and 1.0 meet and true does not."""
    if isinstance(key, str):
        return key
    if isinstance(key, float) and key.is_integer():
        key = int(key)
    return json.dumps(key)
