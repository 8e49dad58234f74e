"""The page lists every word of the vocabulary, and exports use no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.exporters._support.recorded_runs import RUNS
from whence.exporters import save_run
from whence.exporters.vocabulary import CLASSES, PROPERTIES, term

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "vocabulary.md"
CODE = Path(__file__).parents[2] / "exporters" / "whence" / "exporters"


def test_the_page_lists_every_word_with_its_meaning_and_no_other() -> None:
    rows = re.findall(r"^\| `whence:(\w+)` \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert dict(rows) == {**CLASSES, **PROPERTIES}


def test_a_word_that_is_not_in_it_is_refused() -> None:
    with pytest.raises(KeyError):
        term("nothing")


@pytest.mark.parametrize("name", RUNS)
def test_exports_use_words_of_the_vocabulary_alone(name: str, tmp_path: Path) -> None:
    record = RUNS[name](tmp_path / "record", detail="steps")
    text = save_run(record.root, record.id, tmp_path / "a.nq", values=True).read_text("utf-8")
    used = set(re.findall(r"<urn:whence:ns#(\w+)>", text))
    assert used
    assert used <= {*CLASSES, *PROPERTIES}


def test_every_word_is_used_somewhere() -> None:
    text = "".join(
        path.read_text("utf-8") for path in CODE.glob("*.py") if path.name != "vocabulary.py"
    )
    unused = [
        word for word in (*CLASSES, *PROPERTIES) if not re.search(rf'"{word}"|\b{word}=', text)
    ]
    assert unused == []
