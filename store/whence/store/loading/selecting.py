"""What a part of an output pipe writes where only selected outputs are loaded, and their needs.

Inputs are merged by key, since another run may need the same ones; everything else is the part's
own. So many inputs that they would be too much for one transaction come before it, in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import pyarrow as pa

from whence.engine.lineage.association import LOG_PREFIX
from whence.engine.lineage.positions import Positions
from whence.engine.record import LogRecord, RunRecord
from whence.engine.record.manifest import StreamInfo
from whence.engine.record.secret import record_secret
from whence.store.loading.ancestry import Brought
from whence.store.loading.content import ChunkContent, Directory, Row, add_choices, stream_content
from whence.store.loading.values import input_properties, output_properties
from whence.store.places import key_of

__all__ = ["MergedInputs", "content_of"]


def content_of(
    brought: Brought,
    streams: Mapping[str, StreamInfo],
    directory: Directory,
    merged: Mapping[str, list[Row]],
) -> ChunkContent:
    """Everything that a part brings, as rows for the graph.

    Args:
        brought: what it brings.
        streams: as the manifest lists them, by name.
        directory: where names lead to in the graph.
        merged: the inputs, by kind.
    """
    whole = ChunkContent("outputs", selected=True, merged=dict(merged))
    for name in dict.fromkeys((*brought.events, *brought.rows)):
        known = streams[name]
        tables = brought.events.get(name)
        events = None if tables is None else pa.concat_tables(tables)
        rows = [row for some in brought.rows.get(name, ()) for row in some.rows()]
        content = ChunkContent()
        if not known.role.is_choices:
            content = stream_content(known, directory, events, rows)
        elif events is not None:
            add_choices(content, known, directory, events, rows)
        if known.role.is_output:
            whole.events += _marked(content.events, brought.inside.get(name), directory, name)
        else:
            whole.inner += content.events
        whole.choices += content.choices
        for what in ("derived", "influenced", "end", "derived_spans", "influenced_spans"):
            getattr(whole, what).extend(getattr(content, what))
    whole.sort()
    return whole


def _marked(
    events: list[Row], along: Positions | None, directory: Directory, stream: str
) -> list[Row]:
    """Outputs that came along only because others lead to them were not tracked."""
    if along:
        keys = {key_of(directory.numbers[stream], at) for at in along.positions.tolist()}
        for event in events:
            if event["key"] in keys:
                event["untracked"] = True
    return events


class MergedInputs:
    """Reads the events of logs that are merged by key.

    Args:
        record: the run's record.
        logs: its logs by name.
        numbers: of each log (``log:NAME``) in the graph.
    """

    def __init__(
        self, record: RunRecord, logs: Mapping[str, LogRecord], numbers: Mapping[str, int]
    ) -> None:
        """Nothing was read yet."""
        self.record = record
        self.logs = logs
        self.numbers = numbers
        self.secret = record_secret(record.root)
        self._part = lru_cache(16)(lambda name, number: logs[name].part(number))
        self._maker = lru_cache(None)(lambda id: RunRecord(record.root, id))

    def rows(self, wanted: Mapping[str, Positions]) -> dict[str, list[Row]]:
        """The properties of some events, by kind: inputs, outputs or events."""
        found: dict[str, dict[int, Row]] = {}
        for name, ranges in wanted.items():
            log = self.logs[name.removeprefix(LOG_PREFIX)]
            kind, rows = "inputs", self._of_log(name, log, ranges)
            if log.made_by is not None:
                kind, rows = self._of_run(self.numbers[name], *log.made_by, ranges)
            for row in rows:
                found.setdefault(kind, {})[row["key"]] = row
        return {kind: [rows[key] for key in sorted(rows)] for kind, rows in found.items()}

    def there(self, wanted: Mapping[str, Positions]) -> bool:
        """Whether the record has them all by now; a log that is followed grows."""
        for name, ranges in wanted.items():
            log = self.logs[name.removeprefix(LOG_PREFIX)]
            known = log.manifest.parts * log.manifest.chunk
            if log.made_by is None and ranges and ranges.hi[-1] >= known:
                return False
        return True

    def _of_log(self, name: str, log: LogRecord, ranges: Positions) -> Iterator[Row]:
        chunk = log.manifest.chunk
        wanted = ranges.overlap(Positions.one(0, log.manifest.parts * chunk - 1))
        first, last = wanted.lo // chunk, wanted.hi // chunk
        for number in Positions.joined(first, last).positions.tolist():
            table = self._part(name.removeprefix(LOG_PREFIX), number)
            chosen = table.filter(pa.array(wanted.contains(table.column("position").to_numpy())))
            yield from input_properties(self.numbers[name], log.manifest, chosen, self.secret)

    def _of_run(
        self, no: int, run: str, stream: str, ranges: Positions
    ) -> tuple[str, Iterator[Row]]:
        """Events of another run; those that it has not selected are not there, nor tracked."""
        maker = self._maker(run)
        known = maker.manifest.by_name[stream]

        def rows() -> Iterator[Row]:
            for part in known.outputs:
                if not ranges.meets(Positions.one(part.first, part.last)):
                    continue
                table = maker.outputs(stream, part.part)
                chosen = ranges.contains(table.column("position").to_numpy())
                for row in output_properties(no, table.filter(pa.array(chosen)), self.secret):
                    yield {**row, "untracked": True}

        return ("outputs" if known.role.is_output else "events"), rows()
