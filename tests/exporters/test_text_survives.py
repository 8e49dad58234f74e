"""Whatever text stands in ids, names and values, it is read back as it was."""

from __future__ import annotations

import io
import math
import tempfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import prov.model
import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exporters._support.independent_readers import (
    oxigraph_quads,
    rdflib_quads,
    read_file,
    read_prov,
    read_quads,
)
from whence.engine.errors import ParameterError
from whence.engine.language.stream_roles import StreamRole
from whence.exporters import (
    Answer,
    Edge,
    Event,
    Finding,
    Log,
    Processor,
    Run,
    Stream,
    save,
    to_prov,
    to_rdflib,
)
from whence.exporters.prov.statements import VALUE, clean
from whence.exporters.values import value_attributes

TEXT = st.text(st.characters(exclude_categories=[]), max_size=20) | st.sampled_from(
    [
        '"',
        "\\",
        "\n",
        "\r\n",
        "\x00",
        "\x1f",
        "\x7f",
        "\x85",
        "\u2028",
        "<a>",
        "\ud800",
        "\\u0041",
        "",
    ]
)
FILES = ("a.json", "a.nq", "a.trig")


def about(text: str, other: str = "x") -> Answer:
    """An answer with a text in every place that holds text."""
    run = Run(
        id=text,
        logs=(Log(text, other or "id", 3, text, text),),
        streams=(Stream(text, text, 0, StreamRole.OUTPUT, 1, 1),),
        chain_digest=text,
        chain=text,
        processors=(Processor(text, text, text),),
        engine=text,
        started=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
    )
    output, place = (text, 0), f"log:{text}"
    return Answer(
        run,
        text,
        (
            Event(text, 0, value_attributes(text)),
            Event(place, 1, value_attributes(other)),
            Event(place, 2),
        ),
        (
            Edge(output, (place, 1), "explains", (text, other), witness=(0, 2)),
            Edge(output, (place, 2), "supports", ()),
        ),
        (Finding(text, ((place, 0, 2),)),),
    )


@given(TEXT, TEXT)
@settings(max_examples=60, deadline=None)
def test_text_survives_in_every_format(text: str, other: str) -> None:
    answer = about(text, other)
    with tempfile.TemporaryDirectory() as folder:
        paths = [save(answer, Path(folder) / name) for name in FILES]
        reads = [read_file(path) for path in paths]
        reads.append(read_prov(to_prov(answer)))
        reads.append(read_quads(rdflib_quads(to_rdflib(answer))))
        assert to_prov(answer) == prov.model.ProvDocument.deserialize(str(paths[0]))
        lines = paths[1].read_bytes()
        assert {repr(q) for q in oxigraph_quads(lines, ox.RdfFormat.N_QUADS)} == {
            repr(q) for q in rdflib_quads(to_rdflib(answer))
        }
    for read in reads:
        (event,) = (
            i
            for i in read.things
            if i.endswith(":0:e0") and "urn:whence:ns#Output" in read.types(i)
        )
        assert read.one(event, "value") == clean(text)
        ((_, first, second, said),) = (
            r for r in read.relations.values() if r[0] == "wasDerivedFrom"
        )
        assert first == event
        assert read.one(second, "position") == 1
        assert set(said["field"]) == {clean(text), clean(other)}
        assert sorted(said["witness"]) == [0, 2]
        ((_, _, second, said),) = (r for r in read.relations.values() if r[0] == "wasInfluencedBy")
        assert (read.one(second, "position"), said["presence"]) == (2, [True])
        run = next(i for i in read.things if "urn:whence:ns#Run" in read.types(i))
        assert read.one(run, "name") == clean(text)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")  # its own readers use them
@given(TEXT)
@settings(max_examples=40, deadline=None)
def test_rdflib_reads_what_is_written(text: str) -> None:
    answer = about(text)
    expected = {repr(quad) for quad in rdflib_quads(to_rdflib(answer))}
    with tempfile.TemporaryDirectory() as folder:
        for name, format in (("a.nq", "nquads"), ("a.trig", "trig")):
            dataset = rdflib.Dataset()
            data = save(answer, Path(folder) / name).read_text(encoding="utf-8")
            dataset.parse(data=data, format=format)
            assert {repr(quad) for quad in rdflib_quads(dataset)} == expected


VALUES = [
    (True, True),
    (0, 0),
    (-(2**63), -(2**63)),
    (2**53 + 1, 2**53 + 1),
    (0.1, 0.1),
    (-0.0, -0.0),
    (1e300, 1e300),
    (5e-324, 5e-324),
    (math.inf, math.inf),
    (-math.inf, -math.inf),
    ("1", "1"),
    ([1, "a", None], '[1,"a",null]'),
    ({"b": 1, "a": "é"}, '{"record":{"a":"é","b":1}}'),
]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("value", "read_as"), VALUES, ids=lambda v: repr(v)[:20])
def test_values_keep_their_type_and_every_digit(
    value: Any, read_as: Any, file: str, tmp_path: Path
) -> None:
    found = round_trip(value, tmp_path / file)
    assert found == read_as
    assert type(found) is type(read_as)
    if isinstance(read_as, float):
        assert math.copysign(1, found) == math.copysign(1, read_as)


@pytest.mark.parametrize("file", FILES)
def test_what_is_not_a_number_stays_so(file: str, tmp_path: Path) -> None:
    found = round_trip(math.nan, tmp_path / file)
    assert isinstance(found, float)
    assert math.isnan(found)


def round_trip(value: Any, path: Path) -> Any:
    run = Run("r", (Log("log", "5f0c"),), (Stream("s", "s", 0, StreamRole.OUTPUT),))
    read = read_file(save(Answer(run, "q", (Event("s", 0, value_attributes(value)),)), path))
    return read.one("urn:whence:run:r:s:0:e0", "value")


def test_times_and_durations_are_written_as_xml_schema_has_them(tmp_path: Path) -> None:
    noon = datetime(2026, 3, 1, 13, tzinfo=timezone(timedelta(hours=1)))
    run = Run("r", (), (Stream("s", "s", 0, StreamRole.OUTPUT),))
    values = [noon, timedelta(days=1, microseconds=5), timedelta(seconds=-1), None]
    events = tuple(Event("s", n, value_attributes(v)) for n, v in enumerate(values))
    text = save(Answer(run, "q", events), tmp_path / "a.nq").read_text(encoding="utf-8")
    assert '"2026-03-01T12:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>' in text
    assert '"PT86400.000005S"^^<http://www.w3.org/2001/XMLSchema#duration>' in text
    assert '"-PT1S"^^<http://www.w3.org/2001/XMLSchema#duration>' in text
    assert '<urn:whence:run:r:s:0:e3> <urn:whence:ns#kind> "missing"' in text


@pytest.mark.parametrize("file", FILES)
def test_a_time_without_zone_is_refused_and_nothing_is_left(file: str, tmp_path: Path) -> None:
    run = Run("r", (), (Stream("s", "s", 0, StreamRole.OUTPUT),))
    naive = datetime(2026, 3, 1)  # noqa: DTZ001  the fault that is tried
    with pytest.raises(ParameterError, match="a time: expected one with its zone"):
        save(Answer(run, "q", (Event("s", 0, ((VALUE, naive),)),)), tmp_path / file)
    assert list(tmp_path.iterdir()) == []


def test_json_is_read_by_prov_without_a_warning(tmp_path: Path) -> None:
    path = save(about("a\u2028\x01"), tmp_path / "a.json")
    prov.model.ProvDocument.deserialize(io.BytesIO(path.read_bytes()), format="json")
