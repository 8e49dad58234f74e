"""An export of a real run is valid; a checker that accepts one of its mutants is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.exporters._support.recorded_runs import lifecycle_run
from whence.exporters import save_run
from whence.exporters.validating import validate

Json = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    record = lifecycle_run(tmp_path_factory.mktemp("record"), detail="steps")
    return record.root, record.id


@pytest.fixture
def exported(run: tuple[Path, str], tmp_path: Path) -> Json:
    found: Json = json.loads(save_run(*run, tmp_path / "run.json").read_text("utf-8"))
    return found


def bundle(document: Json) -> Json:
    (found,) = document["bundle"].values()
    assert isinstance(found, dict)
    return found


def derivation(document: Json) -> Json:
    """A derivation of the run, by which the mutants go wrong."""
    found = next(iter(bundle(document)["wasDerivedFrom"].values()))
    assert isinstance(found, dict)
    return found


def cycle_through_an_unqualified_derivation(document: Json) -> None:
    ends = derivation(document)
    back = {
        "prov:generatedEntity": ends["prov:usedEntity"],
        "prov:usedEntity": ends["prov:generatedEntity"],
    }
    bundle(document)["wasDerivedFrom"]["_:back"] = back


def generation_without_activity(document: Json) -> None:
    changed = derivation(document)
    for role in ("prov:activity", "prov:usage"):
        changed.pop(role, None)
    changed["prov:generation"] = "run:generation"


def entity_also_activity(document: Json) -> None:
    bundle(document)["activity"][derivation(document)["prov:usedEntity"]] = {}


def second_generation_by_the_same_activity(document: Json) -> None:
    inside = bundle(document)
    first = next(iter(inside["wasGeneratedBy"].values()))
    inside["wasGeneratedBy"]["run:another"] = dict(first)


def second_start_at_another_time(document: Json) -> None:
    bundle(document)["wasStartedBy"]["run:again"] = {
        "prov:activity": "run:run",
        "prov:time": "1999-01-01T00:00:00Z",
    }


def reflexive_specialization(document: Json) -> None:
    entity = derivation(document)["prov:usedEntity"]
    own = {"prov:specificEntity": entity, "prov:generalEntity": entity}
    bundle(document)["specializationOf"] = {"_:s": own}


def derivation_without_its_source(document: Json) -> None:
    del derivation(document)["prov:usedEntity"]


def cycle_across_two_runs(document: Json) -> None:
    ends = derivation(document)
    other = {
        "entity": {ends["prov:usedEntity"]: {}, ends["prov:generatedEntity"]: {}},
        "wasDerivedFrom": {
            "_:back": {
                "prov:generatedEntity": ends["prov:usedEntity"],
                "prov:usedEntity": ends["prov:generatedEntity"],
            }
        },
    }
    document["bundle"]["run:other"] = other


def erased_before_use(document: Json) -> None:
    inside = bundle(document)
    entity = derivation(document)["prov:usedEntity"]
    inside["activity"]["run:erasure"] = {}
    inside["wasInvalidatedBy"] = {
        "_:i": {
            "prov:entity": entity,
            "prov:activity": "run:erasure",
            "prov:time": "2026-03-01T00:00:00Z",
        }
    }
    inside.setdefault("used", {})["_:u"] = {
        "prov:entity": entity,
        "prov:activity": "run:run",
        "prov:time": "2026-03-01T00:00:01Z",
    }


MUTANTS: dict[Callable[[Json], None], tuple[str, bool]] = {
    cycle_through_an_unqualified_derivation: ("C42", True),
    generation_without_activity: ("C51", True),
    entity_also_activity: ("C55", True),
    second_generation_by_the_same_activity: ("C24", True),
    second_start_at_another_time: ("C28", True),
    reflexive_specialization: ("C52", True),
    derivation_without_its_source: ("syntax", True),
    cycle_across_two_runs: ("cycle", False),
    erased_before_use: ("clock", False),
}


def write(document: Json, folder: Path) -> Path:
    file = folder / "mutant.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_the_export_itself_is_valid(exported: Json, tmp_path: Path) -> None:
    report = validate(write(exported, tmp_path))
    assert report.violations == ()
    assert (report.valid, report.bundles) == (True, 1)
    assert report.statements > 500


@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda each: each.__name__)
def test_the_mutant_is_caught(
    mutate: Callable[[Json], None], exported: Json, tmp_path: Path
) -> None:
    mutate(exported)
    rule, standard = MUTANTS[mutate]
    report = validate(write(exported, tmp_path))
    assert rule in report.counts
    assert report.standard != standard


def test_generated_by_a_processor_and_by_the_run_is_valid(exported: Json, tmp_path: Path) -> None:
    inside = bundle(exported)
    first = next(iter(inside["wasGeneratedBy"].values()))
    inside["wasGeneratedBy"]["run:also"] = {**first, "prov:activity": "run:run"}
    assert validate(write(exported, tmp_path)).valid


def test_a_qualified_derivation_without_entity_is_caught_in_rdf(
    run: tuple[Path, str], tmp_path: Path
) -> None:
    file = save_run(*run, tmp_path / "run.nq")
    text = file.read_text("utf-8")
    node = re.search(r"<http://www.w3.org/ns/prov#qualifiedDerivation> (<[^>]*>)", text)
    assert node is not None
    lines = [
        line
        for line in text.splitlines()
        if not line.startswith(f"{node[1]} <http://www.w3.org/ns/prov#entity>")
    ]
    assert len(lines) == text.count("\n") - 1
    assert validate(file).valid
    file.write_text("\n".join(lines), encoding="utf-8")
    report = validate(file)
    assert report.counts == {"syntax": 1}
