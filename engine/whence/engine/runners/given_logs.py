"""What users give as logs: opened, checked against the chain, and put into the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.engine.errors import ChainError, warn_user
from whence.engine.language.chain import Chain
from whence.engine.language.chain_file import with_log
from whence.engine.language.log import Log
from whence.engine.progress import Listener
from whence.engine.record import LogRecord, ingest
from whence.engine.record.run_stream import RunStream, is_run_stream

if TYPE_CHECKING:
    from whence.engine.sources import Source
    from whence.engine.sources.seen_texts import SeenTexts

__all__ = ["DeclaredLogs", "Given", "declare_logs", "kept_logs", "look_for_texts", "take_in"]

Given = Any
"""A log: a path, several as `Path`, ``run:ID/STREAM``, a source, a table (a DataFrame of Spark,
pandas or Polars, or a table of Arrow), or events."""


@dataclass(frozen=True)
class DeclaredLogs:
    """The logs of a chain, opened and declared; no event of a file was read.

    Attributes:
        chain: the chain, which knows the columns of its logs.
        sources: the logs, by their names in the chain.
        stated: what was declared of each, before anything was guessed.
    """

    chain: Chain
    sources: Mapping[str, Source]
    stated: Mapping[str, Log]


def declare_logs(
    chain: Chain,
    logs: Mapping[str, Given],
    stated: Callable[[str], Log],
    opened: Callable[[Given, Log], Source | None],
) -> DeclaredLogs:
    """Turn declarations and a chain into what is read: the one place where a log is declared.

    Args:
        chain: what is to read the logs.
        logs: by the chain's names of them.
        stated: what is stated of the log of a name, with what the chain itself says of it.
        opened: opens a log as it is stated; ``None`` if it is given as events.
    """
    from whence.engine.sources.declared import with_source
    from whence.engine.sources.memory import MemorySource

    said = {name: stated(name) for name in logs}
    found = {name: opened(given, said[name]) for name, given in logs.items()}
    for name, source in found.items():
        if source is None:
            chain = with_log(chain, name, said[name]) if said[name] != Log() else chain
        elif not getattr(source, "plain", False):
            chain = with_source(chain, name, source, said[name])
    if any(source is None for source in found.values()):
        chain.check()  # before events are looked at
    sources: dict[str, Source] = {}
    for name, source in found.items():
        columns = (chain.logs.get(name) or Log()).columns
        sources[name] = MemorySource(logs[name], columns, name) if source is None else source
    return DeclaredLogs(chain, sources, said)


def kept_logs(
    root: Path,
    chain: Chain,
    logs: Given | Mapping[str, Given] | DeclaredLogs,
    declare: Log | Mapping[str, Log] | None,
    progress: Listener | None = None,
) -> tuple[Chain, dict[str, LogRecord]]:
    """Put the logs into the record, in order, once; the chain learns their columns."""
    if not isinstance(logs, DeclaredLogs):
        named = _named(chain, logs)
        logs = declare_logs(
            chain,
            named,
            lambda name: (_declared(declare, name, named) or Log()).over(chain.logs.get(name)),
            lambda given, stated: _opened(root, given, stated, progress),
        )
    logs.chain.check()
    return logs.chain, take_in(root, logs.chain, logs.sources)


def _named(chain: Chain, logs: Given | Mapping[str, Given]) -> dict[str, Given]:
    """The logs by the chain's names of them."""
    given: dict[str, Given] = {}
    if isinstance(logs, Mapping):
        given.update({str(name): source for name, source in logs.items()})
    elif len(chain.inputs) == 1:
        given[chain.inputs[0]] = logs
    if set(given) != set(chain.inputs):
        msg = (
            f"the logs: expected {', '.join(chain.inputs)}; got {', '.join(given) or 'one'}; "
            "try a mapping from the chain's names to files"
        )
        raise ChainError(msg)
    return given


def take_in(root: Path, chain: Chain, sources: Mapping[str, Source]) -> dict[str, LogRecord]:
    """Put opened logs into the record; warn of what a person should know before the result.

    Warnings are of logs without events, and of texts that the chain compares a column with and
    that no event has.

    Args:
        root: the record's place.
        chain: what will read them; it knows their columns.
        sources: the logs, by their names in the chain.
    """
    from whence.engine.sources.declared import keys_to_order_by
    from whence.engine.sources.seen_texts import SeenTexts, compared_texts

    compared = compared_texts(chain, _columns(sources))
    kept = {}
    told: list[str] = []
    for name, source in sources.items():
        known = chain.logs.get(name) or Log()
        order = keys_to_order_by(source, known)
        seen = SeenTexts(compared.get(name, {}))
        # Not cut as the run is: a log's parts are the same in every record, and so in the graph.
        kept[name] = ingest(root, name, source, declared=known, order=order, watch=seen.add)
        told += _told(source, seen, kept[name].length)
    for line in told:
        warn_user(line)
    return kept


def look_for_texts(chain: Chain, sources: Mapping[str, Source]) -> None:
    """Warn of texts that a chain compares a column with and that no event has; put nothing away.

    A log is read only as far as is needed, and not at all if there is nothing to look for.
    """
    from whence.engine.sources.seen_texts import SeenTexts, compared_texts

    for name, compared in compared_texts(chain, _columns(sources)).items():
        seen = SeenTexts(compared)
        if seen.all_seen:
            continue
        events = 0
        for batch in sources[name].batches():
            events += batch.num_rows
            seen.add(batch)
            if seen.all_seen:
                break
        for line in _told(sources[name], seen, events):
            warn_user(line)


def _told(source: Source, seen: SeenTexts, events: int) -> list[str]:
    """The messages about a log that was read."""
    if events:
        return list(seen.warnings(source.name))
    return [f"{source.name} is empty: 0 events, so the chain has nothing to read"]


def _columns(sources: Mapping[str, Source]) -> dict[str, Mapping[str, str]]:
    """The columns of the logs whose events are records."""
    return {n: s.columns for n, s in sources.items() if not getattr(s, "plain", False)}


def _declared(
    declare: Log | Mapping[str, Log] | None, name: str, logs: Mapping[str, Given]
) -> Log | None:
    if not isinstance(declare, Mapping):
        return declare
    for stated in declare:
        if stated not in logs:
            known = ", ".join(logs)
            msg = f"declare: expected one of {known}; got {stated!r}; try {next(iter(logs))!r}"
            raise ChainError(msg)
    return declare.get(name)


def _opened(root: Path, given: Given, stated: Log, progress: Listener | None) -> Source | None:
    """The log as a source; ``None`` if it is given as events."""
    from whence.engine.sources import Source as AnySource
    from whence.engine.sources.arrow_table import is_table
    from whence.engine.sources.declared import open_declared

    if isinstance(given, AnySource):
        return given
    if is_run_stream(given):
        return RunStream(root, given)
    files = isinstance(given, (list, tuple)) and given and all(isinstance(f, Path) for f in given)
    table = type(given).__module__.startswith("pyspark.") or is_table(given)
    if isinstance(given, (str, Path)) or files or table:
        return open_declared(given, stated, progress=progress)
    return None
