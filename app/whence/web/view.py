"""What a view is: a title, what it shows, and the Cypher behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from whence.exporters.prov.formats import OFFERED
from whence.web.asking import Asker
from whence.web.html import Html, Inside, el, joined

__all__ = [
    "PNG",
    "Asked",
    "Part",
    "Take",
    "View",
    "link",
    "number",
    "pages",
    "plural",
    "prov_takes",
]


@dataclass(frozen=True)
class Asked:
    """What a request asks for.

    Attributes:
        asker: the graph and the record.
        run: the run's id in the path; empty if the view is not of one run.
        query: what follows the question mark.
    """

    asker: Asker
    run: str
    query: QueryParams

    def text(self, name: str) -> str:
        """A word of the query, or nothing."""
        return self.query.get(name, "").strip()

    def whole(self, name: str, otherwise: int = 0) -> int:
        """A number of the query, never below 0."""
        word = self.text(name)
        return int(word) if word.isdecimal() and len(word) < 16 else otherwise


PNG = "png:"
Take = tuple[str, str]
"""What can be taken away from a view: the words on the link, and where it leads; with `PNG` before
the address of an SVG, the browser paints it."""


@dataclass(frozen=True)
class Part:
    """What a view shows.

    Attributes:
        title: for the tab and the history.
        body: the content.
        cypher: the queries behind it, by name.
        takes: what can be taken away.
    """

    title: str
    body: Inside
    cypher: Mapping[str, str] = field(default_factory=dict)
    takes: Sequence[Take] = ()

    def html(self) -> Html:
        """The content with what belongs below every view."""
        return joined([self.body, self._takes(), self._queries()])

    def _takes(self) -> Html | None:
        if not self.takes:
            return None
        links = [
            el("button", words, type="button", class_="take", data_png=href.removeprefix(PNG))
            if href.startswith(PNG)
            else el(
                "form",
                el("button", words, type="submit", class_="take"),
                method="post",
                action=href,
            )
            for words, href in self.takes
        ]
        return el(
            "nav",
            el("span", "Export", class_="label"),
            links,
            class_="takes",
            aria_label="Downloads",
        )

    def _queries(self) -> Html | None:
        if not self.cypher:
            return None
        return el(
            "details",
            el("summary", "The Cypher behind this view"),
            [
                el(
                    "figure",
                    el("figcaption", f"{name}.cypher"),
                    el("pre", el("code", text.rstrip())),
                )
                for name, text in self.cypher.items()
            ],
            class_="cypher",
        )


View = Callable[[Asked], Part]


def link(path: str, **query: str | int | Sequence[str] | None) -> str:
    """An address inside the page; what is empty is left out.

    >>> link("/run/7/why", output="all@3", steps="", open=["a", "b"])
    '/run/7/why?output=all%403&open=a&open=b'
    """
    kept = {name: value for name, value in query.items() if value not in (None, "", 0, [], ())}
    return f"{path}?{urlencode(kept, doseq=True)}" if kept else path


def prov_takes(path: str, **query: str | int | Sequence[str] | None) -> list[Take]:
    """The downloads of a view's answer as PROV, one for each format that the page offers."""
    return [(row.title, link(f"{path}{row.endings[0]}", **query)) for row in OFFERED]


def number(value: int) -> str:
    """A count for a person."""
    return f"{value:,}"


def plural(value: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "event"), plural(2000, "event")
    ('1 event', '2,000 events')
    """
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def pages(page: int, size: int, total: int, address: Callable[[int], str]) -> Html | None:
    """The way through a long table."""
    last = max((total - 1) // size, 0)
    if not last:
        return None

    def step(words: str, said: str, to: int, rel: str | None, off: bool) -> Html:
        if off:
            return el("span", words, class_="off", aria_hidden="true")
        return el("a", words, href=address(to), rel=rel, aria_label=said)

    here = f"{page * size + 1:,} to {min((page + 1) * size, total):,} of {total:,}"
    return el(
        "nav",
        step("«", "first page", 0, None, page == 0),
        step("← Previous", "previous page", page - 1, "prev", page == 0),
        el("span", here, class_="here"),
        step("Next →", "next page", page + 1, "next", page >= last),
        step("»", "last page", last, None, page >= last),
        class_="pages",
        aria_label="Pages",
    )
