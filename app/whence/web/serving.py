"""The server of the page: addresses, time limits, and what goes wrong in one line each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar
from urllib.parse import quote

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from whence.web.access import Access
from whence.web.answers import VIEWS, Question
from whence.web.asking import Asker
from whence.web.disconnects import GoneAwayError, unless_gone
from whence.web.download_response import LOST, Download
from whence.web.guarding import Guard
from whence.web.html import el
from whence.web.login import login_routes
from whence.web.pool import Pool, WorkerLostError
from whence.web.problems import Problem, problem_of
from whence.web.shell import page, static
from whence.web.tokens import Token
from whence.web.view import Asked, link

__all__ = ["create_app"]

T = TypeVar("T")

VIEW_SECONDS = 30.0
TAKE_SECONDS = 120.0
AT_ONCE = 8
KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def create_app(asker: Asker, token: Token | Access, *, pool: Pool | None = None) -> Guard:
    """The page as an ASGI application.

    Args:
        asker: the graph and the record.
        token: what opens it, or who may see it.
        pool: the processes that answer questions.
    """
    access = Access(token) if isinstance(token, Token) else token
    workers = pool or Pool()
    desk = _Desk(asker, workers)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        workers.start()
        yield
        await workers.close()
        asker.close()

    routes = [
        Route("/static/{digest}/{name}", _static),
        *login_routes(access),
        Route("/health", desk.health),
        Route("/empty", _empty),
        Route("/take/run/{run}/{file}", desk.take, methods=["POST"]),
        Route("/take/{file}", desk.take, methods=["POST"]),
        Route("/part/run/{run}/graph", partial(desk.part, name="/run/{run}/graph")),
    ]
    for path, (title, _) in VIEWS.items():
        routes.append(Route(f"/part{path}", partial(desk.part, name=path)))
        routes.append(Route(path, partial(_shell, title=title)))
    return Guard(Starlette(routes=routes, lifespan=life), access)


class _Desk:
    """Takes questions, has them answered by worker processes, and says what went wrong."""

    def __init__(self, asker: Asker, pool: Pool) -> None:
        self._asker = asker
        self._pool = pool
        self._limit = anyio.CapacityLimiter(AT_ONCE)

    async def part(self, request: Request, name: str) -> Response:
        try:
            question = await self._question(request, name, VIEW_SECONDS)
            asked = self._pool.answer(question, VIEW_SECONDS)
            head, body = await unless_gone(request.receive, asked)
        except GoneAwayError:
            return Response(status_code=400)  # no browser reads it
        except Exception as error:
            return await self._said(_problem(error))
        if head["status"] != 200:
            return await self._said(Problem(head["status"], body.decode(), head["away"]))
        return HTMLResponse(body, headers={"x-title": quote(head["title"][:200])})

    async def take(self, request: Request) -> Any:
        """A file to take away."""
        name = request.path_params["file"]
        try:
            question = await self._question(request, name, TAKE_SECONDS, take=True)
        except Exception as error:
            return await self.refused(request, _problem(error))
        return Download(self._pool, question, partial(self.refused, request))

    async def refused(self, request: Request, problem: Problem) -> Response:
        """A page that says why there is no file."""
        answer = await self._said(problem)
        words = el("p", problem.words, class_="problem", role="alert")
        return HTMLResponse(page(None, content=words, form=_form(request)), answer.status_code)

    async def health(self, request: Request) -> Response:
        """Whether the graph is there, and a run in it."""
        run = request.query_params.get("run", "")
        try:
            await self._beside(partial(_look, self._asker, run), VIEW_SECONDS)
        except Exception as error:
            return await self._said(_problem(error))
        return JSONResponse({"graph": True})

    async def _question(
        self, request: Request, name: str, seconds: float, *, take: bool = False
    ) -> Question:
        settings = await self._beside(lambda: self._asker.settings, VIEW_SECONDS)
        run, query = request.path_params.get("run", ""), request.url.query
        asker = self._asker
        return Question(take, name, run, query, asker.record, asker.allow, settings, seconds)

    async def _said(self, problem: Problem) -> Response:
        if problem.away:
            await self._beside(self._asker.lost, VIEW_SECONDS)
        headers = {"retry-after": "2"} if problem.away else None
        return Response(problem.words, problem.status, headers, "text/plain")

    async def _beside(self, work: Callable[[], T], seconds: float) -> T:
        """Run short, bounded work in a thread next to the event loop."""
        with anyio.fail_after(seconds):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limit)


def _problem(error: Exception) -> Problem:
    return LOST if isinstance(error, WorkerLostError) else problem_of(error)


def _look(asker: Asker, run: str) -> None:
    if run:
        asker.run(run)
    else:
        asker.graph().read("RETURN 1")


def _form(request: Request) -> str:
    """What the forms of a session contain."""
    session = request.scope["whence.session"]
    return "" if session is None else str(session.form)


async def _shell(request: Request, title: str) -> Response:
    """The page without its content: it needs no query, so it appears at once."""
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
    return HTMLResponse(page(path, f"{title} · Whence", run, form=_form(request)))


def _to_impact(request: Request, run: str) -> Response:
    """From marks in the log to what they touch."""
    from whence.web.views.log import marks_of

    asked = Asked(None, run, request.query_params)  # type: ignore[arg-type]
    return RedirectResponse(link(f"/run/{run}/impact", inputs=marks_of(asked)), 303)


async def _empty(request: Request) -> Response:
    """A page with nothing in it, to measure the others by."""
    body = page(None, "Empty · Whence", content=el("h1", "Empty"), form=_form(request))
    return HTMLResponse(body)


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
