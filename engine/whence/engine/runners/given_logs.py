"""What users give as logs: opened, checked against the chain, and put into the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.engine.chain import Chain
from whence.engine.chain_file import with_log
from whence.engine.errors import ChainError
from whence.engine.log import Log
from whence.engine.record import LogRecord, ingest
from whence.engine.record.run_stream import RunStream, is_run_stream

if TYPE_CHECKING:
    from whence.engine.sources import Source

__all__ = ["Given", "kept_logs", "named_logs"]

Given = Any
"""A log: a path, several as `Path`, ``run:ID/STREAM``, a source, a Spark DataFrame, or events."""
Progress = Callable[[int, int, str], None]
"""Called with how much is done, how much there is, and what is being done."""


def named_logs(chain: Chain, logs: Given | Mapping[str, Given]) -> dict[str, Given]:
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


def kept_logs(
    root: Path,
    chain: Chain,
    logs: Mapping[str, Given],
    declare: Log | Mapping[str, Log] | None,
    tell: Progress,
) -> tuple[Chain, dict[str, LogRecord]]:
    """Put the logs into the record, in order, once; the chain learns their columns."""
    from whence.engine.sources.declared import keys_to_order_by, with_source
    from whence.engine.sources.memory import MemorySource

    opened: dict[str, Source] = {}
    for name, given in logs.items():
        stated = (_declared(declare, name, logs) or Log()).over(chain.logs.get(name))
        source = _opened(root, given, stated, tell)
        if source is not None:
            opened[name] = source
            if not getattr(source, "plain", False):
                chain = with_source(chain, name, source, stated)
        elif stated != Log():
            chain = with_log(chain, name, stated)
    chain.check()
    kept = {}
    for name, given in logs.items():
        known = chain.logs.get(name) or Log()
        source = opened.get(name) or MemorySource(given, known.columns, name)
        order = keys_to_order_by(source, known)
        # Not cut as the run is: a log's parts are the same in every record, and so in the graph.
        kept[name] = ingest(root, name, source, declared=known, order=order)
    return chain, kept


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


def _opened(root: Path, given: Given, stated: Log, tell: Progress) -> Source | None:
    """The log as a source; ``None`` if it is given as events."""
    from whence.engine.sources import Source as AnySource
    from whence.engine.sources.declared import open_declared

    if isinstance(given, AnySource):
        return given
    if is_run_stream(given):
        return RunStream(root, given)
    files = isinstance(given, (list, tuple)) and given and all(isinstance(f, Path) for f in given)
    if isinstance(given, (str, Path)) or files or type(given).__module__.startswith("pyspark."):
        return open_declared(
            given, stated, progress=lambda done, total: tell(done, total, "reading the log")
        )
    return None
