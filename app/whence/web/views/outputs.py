"""Outputs: what did the run say, and when?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from whence.engine.errors import FormulaError, ParameterError
from whence.engine.lineage.words import value_text
from whence.engine.values import Value
from whence.engine.values.columns import from_canonical
from whence.store.catalog import RunGraph, StoredStream
from whence.store.cypher import cypher
from whence.store.places import key_of, position_of
from whence.store.questions.answers import coverage_of
from whence.store.questions.choosing import choose
from whence.store.questions.in_record import input_values
from whence.store.questions.naming import chosen_output
from whence.store.questions.selecting import Selection
from whence.web.asking import Asker
from whence.web.events import cell, numeric_columns
from whence.web.html import Html, Inside, el, shown
from whence.web.paging import Filter, LogPages, OutputPages, Row
from whence.web.pieces import field, search_field, table
from whence.web.view import Asked, Part, link, number, pages, plural
from whence.web.views.overview import head

__all__ = ["filter_of", "outputs", "pages_of"]

PAGE = 50
COLUMNS = 6
"""Number of columns of the log's event to show next to an output."""


def outputs(asked: Asked) -> Part:
    """A pipe's outputs with search, filters and pages."""
    asker = asked.asker
    run = asker.run(asked.run)
    stream = chosen_output(run, asked.text("pipe") or run.outputs[0].name)
    wanted = filter_of(asked)
    found = pages_of(asker, run, stream)
    path = f"/run/{run.id}/outputs"

    def address(page: int) -> str:
        return link(
            path,
            pipe=asked.text("pipe"),
            where=wanted.where,
            search=wanted.search,
            case=wanted.case,
            page=page,
        )

    page, total, problem = asked.whole("page"), 0, None
    rows: list[Row] = []
    try:
        if found is None:
            rows, total = _from_graph(asker, run, stream, wanted, page)
        else:
            counts = asker.kept(run, ("counts", stream.name, wanted), lambda: found.counts(wanted))
            total = sum(counts)
            page = min(page, max((total - 1) // PAGE, 0))
            rows = found.page(counts, wanted, page * PAGE, PAGE)
    except (FormulaError, ParameterError) as refusal:
        problem = el("p", str(refusal), class_="problem", role="alert")
    values = {} if found is None else asker.kept(run, ("values", stream.name), found.values)
    beside = _beside(asker, run, rows)
    title = el("h1", shown(stream.name, 80), el("small", plural(stream.length, "output")))
    body: list[Inside] = [
        head(run, "/outputs", title),
        _pipes(run, stream, path),
        _shortcuts(values, wanted, asked, path),
        _form(asked, run, wanted, path),
        problem,
    ]
    if not wanted.empty and not problem:
        body.append(
            el(
                "p",
                f"{plural(total, 'output')} of {number(stream.length)} ",
                el("a", "Show all", href=link(path, pipe=asked.text("pipe"))),
                class_="count",
                role="status",
            )
        )
    if rows:
        body += [_table(run, stream, rows, beside), pages(page, PAGE, total, address)]
    elif not problem:
        none = "The pipe has no outputs." if wanted.empty else "No matching outputs."
        body.append(el("p", none, class_="empty"))
    body.append(el("p", f"Coverage: {coverage_of(run, [stream])}.", class_="note"))
    takes = [
        (
            "These outputs as CSV",
            link(
                f"/take/run/{run.id}/outputs.csv",
                pipe=stream.name,
                where=wanted.where,
                search=wanted.search,
                case=wanted.case,
            ),
        )
    ]
    queries = {n: cypher(n) for n in ("run_read", "output_page")}
    return Part(f"{stream.name[:60]}: outputs of run {run.id}", body, queries, takes)


def filter_of(asked: Asked) -> Filter:
    """Which outputs a request means."""
    return Filter(asked.text("where"), asked.text("search"), asked.text("case"))


def pages_of(asker: Asker, run: RunGraph, stream: StoredStream) -> OutputPages | None:
    """The outputs in the record; ``None`` if the record is not there."""
    kept = asker.recorded(run.id)
    if kept is None:
        return None
    log = LogPages(kept.log(run.logs[0].name)) if len(run.logs) == 1 else None
    return OutputPages(kept, stream, log)


def _from_graph(
    asker: Asker, run: RunGraph, stream: StoredStream, wanted: Filter, page: int
) -> tuple[list[Row], int]:
    """Without the record: a page of the graph; with a filter, the first that it finds."""
    graph = asker.graph()
    if wanted.empty:
        places = range(page * PAGE, min((page + 1) * PAGE, stream.length))
        total = stream.length
    else:
        at = Selection(case=wanted.case) if wanted.case else None
        chosen = choose(graph, run, stream, where=wanted.where or None, at=at, most=PAGE)
        places = chosen.positions  # type: ignore[assignment]
        total = len(places)
    if not len(places):
        return [], total
    first, last = key_of(stream.no, min(places)), key_of(stream.no, max(places))
    known = set(places)
    found = graph.read(cypher("output_page"), first=first, last=last)
    return [
        Row(position_of(row["key"]), row["moment"], _value(row))
        for row in found
        if position_of(row["key"]) in known
    ], total


def _value(row: Mapping[str, object]) -> Value:
    if row["kind"] is None or row["cut"]:
        return row["value"]
    return from_canonical(str(row["value"]))


def _beside(asker: Asker, run: RunGraph, rows: Sequence[Row]) -> dict[int, Value]:
    """The log's events after which some outputs appeared, by position."""
    if len(run.logs) != 1:
        return {}
    log = run.logs[0]
    wanted = [(log.name, row.moment) for row in rows if 0 <= row.moment < log.length]
    return {at: value for (_, at), value in input_values(run.id, wanted, asker.record).items()}


def _pipes(run: RunGraph, stream: StoredStream, path: str) -> Inside:
    if len(run.outputs) < 2:
        return None
    return el(
        "nav",
        [
            el(
                "a",
                shown(each.name, 40),
                href=link(path, pipe=each.name),
                aria_current="true" if each is stream else None,
            )
            for each in run.outputs
        ],
        class_="chips",
        aria_label="Output pipes",
    )


def _shortcuts(values: Mapping[str, int], wanted: Filter, asked: Asked, path: str) -> Inside:
    if len(values) < 2:
        return None
    chips = []
    for text, many in sorted(values.items(), key=lambda pair: pair[1]):
        value = from_canonical(text)
        where = _where(value)
        if where is None:
            continue
        chips.append(
            el(
                "a",
                cell(value),
                " ",
                el("b", number(many)),
                href=link(
                    path,
                    pipe=asked.text("pipe"),
                    where=where,
                    case=wanted.case,
                    search=wanted.search,
                ),
                aria_current="true" if wanted.where == where else None,
            )
        )
    return el("nav", chips, class_="chips", aria_label="Values") if chips else None


def _where(value: Value) -> str | None:
    if isinstance(value, (bool, int, float)):
        return f"value = {value_text(value)}"
    if value is None:
        return "value is missing"
    if isinstance(value, str) and "'" not in value and "\\" not in value and len(value) < 40:
        return f"value = '{value}'"
    return None


def _form(asked: Asked, run: RunGraph, wanted: Filter, path: str) -> Inside:
    mapped = any("case" in log.mapped for log in run.logs)
    pipe = asked.text("pipe")
    return el(
        "form",
        search_field(wanted.search, "text in value or event"),
        field("Where", "where", wanted.where, "value = false"),
        field("Case", "case", wanted.case, "of the event it came with") if mapped else None,
        field("Go to", "go", "", "position", short=True),
        el("input", type="hidden", name="pipe", value=pipe) if pipe else None,
        el("button", "Show", type="submit"),
        class_="filter",
        method="get",
        action=path,
        role="search",
    )


def _table(
    run: RunGraph, stream: StoredStream, rows: Sequence[Row], beside: Mapping[int, Value]
) -> Html:
    columns: list[str] = []
    for event in beside.values():
        if isinstance(event, Mapping):
            columns += [name for name in event if name not in columns]
    columns = columns[:COLUMNS]
    log = run.logs[0].name if len(run.logs) == 1 else ""
    heads: list[Inside] = ["Output", "Value", "After", *(shown(name, 40) for name in columns)]
    events = [event for event in beside.values() if isinstance(event, Mapping)]
    numeric = numeric_columns(events)
    lines = []
    for row in rows:
        label = stream.label(row.position)
        event = beside.get(row.moment)
        known: Mapping[str, Value] = event if isinstance(event, Mapping) else {}
        lines.append(
            el(
                "tr",
                el(
                    "th",
                    el("a", label, href=link(f"/run/{run.id}/why", output=label), class_="name"),
                    scope="row",
                ),
                el("td", cell(row.value), class_="value"),
                el("td", f"{log}@{row.moment}" if log else f"round {row.moment}", class_="after"),
                [
                    el(
                        "td",
                        cell(known[name]) if name in known else "",
                        class_="n" if name in numeric else None,
                    )
                    for name in columns
                ],
            )
        )
    numbers = [place for place, name in enumerate(columns, start=3) if name in numeric]
    return table(heads, lines, "outputs", numbers)
