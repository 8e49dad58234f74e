"""Which of the texts that a chain compares columns with occur in a log: typing errors are seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

import pyarrow as pa

from whence.engine.errors import WhenceError
from whence.engine.language.chain import Chain
from whence.engine.language.traits import LOG, ComparedColumns
from whence.engine.values.arrow_compute import pc

__all__ = ["SeenTexts", "compared_texts"]

MOST_CANDIDATES = 10_000
"""Maximum number of distinct texts per column to remember, for suggestions."""

LONGEST_CANDIDATE = 200
"""Longer texts are not names that could be misspelled."""

_FREQUENT = 5

Compared = Mapping[str, Mapping[str, str]]
"""By column: the texts that it is compared with, each with how (``=`` or ``!=``)."""


def compared_texts(chain: Chain, columns: Mapping[str, Mapping[str, str]]) -> dict[str, Compared]:
    """The texts that a chain compares columns of its logs with, by log.

    >>> from whence.engine.language.chain_file import load_chain
    >>> compared_texts(load_chain("{id: a, apply: b = 'x'}"), {"log": {"b": "text"}})
    {'log': {'b': {'x': '='}}}

    Args:
        chain: what reads the logs.
        columns: the kinds of each log's columns; of a log that is not named nothing is found.
    """
    noted = {name: ComparedColumns(columns.get(name, {})) for name in chain.inputs}
    logs = [
        LOG.but(kind="record", columns=noted[name]) if name in columns else LOG
        for name in chain.inputs
    ]
    try:
        chain.output_traits(tuple(logs), False)
    except WhenceError:
        return {}  # the run itself says what does not fit
    return {
        name: {c: found for c, found in noted[name].texts.items() if columns[name].get(c) == "text"}
        for name in columns
    }


class SeenTexts:
    """Looks, batch by batch, for the texts that a chain compares columns with.

    Once all have been seen it costs nothing. Memory is bounded, whatever the log holds.
    """

    def __init__(self, compared: Compared) -> None:
        self._compared = compared
        self._left = {column: set(texts) for column, texts in compared.items()}
        self._counts: dict[str, Counter[str]] = {column: Counter() for column in compared}

    @property
    def all_seen(self) -> bool:
        """Whether there is nothing left to look for."""
        return not self._left

    def add(self, batch: pa.RecordBatch) -> None:
        for column, left in list(self._left.items()):
            found = pc.value_counts(batch.column(column).drop_null())
            texts = found.field("values").to_pylist()
            left.difference_update(texts)
            if not left:
                del self._left[column], self._counts[column]
                continue
            counts = self._counts[column]
            for text, count in zip(texts, found.field("counts").to_pylist(), strict=True):
                room = len(counts) < MOST_CANDIDATES and len(text) <= LONGEST_CANDIDATE
                if room or text in counts:
                    counts[text] += count

    def warnings(self, name: str) -> Iterator[str]:
        """A line for each text that no event had.

        Args:
            name: the log's, for people.
        """
        for column, left in self._left.items():
            for text, how in self._compared[column].items():
                if text in left:
                    yield (
                        f"{column} {how} {_shown(text)}: no event of {name} has this {column}; "
                        f"{self._hint(column, text)}"
                    )

    def _hint(self, column: str, text: str) -> str:
        counts = self._counts[column]
        if not counts:
            return "its events have none at all"
        near = [each for each in counts if each.strip().casefold() == text.strip().casefold()]
        if not near and len(text) <= LONGEST_CANDIDATE:
            near = get_close_matches(text, counts, n=1)
        if near:
            return f"did you mean {_shown(near[0])}?"
        most = [_shown(each) for each, _ in counts.most_common(_FREQUENT)]
        many = "the most frequent are" if len(counts) > _FREQUENT else "there are"
        return f"{many} {', '.join(most)}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
