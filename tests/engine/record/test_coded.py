"""What a file of outputs holds depends on the outputs alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from whence.engine.kernels.columns.column import from_values
from whence.engine.kernels.columns.texts import Texts
from whence.engine.record.coded import coded, joined
from whence.engine.record.files import file_digest, write_table
from whence.engine.record.output_columns import outputs_table
from whence.engine.record.schema import IN_ORDER, OUTPUTS
from whence.engine.values import kind_of
from whence.engine.values.columns import canonical

VALUES: dict[str, list[Any]] = {
    "boolean": [True, True, False, True],
    "boolean, some missing": [True, None, False, None],
    "text": ["a", "b", "a", "c"],
    "integer": [1, 2, 1, -7],
    "several": [1, True, "true", None],
    "missing": [None, None, None, None],
}


def _plain(values: list[Any]) -> pa.Table:
    """One value after the other, as the interpreter writes them."""
    places = list(range(len(values)))
    columns = [places, places, [kind_of(v) for v in values], [canonical(v) for v in values]]
    return pa.Table.from_pydict(dict(zip(OUTPUTS.names, columns, strict=True)), schema=OUTPUTS)


def _cut(values: list[Any], kind: str, at: int) -> pa.Table:
    """Columns, in two pieces."""
    places = np.arange(len(values))
    pieces = [slice(0, at), slice(at, None)]
    return joined(
        [outputs_table(places[p], places[p], from_values(values[p], kind, Texts())) for p in pieces]
    )


@pytest.mark.parametrize("name", VALUES)
def test_a_file_is_the_same_whoever_writes_it_and_however_it_was_cut(
    tmp_path: Path, name: str
) -> None:
    values = VALUES[name]
    kind = "any" if name in ("several", "missing") else name.split(",")[0]
    tables = [_plain(values), *(_cut(values, kind, at) for at in (0, 1, 2, 4))]
    digests = set()
    for number, table in enumerate(tables):
        file = tmp_path / f"{number}.parquet"
        write_table(file, coded(table), IN_ORDER)
        assert pq.read_table(file).equals(tables[0])
        digests.add(file_digest(file))
    assert len(digests) == 1
