"""``whence demo``: see it work, from nothing to an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.connecting import Database, Insecure, PasswordFile, Uri, Username, connected
from whence.cli.output import output

if TYPE_CHECKING:
    from whence.store import Settings
    from whence.store.sample import Explained

__all__ = ["app"]

app = typer.Typer(add_completion=False)

INSTANCE = "demo"
"""A server of its own, so that the demo never touches the user's graph."""


@app.command()
def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the events and the demo server for a look.")
    ] = False,
    uri: Uri = None,
    username: Username = None,
    password_file: PasswordFile = None,
    database: Database = None,
    insecure: Insecure = False,
) -> None:
    """Store a few events in Neo4j, ask why a result came out, and read the answer.

    Runs on a local server of its own ("demo") unless a Neo4j server is given. What it stores it
    removes again, and its own server it stops, unless --keep says otherwise.
    """
    from whence.store import resolve_settings
    from whence.store.server import stop

    settings = resolve_settings(
        uri=uri,
        username=username,
        password_file=password_file,
        database=database,
        insecure=insecure,
    )
    try:
        _show(settings, keep=keep)
    finally:
        if settings is None and not keep:
            stop(INSTANCE)
    if settings is None:
        ending = f"whence server stop --name {INSTANCE}" if keep else "whence demo --keep"
        hint = "stop it with" if keep else "to look around in the graph yourself, run"
        output().say(
            f"\nThe demo server {'still runs' if keep else 'is stopped'}; {hint}: {ending}"
        )


def _show(settings: Settings | None, *, keep: bool) -> None:
    from whence.store.sample import NUMBERS, explain_sample, remove_sample, store_sample

    out = output()
    with connected(settings, INSTANCE) as connection:
        counts = store_sample(connection)
        out.say(
            f"\nA log of {counts['inputs']} events: {', '.join(map(str, NUMBERS))}\n"
            "Question: is the product of three events in a row zero?\n"
            f"Stored: {counts['inputs']} input events, {counts['outputs']} outputs and "
            f"{counts['edges']} edges 'wasDerivedFrom' that say which events explain an output.\n"
        )
        answers = explain_sample(connection)
        data = {
            "uri": connection.settings.uri,
            **counts,
            "answers": [
                {
                    "output": answer.position,
                    "is_zero": answer.is_zero,
                    "because": [{"event": at, "value": value} for at, value in answer.because],
                }
                for answer in answers
            ],
        }
        out.result(data, "\n".join(_sentence(answer) for answer in answers))
        if not keep:
            remove_sample(connection)


def _sentence(answer: Explained) -> str:
    events = ", ".join(f"event {at} ({value})" for at, value in answer.because)
    verdict = "zero" if answer.is_zero else "not zero"
    return f"output {answer.position} is {verdict} because of {events}"
