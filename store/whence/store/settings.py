"""Where the graph is, and who we are there.

Each value is taken from the first of these that has it:

1. what the caller says (on the command line: ``--uri``, ``--username``, ``--password-file``,
   ``--database``);
2. the environment: ``NEO4J_URI``, ``NEO4J_USERNAME``, ``NEO4J_PASSWORD`` or
   ``NEO4J_PASSWORD_FILE``, ``NEO4J_DATABASE``;
3. the table ``[neo4j]`` of the nearest ``whence.toml``, from the working folder upwards, if the
   user has trusted that file;
4. the table ``[neo4j]`` of the user's own configuration, unless a folder's file names the server: a
   password of the user's own never goes to such a server.

If none of them names a URI, the local server is meant.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from whence.engine.errors import SettingsError
from whence.store.secret import Secret
from whence.store.whence_toml import WhenceToml, read_configuration, read_whence_toml

__all__ = ["Settings", "resolve_settings"]

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True)
class Settings:
    """How to reach a Neo4j server. Safe to print; travels without the password itself.

    >>> Settings("neo4j+s://graph.example", "ann", Secret.of("hush"))
    Settings(uri='neo4j+s://graph.example', username='ann', password=<secret given by the \
caller>, database=None, insecure=False, source='caller')
    """

    uri: str
    username: str
    password: Secret
    database: str | None = None
    insecure: bool = False
    source: str = "caller"

    def __post_init__(self) -> None:
        """Refuse an address that is no Bolt address or that would show the password to others."""
        _check_uri(self.uri, insecure=self.insecure)


def resolve_settings(
    *,
    uri: str | None = None,
    username: str | None = None,
    password_file: str | Path | None = None,
    database: str | None = None,
    insecure: bool = False,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings | None:
    """Put the settings together; None means the local server.

    Args:
        uri: Address of a server, ``neo4j+s://host`` for instance.
        username: The user there; ``neo4j`` if nobody says otherwise.
        password_file: A file whose first line is the password.
        database: The database there; the server's default if nobody says otherwise.
        insecure: Allow a plain connection to another machine.
        environment: The environment variables; those of this process by default.
        folder: Where the search for ``whence.toml`` begins; the working folder by default.
    """
    environ = os.environ if environment is None else environment
    said = _Layer("caller", uri, username, _file(password_file, Path.cwd()), database)
    layers = [said, _from_environment(environ)]
    of_folder = _from_toml(read_whence_toml(folder or Path.cwd()))
    layers += of_folder
    if _first(layers[:2], "uri") or not _first(of_folder, "uri"):
        layers += _from_toml(read_configuration())
    address = _first(layers, "uri")
    if address is None:
        _refuse_without_uri(layers)
        return None
    source = next(layer.source for layer in layers if layer.uri)
    secret = next((layer.password for layer in layers if layer.password), None)
    if secret is None:
        msg = (
            "expected a password for the server given by "
            f"{source}; got none; try NEO4J_PASSWORD_FILE with the path of a file that holds it"
        )
        raise SettingsError(msg)
    return Settings(
        uri=address,
        username=_first(layers, "username") or "neo4j",
        password=secret,
        database=_first(layers, "database"),
        insecure=insecure,
        source=source,
    )


@dataclass(frozen=True)
class _Layer:
    source: str
    uri: str | None = None
    username: str | None = None
    password: Secret | None = None
    database: str | None = None


def _first(layers: list[_Layer], name: str) -> str | None:
    return next((value for layer in layers if (value := getattr(layer, name))), None)


def _file(path: str | Path | None, base: Path) -> Secret | None:
    return Secret.in_file(base / Path(path).expanduser()) if path else None


def _from_environment(environ: Mapping[str, str]) -> _Layer:
    path = environ.get("NEO4J_PASSWORD_FILE")
    if path and environ.get("NEO4J_PASSWORD"):
        msg = (
            "expected one password; got both NEO4J_PASSWORD and NEO4J_PASSWORD_FILE; "
            "try unsetting NEO4J_PASSWORD"
        )
        raise SettingsError(msg)
    plain = Secret.in_environment("NEO4J_PASSWORD") if environ.get("NEO4J_PASSWORD") else None
    return _Layer(
        source="environment",
        uri=environ.get("NEO4J_URI"),
        username=environ.get("NEO4J_USERNAME"),
        password=_file(path, Path.cwd()) or plain,
        database=environ.get("NEO4J_DATABASE"),
    )


def _from_toml(found: WhenceToml | None) -> list[_Layer]:
    if found is None:
        return []
    place = found.password_file()
    return [
        _Layer(
            source=str(found.path),
            uri=found.neo4j.get("uri"),
            username=found.neo4j.get("username"),
            password=None if place is None else Secret.in_file(place, regular=not found.own),
            database=found.neo4j.get("database"),
        )
    ]


def _refuse_without_uri(layers: list[_Layer]) -> None:
    """A password or user without a server is a forgotten URI, not a wish for the local server."""
    for layer in layers:
        given = [name for name in ("username", "password", "database") if getattr(layer, name)]
        if given:
            msg = (
                f"expected a URI beside the {given[0]} given by {layer.source}; got none; "
                "try NEO4J_URI=bolt://127.0.0.1:7687, or give neither to use the local server"
            )
            raise SettingsError(msg)


def _check_uri(uri: str, *, insecure: bool) -> None:
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if "@" in uri:
        # Not repeated in the message: what stands before the @ may be a password.
        msg = (
            "expected a URI without user and password; got one with '@'; "
            "try NEO4J_USERNAME and NEO4J_PASSWORD_FILE"
        )
        raise SettingsError(msg)
    if parts.scheme not in SCHEMES or not host:
        msg = (
            f"expected a URI that begins with {', '.join(f'{s}://' for s in SCHEMES)} and names a "
            f"host; got {uri!r}; try bolt://127.0.0.1:7687"
        )
        raise SettingsError(msg)
    if parts.scheme in ("bolt", "neo4j") and not insecure and not _is_loopback(host):
        msg = (
            f"expected an encrypted connection to another machine; got {uri!r}; "
            f"try {parts.scheme}+s://{host}, or --insecure if the network between is trusted"
        )
        raise SettingsError(msg)


def _is_loopback(host: str) -> bool:
    """Names other than localhost are not looked up: what they mean may change."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
