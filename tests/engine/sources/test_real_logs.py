"""Real logs hold what their sources say: every count, read by our readers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.engine.sources._support.real_logs import open_real
from whence.engine.sources.inspection import Inspection, inspect_log
from whence.engine.values.arrow_compute import pc

COUNTS = {
    "ccc19.csv": (697, 20),
    "sepsis.csv": (15_214, 1_050),
    "traffic_fines.csv": (34_724, 10_000),
    "apache_logs": (10_000, 1_753),
    "receipt.xes.gz": (8_577, 1_434),
    "RequestForPayment.xes.gz": (36_072, 6_760),
    "bpic2012.xes.gz": (262_200, 13_087),
    "derived/bpic2013_latin1.csv": (3_815, 288),
    "ocel2-running-example.sqlite": (18_211, 2_000),
}
TIES = {"sepsis.csv": 4_447}
TIES_IN_CASES = {"bpic2012.xes.gz": 13_995}
OUT_OF_ORDER = {"apache_logs": 4_915}
OUT_OF_ORDER_IN_CASES = {"ccc19.csv": 1}
MISSING = {
    ("traffic_fines.csv", "resource"): 24_705,
    ("bpic2012.xes.gz", "org:resource"): 18_010,
    ("apache_logs", "size"): 669,
}
MAPPED = {
    "ccc19.csv": ("CASEID", "ACTIVITY", "START"),
    "sepsis.csv": ("Case ID", "Activity", "Complete Timestamp"),
    "traffic_fines.csv": ("case_id", "activity", "timestamp"),
    "derived/bpic2013_latin1.csv": ("case", "concept:name", "time:timestamp"),
    "bpic2012.xes.gz": ("case:concept:name", "concept:name", "time:timestamp"),
}
FORMS = {
    "ccc19.csv": "instant(%m/%d/%Y %H:%M:%S)",
    "sepsis.csv": "instant(%Y/%m/%d %H:%M:%S.%f)",
    "traffic_fines.csv": "instant",
    "derived/bpic2013_latin1.csv": "instant",
}

_seen: dict[str, Inspection] = {}


def inspected(name: str) -> Inspection:
    """A look at a log, taken once."""
    if name not in _seen:
        _seen[name] = inspect_log(open_real(name))
    return _seen[name]


def column(name: str, wanted: str, **more: Any) -> pa.ChunkedArray:
    source = open_real(name, **more)
    return pa.chunked_array(
        [batch.column(wanted) for batch in source.batches()],
        type=next(iter(source.batches())).column(wanted).type,
    )


@pytest.mark.parametrize("name", COUNTS)
def test_events_and_cases_are_counted(name: str) -> None:
    found = inspected(name)
    assert (found.events, found.cases) == COUNTS[name]
    assert found.report.read == found.events
    assert found.report.dropped == found.report.missing == 0
    assert found.times is not None
    assert found.times.first is not None


@pytest.mark.parametrize("name", sorted({*TIES, *TIES_IN_CASES, *OUT_OF_ORDER, *MAPPED}))
def test_ties_and_order_are_counted_and_columns_found(name: str) -> None:
    found = inspected(name)
    times = found.times
    assert times is not None
    assert times.ties == TIES.get(name, times.ties)
    assert times.ties_in_case == TIES_IN_CASES.get(name, times.ties_in_case)
    assert times.back == OUT_OF_ORDER.get(name, times.back)
    assert times.back_in_case == OUT_OF_ORDER_IN_CASES.get(name, times.back_in_case)
    if name in MAPPED:
        roles = tuple(found.roles[role].column for role in ("case", "activity", "time"))
        assert roles == MAPPED[name]
    if name in FORMS:
        assert times.kind == FORMS[name]


@pytest.mark.parametrize(("name", "wanted"), MISSING)
def test_missing_values_are_counted(name: str, wanted: str) -> None:
    (found,) = [c for c in inspected(name).columns if c.name == wanted]
    assert found.missing == MISSING[name, wanted]


def test_a_case_called_na_and_measurements_without_a_value_are_what_they_are() -> None:
    assert "NA" in column("sepsis.csv", "Case ID").unique().to_pylist()
    crp = column("sepsis.csv", "CRP").filter(pc.equal(column("sepsis.csv", "Activity"), "CRP"))
    assert crp.null_count == 139


def test_the_event_out_of_order_in_its_case_is_the_known_one() -> None:
    kinds = {"START": FORMS["ccc19.csv"]}
    times = column("ccc19.csv", "START", columns=kinds).to_pylist()
    cases = column("ccc19.csv", "CASEID").to_pylist()
    back = [n for n in range(1, len(times)) if times[n] < times[n - 1] and cases[n] == cases[n - 1]]
    assert back == [608]


def test_a_log_that_is_no_utf8_is_refused_and_its_accents_are_read_once_told_how() -> None:
    from whence.engine.errors import LogError

    with pytest.raises(LogError, match=r"expected utf-8; got byte 0x.. at offset \d+; try enc"):
        inspect_log(open_real("derived/bpic2013_latin1.csv", encoding="utf-8"))
    names = column("derived/bpic2013_latin1.csv", "org:resource").unique().to_pylist()
    assert any("é" in name for name in names if name)


def test_offsets_are_converted_before_times_are_compared() -> None:
    found = inspected("receipt.xes.gz")
    assert found.times is not None
    assert found.times.kind == "instant"
    times = column("receipt.xes.gz", "time:timestamp")
    assert times.type == pa.timestamp("us", tz="UTC")
    assert times[0].as_py().isoformat() == "2011-10-11T11:45:40.276000+00:00"
