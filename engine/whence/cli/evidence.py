"""``whence evidence``: a pack that an auditor can check without us."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from whence.cli.asking import Record
from whence.cli.connecting import Server, connects
from whence.cli.output import output

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    help="Make sealed packs of evidence about a result, and verify them.",
    no_args_is_help=True,
)

Profile = Literal["gdpr-access", "gdpr-decision", "gdpr-erasure", "bcbs239"]


@app.command()
@connects
def create(
    run: Annotated[str, typer.Option("--run", help="The run's id, or latest.")],
    question: Annotated[
        str,
        typer.Option(
            "--question",
            metavar="QUESTION",
            help="[explain] [PROCESSOR[.PIPE]@]POSITION, or: case CASE, or: erasure ID.",
        ),
    ],
    file: Annotated[
        Path, typer.Option("--output", "-o", metavar="PACK.zip", help="The pack to write.")
    ],
    profile: Annotated[
        Profile, typer.Option("--profile", help="Which duty it serves.")
    ] = "gdpr-decision",
    reveal: Annotated[
        list[str],
        typer.Option(
            "--reveal", metavar="FIELD", help="Tell this field's values; may be repeated."
        ),
    ] = [],  # noqa: B006  typer copies it
    subject: Annotated[
        str | None,
        typer.Option("--subject", metavar="CASE", help="Tell all of the events of this case."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="RUN", help="Explain the difference from this earlier run."
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", metavar="KEY", help="Name or file of the private key (else default)."
        ),
    ] = None,
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Make a pack: question, answer, events, proofs, PROV; sealed and signed.

    Values of input events are left out unless they are revealed. The pack is verified before the
    command ends.
    """
    from whence.engine.record import record_place
    from whence.exporters.evidence import Wanted, create_pack, find_keys, verify_pack
    from whence.store.whence_toml import read_whence_toml

    keys = find_keys(key)
    settings = read_whence_toml(Path.cwd())
    stated = {} if settings is None else settings.metadata
    wanted = Wanted(run, question, profile, tuple(reveal), subject, stated, against)
    with server.connect() as connection:
        written = create_pack(connection, record_place(record), wanted, file, keys)
    verified = verify_pack(written)
    size = written.stat().st_size
    output().result(
        {"file": str(written), "bytes": size, "key": keys.public.id, "holds": verified.holds},
        f"{written}: {size:,} bytes, signed by key {keys.public.id}",
    )
    if not verified.holds:
        raise typer.Exit(1)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="PACK.zip", help="The pack.")],
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="PUB", help="The public key of who is said to have made it."),
    ] = None,
) -> None:
    """Verify a pack, offline: structure, digests, signature, PROV, proofs and counts.

    The exit code is 0 if all of it holds, 1 if something does not.
    """
    from whence.exporters.evidence import verify_pack

    verified = verify_pack(file, key)
    lines = [f"{'holds' if holds else 'FAILS'}  {words}" for holds, words in verified.findings]
    failed = sum(not holds for holds, _ in verified.findings)
    verdict = "all of it holds" if verified.holds else f"{failed} of {len(lines)} fail"
    output().result(
        {
            "holds": verified.holds,
            "findings": [{"holds": holds, "words": words} for holds, words in verified.findings],
        },
        Text("\n".join([*lines, f"{file.name}: {verdict}"])),
    )
    if not verified.holds:
        raise typer.Exit(1)
