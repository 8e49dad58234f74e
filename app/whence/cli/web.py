"""``whence web``: the page."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whence.cli.asking import Record
from whence.cli.chain_options import Allow
from whence.cli.connecting import Server, connected, connects, default_instance
from whence.cli.output import output
from whence.engine.errors import MissingExtraError

if TYPE_CHECKING:
    from whence.store import Settings

__all__ = ["app"]

app = typer.Typer(add_completion=False)

Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 picks a free one.")
]
Public = Annotated[
    str | None,
    typer.Option(
        "--public",
        metavar="URL",
        help="The page's address for browsers, if it is behind a TLS proxy.",
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file", metavar="FILE", help="The token's file; else web-token in WHENCE_HOME."
    ),
]


@app.callback(invoke_without_command=True)
@connects
def web(
    ctx: typer.Context,
    host: Host = "127.0.0.1",
    port: Port = 8017,
    public: Public = None,
    token_file: TokenFile = None,
    open: Annotated[
        bool, typer.Option("--open", help="Open the page in your browser as well.")
    ] = False,
    record: Record = None,
    allow: Allow = None,
    *,
    server: Server,
) -> None:
    """Show runs, outputs and answers in the browser, until Ctrl-C.

    Prints a link that opens the page once, within a minute; whence web link prints another. The
    token is in a file that only you can read. The page changes nothing.
    """
    if ctx.invoked_subcommand is not None:
        return
    try:
        from whence.web import Access, Asker, Token, is_loopback, serve
        from whence.web.opening import opened
        from whence.web.running import listen
    except ImportError as error:
        raise MissingExtraError.for_extra("web", str(error.name)) from error
    from whence.engine.record import record_place

    out = output()
    place = _place(token_file)
    token = Token.kept_in(place)
    access = Access(token, public)
    listening = listen(host, port)
    settings = server.settings()
    with connected(settings):
        pass  # a local server is started, and whatever is wrong is said here

    def again() -> Settings:
        """Where the graph is now: a local server may have come back at another port."""
        from whence.store.server import status

        return settings or status(default_instance()).settings()

    out.message(f"the token is in {place}; whence web link prints another link")
    if not is_loopback(host) and access.public is None:
        out.message(
            "the connection is not encrypted: put a TLS proxy in front of it, and give --public"
        )
    with ExitStack() as until_stopped:

        def ready(address: str) -> None:
            link = _link(address, token.new_code(listening.getsockname()[1]))
            out.result({"address": f"{address}/", "link": link})
            out.text(f"the page is at {address}/ (Ctrl-C stops it); this opens it once:")
            out.text(link)  # a line of its own, which no window's width breaks
            if open:
                until_stopped.enter_context(opened(link))

        asker = Asker(again, record_place(record), tuple(allow or ()))
        serve(asker, listening, access, ready=ready)
    out.message("stopped")


@app.command("link")
def link(
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The page's port.")] = 8017,
    public: Public = None,
    token_file: TokenFile = None,
) -> None:
    """Print a new link that opens the running page once, within a minute.

    Give the options that the page was started with.
    """
    try:
        from whence.web import Access, Token
        from whence.web.running import address_of
    except ImportError as error:
        raise MissingExtraError.for_extra("web", str(error.name)) from error

    token = Token.kept_in(_place(token_file), make=False)
    address = Access(token, public).public or address_of(host, port)
    found = _link(address, token.new_code(port))
    output().result({"link": found})
    output().text(found)


def _place(token_file: Path | None) -> Path:
    from whence.store.server.folders import whence_home

    return token_file or whence_home() / "web-token"


def _link(address: str, code: str) -> str:
    return f"{address}/enter?code={code}"
