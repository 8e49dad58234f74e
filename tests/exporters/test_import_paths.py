"""A file to import names runs and logs; no name leads out of the record, and nothing else goes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.exporters._support.recorded_runs import product_run, wide_window_run
from whence.api import run
from whence.engine import ApplyFunction, Chain, Cumulate
from whence.engine.errors import DiskError, LogError
from whence.engine.record import LogRecord, RunRecord, RunWriter, list_runs
from whence.engine.record.folders import log_folder, run_folder
from whence.engine.record.removing import remove_run
from whence.exporters import RecordedRun, save_run, save_runs
from whence.exporters.importing import import_runs, rebuilding

HOSTILE = (
    "../../theirs",
    "..",
    ".",
    "",
    ".hidden",
    "a/b",
    "a\\b",
    "C:x",
    "a\0b",
    "a\nb",
    "a\x1b[31m",
    "x" * 129,
    "x" * 5000,
    "é",
    "latest\u202e",
)
FORMATS = ("a.json", "a.nq", "a.trig", "a.jsonld")


def exported(folder: Path, name: str = "a.json") -> tuple[RunRecord, str]:
    record = product_run(folder / "record")
    return record, save_run(record.root, record.id, folder / name).read_text("utf-8")


def with_run_id(text: str, old: str, new: str) -> str:
    named = text.replace(f'"{old}"', json.dumps(new, ensure_ascii=True))
    return named.replace(f":{old}:", f":{quote(new, safe='')}:")


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
    }


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of another user, right beside the record."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "thesis.txt").write_text("ten years", encoding="utf-8")
    return folder


@pytest.mark.parametrize("id", [*HOSTILE, "ABSOLUTE"])
def test_no_id_becomes_another_path(id: str, tmp_path: Path) -> None:
    id = str(tmp_path / "theirs") if id == "ABSOLUTE" else id
    for folder in (run_folder, log_folder):
        with pytest.raises(LogError, match="expected an id of letters") as raised:
            folder(tmp_path, id)
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 250
        assert "\x1b" not in str(raised.value)
    with pytest.raises(LogError, match="expected"):
        RunRecord(tmp_path, id)
    with pytest.raises(LogError, match="expected"):
        RunWriter(tmp_path, id, {"logs": {}, "chunk": 40, "streams": []})
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("id", [1, None, ["x"]])
def test_an_id_is_a_text(id: object, tmp_path: Path) -> None:
    with pytest.raises(LogError, match="expected an id of letters"):
        run_folder(tmp_path, id)


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_cannot_name_a_run_outside_of_the_record(
    name: str, theirs: Path, tmp_path: Path
) -> None:
    record, text = exported(tmp_path, name)
    before = everything(theirs)
    for id in ("../../theirs", str(theirs), "../../../new", "latest"):
        (tmp_path / name).write_text(with_run_id(text, record.id, id), encoding="utf-8")
        with pytest.raises(LogError, match=r"expected .*; got .*; try"):
            import_runs(tmp_path / name, tmp_path / "back")
        assert everything(theirs) == before
        assert not (tmp_path / "back").exists()
        assert not (tmp_path.parent / "new").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_cannot_name_a_log_outside_of_the_record(
    name: str, theirs: Path, tmp_path: Path
) -> None:
    record, text = exported(tmp_path, name)
    log = record.log("log").id
    before = everything(theirs)
    for id in ("../../theirs", str(theirs), "../../new", ""):
        changed = text.replace(f"urn:whence:log:{log}:", f"urn:whence:log:{quote(id, safe='')}:")
        assert changed != text
        (tmp_path / name).write_text(changed, encoding="utf-8")
        with pytest.raises(LogError, match=r"expected .*; got .*; try"):
            import_runs(tmp_path / name, tmp_path / "back")
        assert everything(theirs) == before
        assert not (tmp_path / "back").exists()
        assert not (tmp_path / "new").exists()


def test_a_fault_half_way_leaves_the_record_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a run that is no run yet is not this call's, so it stays."""
    record, text = exported(tmp_path)
    root = tmp_path / "back"
    here = root / "runs" / record.id
    here.mkdir(parents=True)
    (here / "notes.txt").write_text("mine", encoding="utf-8")
    before = everything(root)
    with pytest.raises(LogError, match="expected a name that is free"):
        import_runs(tmp_path / "a.json", root)
    assert everything(root) == before
    (bundle,) = json.loads(text)["bundle"].values()
    spoiled = json.loads(text)
    (bundle,) = spoiled["bundle"].values()
    for entity in bundle["entity"].values():
        if "whence:moment" in entity:
            entity["whence:moment"] = "soon"
    (tmp_path / "b.json").write_text(json.dumps(spoiled), encoding="utf-8")
    with pytest.raises(LogError, match=r"b\.json: expected a whole run") as raised:
        import_runs(tmp_path / "b.json", root)
    assert "\n" not in str(raised.value)
    assert everything(root) == before

    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(rebuilding, "_outputs", broken)
    with pytest.raises(DiskError, match="got no space left on the disk; try"):
        import_runs(tmp_path / "a.json", tmp_path / "fresh")
    assert not (tmp_path / "fresh").exists()


SPOILED: list[tuple[str, object]] = [
    ("whence:count", "latest"),
    ("whence:position", float("inf")),
    ("whence:position", -(10**30)),
    ("whence:position", "../../x"),
    ("whence:width", 0),
    ("whence:width", 1e308),
    ("whence:definition", "[" * 100_000),
    ("whence:definition", {"$": "x" * 5000, "type": "xsd:dateTime"}),
    ("whence:options", "[]]"),
    ("whence:name", None),
    ("whence:name", {"$": "x" * 5000, "type": "xsd:QName"}),
    ("whence:digest", []),
    ("whence:status", "done"),
    ("whence:status", "running"),
    ("whence:status", {"$": "1", "type": "xsd:integer"}),
    ("whence:status", ["complete\x1b[2J"]),
    ("whence:role", "root"),
    ("whence:runner", "x\x1b[2J"),
    ("whence:pipe", -1),
    ("whence:pipe", True),
    ("whence:pipe", "0"),
    ("whence:tracked", 1 << 70),
    ("whence:options", "[]"),
    ("whence:options", '{"tracked": 1}'),
    ("whence:options", '{"witnesses": "none"}'),
    ("whence:options", '{"n": 99999999999999999999}'),
    ("whence:versions", "3"),
    ("prov:type", {"$": "\x1b[31m" * 5000 + ":x", "type": "xsd:QName"}),
]


@pytest.mark.parametrize(("word", "value"), SPOILED)
def test_whatever_a_file_says_it_is_refused_in_one_line_that_is_not_long(
    word: str, value: object, tmp_path: Path
) -> None:
    changed = json.loads(exported(tmp_path)[1])
    (bundle,) = changed["bundle"].values()
    known = "whence:role" if word == "whence:width" else word  # of a stream; it is 1 unless said
    found = [x for kind in ("entity", "activity") for x in bundle[kind].values() if known in x]
    assert found
    for thing in found:
        thing[word] = value
    (tmp_path / "b.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(LogError, match=r"^b\.json: expected .*; got.*; try|^a run: ") as raised:
        import_runs(tmp_path / "b.json", tmp_path / "back")
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500
    assert str(raised.value).count("expected") == 1
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("values", [False, True])
def test_a_run_never_reads_what_an_import_brought_as_the_log_of_that_name(
    values: bool, tmp_path: Path
) -> None:
    """An import without values would make every amount missing, a hostile one any amount."""
    log = [{"case": "a", "amount": 4}, {"case": "b", "amount": 7}]
    chain = Chain.of(ApplyFunction("amount", "amount")) | Cumulate("sum", "add")
    first = run(chain, log, runner="local", tracked=True, record=tmp_path / "record")
    path = save_run(tmp_path / "record", first.id, tmp_path / "a.nq", values=values)
    text = path.read_text("utf-8").replace(r"\"amount\":4", r"\"amount\":4000")
    path.write_text(text, encoding="utf-8")
    root = tmp_path / "back"
    (id,) = import_runs(path, root)
    before = everything(root)
    again = [run(chain, log, runner="local", record=root, fresh=True) for _ in range(2)]
    for each in again:
        assert [*each.outputs()] == [*first.outputs()]
    ids = {RunRecord(root, each.id).manifest.logs["log"] for each in again}
    assert len(ids) == 1
    assert ids != {RunRecord(root, id).manifest.logs["log"]}
    assert before.items() <= everything(root).items()


def test_of_several_runs_none_comes_in_if_one_cannot(tmp_path: Path) -> None:
    runs = [product_run(tmp_path / "record") for _ in range(2)]
    (path,) = save_runs([RecordedRun(r.root, r.id) for r in runs], tmp_path / "a.json")
    root = tmp_path / "back"
    blocked = root / "runs" / max(run.id for run in runs)
    blocked.mkdir(parents=True)
    with pytest.raises(LogError, match="expected a name that is free"):
        import_runs(path, root)
    assert everything(root) == {"runs": b"", f"runs/{blocked.name}": b""}
    blocked.rmdir()
    twice = json.loads(path.read_text("utf-8"))
    (first, bundle), *_ = twice["bundle"].items()
    twice["bundle"] = {first: bundle, f"{first}x": bundle}
    (tmp_path / "twice.json").write_text(json.dumps(twice), encoding="utf-8")
    with pytest.raises(LogError, match="got one that is there"):
        import_runs(tmp_path / "twice.json", root)
    assert list_runs(root) == []


def test_a_small_file_cannot_stand_for_endless_positions(tmp_path: Path) -> None:
    record = wide_window_run(tmp_path / "record")
    path = save_run(record.root, record.id, tmp_path / "a.json")
    changed = json.loads(path.read_text("utf-8"))
    (bundle,) = changed["bundle"].values()
    ranges = [(name, e) for name, e in bundle["entity"].items() if "whence:last" in e]
    for _, entity in ranges:
        entity["whence:last"] = 10**15
    event = next(name for name in bundle["entity"] if name.startswith("wide:e"))
    (band,) = (r for r in bundle["wasDerivedFrom"].values() if "whence:from" in r)
    band["prov:generatedEntity"] = event
    (tmp_path / "a.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(LogError, match=r"expected .*; got .* ranges of more than .*; try"):
        import_runs(tmp_path / "a.json", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_record_with_foreign_names_is_read_without_following_them(
    theirs: Path, tmp_path: Path
) -> None:
    record = product_run(tmp_path / "record")
    path = record.folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**manifest, "logs": {"log": "../../theirs"}}), encoding="utf-8")
    (theirs / "manifest.json").write_text(
        (log_folder(record.root, manifest["logs"]["log"]) / "manifest.json").read_text("utf-8")
    )
    assert LogRecord.open(theirs).length  # it would be read
    with pytest.raises(LogError, match="a log: expected an id"):
        record.log("log")
    journal = {**manifest, "journal": "../../../theirs/manifest.json"}
    path.write_text(json.dumps(journal), encoding="utf-8")
    with pytest.raises(LogError, match="expected a manifest that names a file beside it"):
        record.manifest  # noqa: B018
    path.write_text(json.dumps(manifest), encoding="utf-8")
    odd = record.root / "runs" / "a run of mine"
    odd.mkdir()
    (odd / "manifest.json").write_text("{}")
    assert list_runs(record.root) == [record.id]


def test_what_a_link_leads_to_is_never_removed(theirs: Path, tmp_path: Path) -> None:
    record = product_run(tmp_path / "record")
    moved = theirs / "run"
    record.folder.rename(moved)
    record.folder.symlink_to(moved)
    before = everything(theirs)
    with pytest.raises(LogError, match="expected a folder of the record; got a link to"):
        remove_run(record)
    assert everything(theirs) == before
    assert os.path.islink(record.folder)
