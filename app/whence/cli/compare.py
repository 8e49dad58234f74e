"""``whence compare``: what is different between two runs, and which inputs explain that?"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.asking import Record, Showing, print_text, ranges_text, shows_here
from whence.cli.connecting import Server, connects
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store.questions import ChangedOutput, Comparison, InputRange
    from whence.store.questions.output_pairs import Said

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLUMNS = ["output", "how", "before", "old", "after", "new", "old_inputs", "new_inputs"]


@app.command()
@connects
@shows_here
def compare(
    first: Annotated[str, typer.Argument(metavar="RUN1", help="A run's id, or latest.")],
    second: Annotated[str, typer.Argument(metavar="RUN2", help="Another run's id.")],
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of outputs to list.")
    ] = 20,
    record: Record = None,
    *,
    showing: Showing,
    server: Server,
) -> None:
    """Compare two runs: outputs that changed, appeared or vanished, and the inputs that explain it.

    Where the logs differ, events are matched by declared id, else by content and occurrence; that
    needs the record.
    """
    from whence.store.questions import compare as ask

    with server.connect() as connection:
        answer = ask(connection, first, second, most=limit, record=record)
    rows = [_row(each) for each in answer.outputs]
    showing.show(answer, _document(answer, rows), lambda: _print(answer, rows), _COLUMNS, rows)
    if output().csv and answer.count > len(rows):
        output().message(f"{answer.count - len(rows):,} more differ; try --limit {answer.count}")


def _row(each: ChangedOutput) -> dict[str, Any]:
    return {
        "output": each.output,
        "how": each.how,
        "before": None if each.old is None else each.old.position,
        "old": None if each.old is None else each.old.value,
        "after": None if each.new is None else each.new.position,
        "new": None if each.new is None else each.new.value,
        "old_inputs": [[one.log, one.lo, one.hi] for one in each.old_inputs],
        "new_inputs": [[one.log, one.lo, one.hi] for one in each.new_inputs],
    }


def _document(answer: Comparison, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "runs": list(answer.runs),
        "chain_changed": answer.chain_changed,
        "logs_changed": answer.logs_changed,
        "closed_changed": answer.closed_changed,
        "logs": [
            {
                "log": log.log,
                "same": log.same,
                "matched_by": log.matched_by,
                "changed": log.changed,
                "now": log.now,
                "removed": log.removed,
                "added": log.added,
            }
            for log in answer.logs
        ],
        "paired_by": answer.paired_by,
        "pipes": [{**asdict(pipe), "same": pipe.same} for pipe in answer.pipes],
        "outputs": rows,
        "more": answer.count - len(rows),
        "coverage": [asdict(each) for each in answer.coverage],
    }


def _print(answer: Comparison, rows: list[dict[str, Any]]) -> None:
    print_text(_what_changed(answer))
    for log in answer.logs:
        if not log.same:
            parts = [
                f"{word} {ranges_text(ranges)}"
                for word, ranges in (
                    ("changed", log.changed),
                    ("removed", log.removed),
                    ("added", log.added),
                )
                if ranges
            ]
            told = "; ".join(parts) or "the same events in another order"
            print_text(f"{log.log} (matched by {log.matched_by}): {told}")
    if rows:
        shown = [
            {
                "output": f"{each.output}@{_place(each)}",
                "how": each.how,
                "before": _said(each.old),
                "after": _said(each.new),
                "because of": _because(each),
            }
            for each in answer.outputs
        ]
        output().table(shown, ["output", "how", "before", "after", "because of"])
    if answer.count > len(rows):
        print_text(f"… {answer.count - len(rows):,} more; try --limit {answer.count}")
    for pipe in answer.pipes:
        print_text(
            f"{pipe.output}: {pipe.same:,} of {pipe.lengths[0]:,} outputs unchanged, "
            f"{pipe.changed:,} changed, {pipe.appeared:,} appeared, {pipe.vanished:,} vanished"
            + (f", {pipe.erased:,} not known, as a value was erased" if pipe.erased else "")
        )
    for run, coverage in zip(answer.runs, answer.coverage, strict=True):
        print_text(f"coverage of {run}: {coverage}")


def _what_changed(answer: Comparison) -> str:
    words = {
        "the chain": answer.chain_changed,
        "the log": answer.logs_changed,
        "whether the log is closed": answer.closed_changed,
    }
    told = " and ".join(word for word, changed in words.items() if changed)
    return f"changed between the runs: {told or 'neither chain nor log'}"


def _place(each: ChangedOutput) -> str:
    """Where it was, and where it is now if that is elsewhere."""
    places = [said.position for said in (each.old, each.new) if said is not None]
    return " -> ".join(str(place) for place in dict.fromkeys(places))


def _said(said: Said | None) -> str:
    if said is None:
        return "-"
    if said.kind == "missing":
        return "missing"
    return said.value if isinstance(said.value, str) else json.dumps(said.value)


def _because(each: ChangedOutput) -> str:
    old, new = _inputs(each.old_inputs), _inputs(each.new_inputs)
    if old and new and old != new:
        return f"{old} (now {new})"
    return old or (f"now {new}" if new else "-")


def _inputs(inputs: tuple[InputRange, ...]) -> str:
    logs = dict.fromkeys(each.log for each in inputs)
    return "; ".join(
        f"{log}@{ranges_text(tuple((e.lo, e.hi) for e in inputs if e.log == log))}" for log in logs
    )
