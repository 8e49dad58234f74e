"""``whence check``: read a chain file, check it, and say what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from whence.cli.chain_options import ChainFile, Logs, prepare
from whence.cli.output import output
from whence.cli.reading_options import reads_logs
from whence.engine.log import Log

if TYPE_CHECKING:
    from whence.engine.chain import Chain
    from whence.engine.traits import Traits

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
@reads_logs
def check(chain: ChainFile, reading: Log, log: Logs = None) -> None:
    """Check a chain file; print its processors, pipes, kinds and digest.

    With --log also checks that the log has every column the chain reads, of a fitting kind. No
    event is read.
    """
    from whence.engine.chain_file import load_chain

    made = load_chain(chain)
    digest = made.digest  # of the file alone, before a log adds what it knows
    if reading.columns and not log:
        raise typer.BadParameter("expected a log; got none; try --log FILE", param_hint="--type")
    if log:
        made = prepare(made, log, reading).chain
        inputs = made.input_traits()
    else:
        inputs = made.declared_traits()
    found = {**_summary(made, inputs), "digest": digest}
    if output().json:
        output().result(found)
        return
    output().table(found["processors"], ["processor", "type", "reads", "gives", "regular"])
    for line in _closing_lines(found):
        output().say(line)
    for name in log or ():
        output().say(escape(f"fits {name}: it has every column that the chain reads"))


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
    lines.append(found["digest"])
    return [escape(line) for line in lines]
