"""XES, OCEL and text logs of any size are read in the same memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from tests.engine.sources._support.ocel_files import WRITERS, small_log
from whence.engine.sources import open_source

EVENT = (
    '<event><string key="concept:name" value="A{n}"/><int key="n" value="{n}"/>\n'
    '<date key="time:timestamp" value="2020-01-01T00:00:00.000+01:00"/></event>\n'
)
LINE = '::1 - - [10/Oct/2000:13:55:36 -0700] "GET /{n}.gif HTTP/1.0" 200 {n} "-" "Mozilla"\n'


def _xes(path: Path, events: int, traces: int) -> Path:
    with path.open("w") as file:
        file.write("<log>")
        for trace in range(traces):
            file.write(f'<trace><string key="concept:name" value="{trace}"/>')
            file.writelines(EVENT.format(n=n) for n in range(events // traces))
            file.write("</trace>")
        file.write("</log>")
    return path


def _write(form: str, folder: Path, events: int) -> Path:
    if form.startswith("xes"):
        return _xes(folder / f"{events}.xes", events, 1 if form == "xes, one trace" else 100)
    if form == "text":
        path = folder / f"{events}.log"
        path.write_text("".join(LINE.format(n=n) for n in range(events)))
        return path
    log = small_log()
    log["events"] = [{**log["events"][n % 3], "id": f"e{n}"} for n in range(events)]
    log["objects"] += [{"id": f"i{n + 2}", "type": "items"} for n in range(events)]
    ending = {"sqlite": "sqlite", "json": "jsonocel", "xml": "xmlocel"}[form]
    return WRITERS[form](folder / f"{events}.{ending}", log)


def _peak(path: Path, events: int) -> int:
    """The most bytes at a time, of Python's, NumPy's and Arrow's."""
    most = 0

    def look(*_: object) -> None:
        nonlocal most
        most = max(most, pa.total_allocated_bytes())

    tracemalloc.start()
    try:
        source = open_source(path, progress=look)
        read = 0
        for batch in source.batches():
            look()
            read += batch.num_rows
        assert read == events
        return tracemalloc.get_traced_memory()[1] + most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("form", "few", "many"),
    [
        ("xes, one trace", 30_000, 150_000),
        ("xes, many traces", 30_000, 150_000),
        ("text", 60_000, 300_000),
        pytest.param("json", 10_000, 40_000, marks=pytest.mark.full),
        pytest.param("xml", 10_000, 40_000, marks=pytest.mark.full),
        pytest.param("sqlite", 10_000, 40_000, marks=pytest.mark.full),
    ],
)
def test_memory_does_not_grow_with_the_log(form: str, few: int, many: int, tmp_path: Path) -> None:
    open_source(_write(form, tmp_path, 300))  # what is loaded once counts for neither
    small = _peak(_write(form, tmp_path, few), few)
    large = _peak(_write(form, tmp_path, many), many)
    assert large < 1.5 * small
