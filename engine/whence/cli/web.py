"""``whence web``: the page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.asking import Record
from whence.cli.connecting import Server, connected, connects, default_instance
from whence.cli.output import output
from whence.engine.errors import MissingExtraError

if TYPE_CHECKING:
    from whence.store import Settings

__all__ = ["app"]

app = typer.Typer(add_completion=False)


@app.command()
@connects
def web(
    host: Annotated[
        str,
        typer.Option("--host", help="Where it listens; elsewhere than here a token is needed."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8017,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="The token, for its owner alone; made if it is not there.",
        ),
    ] = None,
    record: Record = None,
    *,
    server: Server,
) -> None:
    """Show runs, outputs and answers in the browser, until Ctrl-C.

    The page only reads, and only this machine can reach it unless --host says otherwise; it then
    asks for a token, which is kept in a file.
    """
    try:
        from whence.web import Asker, Token, is_loopback, serve
        from whence.web.running import listen
    except ImportError as error:
        raise MissingExtraError.for_extra("web", str(error.name)) from error
    from whence.engine.record import record_place
    from whence.store.server.folders import whence_home

    out = output()
    token = None
    if token_file is not None or not is_loopback(host):
        place = token_file or whence_home() / "web-token"
        token = Token.kept_in(place)
        out.say(f"the token that opens the page is in {place}")
        if not is_loopback(host):
            out.say("the connection is not encrypted: put a proxy with TLS before it")
    listening = listen(host, port)
    settings = server.settings()
    with connected(settings):
        pass  # a local server is started, and whatever is wrong is said here

    def again() -> Settings:
        """Where the graph is now: a local server may have come back at another port."""
        from whence.store.server import status

        return settings or status(default_instance()).settings()

    asker = Asker(again, record_place(record))
    serve(
        asker,
        listening,
        token,
        ready=lambda address: out.result(
            {"address": address}, f"the page is at {address} (Ctrl-C stops it)"
        ),
    )
    out.say("stopped")
