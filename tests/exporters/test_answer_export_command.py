"""``whence export`` of one answer about a run, in every syntax, as other readers understand it."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import prov.model
import pytest
from typer.testing import CliRunner

from tests.exporters._support.independent_readers import oxigraph_quads, read_prov
from tests.exporters._support.recorded_runs import lifecycle_run
from tests.exporters.test_every_syntax import BY_OXIGRAPH, BY_PROV
from whence.cli.app import app
from whence.engine.record import RunRecord
from whence.exporters import FORMATS, save
from whence.exporters.validating import validate
from whence.store import Connection
from whence.store.catalog import find_run
from whence.store.loading import load
from whence.store.questions import explain, impact, never_matters
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

Export = Callable[..., Any]


@pytest.fixture
def record(graph: Connection, tmp_path: Path) -> RunRecord:
    made = lifecycle_run(tmp_path / "record")
    load(made.root, made.id, graph)
    return made


@pytest.fixture
def export(
    record: RunRecord, neo4j_server: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Export:
    monkeypatch.setenv("WHENCE_RECORD", str(record.root))
    monkeypatch.setenv("NEO4J_URI", str(neo4j_server.uri))
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(neo4j_server.home / "password"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["export", *arguments])


def derived(path: Path, format: str) -> set[tuple[str, str]]:
    data = gzip.decompress(path.read_bytes())
    if format in BY_PROV:
        given = prov.model.ProvDocument.deserialize(io.BytesIO(data), format=BY_PROV[format])
        return read_prov(given).pairs("wasDerivedFrom")
    plain = "http://www.w3.org/ns/prov#wasDerivedFrom"
    quads = oxigraph_quads(data, BY_OXIGRAPH[format])
    return {(first, str(last)) for first, word, last, _ in quads if word == plain}


@pytest.mark.parametrize("format", FORMATS)
def test_an_explanation_is_read_back_from_every_syntax(
    format: str, export: Export, graph: Connection, record: RunRecord, tmp_path: Path
) -> None:
    why = explain(graph, record.id, "100")
    (log,) = record.manifest.logs.values()
    output = f"urn:whence:run:{record.id}:per-case:0:e100"
    expected = {
        (output, f"urn:whence:log:{log}:e{position}")
        for each in why.inputs
        for position in range(each.lo, each.hi + 1)
    }
    assert expected
    name = "why" + FORMATS[format][0] + ".gz"
    done = export("latest", "--explain", "100", "-o", name)
    assert done.exit_code == 0, done.stderr
    assert derived(tmp_path / name, format) == expected
    assert validate(tmp_path / name, format).valid
    assert ("cannot hold bundles" in done.stderr) == (format == "turtle")
    assert export("latest", "--explain", "100", "-o", "b.gz", "--format", format).exit_code == 0
    assert (tmp_path / "b.gz").read_bytes() == (tmp_path / name).read_bytes()


def test_other_answers_are_those_of_the_questions(
    export: Export, graph: Connection, record: RunRecord, tmp_path: Path
) -> None:
    about = find_run(graph, record.id)
    for arguments, answer in (
        (("--explain", "per-case@7", "--support"), explain(graph, record.id, "7", support=True)),
        (("--impact", "log:3-5,90"), impact(graph, record.id, {"log": [(3, 5), (90, 90)]})),
        (("--never-matters",), never_matters(graph, record.id)),
    ):
        done = export(record.id, *arguments, "-o", "a.nq")
        assert done.exit_code == 0, done.stderr
        expected = save(answer, tmp_path / "expected.nq", about=about).read_bytes()
        assert (tmp_path / "a.nq").read_bytes() == expected


def test_what_does_not_go_together_is_wrong_usage(export: Export, tmp_path: Path) -> None:
    for arguments in (
        ("latest", "--explain", "7", "--never-matters", "-o", "a.nq"),
        ("latest", "--support", "-o", "a.nq"),
        ("latest", "--explain", "7", "--values", "-o", "a.nq"),
        ("latest", "latest", "--explain", "7", "-o", "a.nq"),
        ("latest", "--explain", "7"),
    ):
        assert export(*arguments).exit_code == 2, arguments
    refused = export("latest", "--explain", "99999", "-o", "a.nq")
    assert refused.exit_code == 1
    assert export("latest", "--explain", "7", "-o", "a.openlineage").exit_code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["record"]
