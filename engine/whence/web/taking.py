"""What can be taken away: CSV, SVG, PROV, an evidence pack; each is made when asked for."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from whence.engine.drawing import svg
from whence.engine.notation import value_json
from whence.store.questions import explain
from whence.store.questions.in_record import input_values
from whence.store.questions.naming import chosen_output
from whence.web.asking import Asker, Gone
from whence.web.view import Asked
from whence.web.views.comparing import answer_of as comparison_of
from whence.web.views.explanation import Answer, answer_of, graph_picture
from whence.web.views.impact import answer_of as impact_of
from whence.web.views.never_matters import answer_of as never_of
from whence.web.views.outputs import filter_of, pages_of
from whence.web.views.overview import chain_picture

__all__ = ["TAKES", "Taken"]

BATCH = 2000
IN_PROV = 10_000
"""Events that an answer in PROV tells one by one."""
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
    "provn": "text/provenance-notation; charset=utf-8",
    "zip": "application/zip",
}


@dataclass(frozen=True)
class Taken:
    """A file that leaves.

    Attributes:
        name: what it is called.
        pieces: its content.
    """

    name: str
    pieces: Iterable[bytes]

    @property
    def kind(self) -> str:
        """Its media type."""
        return KINDS[self.name.rpartition(".")[2]]


def _rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """CSV in pieces, however many rows there are."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for number, row in enumerate(rows, start=1):
        writer.writerow([_cell(each) for each in row])
        if number % BATCH == 0:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (str, int, float)) and not isinstance(value, bool)):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value_json(value), ensure_ascii=False)


def _outputs(asked: Asked) -> Taken:
    run = asked.asker.run(asked.run)
    stream = chosen_output(run, asked.text("pipe") or run.outputs[0].name)
    found = pages_of(asked.asker, run, stream)
    if found is None:
        msg = f"The record of run {run.id} is not here; its outputs can be seen page by page only."
        raise Gone(msg)
    wanted = filter_of(asked)
    counts = found.counts(wanted)

    def rows() -> Iterator[Sequence[Any]]:
        for first in range(0, sum(counts), BATCH):
            for row in found.page(counts, wanted, first, BATCH):
                yield stream.label(row.position), row.moment, row.value

    return Taken(f"{run.id}-outputs.csv", _rows(("output", "moment", "value"), rows()))


def _events(asked: Asked) -> Taken:
    asker, found = asked.asker, answer_of(asked)
    columns = list(dict.fromkeys(c for log in found.run.logs for c in log.columns)) or ["value"]

    def rows() -> Iterator[Sequence[Any]]:
        for event, value in _values(asker, found):
            known = value if isinstance(value, dict) else {"value": value}
            fields = event[2]
            told = None if fields is None else " ".join(fields)
            yield (*event[:2], told, *(known.get(name) for name in columns))

    return Taken(_named(found, "csv"), _rows(("log", "position", "fields", *columns), rows()))


def _values(asker: Asker, found: Answer) -> Iterator[tuple[tuple[str, int, Any], Any]]:
    waiting: list[tuple[str, int, Any]] = []

    def told() -> Iterator[tuple[tuple[str, int, Any], Any]]:
        values = input_values(found.run.id, [each[:2] for each in waiting], asker.record)
        yield from ((each, values.get(each[:2])) for each in waiting)

    for each in found.why.inputs:
        for position in range(each.lo, each.hi + 1):
            waiting.append((each.log, position, each.fields))
            if len(waiting) == BATCH:
                yield from told()
                waiting.clear()
    yield from told()


def _named(found: Answer, ending: str) -> str:
    safe = "".join(c if c.isalnum() or c in "-_.@" else "-" for c in found.why.output.label)
    return f"{found.run.id}-{safe[:60]}.{ending}"


def _drawn(asked: Asked) -> Taken:
    found = answer_of(asked)
    picture, _ = graph_picture(asked, found)
    return Taken(_named(found, "svg"), [svg(picture).encode()])


def _chain(asked: Asked) -> Taken:
    run = asked.asker.run(asked.run)
    return Taken(f"{run.id}-chain.svg", [svg(chain_picture(asked, run)).encode()])


def _saved(answer: Any, about: Any, ending: str) -> list[bytes]:
    from whence.exporters import save

    with tempfile.TemporaryDirectory() as folder:
        return [save(answer, Path(folder) / f"answer.{ending}", about=about).read_bytes()]


def _why_in_prov(ending: str) -> Callable[[Asked], Taken]:
    def take(asked: Asked) -> Taken:
        asker, found = asked.asker, answer_of(asked)
        why = explain(asker.graph(), found.run.id, found.output, most=IN_PROV, record=asker.record)
        return Taken(_named(found, ending), _saved(why, found.run, ending))

    return take


def _never(asked: Asked) -> Taken:
    run = asked.asker.run(asked.run)
    answer = never_of(asked.asker, run, "")
    rows = [
        (what, share.log, lo, hi)
        for what, shares in (("certain", answer.certain), ("softer", answer.softer))
        for share in shares
        for lo, hi in share.ranges
    ]
    return Taken(f"{run.id}-never-matters.csv", _rows(("answer", "log", "first", "last"), rows))


def _never_in_prov(asked: Asked) -> Taken:
    run = asked.asker.run(asked.run)
    answer = never_of(asked.asker, run, "")
    return Taken(f"{run.id}-never-matters.json", _saved(answer, run, "json"))


def _impact(asked: Asked) -> Taken:
    run = asked.asker.run(asked.run)
    answer = impact_of(asked, asked.asker, run)
    rows = [
        (what, share.output, lo, hi)
        for what in ("unaffected", "possibly", "explained", "untracked")
        for share in getattr(answer, what)
        for lo, hi in share.ranges
    ]
    return Taken(f"{run.id}-impact.csv", _rows(("answer", "output", "first", "last"), rows))


def _impact_in_prov(asked: Asked) -> Taken:
    run = asked.asker.run(asked.run)
    return Taken(f"{run.id}-impact.json", _saved(impact_of(asked, asked.asker, run), run, "json"))


def _compared(asked: Asked) -> Taken:
    answer = comparison_of(asked.asker, asked.text("first"), asked.text("second"))

    def rows() -> Iterator[Sequence[Any]]:
        for each in answer.outputs:
            sides = [
                (None, None) if s is None else (s.position, s.value) for s in (each.old, each.new)
            ]
            yield each.output, each.how, *sides[0], *sides[1]

    columns = ("output", "how", "first position", "first value", "second position", "second value")
    return Taken(f"{answer.runs[0]}-{answer.runs[1]}.csv", _rows(columns, rows()))


def _evidence(asked: Asked) -> Taken:
    from whence.exporters.evidence import Wanted, create_pack, find_keys

    asker, found = asked.asker, answer_of(asked)
    wanted = Wanted(found.run.id, f"explain {found.why.output.label}", "gdpr-decision")
    with tempfile.TemporaryDirectory() as folder:
        path = create_pack(
            asker.graph(), asker.record, wanted, Path(folder) / "pack.zip", find_keys(None)
        )
        return Taken(_named(found, "zip"), [path.read_bytes()])


TAKES: dict[str, Callable[[Asked], Taken]] = {
    "outputs.csv": _outputs,
    "chain.svg": _chain,
    "why.csv": _events,
    "why.svg": _drawn,
    "why.json": _why_in_prov("json"),
    "why.provn": _why_in_prov("provn"),
    "never-matters.csv": _never,
    "never-matters.json": _never_in_prov,
    "impact.csv": _impact,
    "impact.json": _impact_in_prov,
    "evidence.zip": _evidence,
    "compare.csv": _compared,
}
"""Every file by the end of its address."""
