"""What a pack is made from is what the run left: every part is compared before its leaves."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.exporters.evidence._support.judged_run import made_in
from whence.engine.errors import LogError
from whence.engine.record.files import file_digest, read_json, write_json
from whence.engine.record.manifest import LISTS, Listed
from whence.exporters.evidence.committing import commit_run
from whence.store import Connection

pytestmark = pytest.mark.neo4j


def changed(path: Path, column: str, row: int, value: object) -> None:
    table = pq.ParquetFile(path).read()
    values = table.column(column).to_pylist()
    values[row] = value
    kind = table.schema.field(column).type
    plain = pa.array(values, kind.value_type if pa.types.is_dictionary(kind) else kind)
    at = table.schema.get_field_index(column)
    pq.write_table(table.set_column(at, column, plain), path)


def test_a_value_changed_before_the_first_pack_is_refused(
    graph: Connection, tmp_path: Path
) -> None:
    made = made_in(tmp_path, graph)
    part = made.record.log("log").folder / "part-00000.parquet"
    changed(part, "action", 0, "approve")
    with pytest.raises(
        LogError, match=r"got log log \(logs/\w+\): its events were changed"
    ) as told:
        made.pack()
    assert len(str(told.value).splitlines()) == 1
    assert list(tmp_path.rglob("leaves.bin")) == []


@pytest.mark.parametrize("what", LISTS)
def test_a_part_changed_before_or_after_the_first_pack_is_named(
    graph: Connection, tmp_path: Path, what: Listed
) -> None:
    made = made_in(tmp_path, graph)
    part = made.record.path(what, "per-case", 0)
    whole = part.read_bytes()
    for _ in range(2):
        part.write_bytes(whole + b" ")
        with pytest.raises(
            LogError, match=f"got {what} of per-case, part 0: the file was changed; try"
        ):
            made.pack()
        part.write_bytes(whole)
        made.pack()  # so that the second time leaves are kept


def test_a_part_and_its_manifest_changed_alike_differ_from_the_committed_root(
    graph: Connection, tmp_path: Path
) -> None:
    made = made_in(tmp_path, graph)
    commit_run(made.record, keys=made.keys)
    made.pack()
    part = made.record.path("outputs", "per-case", 0)
    changed(part, "value", 0, "false")
    manifest = made.record.folder / "manifest.json"
    told = read_json(manifest)
    (stream,) = (each for each in told["streams"] if each["name"] == "per-case")
    stream["outputs"][0]["digest"] = file_digest(part)
    write_json(manifest, told)
    with pytest.raises(LogError, match="expected the record as it was when its root was") as line:
        made.pack()
    assert len(str(line.value).splitlines()) == 1


def test_a_root_that_was_taken_away_or_replaced_is_missed(
    graph: Connection, tmp_path: Path
) -> None:
    made = made_in(tmp_path, graph)
    commit = commit_run(made.record, keys=made.keys)
    file = made.record.folder / "root.json"
    whole = file.read_text()
    file.unlink()
    with pytest.raises(LogError, match=r"expected root\.json, which the journal names; got none"):
        made.pack()
    for old, new in ((commit.root, "f" * 64), (made.keys.public.id, "0" * 64)):
        assert old in whole
        file.write_text(whole.replace(old, new))
        with pytest.raises(LogError, match="expected a statement"):
            made.pack()
    file.write_text(whole)
    assert made.pack().exists()
