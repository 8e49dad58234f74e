"""``whence what-if``: what would a run have output with other input values?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Run, print_text
from whence.cli.chain_options import Allow
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.engine.what_if import OutputChange, WhatIf

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLUMNS = ["output", "position", "how", "before", "after"]


@app.command()
def what_if(
    run: Run,
    corrections: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="[LOG@]POSITION.FIELD=VALUE", help="A corrected value."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="File of corrections, one per line."),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Store the new run, and the corrected logs as revisions."),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="NAME",
            help="Author of the corrections, for exports and evidence (--keep).",
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Reason for the corrections (--by).")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of outputs to list per pipe.")
    ] = 50,
    record: Record = None,
    allow: Allow = None,
) -> None:
    """Run a chain again with corrected values; compare old and new outputs.

    Needs the record, but not Neo4j. Stores nothing without --keep.
    """
    from whence.cli.run_recorded import report_problems
    from whence.committing import Committing
    from whence.engine.record import RunRecord, record_place
    from whence.engine.what_if import what_if as ask
    from whence.store.allowing import load_own_functions

    wanted = [*(corrections or ()), *(_lines(file) if file is not None else ())]
    if not wanted:
        msg = "expected a correction; got none; try --set log@41.amount=100"
        raise typer.BadParameter(msg, param_hint="--set")
    if by is not None and not keep:
        msg = "expected --keep, as nothing else is stored; got --by alone; try both"
        raise typer.BadParameter(msg, param_hint="--by")
    kept = RunRecord(record_place(record), run)
    load_own_functions(kept.manifest.chain, allow or ())
    answer = ask(kept, wanted, keep=keep, most=limit, by=by, reason=reason)
    if answer.kept is not None:
        report_problems(Committing().commit(RunRecord(kept.root, answer.kept)))
    rows = [_row(change) for pipe in answer.outputs for change in pipe.first]
    if output().csv:
        output().records(_COLUMNS, rows)
        left = answer.count - len(rows)
        if left:
            output().message(f"{left:,} more outputs differ; try --limit {answer.count}")
    elif output().json:
        output().result(_document(answer, rows))
    else:
        _print(answer, rows)


def _lines(file: Path) -> list[str]:
    from whence.engine.errors import ParameterError

    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        msg = f"--from: expected a text file of corrections; got {file}; try a path that exists"
        raise ParameterError(msg) from fault
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _row(change: OutputChange) -> dict[str, Any]:
    from whence.engine.values.value_json import value_json

    return {
        "output": change.output,
        "position": change.position,
        "how": change.how,
        "before": value_json(change.before),
        "after": value_json(change.after),
    }


def _document(answer: WhatIf, rows: list[dict[str, Any]]) -> dict[str, Any]:
    from whence.engine.values.value_json import value_json

    return {
        "run": answer.run,
        "corrections": [
            {
                "log": each.log,
                "position": each.position,
                "field": each.field,
                "before": value_json(each.before),
                "after": value_json(each.after),
            }
            for each in answer.corrections
        ],
        "outputs": [
            {
                "output": pipe.output,
                "before": pipe.lengths[0],
                "after": pipe.lengths[1],
                "same": pipe.same,
                "changed": pipe.changed,
                "appeared": pipe.appeared,
                "vanished": pipe.vanished,
            }
            for pipe in answer.outputs
        ],
        "differences": rows,
        "more": answer.count - len(rows),
        "kept": answer.kept,
    }


def _print(answer: WhatIf, rows: list[dict[str, Any]]) -> None:
    from whence.engine.values import describe

    for each in answer.corrections:
        print_text(f"{each.name}: {describe(each.before)} -> {describe(each.after)}")
    if rows:
        shown = [
            {
                **row,
                "before": "-" if row["how"] == "appeared" else _text(row["before"]),
                "after": "-" if row["how"] == "vanished" else _text(row["after"]),
            }
            for row in rows
        ]
        output().table(shown, _COLUMNS)
    if answer.count > len(rows):
        print_text(f"… {answer.count - len(rows):,} more; try --limit {answer.count}")
    for pipe in answer.outputs:
        count = pipe.count - pipe.appeared - pipe.vanished
        print_text(
            f"{pipe.output}: {pipe.same:,} of {pipe.lengths[0]:,} outputs as before, "
            f"{count:,} changed, {pipe.appeared:,} appeared, {pipe.vanished:,} vanished"
        )
    if answer.kept is not None:
        print_text(f"stored as run {answer.kept}; load it: whence load {answer.kept}")


def _text(value: Any) -> str:
    if value is None:
        return "missing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
