"""Write a generated log as a file, whole or not at all, in memory that does not grow."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedWriter
from json import dumps
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as pa_csv

from whence.engine.errors import ParameterError
from whence.engine.sources.generate.payments import PaymentLog
from whence.engine.values.arrow_compute import pc

__all__ = ["FORMATS", "write_log"]

Told = Callable[[int], None]
Sink = IO[bytes] | gzip.GzipFile
Write = Callable[[PaymentLog, Sink, Told], None]

_XES_HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
<extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>
<global scope="trace"><string key="concept:name" value=""/></global>
<global scope="event">
<string key="concept:name" value=""/><date key="time:timestamp" value="1970-01-01T00:00:00Z"/>
</global>
<classifier name="Activity" keys="concept:name"/>
"""


def write_log(log: PaymentLog, path: str | Path, told: Told = lambda events: None) -> int:
    """Write a log as its name ends: .csv, .jsonl, .parquet or .xes; but for Parquet also .gz.

    XES goes case by case, the others in order of time.

    Args:
        log: what to write.
        path: the file; it appears when it is complete.
        told: called now and then with the number of events written.

    Returns:
        How many events were written.
    """
    file = Path(path)
    endings = [ending for ending in FORMATS if file.name.lower().endswith(ending)]
    if not endings:
        msg = (
            f"a log to write: expected a name that ends in one of {', '.join(FORMATS)}; "
            f"got {file.name!r}; try {file.stem or 'log'}.csv"
        )
        raise ParameterError(msg)
    count = 0

    def tell(events: int) -> None:
        nonlocal count
        count += events
        told(count)

    with _beside(file) as raw:
        if endings[0].endswith(".gz"):
            # Without name and time inside, the same log gives the same bytes.
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                FORMATS[endings[0]](log, packed, tell)
        else:
            FORMATS[endings[0]](log, raw, tell)
    return count


@contextmanager
def _beside(file: Path) -> Iterator[BufferedWriter]:
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as raw:
            yield raw
        part.replace(file)
    except OSError as fault:
        msg = f"a log to write: expected to write {file}; got {fault.strerror}; try another folder"
        raise ParameterError(msg) from fault
    finally:
        part.unlink(missing_ok=True)


def _texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Without row numbers, and with times as text in whole seconds."""
    seconds = pc.cast(batch.column("time"), pa.timestamp("s", tz="UTC"))
    batch = batch.drop_columns(["row"])
    text = pc.strftime(seconds, format="%Y-%m-%dT%H:%M:%SZ")
    return batch.set_column(batch.schema.get_field_index("time"), "time", text)


def _csv(log: PaymentLog, file: Sink, tell: Told) -> None:
    file.write((",".join(log.columns) + "\n").encode())
    options = pa_csv.WriteOptions(include_header=False, quoting_style="none")
    for batch in log.batches():
        pa_csv.write_csv(_texts(batch), file, options)
        tell(batch.num_rows)


def _jsonl(log: PaymentLog, file: Sink, tell: Told) -> None:
    for batch in log.batches():
        for row in _texts(batch).to_pylist():
            present = {name: value for name, value in row.items() if value is not None}
            file.write((dumps(present, ensure_ascii=False) + "\n").encode())
        tell(batch.num_rows)


def _parquet(log: PaymentLog, file: Sink, tell: Told) -> None:
    writer = None
    for batch in log.batches():
        kept = batch.drop_columns(["row"])
        writer = writer or pq.ParquetWriter(file, kept.schema, compression="zstd")
        writer.write_batch(kept)
        tell(batch.num_rows)
    if writer is not None:
        writer.close()


def _xes(log: PaymentLog, file: Sink, tell: Told) -> None:
    file.write(_XES_HEAD.encode())
    current = None
    for batch in log.traces():
        lines: list[str] = []
        for row in _texts(batch).to_pylist():
            if row["case"] != current:
                lines.append("</trace>\n" if current is not None else "")
                current = row["case"]
                lines.append(f'<trace>\n<string key="concept:name" value="{current}"/>\n')
            lines.append(_event(row))
        file.write("".join(lines).encode())
        tell(batch.num_rows)
    file.write(b"</trace>\n</log>\n")


def _event(row: dict[str, Any]) -> str:
    parts = [
        f'<event><string key="concept:name" value="{row["activity"]}"/>'
        f'<date key="time:timestamp" value="{row["time"]}"/>'
    ]
    if row["amount"] is not None:
        parts.append(f'<float key="amount" value="{row["amount"]!r}"/>')
    if row["clerk"] is not None:
        parts.append(f'<string key="org:resource" value="{row["clerk"]}"/>')
    return "".join(parts) + "</event>\n"


FORMATS: dict[str, Write] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
    ".xes": _xes,
    ".csv.gz": _csv,
    ".jsonl.gz": _jsonl,
    ".xes.gz": _xes,
}
"""How each ending is written."""
