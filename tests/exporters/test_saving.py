"""Files are there whole or not at all; what cannot be done is said in one line."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exporters._support.recorded_runs import lifecycle_run, product_run
from tests.ground.test_minimal_install import BLOCK
from whence.engine.errors import LogError, ParameterError, WhenceError
from whence.engine.progress import Progress
from whence.engine.record import RunWriter, new_run_id
from whence.exporters import Answer, Log, Run, save, save_run
from whence.exporters.prov.formats import FORMATS, format_of
from whence.exporters.prov.identifiers import Name, Namespace, mint
from whence.exporters.prov.saving import write_document
from whence.exporters.prov.statements import KINDS, Bundle, Document, Statement

ANSWER = Answer(Run("r", (Log("log", "5f0c"),), ()), "q")


@pytest.mark.parametrize("name", ["a.json", "a.nq", "a.trig", "a.json.gz", "a.nq.gz", "a.trig.gz"])
def test_a_failure_on_the_way_leaves_what_was_there_before(name: str, tmp_path: Path) -> None:
    space = Namespace("x", mint("x"))

    def statements() -> Iterator[Statement]:
        for number in range(10_000):
            yield Statement(KINDS["entity"], space.name(f"e{number}"))
        raise WhenceError("the record is gone")

    (tmp_path / name).write_bytes(b"before")
    document = Document((space,), (), (Bundle(space.name("b"), statements),))
    with pytest.raises(WhenceError, match="the record is gone"):
        write_document(document, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == b"before"


def test_a_file_that_is_there_is_replaced_and_readable_by_others_as_usual(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text("before")
    path = save(ANSWER, tmp_path / "a.nq")
    assert "urn:whence:run:r:run" in path.read_text(encoding="utf-8")
    (tmp_path / "other").touch()
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WhenceError, match=r"nowhere.*No such file.*try another folder"):
        save(ANSWER, tmp_path / "nowhere" / "a.nq")
    (tmp_path / "folder.nq").mkdir()
    with pytest.raises(ParameterError, match="expected the name of a file; got something else"):
        save(ANSWER, tmp_path / "folder.nq")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.nq"]


def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.nq")
    with pytest.raises(ParameterError, match="expected the name of a file"):
        save(ANSWER, tmp_path / "pipe.nq")
    assert (tmp_path / "pipe.nq").is_fifo()


@pytest.mark.parametrize("broken", ["gone", "cut"])
@pytest.mark.parametrize("part", ["logs/*/part-*", "runs/*/outputs/*/*", "runs/*/associations/*/*"])
def test_a_broken_record_is_one_line_and_leaves_no_file(
    part: str, broken: str, tmp_path: Path
) -> None:
    record = product_run(tmp_path / "record")
    victim = min(record.root.glob(part))
    if broken == "gone":
        victim.unlink()
    else:
        victim.write_bytes(victim.read_bytes()[:20])
    with pytest.raises(LogError, match=r"expected all parts of its record; got: .*; try"):
        save_run(record.root, record.id, tmp_path / "a.nq")
    assert [path.name for path in tmp_path.iterdir()] == ["record"]


def test_progress_goes_up_to_all_there_is(tmp_path: Path) -> None:
    record = lifecycle_run(tmp_path / "record", chunk=64)
    seen: list[Progress] = []
    save_run(record.root, record.id, tmp_path / "a.nq", progress=seen.append)
    assert {(event.stage, event.unit) for event in seen} == {("exporting", "rows")}
    assert [event.done for event in seen] == sorted(event.done for event in seen)
    assert len({event.total for event in seen}) == 1
    assert (seen[-1].share, str(seen[-1])) == (1.0, "writing a.nq: 100 %")


def test_only_trig_needs_an_extra_package(tmp_path: Path) -> None:
    product_run(tmp_path / "record")
    arguments = [sys.executable, "-c", BLOCK + SHOW, str(tmp_path / "record"), str(tmp_path)]
    done = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert "expected the package 'pyoxigraph'; it is not installed" in done.stderr
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["a.json", "a.nq", "record"]


def test_the_ending_names_the_format_unless_it_is_given() -> None:
    assert format_of(Path("a.b.json.gz")) == "prov-json"
    assert format_of(Path("a.txt"), "trig") == "trig"
    with pytest.raises(ParameterError, match=r"expected a name that ends in .*; try why.json"):
        format_of(Path("a.txt"))
    with pytest.raises(ParameterError, match=r"expected one of prov-json, .*; got 'xml'"):
        format_of(Path("a.json"), "xml")


def test_compressed_files_say_neither_name_nor_time(tmp_path: Path) -> None:
    data = save(ANSWER, tmp_path / "a.nq.gz").read_bytes()
    assert data[3] == 0  # no file name in the header
    assert data[4:8] == bytes(4)  # no time
    assert gzip.decompress(data) == save(ANSWER, tmp_path / "a.nq").read_bytes()


def test_a_namespace_that_is_no_iri_is_refused(tmp_path: Path) -> None:
    space = Namespace("x", "urn:a b:")
    document = Document((space,), (Statement(KINDS["entity"], Name(space, "e")),))
    for format in FORMATS:
        with pytest.raises(ParameterError, match="an IRI: expected"):
            write_document(document, tmp_path / "a", format)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_running_is_refused(tmp_path: Path) -> None:
    known: dict[str, object] = {
        "chain": None,
        "logs": {},
        "chunk": 5,
        "streams": [],
        "versions": {},
    }
    RunWriter(tmp_path, new_run_id(), known)
    with pytest.raises(ParameterError, match="expected a run that has ended; got one that is runn"):
        save_run(tmp_path, "latest", tmp_path / "a.nq")


SHOW = """
import sys
from pathlib import Path
from whence.exporters import save_run
for name in ("a.json", "a.nq", "a.trig"):
    save_run(Path(sys.argv[1]), "latest", Path(sys.argv[2]) / name)
"""


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    record = product_run(tmp_path / "record")
    written = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        arguments = [sys.executable, "-c", SHOW, str(record.root), str(folder)]
        subprocess.run(arguments, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]
    assert len(written[0]) == 3
