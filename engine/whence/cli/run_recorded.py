"""``whence run --runner local|spark``: leave a record, load the graph, say what is next."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from whence.cli.connecting import connected
from whence.cli.output import output
from whence.cli.reading import tell_mapping, tell_read

if TYPE_CHECKING:
    from whence.api import Result, Runner
    from whence.cli.chain_options import Prepared
    from whence.engine.runners import RunOptions
    from whence.store import Settings

__all__ = ["run_and_tell"]


def run_and_tell(
    prepared: Prepared,
    options: RunOptions,
    *,
    runner: Runner,
    record: Path | None,
    master: str,
    settings: Settings | None,
    load: bool,
) -> None:
    """Run, load the graph if that is wanted, and tell what came of it."""
    from whence.api import run

    out = output()
    with ExitStack() as stack:
        connection = None
        if load and options.tracked:
            connection = stack.enter_context(connected(settings))
        for name, source in prepared.sources.items():
            tell_mapping(source, prepared.stated[name])
        if runner == "local" and options.witnesses == "all":
            out.say("every alternative is asked for: the interpreter runs the chain")
        with out.progress() as advance:
            prepared.progress.to = advance
            result = run(
                prepared.chain,
                dict(prepared.sources),
                runner=runner,
                options=options,
                record=record,
                connection=connection,
                master=master,
                progress=advance,
            )
        for source in prepared.sources.values():
            tell_read(source)
        out.result(_data(result), _text(result))


def _data(result: Result) -> dict[str, object]:
    manifest = result.record.manifest
    return {
        "run": result.id,
        "record": str(result.record.folder),
        "outputs": {
            s["name"]: {"count": s["length"], "tracked": s["tracked"]}
            for s in manifest["streams"]
            if s["role"] == "output"
        },
        "pending": manifest["pending"],
        "loaded": None if result.loaded is None else result.loaded.complete,
        "events": None if result.loaded is None else result.loaded.events,
        "relationships": None if result.loaded is None else result.loaded.edges,
    }


def _text(result: Result) -> str:
    manifest = result.record.manifest
    lines = [f"run {result.id}"]
    for stream in manifest["streams"]:
        if stream["role"] == "output":
            counts = Counter(str(value).lower() for _, value in result.outputs(stream["name"]))
            common = ", ".join(f"{value} {n:,}" for value, n in counts.most_common(3))
            told = f"; {stream['tracked']:,} tracked" if stream["tracked"] else ""
            lines.append(f"  {stream['name']}: {stream['length']:,} outputs ({common}){told}")
    waiting = sum(manifest["pending"].values())
    if waiting:
        lines.append(f"  {waiting:,} verdicts are pending (--closed decides them)")
    if result.loaded is not None and result.loaded.complete:
        lines.append(
            f"  in Neo4j: {result.loaded.events:,} events and "
            f"{result.loaded.edges:,} relationships written by this run"
        )
        lines.append(f"ask: whence explain {result.id} POSITION   whence never-matters {result.id}")
    elif result.not_loaded is not None:
        lines.append(f"  not loaded yet: {result.not_loaded}")
        lines.append(f"go on with: whence load {result.id}")
    return "\n".join(lines)
