"""A log is the same log, and a chain says the same of it, however it is cut, packed or spread."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.engine.sources._support.real_logs import NEEDED, open_real, real_log
from whence.engine.language.chain import Chain
from whence.engine.language.chain_file import load_chain
from whence.engine.language.log import Log
from whence.engine.record import LogRecord, RunRecord, ingest
from whence.engine.runners import RunOptions, run_recorded
from whence.engine.sources import open_source
from whence.engine.sources.declared import keys_to_order_by, with_source
from whence.engine.sources.generate import payment_log, write_log
from whence.engine.sources.source import Source, Split

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FULL = pytest.mark.full
CSV_LOGS = ("sepsis.csv", "traffic_fines.csv", "ccc19.csv", "derived/bpic2013_latin1.csv")
TIMES = {
    "sepsis.csv": {"Complete Timestamp": "instant(%Y/%m/%d %H:%M:%S.%f)"},
    "traffic_fines.csv": {"timestamp": "instant"},
    "ccc19.csv": {"START": "instant(%m/%d/%Y %H:%M:%S)"},
    "derived/bpic2013_latin1.csv": {"time:timestamp": "instant"},
}


class InPieces:
    """A log read split by split, as tasks on other machines would."""

    def __init__(self, source: Source, pieces: int) -> None:
        self.source, self.pieces = source, pieces
        self.name, self.format, self.ordered = source.name, source.format, source.ordered
        self.columns, self.roles, self.report = source.columns, source.roles, source.report

    def batches(self, split: Split | None = None) -> Iterator[pa.RecordBatch]:
        for each in self.source.splits(self.pieces):
            yield from self.source.batches(each)

    def splits(self, wanted: int) -> Any:
        return self.source.splits(wanted)

    def fingerprint(self) -> str:
        return self.source.fingerprint()


def packed(path: Path, folder: Path) -> Path:
    target = folder / (path.name + ".gz")
    target.write_bytes(gzip.compress(path.read_bytes(), 1))
    return target


def in_files(path: Path, folder: Path, count: int = 3) -> Path:
    """The rows spread over several files, each with the header."""
    header, *lines = path.read_bytes().splitlines(keepends=True)
    assert not any(b'"' in line for line in lines[:10]), "a row may be several lines"
    cut = len(lines) // count + 1
    (folder / "several").mkdir()
    for number in range(count):
        part = b"".join([header, *lines[number * cut : (number + 1) * cut]])
        (folder / "several" / f"{number}-{path.name}").write_bytes(part)
    return folder / "several"


def chain_over(source: Source, declared: Log) -> Chain:
    """Has every case at most 30 events so far?"""
    count = "{id: one, apply: 1}, {id: count, cumulate: add}, {id: few, apply: value <= 30}"
    by = f"{{field: {_case(source)}}}"
    text = f"{{id: short, slice: {{by: {by}, combine: and, of: {{line: [{count}]}}}}}}"
    return with_source(load_chain(text), "log", source, declared)


def _case(source: Source) -> str:
    from whence.engine.sources.mapping import propose

    return '"' + propose(source.columns, known=source.roles)["case"].column + '"'


def outputs(run: RunRecord) -> list[dict[str, Any]]:
    (stream,) = run.manifest.outputs
    tables = [run.outputs(stream.name, part.part) for part in stream.outputs]
    return [row for table in tables for row in table.to_pylist()]


def taken(folder: Path, source: Source, order: str, chunk: int = 5000) -> tuple[Chain, LogRecord]:
    declared = Log(order=order)
    chain = chain_over(source, declared)
    keys = keys_to_order_by(source, chain.logs["log"])
    log = ingest(folder, "log", source, declared=chain.logs["log"], order=keys, chunk=chunk)
    return chain, log


Make = Callable[[str, Path], Source]
WAYS: dict[str, Make] = {
    "as it is": lambda name, folder: open_real(name, columns=TIMES[name]),
    "packed": lambda name, folder: open_source(
        packed(real_log(name), folder), **NEEDED.get(name, {}), columns=TIMES[name]
    ),
    "three files": lambda name, folder: open_source(
        in_files(real_log(name), folder), **NEEDED.get(name, {}), columns=TIMES[name]
    ),
    "two pieces": lambda name, folder: InPieces(open_real(name, columns=TIMES[name]), 2),
    "seven pieces": lambda name, folder: InPieces(open_real(name, columns=TIMES[name]), 7),
}


@pytest.mark.parametrize("order", ["file", "time"])
@pytest.mark.parametrize("name", CSV_LOGS)
def test_a_csv_log_is_one_log_however_it_comes(name: str, order: str, tmp_path: Path) -> None:
    found = {}
    for number, (way, make) in enumerate(WAYS.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, log = taken(folder / "record", make(name, folder), order, chunk=5000 - 7 * number)
        found[way] = log.id
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("name", ["receipt.xes.gz", "RequestForPayment.xes.gz"])
def test_an_xes_log_is_one_log_packed_or_not(name: str, tmp_path: Path) -> None:
    plain = tmp_path / "log.xes"
    plain.write_bytes(gzip.decompress(real_log(name).read_bytes()))
    sources = (open_real(name), open_source(plain), InPieces(open_source(plain), 5))
    ids = [taken(tmp_path / str(n), s, "time")[1].id for n, s in enumerate(sources)]
    assert ids[0] == ids[1] == ids[2]


def test_a_generated_log_is_one_log_in_every_format(tmp_path: Path) -> None:
    made = payment_log(3_000)
    kinds = {"time": "instant", "amount": "float"}
    ids = {"itself": taken(tmp_path / "itself", made, "file")[1].id}
    for ending in (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet"):
        file = tmp_path / f"log{ending}"
        write_log(made, file)
        source = open_source(file, columns={} if ending == ".parquet" else kinds)
        ids[ending] = taken(tmp_path / f"record{ending}", source, "file")[1].id
    assert len(set(ids.values())) == 1, ids


def test_a_changed_byte_makes_another_log(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    write_log(payment_log(500), file)
    before = taken(tmp_path / "record", open_source(file), "file")[1].id
    content = file.read_bytes()
    at = content.index(b"clerk-") + len(b"clerk-")
    file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    assert taken(tmp_path / "record", open_source(file), "file")[1].id != before


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "length"), [("ccc19.csv", 697), pytest.param("sepsis.csv", 15_214, marks=FULL)]
)
def test_a_chain_says_the_same_on_any_number_of_partitions(
    name: str, length: int, spark: SparkSession, tmp_path: Path
) -> None:
    from whence.engine.runners.spark.batch import run_on_spark

    options = RunOptions(tracked=False)
    chain, log = taken(tmp_path / "one", open_real(name, columns=TIMES[name]), "time")
    expected = outputs(run_recorded(tmp_path / "one", chain, {"log": log}, options))
    assert len(expected) == log.length == length
    assert {row["value"] for row in expected} == {"true", "false"}
    for way, chunk in (("packed", length // 15), ("seven pieces", 20_000)):
        folder = tmp_path / way
        folder.mkdir()
        chain, log = taken(folder / "record", WAYS[way](name, folder), "time", chunk)
        assert log.manifest.parts == -(-length // chunk)
        run = run_on_spark(folder / "record", chain, {"log": log}, options, session=spark)
        assert outputs(run) == expected
