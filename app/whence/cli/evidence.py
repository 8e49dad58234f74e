"""``whence evidence``: a pack that an auditor can check without us."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.text import Text

from whence.cli.asking import Record
from whence.cli.chain_options import Allow
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
            help="An output, [PROCESSOR[.PIPE]@]POSITION; or case CASE; or erasure ID.",
        ),
    ],
    file: Annotated[
        Path, typer.Option("--output", "-o", metavar="PACK.zip", help="The pack to write.")
    ],
    profile: Annotated[
        Profile, typer.Option("--profile", help="The purpose of the pack.")
    ] = "gdpr-decision",
    reveal: Annotated[
        list[str],
        typer.Option(
            "--reveal", metavar="FIELD", help="Reveal this field's values; may be repeated."
        ),
    ] = [],  # noqa: B006  typer copies it
    subject: Annotated[
        str | None,
        typer.Option("--subject", metavar="CASE", help="Reveal all fields of this case's events."),
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
    timestamp: Annotated[
        str | None,
        typer.Option(
            "--timestamp", metavar="URL", help="Get a time stamp from this server (RFC 3161)."
        ),
    ] = None,
    record: Record = None,
    allow: Allow = None,
    *,
    server: Server,
) -> None:
    """Make a pack: question, answer, events, proofs, PROV; sealed and signed.

    Values of input events are left out unless they are revealed. The pack is verified before the
    command ends.
    """
    from whence.engine.record import RunRecord, record_place
    from whence.exporters.evidence import Wanted, create_pack, find_keys, verify_pack
    from whence.exporters.evidence.wording import IMPORTED
    from whence.store.allowing import why_not_loaded
    from whence.store.whence_toml import configured_metadata

    keys = find_keys(key)
    stated = configured_metadata(Path.cwd())
    given, root = tuple(allow or ()), record_place(record)
    wanted = Wanted(run, question, profile, tuple(reveal), subject, stated, against, given)
    with server.connect() as connection:
        written = create_pack(connection, root, wanted, file, keys, timestamp=timestamp)
    verified = verify_pack(written)
    manifest = RunRecord(root, run).manifest
    if manifest.imported:
        output().message(IMPORTED)
    missing = why_not_loaded(manifest.chain)
    if missing is not None:
        output().message(f"without steps in words and other values: {missing}")
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
        typer.Option("--key", metavar="PUB", help="Public key of the expected signer."),
    ] = None,
    tsa_certificate: Annotated[
        Path | None,
        typer.Option(
            "--tsa-certificate",
            metavar="PEM",
            help="Trusted certificates of the time-stamping authority.",
        ),
    ] = None,
) -> None:
    """Verify a pack offline: digests, signature, proofs, PROV; rebuild everything that it shows.

    The exit code is 0 if the pack is verified, 1 if a check fails, and 3 if no check fails but
    something is left: the signer without --key, a time that --tsa-certificate requires and no
    token proves, or a pack of an older format.
    """
    from whence.exporters.evidence import verify_pack
    from whence.exporters.evidence.verify import one_line

    verified = verify_pack(file, key, tsa_certificate)
    lines = [f"{'OK' if holds else 'FAILS':<5}  {words}" for holds, words in verified.findings]
    failed = sum(not holds for holds, _ in verified.findings)
    verdict = "verified"
    if failed:
        verdict = f"{failed} of {len(lines)} fail"
    elif verified.unproved:
        verdict = f"what was checked is OK; {'; '.join(verified.unproved)}"
    lines += [f"note   {words}" for words in verified.notes]
    findings = [{"holds": holds, "words": words} for holds, words in verified.findings]
    output().result(
        {
            "holds": verified.holds,
            "proved": verified.proved,
            "findings": findings,
            "notes": list(verified.notes),
            "unproved": list(verified.unproved),
        },
        Text("\n".join(map(one_line, [*lines, f"{file.name}: {verdict}"]))),
        findings,
    )
    if not verified.proved:
        raise typer.Exit(3 if verified.holds else 1)
