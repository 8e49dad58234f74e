"""Names of exports: always the same, always different, in every syntax a name."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.engine.errors import ParameterError
from whence.engine.language.stream_roles import StreamRole
from whence.exporters.model import Log, Processor, Run, Stream
from whence.exporters.names import RunNames
from whence.exporters.prov.identifiers import Namespace, link, mint

ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=12)
"""Any text at all, halves of surrogate pairs included."""


@given(st.lists(ANYTHING, min_size=1, max_size=4))
def test_any_text_becomes_an_iri_that_tells_it_again(segments: list[str]) -> None:
    iri = mint(*segments)
    assert iri.isascii()
    assert ox.NamedNode(iri).value == iri
    parts = iri.removeprefix("urn:whence:").split(":")[:-1]
    assert [unquote(part, errors="surrogatepass") for part in parts] == segments


@given(st.lists(ANYTHING, max_size=3), st.lists(ANYTHING, max_size=3))
def test_different_things_have_different_names(left: list[str], right: list[str]) -> None:
    assert (mint(*left) == mint(*right)) == (left == right)


@pytest.mark.parametrize("local", ["", "1", "a/b", "a b", "é", "a:b", "a=", "-a", "a\n"])
def test_a_local_part_that_is_no_name_is_refused(local: str) -> None:
    with pytest.raises(ParameterError, match="expected letters"):
        Namespace("x", mint("x")).name(local)


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_names_and_prefixes_of_a_run_are_names_whatever_the_ids_are(
    run: str, processor: str, log: str, digest: str
) -> None:
    streams = (
        Stream(processor, processor, 0, StreamRole.OUTPUT),
        Stream(processor + "/heads", processor, 0, StreamRole.HEADS),
        Stream(processor + "/end", processor, 0, StreamRole.END),
        Stream("prov", "prov", 1, StreamRole.STEP),
    )
    given = Run(run, (Log(log, digest),), streams, digest, "{}", (Processor(processor),))
    names = RunNames(given)
    prefixes = [space.prefix for space in names.spaces]
    assert len(prefixes) == len(set(prefixes))
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", prefix) for prefix in prefixes)
    assert not {"prov", "xsd", "rdf", "default", "whence"} & set(prefixes)
    iris = [space.iri for space in names.spaces]
    assert len(iris) == len(set(iris))
    assert len({link(space) for space in names.spaces}) == len(iris)
    assert [space.iri for space in RunNames(given).spaces] == iris


def test_an_input_event_is_the_same_in_every_run() -> None:
    def first(run: str) -> str:
        names = RunNames(Run(run, (Log("payments", "5f0c"),), ()))
        return names.at("log:payments").event(0).iri

    assert first("one") == first("two") == "urn:whence:log:5f0c:e0"


def test_a_place_that_the_run_does_not_have_is_refused() -> None:
    names = RunNames(Run("r", (Log("log", "5f0c"),), ()))
    with pytest.raises(ParameterError, match="got 'total'; try log:log"):
        names.at("total")
