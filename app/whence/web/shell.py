"""The page around every view: it is there at once, and asks for the view's content by itself."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from whence.web.html import Html, Inside, el

__all__ = ["login_page", "page", "static"]

KEYS = (
    ("/", "search"),
    ("n, p", "next and previous page or output"),
    ("↑ ↓", "from row to row of a table"),
    ("Enter", "open a row, or a box of a graph"),
    ("g", "all runs"),
    ("c", "compare"),
    ("t", "light or dark"),
    ("?", "this list"),
)


@cache
def static(name: str) -> bytes:
    """A file that belongs to the page."""
    return (files("whence.web") / "static" / name).read_bytes()


def _asset(name: str) -> str:
    """Its address; another content has another one, so that browsers may keep it for ever."""
    return f"/static/{hashlib.sha256(static(name)).hexdigest()[:12]}/{name}"


def page(
    part: str | None,
    title: str = "Whence",
    run: str = "",
    content: Inside = None,
    *,
    form: str = "",
) -> str:
    """A whole page.

    Args:
        part: where the content is to be fetched from; ``None`` if it is here already.
        title: of the tab until the content has come.
        run: the run it is about; the page notices when it is removed.
        content: the content of the page until then.
        form: what its forms send along, so that no other page can send one.
    """
    waiting = el("div", [el("span") for _ in range(4)], class_="waiting", aria_hidden="true")
    main = el(
        "main",
        content if part is None or content is not None else waiting,
        id="view",
        tabindex="-1",
        data_part=part,
        data_run=run or None,
        aria_busy="true" if part else None,
    )
    script = el(
        "noscript",
        el("p", "This page needs JavaScript, from its own server only.", class_="problem"),
    )
    return _document(
        title,
        [_top(form), el("div", id="banner", role="alert", hidden=True), script, main, _help()],
        form,
    )


def _document(title: str, body: Inside, form: str = "") -> str:
    head = [
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="form", content=form) if form else None,
        el("title", title),
        el("link", rel="icon", href=_asset("icon.svg"), type="image/svg+xml"),
        el("link", rel="stylesheet", href=_asset("page.css")),
        el("script", src=_asset("page.js"), defer=True),
    ]
    return "<!DOCTYPE html>\n" + el("html", el("head", head), el("body", body), lang="en")


def _top(form: str = "") -> Html:
    leave = el(
        "form",
        el("input", type="hidden", name="token", value=form),
        el("button", "Log out", type="submit"),
        method="post",
        action="/logout",
    )
    known = [el("a", "Runs", href="/"), el("a", "Compare", href="/compare")]
    return el(
        "header",
        el("a", "Skip to the content", href="#view", class_="skip"),
        el(
            "a",
            el("b", "Whence"),
            el("span", "Why did my pipeline say that?"),
            href="/",
            class_="brand",
        ),
        el(
            "nav",
            known if form else None,
            el("button", "Theme", type="button", id="theme", title="Theme: light or dark (t)"),
            el("button", "Shortcuts", type="button", id="keys", title="Keyboard shortcuts (?)")
            if form
            else None,
            leave if form else None,
            aria_label="Whence",
        ),
        class_="top",
    )


def _help() -> Html:
    return el(
        "dialog",
        el("h2", "Keyboard shortcuts"),
        el("dl", [[el("dt", el("kbd", key)), el("dd", words)] for key, words in KEYS]),
        el("form", el("button", "Close", type="submit"), method="dialog"),
        id="help",
        aria_label="Keyboard shortcuts",
    )


def login_page(problem: str | None = None, *, next: str = "") -> str:
    """The form for the token.

    Args:
        problem: what was wrong the last time.
        next: the view that is opened then.
    """
    form = el(
        "form",
        el("input", type="hidden", name="next", value=next) if next else None,
        # For those who let their browser keep the token: it asks for a name.
        el("input", name="username", value="whence", autocomplete="username", hidden=True),
        el(
            "label",
            "Token",
            el(
                "input",
                type="password",
                name="token",
                autocomplete="current-password",
                required=True,
                autofocus=True,
            ),
        ),
        el("button", "Open", type="submit"),
        method="post",
        action="/login",
        class_="filter",
    )
    said = el("p", problem, class_="problem", role="alert") if problem else None
    ways = el(
        "ul",
        el(
            "li",
            "Open the link that ",
            el("code", "whence web"),
            " printed: once, within a minute.",
        ),
        el("li", "Or print a new link, where the page runs: ", el("code", "whence web link")),
        el(
            "li", "Or enter the token. It is in the file that ", el("code", "whence web"), " named."
        ),
    )
    card = el("section", el("h1", "Open the page"), said, ways, form, class_="login")
    return _document("Log in · Whence", [_top(), el("main", card, id="view")])
