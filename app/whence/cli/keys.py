"""``whence keys``: the keys that evidence is signed with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    help="Make the keys that evidence packs are signed with.",
    no_args_is_help=True,
)


@app.callback()
def keys() -> None:
    """Make the keys that evidence packs are signed with."""


@app.command()
def create(
    name: Annotated[str, typer.Option("--name", "-n", help="Name of the key pair.")] = "default",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", metavar="DIR", help="Folder for the key pair (else WHENCE_HOME/keys)."
        ),
    ] = None,
) -> None:
    """Make a pair of Ed25519 keys: NAME.key for you alone, NAME.pub for those who verify."""
    from whence.exporters.evidence import create_keys

    made = create_keys(name, folder)
    public = made.path.with_suffix(".pub")
    output().result(
        {"private": str(made.path), "public": str(public), "id": made.public.id},
        f"private key, for you alone: {made.path}\n"
        f"public key, for those who verify: {public}\nkey {made.public.id}",
    )
