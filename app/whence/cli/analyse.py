"""``whence analyse``: what a chain can ever need, without any run."""

from __future__ import annotations

import re
from math import isinf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import print_text, ranges_text
from whence.cli.chain_options import Allow, ChainFile, chain_in
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.engine.analysis import Affected, Analysis, LogUse

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_CELL = re.compile(r"(?:(?P<log>[^@]+)@)?(?P<position>\d+)(?:\.(?P<field>.+))?")
_PIPES = ["output", "regular", "waits", "one input explains at most"]
_REACH = ["output", "can affect", "explains at most"]
_SHOWN = 5


@app.command()
def analyse(
    chain: ChainFile,
    cell: Annotated[
        str | None,
        typer.Option(
            "--input",
            metavar="[LOG@]POSITION[.FIELD]",
            help="List the outputs that this input event, or one of its fields, can ever affect.",
        ),
    ] = None,
    closed: Annotated[
        bool, typer.Option("--closed", help="The logs will be closed at the end.")
    ] = False,
    allow: Allow = None,
) -> None:
    """Analyse what the outputs of a chain can depend on, for any log, without a run."""
    from whence.engine.analysis import analyse as ask

    found = ask(chain_in(chain, allow), closed=closed)
    reach = None if cell is None else _reach(found, cell)
    logs = [_log(use) for use in found.logs]
    pipes = [
        {
            "output": pipe.output,
            "regular": pipe.regular,
            "waits": None if isinf(pipe.waits) else int(pipe.waits),
            "explains_at_most": pipe.explains_at_most,
        }
        for pipe in found.pipes
    ]
    if output().csv:
        _csv(logs, pipes, reach)
    elif output().json:
        document: dict[str, Any] = {"logs": logs, "pipes": pipes, "exact": found.exact}
        document["not_exact"] = list(found.not_exact)
        if reach is not None:
            document["affected"] = [_affected(each) for each in reach]
        output().result(document)
    else:
        _print(found, reach, cell)


def _reach(found: Analysis, cell: str) -> tuple[Affected, ...]:
    from whence.engine.errors import ParameterError

    match = _CELL.fullmatch(cell.strip())
    logs = found.chain.inputs
    if match is None:
        msg = f"--input: expected [LOG@]POSITION[.FIELD]; got {cell!r}; try {logs[0]}@7"
        raise ParameterError(msg)
    log = match["log"] or (logs[0] if len(logs) == 1 else "")
    return found.affected(log, int(match["position"]), match["field"])


def _log(use: LogUse) -> dict[str, Any]:
    return {
        "log": use.log,
        "first": use.first,
        "repeats_from": use.repeats_from,
        "period": use.period,
        "then": use.then,
        "fields": None if use.fields is None else list(use.fields),
        "unused": list(use.unused),
    }


def _affected(each: Affected) -> dict[str, Any]:
    return {
        "output": each.output,
        "outputs": each.outputs,
        "and_on": each.and_on,
        "explains_at_most": each.explains_at_most,
    }


def _csv(
    logs: list[dict[str, Any]],
    pipes: list[dict[str, Any]],
    reach: tuple[Affected, ...] | None,
) -> None:
    if reach is not None:
        output().records(
            ["output", "outputs", "and_on", "explains_at_most"], list(map(_affected, reach))
        )
        return
    rows = [{"of": "log", "name": row["log"], "what": row} for row in logs]
    rows += [{"of": "output", "name": row["output"], "what": row} for row in pipes]
    output().records(["of", "name", "what"], rows)


def _print(found: Analysis, reach: tuple[Affected, ...] | None, cell: str | None) -> None:
    for use in found.logs:
        print_text(f"{use.log}: {_positions(use)}")
        if use.fields:
            print_text(f"  fields that can matter: {', '.join(use.fields)}")
        if use.unused:
            print_text(f"  columns that never matter: {', '.join(use.unused)}")
    shown = [
        {
            "output": pipe.output,
            "regular": "yes" if pipe.regular else "no",
            "waits": _wait(pipe.waits),
            "one input explains at most": pipe.explains_at_most,
        }
        for pipe in found.pipes
    ]
    output().table(shown, _PIPES)
    if reach is not None:
        print_text(f"{cell}:")
        output().table(
            [
                {
                    "output": each.output,
                    "can affect": _outputs(each),
                    "explains at most": each.explains_at_most,
                }
                for each in reach
            ],
            _REACH,
        )
    if found.exact:
        print_text("exact: what can matter does, for some log")
    for reason in found.not_exact:
        print_text(f"not exact, though what never matters is certain: {reason}")


def _positions(use: LogUse) -> str:
    """Which positions can matter, for a person."""
    end = use.repeats_from + 3 * use.period
    matter = [at for at in range(end) if use.matters(at)]
    if not matter:
        return "no position can ever matter"
    if not use.then:
        return f"only positions {ranges_text(use.first)} can ever matter"
    first = matter[0]
    if matter == list(range(first, end)):
        return "every position can matter" if not first else f"positions 0-{first - 1} never matter"
    some = ", ".join(map(str, matter[:_SHOWN]))
    return f"no position can ever matter but {some}, …"


def _wait(waits: float) -> str:
    if isinf(waits):
        return "until it is decided"
    return f"for {int(waits)} more" if waits else "no"


def _outputs(each: Affected) -> str:
    if not each.outputs:
        return "none"
    if not each.and_on:
        return ranges_text(each.outputs)
    lo = each.outputs[0][0]
    if len(each.outputs) == 1:
        return f"{lo} and all that follow"
    some = [str(at) for lo, hi in each.outputs[:_SHOWN] for at in range(lo, hi + 1)][:_SHOWN]
    return f"{', '.join(some)}, …"
