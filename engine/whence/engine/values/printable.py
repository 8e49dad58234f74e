r"""Text that may be printed: what would steer a terminal, or hide its order, is shown as escapes.

A log's values are written by others. A terminal takes ``\x1b]0;…`` as an order; some characters
turn the order of the letters around them, so that a line reads as another than it is.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["json_line", "printable"]

_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Show control characters but line breaks and tabs, and those that reorder text, as escapes.

    >>> print(printable("\x1b[2Jall is well\u202e"))
    \x1b[2Jall is well\u202e
    """
    return text if text.isprintable() else _ODD.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def json_line(data: object, **how: Any) -> str:
    r"""The same for JSON, whose escapes mean the same value.

    >>> print(json_line("\x9b2J\u202e"))
    "\u009b2J\u202e"
    """
    text = json.dumps(data, ensure_ascii=False, **how)
    return text if text.isprintable() else _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", text)
