"""Which outputs of a run were selected: those that ``where=`` was true of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from whence.engine.language.where import where_holds
from whence.engine.record.erased import ERASED, within
from whence.engine.record.manifest import RunManifest
from whence.engine.values.arrow_compute import pc
from whence.engine.values.columns import from_canonical

__all__ = ["Selector", "selector"]

Selector = Callable[[str, pa.Table], npt.NDArray[np.bool_]]
"""Tells of events of an output pipe, by its name, which are selected."""


def selector(manifest: RunManifest) -> Selector:
    """Tells which outputs are selected; each distinct value is asked once.

    What an erased output was nobody knows any more: whether it was selected was written down when
    it was erased.
    """
    where = manifest.options.where if manifest.options.tracked else None
    holds = None if where is None else where_holds(where)
    left_out = {stream.name: stream.unselected for stream in manifest.streams}

    def selected(stream: str, table: pa.Table) -> npt.NDArray[np.bool_]:
        if holds is None or not table.num_rows:
            return np.ones(table.num_rows, np.bool_)
        gone = pc.equal(table.column("kind").cast(pa.string()), ERASED).to_numpy()
        column = table.column("value").combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], "str")
        if not isinstance(column, pa.DictionaryArray):
            column = column.dictionary_encode()
        codes = column.indices.to_numpy(zero_copy_only=False)
        asked = np.zeros(len(column.dictionary), np.bool_)
        asked[codes[~gone]] = True  # of what stands for an erased value nothing is true or false
        texts = column.dictionary.to_pylist()
        held = [a and holds(from_canonical(text)) for a, text in zip(asked, texts, strict=True)]
        found: npt.NDArray[np.bool_] = np.array(held, np.bool_)[codes]
        found[gone] = ~within(table.column("position").to_numpy()[gone], left_out.get(stream, ()))
        return found

    return selected
