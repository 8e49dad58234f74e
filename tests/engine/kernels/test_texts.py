"""Texts by number: one number for each, whichever way they come in and however many there are."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from whence.engine.kernels.columns import texts as texts_module
from whence.engine.kernels.columns.growing import grown, roomy
from whence.engine.kernels.columns.texts import Texts

LETTERS = "ab0-é√𝄞\0 "


def _words(random: Random, count: int, longest: int) -> list[str]:
    return ["".join(random.choices(LETTERS, k=random.randrange(longest))) for _ in range(count)]


@pytest.fixture
def as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Number texts as bytes from the first one on."""
    monkeypatch.setattr(texts_module, "_MANY", 1)


@pytest.mark.usefixtures("as_bytes")
@pytest.mark.parametrize("longest", [2, 9, 40])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_as_bytes_they_have_the_numbers_that_a_dictionary_gives(
    longest: int, kind: pa.DataType
) -> None:
    random = Random(longest)
    known: dict[str, int] = {}
    texts = Texts(["first", "a"])
    for text in ("first", "a"):
        known.setdefault(text, len(known))
    for _ in range(8):
        words: list[str | None] = [*_words(random, 5000, longest)]
        for place in random.sample(range(5000), 50):
            words[place] = None
        array = pa.array(words, kind)[17:]
        expected = [0 if w is None else known.setdefault(w, len(known)) for w in words[17:]]
        assert texts.from_arrow(array).tolist() == expected
    assert len(texts) == len(known)
    assert list(texts.known) == list(known)
    some = [*range(len(known) - 1, -1, -7)]
    assert texts.at(np.array(some)) == [list(known)[code] for code in some]


@pytest.mark.usefixtures("as_bytes")
def test_one_by_one_in_an_array_and_by_dictionary_they_are_the_same() -> None:
    texts = Texts()
    array = pa.array(["case-1", "case-22222222", "", "case-1"])
    assert texts.from_arrow(array).tolist() == [0, 1, 2, 0]
    assert [texts.code(text) for text in ("case-22222222", "new", "")] == [1, 3, 2]
    assert texts.codes(["new", None, "case-1"]).tolist() == [3, 0, 0]
    coded = pa.array(["new", None, "other"]).dictionary_encode()
    assert texts.from_arrow(coded).tolist() == [3, 3, 4]
    assert texts.at(np.array([4, 0, 4])) == ["other", "case-1", "other"]
    assert [texts.known[rank] for rank in np.argsort(texts.ranks())] == sorted(texts.known)


@pytest.mark.usefixtures("as_bytes")
def test_half_a_character_is_a_text_too() -> None:
    """JSON may hold one; Python has it, Arrow does not."""
    texts = Texts()
    texts.from_arrow(pa.array(["x"]))
    assert texts.code("\ud800") == 1
    assert texts.known[1] == "\ud800"


@pytest.mark.usefixtures("as_bytes")
def test_written_and_read_again_the_numbers_stay() -> None:
    words = _words(Random(5), 40_000, 12)
    texts = Texts()
    codes = texts.from_arrow(pa.array(words))
    other = Texts()
    other.from_arrow(texts.to_arrow())
    assert other.from_arrow(pa.array(words)).tolist() == codes.tolist()
    assert texts.to_arrow().to_pylist() == list(other.known)


def test_without_numba_many_texts_go_by_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts_module, "is_compiled", lambda rows: False)
    words = _words(Random(6), 20_000, 8)
    texts = Texts()
    codes = texts.from_arrow(pa.array(words))
    assert texts.at(codes) == words


def test_arrays_grow_with_their_values_and_what_fills_them() -> None:
    pairs = roomy(np.array([[1, 2], [3, 4]]), 3)
    assert pairs.tolist() == [[1, 2], [3, 4], [0, 0], [0, 0]]
    assert np.signbit(grown(np.zeros(1), 2, -0.0)[1])
    long = roomy(np.arange(200_000), 200_001)
    assert len(long) > 10**7
    assert long[:200_000].tolist() == list(range(200_000))
    same = np.zeros(3)
    assert grown(same, 2, 7) is same
