"""``whence trust``: let the settings file of a folder count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from whence.cli.output import output
from whence.engine.errors import SettingsError

if TYPE_CHECKING:
    from whence.store.whence_toml import WhenceToml

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def trust(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="Folder where the search for whence.toml starts (else here)."
        ),
    ] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Revoke the trust.")] = False,
    every: Annotated[bool, typer.Option("--list", help="List the trusted files.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Trust the whence.toml of a folder: its server, password file and allowed modules.

    Shows what the file sets first. A file that changes has to be trusted again.
    """
    from whence.store.trust import revoke as end_trust
    from whence.store.trust import trust as begin_trust
    from whence.store.whence_toml import find_whence_toml, shown

    out = output()
    if every:
        _list()
        return
    start = (folder or Path.cwd()).absolute()
    found = None if revoke else find_whence_toml(start)
    if revoke:
        path = _nearest(start)
        was = end_trust(path)
        words = "is no longer trusted" if was else "was not trusted"
        out.result({"file": str(path), "revoked": was}, f"{shown(path)} {words}")
        return
    if found is None:
        msg = (
            f"a folder to trust: expected a whence.toml of your own in {shown(start)} or above; "
            "got none; try another folder"
        )
        raise SettingsError(msg)
    settings = _settings(found)
    for name, value in settings.items():
        out.message(f"  {name} = {value!r}")
    if not out.confirm(f"Trust {shown(found.path)}?", yes=yes):
        raise typer.Exit(1)
    begin_trust(found.path, found.digest)
    out.result(
        {"file": str(found.path), "digest": found.digest, "settings": settings},
        f"{shown(found.path)} is trusted until it changes",
    )


def _settings(found: WhenceToml) -> dict[str, Any]:
    """What counts once the file is trusted, with the place of the password in full."""
    settings: dict[str, Any] = dict(found.neo4j)
    place = found.password_file()  # one outside of the folder is refused
    if place is not None:
        settings["password_file"] = str(place)
    if found.allow:
        settings["allow"] = list(found.allow)
    return settings


def _nearest(start: Path) -> Path:
    """The nearest settings file, readable or not; else where it would be."""
    levels = [start, *start.parents]
    return next(
        (each / "whence.toml" for each in levels if (each / "whence.toml").is_file()),
        start / "whence.toml",
    )


def _list() -> None:
    from whence.store.trust import trusted_files
    from whence.store.whence_toml import shown

    rows = []
    for path, digest in sorted(trusted_files().items()):
        rows.append({"file": shown(path), "state": _state(path, digest)})
    if output().json:
        output().result({"trusted": rows})
        return
    output().table(rows, ["file", "state"])


def _state(path: Path, digest: str) -> str:
    from whence.store.whence_toml import find_whence_toml

    try:
        found = find_whence_toml(path.parent)
    except SettingsError:
        return "changed: not trusted"
    if found is None or found.path.resolve() != path.resolve():
        return "gone"
    return "trusted" if found.digest == digest else "changed: not trusted"
