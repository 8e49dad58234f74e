"""``whence validate``: is a PROV document valid?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whence.cli.output import output
from whence.exporters.prov.formats import READ

if TYPE_CHECKING:
    from whence.exporters.validating import Report

    Format = str
else:
    Format = Literal[*READ]

__all__ = ["app"]

app = typer.Typer(add_completion=False)

_COLUMNS = ("rule", "name", "message", "standard", "bundle", "also", "statements")


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The document; .gz is unpacked.")],
    format: Annotated[
        Format | None,
        typer.Option(help="Syntax of the document; default: detected from name and content."),
    ] = None,
    standard: Annotated[
        bool,
        typer.Option("--standard", help="Check W3C PROV-CONSTRAINTS only."),
    ] = False,
) -> None:
    """Check a PROV document against W3C PROV-CONSTRAINTS; print the verdict and each contradiction.

    Reads PROV-JSON, PROV-N, PROV-XML, PROV-JSONLD and RDF. Beyond the standard it also checks
    cycles across bundles and clock times. The exit code is 0 if the document is valid, and 1 if it
    is invalid or unreadable.
    """
    from whence.exporters.validating import validate as check

    report = check(file, format, beyond=not standard)
    if output().form != "table":
        found = report.as_json()
        output().result({"file": str(file), **found}, None, found["violations"], _COLUMNS)
    else:
        _print(file, report)
    if not report.valid:
        raise typer.Exit(1)


def _print(file: Path, report: Report) -> None:

    from whence.exporters.validating import CONSTRAINTS

    verdict = "valid" if report.valid else "invalid"
    if report.standard and not report.valid:
        verdict = "valid by the standard, but not beyond it"
    bundles = f" in {report.bundles:,} bundle{'s' if report.bundles != 1 else ''}"
    size = f"{report.statements:,} statements{bundles if report.bundles else ''}"
    say = output().text
    say(f"{file}: {verdict} ({report.format}, {size})")
    for each in report.violations:
        name = f" {CONSTRAINTS[each.rule][0]}" if each.rule in CONSTRAINTS else ""
        also = f" (with {', '.join(each.also)})" if each.also else ""
        inside = f", in bundle {each.bundle}" if each.bundle else ""
        say(f"{each.rule}{name}{also}: {each.message}{inside}")
        for statement in each.statements:
            say(f"    {statement}")
    for rule, many in report.counts.items():
        told = sum(each.rule == rule for each in report.violations)
        if many > told:
            say(f"{rule}: {many - told:,} more")
    for kind, many in report.unchecked.items():
        output().message(f"not checked: {many:,} of kind {kind!r}, which PROV-DM does not have")
