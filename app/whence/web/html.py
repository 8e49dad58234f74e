"""HTML that its contents cannot break: every text is escaped on insertion."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape

__all__ = ["Html", "Inside", "el", "joined", "raw", "shown"]

VOID = frozenset({"input", "link", "meta", "br", "hr"})
WIDE = 40
LONGEST = 240
"""Characters of a value on the page; the files to take away have all of it."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Inside = str | int | None | Iterable["Inside"]
"""The children of an element: texts, elements, nothing, or several of these."""


def raw(text: str) -> Html:
    """Take a text for HTML; only for what this package or the drawing wrote."""
    return Html(text)


def el(tag: str, *inside: Inside, **attributes: str | int | bool | None) -> Html:
    """An element; ``class_`` and ``for_`` are the attributes of these names, ``_`` becomes ``-``.

    >>> el("p", "1 < 2", el("b", "yes"), class_="note", hidden=False)
    '<p class="note">1 &lt; 2<b>yes</b></p>'
    """
    said = []
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        key = name.rstrip("_").replace("_", "-")
        said.append(f" {key}" if value is True else f' {key}="{escape(str(value))}"')
    head = f"<{tag}{''.join(said)}>"
    return Html(head if tag in VOID else f"{head}{joined(inside)}</{tag}>")


def joined(inside: Inside) -> Html:
    """Several things one after the other."""
    if inside is None:
        return Html("")
    if isinstance(inside, Html):
        return inside
    if isinstance(inside, (str, int)):
        return Html(escape(str(inside)))
    return Html("".join(joined(each) for each in inside))


def shown(text: str, most: int = LONGEST) -> Html:
    r"""A value of a log: cut if it is long, and nothing in it can turn the line around it.

    Marks that steer the direction of text, and other characters without a shape, are named.

    >>> shown("a\u202eb")
    '<bdi>a<span class="unseen">U+202E</span>b</bdi>'
    """
    parts: list[Inside] = []
    plain: list[str] = []
    for character in text[:most]:
        if character == " " or character.isprintable():
            plain.append(character)
            continue
        if unicodedata.category(character) == "Zs" or character in "\n\t\r":
            plain.append(" ")
            continue
        parts += ["".join(plain), el("span", f"U+{ord(character):04X}", class_="unseen")]
        plain = []
    parts.append("".join(plain))
    if len(text) > most:
        parts.append(el("span", f"… {len(text):,} characters", class_="more"))
    return el("bdi", parts, class_="long" if len(text) > WIDE else None)
