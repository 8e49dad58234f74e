"""The server of the page: addresses, threads, time limits, and what goes wrong in one line each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qs, quote

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from whence.engine.errors import ServerError, StoreError, WhenceError
from whence.web.asking import Asker, Gone
from whence.web.guarding import COOKIE, Guard, Token
from whence.web.html import el
from whence.web.shell import login_page, page, static
from whence.web.taking import TAKES
from whence.web.view import Asked, View, link
from whence.web.views.comparing import comparing
from whence.web.views.explanation import explanation, graph
from whence.web.views.impact import impact
from whence.web.views.log import log
from whence.web.views.never_matters import never
from whence.web.views.outputs import outputs
from whence.web.views.overview import overview
from whence.web.views.runs import runs

__all__ = ["VIEWS", "create_app"]

T = TypeVar("T")
Handler = Callable[[Request], Awaitable[Response]]

VIEWS: dict[str, tuple[str, View]] = {
    "/": ("Runs", runs),
    "/compare": ("Compare", comparing),
    "/run/{run}": ("Run", overview),
    "/run/{run}/outputs": ("Outputs", outputs),
    "/run/{run}/why": ("Why", explanation),
    "/run/{run}/never-matters": ("Never matters", never),
    "/run/{run}/impact": ("Impact", impact),
    "/run/{run}/log": ("Log", log),
}
"""Every view by its address."""

VIEW_SECONDS = 30.0
TAKE_SECONDS = 120.0
AT_ONCE = 8
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
WRONG_TOKEN_SECONDS = 1.0


def create_app(asker: Asker, token: Token | None = None) -> Guard:
    """The page as an ASGI application.

    Args:
        asker: the graph and the record.
        token: what opens it; ``None`` if only this machine can reach it.
    """
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def blocking(work: Callable[[], T], seconds: float) -> T:
        """Do what waits for the graph or the disk beside the event loop, and not for ever."""
        with anyio.fail_after(seconds):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limit)

    async def part(request: Request, view: View) -> Response:
        asked = Asked(asker, request.path_params.get("run", ""), request.query_params)
        try:
            found = await blocking(lambda: _shown(view, asked), VIEW_SECONDS)
        except Exception as error:
            return await _problem(error, asker, blocking)
        title, html = found
        return HTMLResponse(html, headers={"x-title": quote(title[:200])})

    async def take(request: Request) -> Response:
        asked = Asked(asker, request.path_params.get("run", ""), request.query_params)
        try:
            chosen = TAKES.get(request.path_params["file"])
            if chosen is None:
                raise Gone("There is no such file.")
            taken = await blocking(lambda: chosen(asked), TAKE_SECONDS)
        except Exception as error:
            told = await _problem(error, asker, blocking)
            return HTMLResponse(
                page(
                    None, content=el("p", bytes(told.body).decode(), class_="problem", role="alert")
                ),
                told.status_code,
            )
        return StreamingResponse(
            taken.pieces,
            media_type=taken.kind,
            headers={"content-disposition": f"attachment; filename*=UTF-8''{quote(taken.name)}"},
        )

    async def health(request: Request) -> Response:
        run = request.query_params.get("run", "")
        try:
            await blocking(partial(_look, asker, run), VIEW_SECONDS)
        except Exception as error:
            return await _problem(error, asker, blocking)
        return JSONResponse({"graph": True})

    async def login(request: Request) -> Response:
        if request.method == "GET" or token is None:
            return HTMLResponse(login_page(False)) if token else RedirectResponse("/", 303)
        said = parse_qs((await request.body())[:4096].decode(errors="replace")).get("token", [""])
        if not token.is_told(said[0].strip()):
            await asyncio.sleep(WRONG_TOKEN_SECONDS)
            return HTMLResponse(login_page(True), 401)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, token.pass_(), httponly=True, samesite="strict")
        return answer

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        asker.close()

    routes = [
        Route("/static/{digest}/{name}", _static),
        Route("/health", health),
        Route("/login", login, methods=["GET", "POST"]),
        Route("/empty", _empty),
        Route("/take/run/{run}/{file}", take),
        Route("/take/{file}", take),
        Route("/part/run/{run}/graph", partial(part, view=graph)),
    ]
    for path, (title, view) in VIEWS.items():
        routes.append(Route(f"/part{path}", partial(part, view=view)))
        routes.append(Route(path, partial(_shell, title=title)))
    return Guard(Starlette(routes=routes, lifespan=life), token)


def _shown(view: View, asked: Asked) -> tuple[str, str]:
    found = view(asked)
    return found.title, found.html()


def _look(asker: Asker, run: str) -> None:
    if run:
        asker.run(run)
    else:
        asker.graph().read("RETURN 1")


async def _shell(request: Request, title: str) -> Response:
    """The page without its content: nothing is asked for it, so that it is there at once."""
    run = request.path_params.get("run", "")
    go = request.query_params.get("go", "").strip()
    if go and run:
        pipe = request.query_params.get("pipe", "").strip()
        output = go if "@" in go or not pipe else f"{pipe}@{go}"
        return RedirectResponse(link(f"/run/{run}/why", output=output), 303)
    if request.query_params.get("ask") and run:
        return _to_impact(request, run)
    query = f"?{request.url.query}" if request.url.query else ""
    path = "/part" + quote(request.url.path) + query
    return HTMLResponse(page(path, f"{title} · Whence", run))


def _to_impact(request: Request, run: str) -> Response:
    """From marks in the log to what they touch."""
    from whence.web.views.log import marks_of

    asked = Asked(None, run, request.query_params)  # type: ignore[arg-type]
    return RedirectResponse(link(f"/run/{run}/impact", inputs=marks_of(asked)), 303)


async def _empty(request: Request) -> Response:
    """A page with nothing in it, to measure the others by."""
    return HTMLResponse(page(None, "Empty · Whence", content=el("h1", "Empty")))


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    try:
        body = static(name) if name.replace(".", "").isalnum() else None
    except FileNotFoundError:
        body = None
    if body is None:
        return Response(status_code=404)
    return Response(
        body,
        media_type=KINDS[name.rpartition(".")[2]],
        headers={"cache-control": "public, max-age=31536000, immutable"},
    )


async def _problem(
    error: Exception, asker: Asker, blocking: Callable[[Callable[[], None], float], Awaitable[None]]
) -> Response:
    """What went wrong, in one line for a person, with the status that says whether to try again."""
    if isinstance(error, Gone):
        return HTMLResponse(str(error), 404, media_type="text/plain")
    late = isinstance(error, TimeoutError) or "TransactionTimedOut" in str(error)
    if late or (isinstance(error, StoreError) and "in time" in str(error)):
        words = "This takes longer than a page should wait. Try a narrower question, or the command"
        return HTMLResponse(f"{words} line, which has no such limit.", 504, media_type="text/plain")
    if _is_away(error):
        await blocking(asker.lost, VIEW_SECONDS)
        words = "The graph does not answer: Neo4j is not running, or starting. Trying again …"
        return HTMLResponse(words, 503, headers={"retry-after": "2"}, media_type="text/plain")
    if isinstance(error, WhenceError):
        return HTMLResponse(" ".join(str(error).split())[:2000], 400, media_type="text/plain")
    logging.getLogger("whence.web").exception("a view failed")
    words = (
        f"Something unexpected went wrong ({type(error).__name__}); the server's output says what."
    )
    return HTMLResponse(words, 500, media_type="text/plain")


def _is_away(error: Exception) -> bool:
    """Whether the graph could not be asked at all, so that asking again may help."""
    if isinstance(error, ServerError):
        return True
    signs = (
        "got no answer",
        "DatabaseUnavailable",
        "got a refusal",
        "expected to talk to",
        "TransientError",
        "DatabaseNotFound",
    )
    return isinstance(error, StoreError) and any(sign in str(error) for sign in signs)
