"""``whence journal``: who queried, exported or erased what, and when."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.asking import Record
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.exporters.evidence.heads import Heads

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
def journal(
    last: Annotated[int, typer.Option("--last", min=1, help="Number of entries to show.")] = 20,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Compare the journal with every signed head; show no entries."
        ),
    ] = False,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="PUB", help="Public key of the signer (else your own)."),
    ] = None,
    pack: Annotated[
        list[Path] | None,
        typer.Option(
            "--pack",
            metavar="PACK.zip",
            help="A pack with a head to compare as well; may be repeated.",
        ),
    ] = None,
    record: Record = None,
) -> None:
    """Show the journal of the record, after checking each line against the one before it.

    A changed, removed or inserted line is reported, and the exit code is 1. With --verify, compare
    the journal with every signed head in runs and packs: this also finds a journal that was cut off
    and written anew. The exit code is 3 if no head is signed.
    """
    from whence.engine.record import record_place
    from whence.store.journal import read_journal

    root = record_place(record)
    if verify:
        _verify(root, key, pack or [])
        return
    if key is not None or pack:
        raise typer.BadParameter("expected --verify with it; got it alone; try both")
    entries = read_journal(root)
    rows = [
        {**asdict(each), "command": f"whence {shlex.join(each.words)}"} for each in entries[-last:]
    ]
    output().table(rows, ["number", "time", "who", "command"])
    if entries:
        output().message(
            f"{len(entries):,} entries, unbroken in themselves; the last digest is "
            f"{entries[-1].digest}; whence journal --verify compares them with what was signed"
        )


def _verify(root: Path, key: Path | None, packs: list[Path]) -> None:
    from whence.exporters.evidence.heads import verify_heads
    from whence.exporters.evidence.keys import public_key, signing_keys

    own = signing_keys() if key is None else None
    trusted = public_key(key) if key is not None else None if own is None else own.public
    found = verify_heads(root, trusted, packs)
    text = "\n".join([*found.problems, _verdict(found)])
    output().result({**asdict(found), "key": None if trusted is None else trusted.id}, text)
    if found.problems:
        raise typer.Exit(1)
    if not found.signed:
        raise typer.Exit(3)


def _verdict(found: Heads) -> str:
    entries = f"{found.entries:,} entries"
    if found.problems:
        return f"{entries}: the journal was changed"
    if not found.signed:
        more = f"; heads are signed by other keys: {', '.join(found.others)}" * bool(found.others)
        return f"{entries}, unbroken in themselves; the journal is not signed{more}"
    after = found.entries - found.covered
    rest = f"; the last {after:,} come after it, and could be cut off" if after else ""
    heads = "head" if found.signed == 1 else "heads"
    return (
        f"{entries}, unbroken, through {found.signed:,} signed {heads}, the last of "
        f"{found.covered:,} entries{rest}"
    )
