from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from whence.engine.errors import SettingsError
from whence.store import Secret, Settings

HUSH = "correct horse battery"
REVEAL = """
import pickle, sys
from whence.engine.errors import SettingsError
try:
    print(pickle.load(sys.stdin.buffer).reveal())
except SettingsError as error:
    print(error)
"""


def test_a_secret_never_shows_its_value() -> None:
    secret = Secret.of(HUSH)
    settings = Settings("bolt://127.0.0.1", "neo4j", secret)
    for text in (repr(secret), str(secret), f"{secret}", repr(settings), str([secret])):
        assert HUSH not in text


def test_a_secret_in_a_file_is_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text(f"{HUSH}\nsecond line\n")
    assert Secret.in_file(path).reveal() == HUSH


def test_a_secret_in_the_environment_is_read_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret.in_environment("NEO4J_PASSWORD")
    monkeypatch.setenv("NEO4J_PASSWORD", HUSH)
    assert secret.reveal() == HUSH


@pytest.mark.parametrize("content", [None, "", "\n", b"\xff\xfe"])
def test_a_file_without_a_password_is_refused(tmp_path: Path, content: str | bytes | None) -> None:
    path = tmp_path / "password"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SettingsError, match=r"expected a password in the file .*; got .*; try"):
        Secret.in_file(path).reveal()


def test_settings_travel_with_the_place_of_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text(HUSH)
    settings = Settings("bolt://127.0.0.1", "neo4j", Secret.in_file(path))
    travelled = pickle.dumps(settings)
    assert HUSH.encode() not in travelled
    arrived = pickle.loads(travelled)
    assert arrived == settings
    assert arrived.password.reveal() == HUSH


def test_a_secret_given_as_a_value_does_not_travel() -> None:
    with pytest.raises(SettingsError, match="try NEO4J_PASSWORD_FILE") as caught:
        pickle.dumps(Secret.of(HUSH))
    assert HUSH not in str(caught.value)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_file_that_has_to_be_regular_is_read_without_waiting(tmp_path: Path, kind: str) -> None:
    """In another process, which can be ended: without the check a pipe is read forever."""
    path = tmp_path / "password"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    done = subprocess.run(
        [sys.executable, "-c", REVEAL],
        input=pickle.dumps(Secret.in_file(path, regular=True)),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert b"got a pipe or device, no regular file; try a file" in done.stdout


def test_a_pipe_named_by_the_caller_is_read_once_it_is_written(tmp_path: Path) -> None:
    """As ``--password-file <(command)`` has it."""
    path = tmp_path / "password"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(f"{HUSH}\n",))
    writer.start()
    assert Secret.in_file(path).reveal() == HUSH
    writer.join()
    path.unlink()
    path.symlink_to("/dev/zero")  # which has no end
    assert len(Secret.in_file(path).reveal()) == 1 << 16
