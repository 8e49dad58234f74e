"""A folder's settings file counts once the user has trusted it, and until it changes."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import Cli
from whence.engine.errors import SettingsError
from whence.store import resolve_settings
from whence.store.allowing import own_functions
from whence.store.trust import revoke, trust, trusted_files
from whence.store.whence_toml import configured_metadata, find_whence_toml, read_whence_toml


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the user's own that trusts nothing yet."""
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WHENCE_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "home"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / "secret").write_text("folders-password\n")
    (folder / "whence.toml").write_text(
        "allow = ['theirs']\n[neo4j]\nuri = 'bolt://127.0.0.1:7'\nusername = 'ann'\n"
        "password_file = 'secret'\ndatabase = 'db'\n[metadata]\nowner = 'Payments'\n"
    )
    return folder


def trusted(folder: Path) -> None:
    found = find_whence_toml(folder)
    assert found is not None
    trust(found.path, found.digest)


def test_of_a_file_that_is_not_trusted_only_the_metadata_counts(
    clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert resolve_settings(environment={}, folder=clone) is None
    assert own_functions(folder=clone).modules == frozenset()
    assert configured_metadata(clone) == {"owner": "Payments"}
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err == (
        f"{clone / 'whence.toml'} is not trusted: its uri, username, password_file, database, "
        "allow ignored; try whence trust\n"
    )


def test_a_trusted_file_counts_until_it_changes(clone: Path, home: Path) -> None:
    trusted(clone)
    settings = resolve_settings(environment={}, folder=clone)
    assert settings is not None
    assert (settings.uri, settings.username, settings.database) == (
        *("bolt://127.0.0.1:7", "ann", "db"),
    )
    assert settings.password.reveal() == "folders-password"
    assert own_functions(folder=clone).modules == {"theirs"}
    assert stat.S_IMODE((home / "trusted.json").stat().st_mode) == 0o600
    with (clone / "whence.toml").open("a") as file:
        file.write("# pulled\n")
    assert resolve_settings(environment={}, folder=clone) is None
    assert own_functions(folder=clone).modules == frozenset()
    trusted(clone)
    assert resolve_settings(environment={}, folder=clone) is not None
    assert revoke(clone / "whence.toml")
    assert not revoke(clone / "whence.toml")
    assert resolve_settings(environment={}, folder=clone) is None
    assert trusted_files() == {}


def test_the_same_bytes_elsewhere_are_not_trusted(clone: Path, tmp_path: Path) -> None:
    trusted(clone)
    other = tmp_path / "other"
    other.mkdir()
    (other / "whence.toml").write_bytes((clone / "whence.toml").read_bytes())
    assert resolve_settings(environment={}, folder=other) is None
    (tmp_path / "linked").symlink_to(clone, target_is_directory=True)
    assert resolve_settings(environment={}, folder=tmp_path / "linked") is not None


@pytest.mark.parametrize("how", ["absolute", "above", "home", "link", "linked folder"])
def test_a_password_outside_of_the_folder_is_refused_even_when_trusted(
    clone: Path, tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key").write_text("private-key\n")
    monkeypatch.setenv("HOME", str(outside))
    place = {"absolute": str(outside / "key"), "above": "../outside/key", "home": "~/key"}.get(how)
    if how == "link":
        (clone / "link").symlink_to(outside / "key")
        place = "link"
    if how == "linked folder":
        (clone / "link").symlink_to(outside, target_is_directory=True)
        place = "link/key"
    (clone / "whence.toml").write_text(
        f"[neo4j]\nuri = 'bolt://127.0.0.1:7'\npassword_file = '{place}'\n"
    )
    trusted(clone)
    with pytest.raises(SettingsError, match="expected a password_file inside its folder") as caught:
        resolve_settings(environment={}, folder=clone)
    assert "private-key" not in str(caught.value)


def _password(folder: Path) -> str:
    settings = resolve_settings(environment={}, folder=folder)
    assert settings is not None
    return settings.password.reveal()


@pytest.mark.parametrize("place", ["a\\u0000b", "~nobody-of-this-name/key", "loop"])
def test_a_password_file_that_is_no_path_is_refused_in_one_line(clone: Path, place: str) -> None:
    (clone / "loop").symlink_to("loop")
    (clone / "whence.toml").write_text(
        f'[neo4j]\nuri = "bolt://127.0.0.1:7"\npassword_file = "{place}"\n'
    )
    trusted(clone)
    with pytest.raises(SettingsError, match=r"expected .*password.*; got .*; try") as caught:
        _password(clone)
    assert "\n" not in str(caught.value)


def test_a_file_of_endless_nesting_is_refused_in_one_line(clone: Path) -> None:
    (clone / "whence.toml").write_text("a = " + "[" * 100_000)
    with pytest.raises(SettingsError, match="expected TOML; got something else; try"):
        find_whence_toml(clone)


def test_the_users_own_configuration_needs_no_trust_and_comes_last(
    clone: Path, tmp_path: Path
) -> None:
    (tmp_path / "own-secret").write_text("own-password\n")
    (tmp_path / "config.toml").write_text(
        f"allow = ['mine']\n[neo4j]\nuri = 'bolt://127.0.0.1:9'\nusername = 'own'\n"
        f"password_file = '{tmp_path / 'own-secret'}'\n[metadata]\nowner = 'Own'\nunit = 'Own'\n"
    )
    settings = resolve_settings(environment={}, folder=clone)
    assert settings is not None
    assert (settings.uri, settings.password.reveal()) == ("bolt://127.0.0.1:9", "own-password")
    assert own_functions(["said"], folder=clone).modules == {"said", "mine"}
    assert configured_metadata(clone) == {"owner": "Payments", "unit": "Own"}
    trusted(clone)
    settings = resolve_settings(environment={}, folder=clone)
    assert settings is not None
    assert (settings.uri, settings.username) == ("bolt://127.0.0.1:7", "ann")
    assert own_functions(["said"], folder=clone).modules == {"said", "mine", "theirs"}


def test_a_password_of_the_users_own_never_goes_to_a_folders_server(
    clone: Path, tmp_path: Path
) -> None:
    (tmp_path / "own-secret").write_text("own-password\n")
    (tmp_path / "config.toml").write_text(
        "[neo4j]\nuri = 'bolt://127.0.0.1:9'\npassword_file = 'own-secret'\n"
    )
    (clone / "whence.toml").write_text("[neo4j]\nuri = 'bolt://127.0.0.1:7'\n")
    trusted(clone)
    with pytest.raises(SettingsError, match="expected a password for the server given by"):
        resolve_settings(environment={}, folder=clone)


def test_a_broken_list_of_trusted_files_trusts_nothing(clone: Path, home: Path) -> None:
    trusted(clone)
    for text in ("[]", "{", '{"a": 1}', "\udcff"):
        (home / "trusted.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(SettingsError, match="expected a list of trusted files"):
            read_whence_toml(clone)


@dataclass
class Listener:
    """A server of somebody else's that takes down whatever arrives."""

    port: int
    arrived: list[bytes] = field(default_factory=list)


@pytest.fixture
def listener() -> Iterator[Listener]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Listener(server.getsockname()[1])

        def take() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connection.settimeout(2)
                    found.arrived.append(b"connected ")
                    with suppress(OSError):
                        found.arrived.append(connection.recv(4096))
                    connection.close()

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield found
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10)


def test_a_cloned_folder_sends_nothing_to_its_server(
    cli: Cli, tmp_path: Path, listener: Listener
) -> None:
    """What a clone asks for: the first line of a file of the user's, sent to a server of its own.

    ``doctor`` connects to the server that is meant, and starts none.
    """
    (tmp_path / "id_rsa").write_text("private-key\n")
    (tmp_path / "whence.toml").write_text(
        f"[neo4j]\nuri = 'bolt://127.0.0.1:{listener.port}'\npassword_file = 'id_rsa'\n"
    )
    done = cli("doctor")
    assert "is not trusted: its uri, password_file ignored; try whence trust" in done.stderr
    assert listener.arrived == []
    assert cli("trust", "--yes").returncode == 0
    cli("doctor")
    assert b"connected " in listener.arrived  # so the first command would have reached it


def test_a_pipe_as_the_password_file_of_a_folder_is_one_line(
    cli: Cli, tmp_path: Path, listener: Listener
) -> None:
    """Nothing writes to it: a command that opened it as a file would wait forever."""
    os.mkfifo(tmp_path / "secret")
    (tmp_path / "whence.toml").write_text(
        f"[neo4j]\nuri = 'bolt://127.0.0.1:{listener.port}'\npassword_file = 'secret'\n"
    )
    assert cli("trust", "--yes").returncode == 0
    done = cli("search", "--value", "true")
    assert done.returncode == 1
    assert "got a pipe or device, no regular file; try a file" in done.stderr
    assert done.stderr.count("\n") == 1
    done = cli("doctor")
    assert "Traceback" not in done.stderr


def test_whence_trust_shows_what_the_file_sets(cli: Cli, clone: Path, tmp_path: Path) -> None:
    (tmp_path / "whence.toml").write_bytes((clone / "whence.toml").read_bytes())
    unsaid = cli("trust")
    assert unsaid.returncode == 1
    assert "try --yes" in unsaid.stderr
    done = cli("trust", "--yes")
    assert (done.returncode, done.stdout) == (
        0,
        f"{tmp_path / 'whence.toml'} is trusted until it changes\n",
    )
    assert done.stderr.splitlines() == [
        "  uri = 'bolt://127.0.0.1:7'",
        "  username = 'ann'",
        f"  password_file = '{tmp_path / 'secret'}'",
        "  database = 'db'",
        "  allow = ['theirs']",
    ]
    assert "trusted" in cli("trust", "--list").stdout
    (tmp_path / "whence.toml").write_text("allow = ['more']\n")
    assert "changed: not trusted" in cli("trust", "--list").stdout
    assert "no longer trusted" in cli("trust", "--revoke").stdout


def test_nothing_of_the_file_reaches_the_terminal_as_it_is(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "clone\x1b]0;owned\x07"
    folder.mkdir()
    (folder / "whence.toml").write_text('[neo4j]\nuri = "bolt://\\u001b[31mhost"\n')
    done = cli("trust", str(folder), "--yes")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "\x07" not in done.stdout + done.stderr


def test_a_folder_without_a_file_of_ones_own_is_refused(cli: Cli, tmp_path: Path) -> None:
    done = cli("trust", "--yes")
    assert done.returncode == 1
    assert "expected a whence.toml of your own" in done.stderr
    assert os.listdir(tmp_path) in ([], ["home"])
