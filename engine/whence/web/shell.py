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


def page(part: str | None, title: str = "Whence", run: str = "", content: Inside = None) -> str:
    """A whole page.

    Args:
        part: where the content is to be fetched from; ``None`` if it is here already.
        title: of the tab until the content has come.
        run: the run it is about; the page notices when it is removed.
        content: what stands in the page until then.
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
        "noscript", el("p", "This page needs JavaScript, its own and no other.", class_="problem")
    )
    return _document(
        title, [_top(), el("div", id="banner", role="alert", hidden=True), script, main, _help()]
    )


def _document(title: str, body: Inside) -> str:
    head = [
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        el("link", rel="icon", href=_asset("icon.svg"), type="image/svg+xml"),
        el("link", rel="stylesheet", href=_asset("page.css")),
        el("script", src=_asset("page.js"), defer=True),
    ]
    return "<!DOCTYPE html>\n" + el("html", el("head", head), el("body", body), lang="en")


def _top() -> Html:
    return el(
        "header",
        el("a", "To the content", href="#view", class_="skip"),
        el(
            "a",
            el("b", "Whence"),
            el("span", "Why did my pipeline say that?"),
            href="/",
            class_="brand",
        ),
        el(
            "nav",
            el("a", "Runs", href="/"),
            el("a", "Compare", href="/compare"),
            el("button", "Light or dark", type="button", id="theme", title="Light or dark (t)"),
            el("button", "Keys", type="button", id="keys", title="Keys (?)"),
            aria_label="Whence",
        ),
        class_="top",
    )


def _help() -> Html:
    return el(
        "dialog",
        el("h2", "Keys"),
        el("dl", [[el("dt", el("kbd", key)), el("dd", words)] for key, words in KEYS]),
        el("form", el("button", "Close", type="submit"), method="dialog"),
        id="help",
        aria_label="Keys",
    )


def login_page(refused: bool) -> str:
    """Where the token is asked for."""
    form = el(
        "form",
        el(
            "label",
            "Token",
            el(
                "input",
                type="password",
                name="token",
                autocomplete="current-password",
                autofocus=True,
            ),
        ),
        el("button", "Open", type="submit"),
        method="post",
        action="/login",
        class_="filter",
    )
    said = el("p", "That is not the token.", class_="problem", role="alert") if refused else None
    note = el(
        "p", "The token is in the file that whence web named when it was started.", class_="note"
    )
    return _document(
        "Whence", [_top(), el("main", el("h1", "Who are you?"), said, form, note, id="view")]
    )
