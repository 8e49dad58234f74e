"""The way in and out: the form that takes the token, one-time links, and the log-out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from whence.web.access import Access, Refusal
from whence.web.guarding import form_field
from whence.web.shell import login_page

__all__ = ["login_routes"]

WRONG = "Wrong token."
SPENT = "This link was used before, or is older than a minute. whence web link prints a new one."


def login_routes(access: Access) -> list[Route]:
    """The addresses that are answered without a session."""

    async def login(request: Request) -> Response:
        if request.method != "POST":
            if request.scope["whence.session"] is not None:
                return RedirectResponse(_inside(request.query_params.get("next", "")), 303)
            return HTMLResponse(login_page(next=request.query_params.get("next", "")))
        body = await request.body()
        back = _inside(form_field(body, "next"))
        try:
            if access.is_token(request.scope, form_field(body, "token").strip()):
                answer = RedirectResponse(back, 303)
                access.admit(request, answer)
                return answer
        except Refusal as refusal:
            return HTMLResponse(
                login_page(refusal.words, next=back), refusal.status, refusal.headers
            )
        return HTMLResponse(login_page(WRONG, next=back), 401, access.patience(request.scope))

    async def enter(request: Request) -> Response:
        code = request.query_params.get("code", "")
        if request.method != "GET" or not access.enter(request, code):
            return HTMLResponse(login_page(SPENT), 401)
        answer = RedirectResponse("/", 303)
        access.admit(request, answer)
        return answer

    async def logout(request: Request) -> Response:
        answer = RedirectResponse("/login", 303)
        access.dismiss(request, answer)
        return answer

    return [
        Route("/login", login, methods=["GET", "POST"]),
        Route("/enter", enter),
        Route("/logout", logout, methods=["POST"]),
    ]


def _inside(path: str) -> str:
    r"""A path of this page; anything else is the first view.

    >>> _inside("/run/7/why?output=all@3"), _inside("//elsewhere"), _inside("/\t/elsewhere")
    ('/run/7/why?output=all@3', '/', '/')
    """
    plain = path.isprintable() and path.startswith("/") and "\\" not in path
    return path if plain and not path.startswith("//") else "/"
