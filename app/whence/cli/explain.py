"""``whence explain``: which input events are the reason for this output?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Run, Showing, print_text, shows
from whence.cli.chain_options import Allow
from whence.cli.connecting import Server, connects
from whence.cli.examples import examples
from whence.cli.option_groups import option_group
from whence.cli.output import output
from whence.engine.errors import ParameterError

if TYPE_CHECKING:
    from whence.engine.lineage.steps import Route, Steps
    from whence.store import Connection
    from whence.store.questions import Why, Whys

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@dataclass(frozen=True)
class Choice:
    """Which outputs are meant, if not one by its position."""

    where: str | None
    case: str | None
    since: str | None
    until: str | None
    first: int

    @property
    def given(self) -> bool:
        """Whether any of it is requested."""
        return any(x is not None for x in (self.where, self.case, self.since, self.until))


def _choice(
    where: Annotated[
        str | None,
        typer.Option("--where", help="Outputs that meet this condition, e.g. 'verdict = false'."),
    ] = None,
    case: Annotated[
        str | None, typer.Option("--case", help="Outputs that appeared with an event of this case.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", help="Outputs that appeared with an event at this time or later."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", help="Outputs that appeared with an event at this time or earlier."
        ),
    ] = None,
    first: Annotated[
        int, typer.Option("--first", min=1, help="Maximum number of matching outputs.")
    ] = 1,
) -> Choice:
    return Choice(where, case, since, until, first)


@dataclass(frozen=True)
class Way:
    """What to show of the steps from the output to the input events."""

    routes: int
    words: bool
    graph: str | None

    @property
    def given(self) -> bool:
        """Whether any of it is requested."""
        return bool(self.routes or self.words or self.graph)


def _way(
    routes: Annotated[
        int, typer.Option("--routes", min=0, help="Number of shortest routes to show.")
    ] = 0,
    words: Annotated[bool, typer.Option("--words", help="Explain in words, step by step.")] = False,
    graph: Annotated[
        str | None,
        typer.Option(
            "--graph",
            metavar="FORMAT|FILE",
            help="Draw it: svg, mermaid or dot to print; .svg, .mmd or .dot to write.",
        ),
    ] = None,
) -> Way:
    return Way(routes, words, graph)


@app.command(
    epilog=examples(
        "whence explain latest 41",
        "whence explain latest 41 --words --routes 3",
        "whence explain latest --where 'value = false' --first 20 --csv",
    )
)
@connects
@shows
@option_group("choice", _choice)
@option_group("way", _way)
def explain(
    run: Run,
    event: Annotated[
        str | None,
        typer.Argument(
            metavar="[OUTPUT]",
            help="[PROCESSOR[.PIPE]@]POSITION, or PROCESSOR[.PIPE] with --where, --case or --since;"
            " the only output pipe by default.",
        ),
    ] = None,
    *,
    choice: Choice,
    way: Way,
    support: Annotated[
        bool, typer.Option("--support", help="Also show sufficient input events.")
    ] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of input events to list.")
    ] = 50,
    marked: Annotated[
        str | None,
        typer.Option(
            "--marked",
            metavar="[LOG=]FILE",
            help="Write a copy of the log with the events marked: .xes or .jsonocel.",
        ),
    ] = None,
    record: Record = None,
    allow: Allow = None,
    showing: Showing,
    server: Server,
) -> None:
    """Explain an output: which input events, and which of their fields, are the reason for it.

    Shows the values of input events if the record is available. If the run stored all witnesses,
    shows every alternative.
    """
    from whence.cli import explain_view as view

    if way.given and not (way.graph and not _is_format(way.graph)):
        output().refuse("csv", instead="without --routes, --words and --graph, or --format json")
    with server.connect() as connection:
        found = _ask(connection, run, event, choice, support, limit, record)
        only = found.answers[0]
        if len(found.answers) > 1 and (showing.prov or marked or way.graph):
            msg = (
                f"--prov, --marked and --graph: expected one output; got {len(found.answers)}; "
                "try --first 1, or an output by its position"
            )
            raise ParameterError(msg)
        showing.save(connection, only)
        ways = [_told(connection, why, way, record, allow or ()) for why in found.answers]
    if output().csv:
        for line in map(_elsewhere, found.answers):
            if line:
                output().warn(line)  # a CSV holds nothing but rows
    if marked is not None:
        view.mark(only, marked, record)
    shown = [
        view.Shown(why, view.rows_of(why, view.values_of(why, record)), told)
        for why, told in zip(found.answers, ways, strict=True)
    ]
    if way.graph and _is_format(way.graph) and output().form == "table":
        output().plain(f"{ways[0]['graph']}\n")  # unchanged, for a program that draws it
        return
    if way.graph and not _is_format(way.graph):
        _draw(ways[0].pop("steps"), Path(way.graph))
    for told in ways:
        told.pop("steps", None)
    document = [each.document() for each in shown]
    columns, flat = view.flat_rows(shown)
    showing.show(
        only,
        document[0]
        if not choice.given
        else {"run": only.run, "answers": document, "more": found.more},
        lambda: _print(shown, more=found.more),
        columns,
        flat,
    )


def _ask(
    connection: Connection,
    run: str,
    event: str | None,
    choice: Choice,
    support: bool,
    limit: int,
    record: Path | None,
) -> Whys:
    from whence.store.questions import Selection, Whys, explain_first
    from whence.store.questions import explain as ask

    if not choice.given:
        if event is None:
            msg = "an output: expected a position, or --where 'verdict = false'; got neither"
            raise typer.BadParameter(msg)
        why = ask(connection, run, event, support=support, most=limit, record=record)
        return Whys((why,), False)
    at = Selection(case=choice.case, since=choice.since, until=choice.until)
    return explain_first(
        connection,
        run,
        event,
        where=choice.where,
        at=None if at.empty else at,
        first=choice.first,
        support=support,
        most=limit,
        record=record,
    )


def _told(
    connection: Connection, why: Why, way: Way, record: Path | None, allow: Iterable[str]
) -> dict[str, Any]:
    """The steps of an answer in the ways that were asked for."""
    if not way.given:
        return {}
    from whence.engine.drawing import draw, picture_of_steps
    from whence.engine.lineage.steps import routes
    from whence.engine.lineage.words import in_words
    from whence.store.questions import chain_of, since_event, steps

    found = steps(connection, why, record=record, allow=allow)
    told: dict[str, Any] = {"steps": found}
    if way.routes:
        ways, more = routes(found, way.routes)
        told["routes"] = [_route(each) for each in ways]
        told["more_routes"] = more
    if way.words:
        chain = chain_of(connection, why.run)
        told["words"] = in_words(found, chain, since=since_event(connection, why))
    if way.graph and _is_format(way.graph):
        told["graph"] = draw(picture_of_steps(found), way.graph).rstrip()
    return told


def _route(route: Route) -> list[dict[str, Any]]:
    from whence.engine.lineage.steps import NOT_TOLD
    from whence.engine.lineage.words import value_text

    fields: list[tuple[str, ...] | None] = [None, *(edge.fields for edge in route.edges)]
    return [
        {
            "event": step.name,
            "value": None if step.value is NOT_TOLD else value_text(step.value, asked),
            "fields": None if asked is None else list(asked),
        }
        for step, asked in zip(route.steps, fields, strict=True)
    ]


def _is_format(word: str) -> bool:
    from whence.engine.drawing import FORMATS

    return word in FORMATS


def _draw(found: Steps, path: Path) -> None:
    from whence.engine.drawing import draw_to, picture_of_steps

    output().message(f"the drawing is in {draw_to(picture_of_steps(found), path)}")


def _elsewhere(why: Why) -> str:
    """That the reason is not in the case by which the output was chosen, if it is not."""
    if why.not_of is None:
        return ""
    return (
        f"{why.output.label} appeared with an event of case {why.not_of}, but no event that "
        "explains it is of that case: the reason is in other cases"
    )


def _print(shown: list[Any], *, more: bool) -> None:
    for number, each in enumerate(shown):
        if number:
            print_text("")
        each.print()
        if line := _elsewhere(each.why):
            print_text(line)
    if more:
        print_text(f"… and more such outputs; --first {10 * len(shown)} explains more of them")
