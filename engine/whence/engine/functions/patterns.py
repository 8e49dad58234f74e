r"""Regular expressions that take time in proportion to the text, whatever they are.

They run on RE2, as the patterns of text logs do. RE2 has no look-around and no references back:
these are what makes other engines take years for a line. Two things are as Python has them: ``\w``,
``\d`` and ``\s`` stand for the letters, digits and spaces of all alphabets, and ``\Z`` is the end
of the text. ``\b`` knows only ASCII letters, and ``$`` is the very end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from whence.engine.values import ValueFault
from whence.engine.values.arrow_compute import pc
from whence.engine.values.limits import current

__all__ = ["check_pattern", "matches", "matches_each"]

_SPACES = r"\x{9}-\x{d}\x{1c}-\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}" + (
    r"\x{202f}\x{205f}\x{3000}"
)
_SETS = {
    "w": r"\p{L}\p{N}_",
    "d": r"\p{Nd}",
    "s": _SPACES,
    # The others, for use inside brackets, where RE2 cannot say "all but".
    "W": r"\p{M}\p{S}\p{Z}\p{C}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\x{203f}\x{2040}\x{2054}"
    r"\x{fe33}\x{fe34}\x{fe4d}-\x{fe4f}\x{ff3f}",
    "D": r"\P{Nd}",
    "S": r"\x{0}-\x{8}\x{e}-\x{1b}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}"
    r"\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff}",
}
_PIECE = re.compile(
    r"\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\.|\[\^?|\{,[0-9]+\}|\(\?<?[=!]|\(\?P=|.",
    re.DOTALL,
)
_SIMPLE = "a regular expression without look-around and references back"
_TWO = "two conditions, such as matches(x, 'a') and not matches(x, 'b')"
_REMEMBERED = 200
"""Results of texts up to this length are remembered: values of a log come again and again."""

_search: Any = pc.get_function("match_substring_regex")


def matches(text: str, pattern: str) -> bool:
    r"""Whether a pattern is found anywhere in a text.

    >>> matches("a" * 40 + "!", "^(a+)+$"), matches("\u00e9t\u00e9 2026", r"^\w+\s\d{4}$")
    (False, True)

    Raises:
        ValueFault: it is no pattern that RE2 takes, or too long.
    """
    if len(text) <= _REMEMBERED:
        return _remembered(text, pattern)
    return bool(matches_each([text], pattern)[0].as_py())


@lru_cache(maxsize=1 << 15)
def _remembered(text: str, pattern: str) -> bool:
    return bool(matches_each([text], pattern)[0].as_py())


def matches_each(texts: Sequence[str], pattern: str) -> pa.BooleanArray:
    """The same for many texts at once.

    Raises:
        ValueFault: it is no pattern that RE2 takes, or too long.
    """
    return _search.call([_array(texts)], check_pattern(pattern))


def check_pattern(pattern: str) -> Any:
    """Read a pattern; return it as Arrow wants it.

    Raises:
        ValueFault: it is no pattern that RE2 takes, or too long.
    """
    limits = current()
    if len(pattern) > limits.pattern:
        hint = limits.hint("pattern", "several conditions joined by `or`", len(pattern))
        raise ValueFault(limits.expected("pattern"), f"{len(pattern):,}", hint)
    return _read(pattern)


@lru_cache(maxsize=256)
def _read(pattern: str) -> Any:
    try:
        options = pc.MatchSubstringOptions(_translated(pattern))
        _search.call([_array([""])], options)
    except (pa.ArrowInvalid, UnicodeEncodeError) as fault:
        said = str(fault).partition("\n")[0].removeprefix("Invalid regular expression: ")
        got = f"{_shown(pattern)} ({said})"
        raise ValueFault("a regular expression", got, "escaping special characters") from fault
    return options


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 80 else pattern[:77] + "...")


def _translated(pattern: str) -> str:
    r"""What Python and RE2 write differently, as RE2 has it; the rest as it stands.

    >>> _translated(r"^[\d-]{,3}\Z")
    '^[\\p{Nd}-]{0,3}\\z'
    """
    made: list[str] = []
    inside = first = False  # a set in brackets; its first sign, where a bracket closes nothing
    for piece in _PIECE.findall(pattern):
        begins = not inside and piece[0] == "["
        if piece[0] == "\\" and len(piece) > 1:
            made.append(_escape(piece, pattern, inside=inside))
        elif inside:
            inside = first or piece != "]"
            made.append("\\" + piece if inside and piece[0] in "[]" else piece)
        elif piece.startswith("(?") and piece[-1] in "=!":
            raise ValueFault(_SIMPLE, _shown(pattern), _TWO)
        else:
            made.append("{0" + piece[1:] if piece.startswith("{,") else piece)
        inside, first = inside or begins, begins
    return "".join(made)


def _escape(piece: str, pattern: str, *, inside: bool) -> str:
    r"""One escape, such as ``\d``, outside of a set in brackets or inside of one."""
    sign = piece[1]
    if sign in "uU":
        return rf"\x{{{piece[2:]}}}" if len(piece) > 2 else piece
    if sign in "WDS" and not inside:
        return f"[^{_SETS[sign.lower()]}]"
    if sign in _SETS:
        return _SETS[sign] if inside else f"[{_SETS[sign]}]"
    if sign == "Z":
        return r"\z"
    if sign in "123456789" and not inside:
        raise ValueFault(_SIMPLE, _shown(pattern), _TWO)
    return piece


def _array(texts: Sequence[str]) -> pa.Array:
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:  # half of a surrogate pair, as broken JSON has it
        return pa.array([t.encode("utf-8", "replace").decode() for t in texts], pa.large_string())
