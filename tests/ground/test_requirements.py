"""Pinned means: one version, every hash, no address; and what is pinned is what is declared."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.ground.surroundings import ROOT, run

FILES = sorted(ROOT.glob("requirements*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(file: Path) -> list[tuple[Requirement, list[str]]]:
    """Each requirement with its hashes."""
    joined = re.sub(r"\\\n\s*", " ", file.read_text(encoding="utf-8"))
    lines = [line for line in joined.splitlines() if line.strip() and line.strip()[0] != "#"]
    found = []
    for line in lines:
        requirement, *hashes = line.split(" --hash=")
        found.append((Requirement(requirement.strip()), [h.strip() for h in hashes]))
    return found


def declared(*extras: str) -> set[str]:
    """The names that pyproject.toml asks for, extras of its own resolved."""
    project = PROJECT["project"]
    waiting = [*project["dependencies"]]
    waiting += [line for extra in extras for line in project["optional-dependencies"][extra]]
    names: set[str] = set()
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name == "whence":
            for extra in requirement.extras:
                waiting += project["optional-dependencies"][extra]
        else:
            names.add(canonicalize_name(requirement.name))
    return names


def test_the_four_files_are_there() -> None:
    assert [file.name for file in FILES] == [
        "requirements-bootstrap.txt",
        "requirements-java.txt",
        "requirements-runtime.txt",
        "requirements.txt",
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_every_package_has_one_version_and_its_hashes(file: Path) -> None:
    assert pins(file)
    for requirement, hashes in pins(file):
        assert [s.operator for s in requirement.specifier] == ["=="], requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in hashes), requirement


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_no_address_is_written(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert "://" not in text
    assert re.findall(r"^\s*(?:-i|--index|--extra-index|--find-links|-f)\b.*", text, re.M) == []
    assert [r for r, _ in pins(file) if r.url] == []


@pytest.mark.parametrize(
    ("file", "extras"), [("requirements.txt", ["dev"]), ("requirements-runtime.txt", ["all"])]
)
def test_everything_declared_is_pinned(file: str, extras: list[str]) -> None:
    pinned = {canonicalize_name(r.name) for r, _ in pins(ROOT / file)}
    assert declared(*extras) - pinned == set()


def test_the_files_agree_with_each_other() -> None:
    versions: dict[tuple[str, str], set[str]] = {}
    for file in FILES:
        for requirement, _ in pins(file):
            key = (canonicalize_name(requirement.name), str(requirement.marker))
            versions.setdefault(key, set()).add(str(requirement.specifier))
    assert {key: found for key, found in versions.items() if len(found) > 1} == {}


@pytest.mark.parametrize("system", ["linux", "macos"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_pins_fit_every_supported_python(python: str, system: str) -> None:
    """Markers alone decide here: for each platform exactly one version of each package."""
    environment = {
        "python_full_version": f"{python}.1",
        "python_version": python,
        "sys_platform": {"linux": "linux", "macos": "darwin"}[system],
        "os_name": "posix",
        "platform_machine": "arm64",
        "platform_python_implementation": "CPython",
    }
    chosen = [
        canonicalize_name(r.name)
        for r, _ in pins(ROOT / "requirements.txt")
        if r.marker is None or r.marker.evaluate(environment)
    ]
    assert len(chosen) == len(set(chosen))
    assert declared("dev") - set(chosen) == set()


def test_what_is_installed_is_what_is_pinned() -> None:
    done = run([sys.executable, "-m", "uv", "pip", "list", "--format", "json", "-q"])
    if done.returncode != 0:
        pytest.skip("this environment was not made by make setup")
    installed = {canonicalize_name(p["name"]): p["version"] for p in json.loads(done.stdout)}
    wrong = [
        (str(r), installed.get(canonicalize_name(r.name)))
        for r, _ in pins(ROOT / "requirements.txt")
        if (r.marker is None or r.marker.evaluate())
        and not r.specifier.contains(installed.get(canonicalize_name(r.name), "0"))
    ]
    assert wrong == []
