"""``whence check``: read a chain file, check it, and say what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from whence.cli.chain_options import (
    Allow,
    ChainFile,
    Logs,
    Prepared,
    RunLimit,
    chain_in,
    prepare,
)
from whence.cli.examples import examples
from whence.cli.output import output
from whence.cli.reading_options import reads_logs
from whence.engine.language.log import Log

if TYPE_CHECKING:
    from whence.engine.language.chain import Chain
    from whence.engine.language.traits import Traits

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command(
    epilog=examples(
        "whence check rules.yaml",
        "whence check rules.yaml --log payments.csv --case case_id",
    )
)
@reads_logs
def check(
    chain: ChainFile,
    reading: Log,
    log: Logs = None,
    allow: Allow = None,
    run_limit: RunLimit = None,
) -> None:
    """Check a chain file; print its processors, pipes, kinds and digest.

    With --log, also check that the log has every column that the chain reads, of a fitting kind,
    and that each text that the chain compares a column with occurs in an event. Also count the keys
    of a Slice that outputs a map of all slices.
    """
    from whence.engine.analysis.advice import warnings_of
    from whence.engine.interpreter.bounds import check_bounds

    made = chain_in(chain, allow)
    check_bounds(made)
    digest = made.digest  # of the file alone, before a log adds what it knows
    if reading.columns and not log:
        raise typer.BadParameter("expected a log; got none; try --log FILE", param_hint="--type")
    prepared = prepare(made, log, reading) if log else None
    if prepared is not None:
        made = prepared.logs.chain
    inputs = made.declared_traits() if prepared is None else made.input_traits()
    warned = warnings_of(made)
    found = {**_summary(made, inputs), "digest": digest, "warnings": warned}
    if prepared is not None:
        from whence.engine.runners.given_logs import look_for_texts

        warned += _count_keys(prepared)
        with output().progress() as advance:
            prepared.progress.to = advance
            look_for_texts(made, prepared.logs.sources)
    for line in warned:
        output().warn(line)
    if output().json:
        output().result(found)
        return
    output().table(found["processors"], ["processor", "type", "reads", "gives", "regular"])
    for line in _closing_lines(found):
        output().message(line)
    for name in log or ():
        output().message(f"{name}: ok, all required columns are present")


def _count_keys(prepared: Prepared) -> list[str]:
    """Refuse logs with more keys than a map over all slices may have; warn of too many maps."""
    from whence.engine.analysis.advice import check_maps, map_keys

    found = []
    for name, log, column in map_keys(prepared.logs.chain):
        source = prepared.logs.sources[log]
        if source.columns.get(column, "any") != "any":  # a list is not one key
            warned = check_maps(name, column, source.batches())
            if warned is not None and name in prepared.logs.chain.outputs:
                found.append(warned)
    return found


def _summary(chain: Chain, inputs: tuple[Traits, ...]) -> dict[str, Any]:
    return {
        "inputs": list(chain.inputs),
        "outputs": list(chain.outputs),
        "processors": list(_rows(chain, inputs, "")),
        "closes": chain.closes,
    }


def _rows(chain: Chain, inputs: tuple[Traits, ...], prefix: str) -> Iterator[dict[str, Any]]:
    from whence.engine.processors import Group

    known = chain.pipe_traits(inputs, False)
    for connection in chain.connections:
        processor = connection.processor
        pipes = [known[source] for source in known if source.name == processor.id]
        yield {
            "processor": prefix + processor.id,
            "type": type(processor).__name__,
            "reads": ", ".join(connection.sources),
            "gives": ", ".join(pipe.kind for pipe in pipes),
            "regular": "yes" if all(pipe.regular for pipe in pipes) else "no",
        }
        below = f"{prefix}{processor.id}/"
        if isinstance(processor, Group):
            reads = tuple(known[chain.source(name, processor.id)] for name in connection.sources)
            yield from _rows(processor.chain, reads, below)
        else:
            # Inside a Window or Slice kinds depend on the place; the processor itself checks them.
            for inner in processor.holds:
                for name, held in inner.processors(below):
                    row = {"processor": name, "type": type(held).__name__}
                    yield {**row, "reads": None, "gives": None, "regular": None}


def _closing_lines(found: dict[str, Any]) -> list[str]:
    inputs, outputs = ", ".join(found["inputs"]), ", ".join(found["outputs"])
    count = len(found["processors"])
    lines = [f"{count} processor{'' if count == 1 else 's'}, from {inputs} to {outputs}"]
    if found["closes"]:
        lines.append("closing the logs may give further outputs (whence run --closed)")
    return [*lines, found["digest"]]
