from __future__ import annotations

import os
from pathlib import Path

import pytest

from whence.engine.errors import SettingsError
from whence.store import Settings, resolve_settings
from whence.store.trust import trust
from whence.store.whence_toml import find_whence_toml

ENVIRONMENT = {
    "NEO4J_URI": "neo4j+s://env.example",
    "NEO4J_USERNAME": "env-user",
    "NEO4J_PASSWORD": "env-password",
    "NEO4J_DATABASE": "env-db",
}


@pytest.fixture
def toml(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("toml-password\n")
    (tmp_path / "whence.toml").write_text(
        "[neo4j]\nuri = 'neo4j+s://toml.example'\nusername = 'toml-user'\n"
        "password_file = 'secret'\ndatabase = 'toml-db'\n"
    )
    trust_here(tmp_path)
    return tmp_path


def trust_here(folder: Path) -> None:
    found = find_whence_toml(folder)
    assert found is not None
    trust(found.path, found.digest)


def resolved(folder: Path, environment: dict[str, str], **said: str) -> Settings:
    settings = resolve_settings(environment=environment, folder=folder, **said)  # type: ignore[arg-type]
    assert settings is not None
    return settings


def test_without_any_setting_the_local_server_is_meant(tmp_path: Path) -> None:
    assert resolve_settings(environment={}, folder=tmp_path) is None


def test_the_caller_comes_before_the_environment(toml: Path) -> None:
    settings = resolved(toml, ENVIRONMENT, uri="bolt+s://said.example", username="said")
    assert (settings.uri, settings.username) == ("bolt+s://said.example", "said")
    assert settings.database == "env-db"
    assert settings.source == "caller"


def test_the_environment_comes_before_the_file(toml: Path) -> None:
    settings = resolved(toml, ENVIRONMENT)
    assert (settings.uri, settings.username) == ("neo4j+s://env.example", "env-user")
    assert "NEO4J_PASSWORD" in settings.password.place


def test_the_file_counts_from_folders_below_it_too(toml: Path) -> None:
    below = toml / "a" / "b"
    below.mkdir(parents=True)
    settings = resolved(below, {})
    assert (settings.uri, settings.database) == ("neo4j+s://toml.example", "toml-db")
    assert settings.password.reveal() == "toml-password"
    assert settings.source == str(toml / "whence.toml")


def test_a_password_file_overrides_a_lower_password(toml: Path) -> None:
    path = toml / "other"
    path.write_text("said-password")
    settings = resolved(toml, ENVIRONMENT, password_file=str(path))
    assert settings.password.reveal() == "said-password"


def test_the_file_of_another_user_is_passed_over(
    toml: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = toml / "whence.toml"
    if os.getuid() == 0:
        os.chown(path, 12345, -1)
    else:  # only root may give files away, so here we become somebody else
        monkeypatch.setattr("os.getuid", lambda: path.stat().st_uid + 1)
    assert resolve_settings(environment={}, folder=toml) is None


@pytest.mark.parametrize(
    ("table", "hint"),
    [
        ("[neo4j]\npassword = 'hush-hush'", "try password_file"),
        ("[neo4j]\npasword_file = 'x'", "expected texts uri, username, password_file, database"),
        ("[neo4j]\nuri = 7", "got 'uri'"),
        ("neo4j = 'bolt://x'", "expected a table"),
        ("[neo4j\npassword = 'hush-hush'", "expected TOML"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path: Path, table: str, hint: str) -> None:
    (tmp_path / "whence.toml").write_text(table)
    with pytest.raises(SettingsError) as caught:
        resolve_settings(environment={}, folder=tmp_path)
    assert hint in str(caught.value)
    assert "hush-hush" not in str(caught.value)


@pytest.mark.parametrize("missing", ["NEO4J_URI", "NEO4J_PASSWORD"])
def test_half_the_settings_are_refused(tmp_path: Path, missing: str) -> None:
    half = {name: value for name, value in ENVIRONMENT.items() if name != missing}
    with pytest.raises(SettingsError, match="got none; try NEO4J"):
        resolve_settings(environment=half, folder=tmp_path)


def test_two_passwords_are_refused(tmp_path: Path) -> None:
    both = {**ENVIRONMENT, "NEO4J_PASSWORD_FILE": "somewhere"}
    with pytest.raises(SettingsError, match="got both NEO4J_PASSWORD and NEO4J_PASSWORD_FILE"):
        resolve_settings(environment=both, folder=tmp_path)


@pytest.mark.parametrize(
    "uri", ["bolt://graph.example:7687", "neo4j://10.0.0.1", "bolt://[2001:db8::1]:7687"]
)
def test_a_plain_connection_to_another_machine_needs_a_word(tmp_path: Path, uri: str) -> None:
    environment = {**ENVIRONMENT, "NEO4J_URI": uri}
    with pytest.raises(SettingsError, match="expected an encrypted connection"):
        resolve_settings(environment=environment, folder=tmp_path)
    allowed = resolve_settings(environment=environment, folder=tmp_path, insecure=True)
    assert allowed is not None
    assert allowed.insecure


@pytest.mark.parametrize(
    "uri",
    [
        "bolt://localhost:7687",
        "bolt://127.0.0.1",
        "neo4j://127.8.9.1:1",
        "bolt://[::1]:7687",
        "bolt+ssc://graph.example",
    ],
)
def test_loopback_and_encrypted_addresses_are_accepted(tmp_path: Path, uri: str) -> None:
    assert resolved(tmp_path, {**ENVIRONMENT, "NEO4J_URI": uri}).uri == uri


@pytest.mark.parametrize(
    "uri", ["http://localhost:7474", "localhost:7687", "bolt://", "bolt://a:b"]
)
def test_what_is_no_bolt_address_is_refused(tmp_path: Path, uri: str) -> None:
    with pytest.raises(SettingsError, match=r"expected a URI that begins with bolt://"):
        resolve_settings(environment={**ENVIRONMENT, "NEO4J_URI": uri}, folder=tmp_path)


def test_a_password_inside_the_uri_is_refused_and_not_repeated(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "NEO4J_URI": "bolt://neo4j:hush@127.0.0.1"}
    with pytest.raises(SettingsError, match="without user and password") as caught:
        resolve_settings(environment=environment, folder=tmp_path)
    assert "hush" not in str(caught.value)
