"""Files to download: CSV, SVG, PROV, an evidence pack; each is made on request."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from whence.engine.drawing import svg
from whence.engine.values.spreadsheet import SheetWriter
from whence.engine.values.value_json import value_json
from whence.exporters.prov.formats import OFFERED
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

__all__ = ["DOWNLOADS", "KINDS", "File"]

BATCH = 2000
IN_PROV = 10_000
"""Number of events that an answer in PROV lists one by one."""
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "svg": "image/svg+xml",
    "zip": "application/zip",
    **{row.endings[0][1:]: row.media for row in OFFERED},
}


@dataclass(frozen=True)
class File:
    """A file to download.

    Attributes:
        name: its name.
        pieces: its content.
    """

    name: str
    pieces: Iterable[bytes]

    @property
    def kind(self) -> str:
        return KINDS[self.name.rpartition(".")[2]]


Maker = Callable[[Asked], File]


def _rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """CSV in pieces, however many rows there are."""
    buffer = io.StringIO()
    writer = SheetWriter(buffer)
    writer.row(columns)
    for number, row in enumerate(rows, start=1):
        writer.row([_cell(each) for each in row])
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


def _outputs(asked: Asked) -> File:
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

    return File(f"{run.id}-outputs.csv", _rows(("output", "moment", "value"), rows()))


def _events(asked: Asked) -> File:
    asker, found = asked.asker, answer_of(asked)
    columns = list(dict.fromkeys(c for log in found.run.logs for c in log.columns)) or ["value"]

    def rows() -> Iterator[Sequence[Any]]:
        for event, value in _values(asker, found):
            known = value if isinstance(value, dict) else {"value": value}
            fields = event[2]
            told = None if fields is None else " ".join(fields)
            yield (*event[:2], told, *(known.get(name) for name in columns))

    return File(f"{_named(found)}.csv", _rows(("log", "position", "fields", *columns), rows()))


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


def _named(found: Answer) -> str:
    safe = "".join(c if c.isalnum() or c in "-_.@" else "-" for c in found.why.output.label)
    return f"{found.run.id}-{safe[:60]}"


def _drawn(asked: Asked) -> File:
    found = answer_of(asked)
    picture, _ = graph_picture(asked, found)
    return File(f"{_named(found)}.svg", [svg(picture).encode()])


def _chain(asked: Asked) -> File:
    run = asked.asker.run(asked.run)
    return File(f"{run.id}-chain.svg", [svg(chain_picture(asked, run)).encode()])


def _in_prov(whole: Callable[[Asked], tuple[str, Any, Any]], ending: str) -> Maker:
    """The download of an answer in a format, by the file's name, the answer and its run."""

    def take(asked: Asked) -> File:
        from whence.exporters import save

        name, answer, run = whole(asked)
        with tempfile.TemporaryDirectory() as folder:
            saved = save(answer, Path(folder) / f"answer{ending}", about=run).read_bytes()
        return File(f"{name}{ending}", [saved])

    return take


def _why_whole(asked: Asked) -> tuple[str, Any, Any]:
    asker, found = asked.asker, answer_of(asked)
    why = explain(asker.graph(), found.run.id, found.output, most=IN_PROV, record=asker.record)
    return _named(found), why, found.run


def _never(asked: Asked) -> File:
    run = asked.asker.run(asked.run)
    answer = never_of(asked.asker, run, "")
    rows = [
        (what, share.log, lo, hi)
        for what, shares in (("certain", answer.certain), ("softer", answer.softer))
        for share in shares
        for lo, hi in share.ranges
    ]
    return File(f"{run.id}-never-matters.csv", _rows(("answer", "log", "first", "last"), rows))


def _never_whole(asked: Asked) -> tuple[str, Any, Any]:
    run = asked.asker.run(asked.run)
    return f"{run.id}-never-matters", never_of(asked.asker, run, ""), run


def _impact(asked: Asked) -> File:
    run = asked.asker.run(asked.run)
    answer = impact_of(asked, asked.asker, run)
    rows = [
        (what, share.output, lo, hi)
        for what in ("unaffected", "possibly", "explained", "untracked")
        for share in getattr(answer, what)
        for lo, hi in share.ranges
    ]
    return File(f"{run.id}-impact.csv", _rows(("answer", "output", "first", "last"), rows))


def _impact_whole(asked: Asked) -> tuple[str, Any, Any]:
    run = asked.asker.run(asked.run)
    return f"{run.id}-impact", impact_of(asked, asked.asker, run), run


def _compared(asked: Asked) -> File:
    answer = comparison_of(asked.asker, asked.text("first"), asked.text("second"))

    def rows() -> Iterator[Sequence[Any]]:
        for each in answer.outputs:
            sides = [
                (None, None) if s is None else (s.position, s.value) for s in (each.old, each.new)
            ]
            yield each.output, each.how, *sides[0], *sides[1]

    columns = ("output", "how", "first position", "first value", "second position", "second value")
    return File(f"{answer.runs[0]}-{answer.runs[1]}.csv", _rows(columns, rows()))


def _evidence(asked: Asked) -> File:
    from whence.exporters.evidence import Wanted, create_pack, find_keys

    asker, found = asked.asker, answer_of(asked)
    question = f"explain {found.why.output.label}"
    wanted = Wanted(found.run.id, question, "gdpr-decision", allow=asker.allow)
    with tempfile.TemporaryDirectory() as folder:
        path = create_pack(
            asker.graph(), asker.record, wanted, Path(folder) / "pack.zip", find_keys(None)
        )
        return File(f"{_named(found)}.zip", [path.read_bytes()])


_WHOLE = {"why": _why_whole, "never-matters": _never_whole, "impact": _impact_whole}
DOWNLOADS: dict[str, Maker] = {
    "outputs.csv": _outputs,
    "chain.svg": _chain,
    "why.csv": _events,
    "why.svg": _drawn,
    "never-matters.csv": _never,
    "impact.csv": _impact,
    "evidence.zip": _evidence,
    "compare.csv": _compared,
    **{
        f"{view}{row.endings[0]}": _in_prov(whole, row.endings[0])
        for view, whole in _WHOLE.items()
        for row in OFFERED
    },
}
"""Every file by the end of its address."""
