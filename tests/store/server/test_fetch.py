"""Fetching with the real Ivy from a repository on loopback: nothing half there is ever used."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.server._support.maven_mirror import FILES, PINNED, Mirror, mirror
from whence.engine.errors import MissingExtraError, ServerError
from whence.engine.java import find_java
from whence.engine.progress import Progress
from whence.store.server import fetch
from whence.store.server.fetch import ensure_jars, jars_folder, jars_present
from whence.store.server.folders import locked, whence_home
from whence.store.server.ivy import MIRROR, ivy_jar
from whence.store.server.jars import neo4j_jars

ROOT = Path(__file__).parents[3]

PROGRAM = """
from tests.store.server._support.maven_mirror import PINNED
from whence.engine.errors import WhenceError
from whence.engine.java import find_java
from whence.store.server.fetch import ensure_jars
try:
    print(ensure_jars(find_java(), None, PINNED))
except WhenceError as error:
    raise SystemExit(f"whence: {error}")
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "home"))
    with mirror() as state:
        monkeypatch.setenv(MIRROR, state.address)
        yield state


def get() -> Path:
    return ensure_jars(find_java(), None, PINNED)


def in_own_process(*before: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*before, sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_list_pins_every_jar_of_neo4j() -> None:
    pinned = neo4j_jars()
    assert len(pinned.jars) == 213
    assert len({jar.file_name for jar in pinned.jars}) == 213
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in pinned.jars)


def test_jars_are_fetched_once_and_then_found_offline(repository: Mirror) -> None:
    seen: list[Progress] = []
    folder = ensure_jars(find_java(), seen.append, PINNED)
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES
    # Until the first byte there is nothing to measure; a share of 0 % would say less.
    assert (seen[0].stage, str(seen[0])) == ("fetching", "looking up tiny-1.0, 2 files")
    assert all(0 < each.done <= each.total == PINNED.size for each in seen if each.total)
    repository.files.clear()
    assert get() == folder
    assert sorted(repository.fetched) == sorted(FILES)
    assert not (whence_home() / "ivy").exists()


@pytest.mark.fault
def test_a_jar_with_a_wrong_hash_is_refused_and_asked_for_again(repository: Mirror) -> None:
    good = repository.files["beta-2.0.jar"]
    repository.files["beta-2.0.jar"] = bytes(len(good))
    with pytest.raises(ServerError, match=r"beta-2.0.jar: expected SHA-256 .*; got .*; try"):
        get()
    assert left_in(jars_folder(PINNED).parent) == []
    repository.files["beta-2.0.jar"] = good
    assert jars_present(PINNED) is False
    assert get().is_dir()


@pytest.mark.fault
def test_a_jar_that_is_missing_is_named(repository: Mirror) -> None:
    del repository.files["beta-2.0.jar"]
    with pytest.raises(ServerError, match=r"expected to fetch 2 jars .*beta.*; try again"):
        get()
    assert left_in(jars_folder(PINNED).parent) == []


@pytest.mark.fault
def test_a_killed_fetch_leaves_nothing_and_goes_on_where_it_was(repository: Mirror) -> None:
    repository.stall_on = "beta-2.0.jar"
    process = in_own_process()
    assert repository.stalled.wait(60)
    process.kill()
    process.communicate()
    assert not jars_folder(PINNED).exists()
    repository.stall_on = None
    # The Ivy of the killed one still writes its cache, so nobody else may.
    with pytest.raises(ServerError, match="got another whence that holds it"), locked("fetch", 0.2):
        pass
    again = in_own_process()
    repository.go_on.set()
    out, err = again.communicate(timeout=90)
    assert again.returncode == 0, err
    assert out.strip() == str(jars_folder(PINNED))
    assert jars_present(PINNED)
    assert repository.fetched.count("alpha-1.0.jar") == 1
    assert left_in(jars_folder(PINNED).parent) == [PINNED.name]


@pytest.mark.fault
def test_an_interrupted_fetch_ends_its_ivy(repository: Mirror) -> None:
    repository.stall_on = "beta-2.0.jar"
    process = in_own_process()
    assert repository.stalled.wait(60)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert left_in(jars_folder(PINNED).parent) == []
    repository.stall_on = None
    assert get().is_dir()  # at once: nobody holds the lock


@pytest.mark.fault
def test_two_fetches_at_once_are_one(repository: Mirror) -> None:
    both = [in_own_process(), in_own_process()]
    for process in both:
        out, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
        assert out.strip() == str(jars_folder(PINNED))
    assert sorted(repository.fetched) == sorted(FILES)


@pytest.mark.fault
def test_a_jar_that_was_changed_later_is_never_used(repository: Mirror) -> None:
    victim = get() / "beta-2.0.jar"
    content = bytearray(victim.read_bytes())
    content[7] ^= 1
    victim.write_bytes(content)
    with pytest.raises(ServerError, match=r"beta-2.0.jar: expected SHA-256"):
        get()


@pytest.mark.fault
def test_a_jar_that_is_not_on_the_list_is_never_used(repository: Mirror) -> None:
    (get() / "gamma.jar").write_bytes(b"")
    with pytest.raises(ServerError, match=r"got a difference: gamma.jar"):
        get()


def test_a_copy_of_the_jars_is_verified_anew_and_accepted(repository: Mirror) -> None:
    for name in FILES:
        os.utime(get() / name, (1, 1))
    assert jars_present(PINNED)


@pytest.mark.fault
@pytest.mark.parametrize(
    ("options", "reason"), [("size=300k", "No space left"), ("ro", "Read-only file system")]
)
def test_a_full_or_read_only_disk_is_said_in_one_line(
    repository: Mirror, options: str, reason: str
) -> None:
    place = whence_home()
    place.mkdir()
    mount = f'mount -t tmpfs -o {options} tmpfs {place} && exec "$@"'
    own_mounts = ("unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh")
    if not shutil.which("unshare") or subprocess.run([*own_mounts, "true"], check=False).returncode:
        pytest.skip("this system gives no mounts of one's own; the injected fault below remains")
    process = in_own_process(*own_mounts)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.startswith("whence: ")
    assert err.count("\n") == 1
    assert reason in err
    assert "try" in err


@pytest.mark.fault
def test_a_disk_that_fills_at_the_last_write_leaves_nothing(
    repository: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(fetch, "_stamp", full)
        with pytest.raises(ServerError, match=r"got No space left on device; try freeing space"):
            get()
    assert left_in(jars_folder(PINNED).parent) == []
    assert get().is_dir()


@pytest.mark.fault
def test_a_file_where_the_home_should_be_is_said_in_one_line(repository: Mirror) -> None:
    whence_home().write_text("not a folder")
    with pytest.raises(ServerError, match="try setting WHENCE_HOME to a folder you can write"):
        get()


def test_without_pyspark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.store.server.ivy.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"whence\[spark\]"):
        ivy_jar()
