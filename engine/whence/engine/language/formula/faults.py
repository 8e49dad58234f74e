"""Errors of formula text: where, what was expected, what came, what to try; always one line."""

from __future__ import annotations

from difflib import get_close_matches

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from whence.engine.errors import FormulaError

__all__ = ["LATER", "RESERVED", "fault_at", "fault_of", "place_of"]

RESERVED = (
    "and", "or", "xor", "not", "in", "is", "missing", "if", "then", "else", "true", "false",
    "G", "F", "X", "U",
)  # fmt: skip
LATER = ("N", "O", "H", "S", "Y", "Z", "end", "trigger", "first", "where")
"""Words that only the formulas of rules reserve; anywhere else they are names."""

_NOT_OURS = {
    "==": "`=`", "<>": "`!=`", "&&": "`and`", "&": "`and`", "||": "`or`", "|": "`or`",
    "!": "`not`, or `!=`", "=>": "`->`, or `>=`", "%": "a function of your own",
    "^": "`x * x`", "~": "`not`", "\u2192": "`->`", "\u2227": "`and`", "\u2228": "`or`",
    "\u00ac": "`not`", "\u2264": "`<=`", "\u2265": "`>=`", "\u2260": "`!=`",
    "\u2018": "straight quotes: 'text'", "\u2019": "straight quotes: 'text'",
    "\u201c": 'straight quotes: "column"', "\u201d": 'straight quotes: "column"',
    "'": "a closing quote; a quote inside a text is written twice: 'it''s'",
    '"': "a closing double quote", "`": "a closing backtick",
}  # fmt: skip

_MARK = "\u25b6"
_CLOSING = {"RPAR": "`)`", "RSQB": "`]`", "THEN": "`then`", "ELSE": "`else`"}
_SIGNS = {**_CLOSING, "COMMA": "`,`", "LPAR": "`(`"}
_COMPARISONS = {"EQ", "NE", "LT", "LE", "GT", "GE"}


def fault_at(at: Token, expected: str, got: str, hint: str) -> FormulaError:
    """An error at a token."""
    return FormulaError(f"{place_of(at)}: expected {expected}; got {got}; try {hint}")


def place_of(at: Token) -> str:
    """The position of a token in the form of error messages."""
    return f"formula, line {at.line or 1}, column {at.column or 1}"


def fault_of(error: UnexpectedInput, text: str, rules: bool = False) -> FormulaError:
    """Translate the parser's error."""
    token = error.token if isinstance(error, UnexpectedToken) else None
    # `accepts` is exact; `expected` also lists what could only continue other formulas.
    wanted = set(error.accepts) if isinstance(error, UnexpectedToken) else set()
    offset = error.pos_in_stream
    if offset is None or (token is not None and token.type == "$END"):
        offset = len(text.rstrip())
    found = "the end" if offset >= len(text.rstrip()) else repr(str(token or text[offset]))
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    excerpt = f"{text[max(0, offset - 24) : offset]}{_MARK}{text[offset : offset + 16]}"
    hint = _hint(wanted, token, text, offset, rules)
    return FormulaError(
        f"formula, line {line}, column {column}: expected {_expected(wanted, token)}; "
        f"got {found} in `{' '.join(excerpt.split())}`; try {hint}"
    )


def _expected(wanted: set[str], token: Token | None) -> str:
    if token is None:
        return "a sign of the formula language"
    if "NAME" in wanted:
        return "a value, a column or a function"
    if "AND" in wanted:
        closing = next((shown for name, shown in _CLOSING.items() if name in wanted), "the end")
        return f"{'an operator' if 'PLUS' in wanted else '`and`, `or`, `->`'} or {closing}"
    shown = {_SIGNS.get(name, f"`{name.lower()}`") for name in wanted}
    return " or ".join(sorted(shown))


def _hint(wanted: set[str], token: Token | None, text: str, offset: int, rules: bool) -> str:
    words = (*RESERVED, *LATER) if rules else RESERVED
    before, rest = text[:offset].split(), text[offset:]
    foreign = [sign for sign in _NOT_OURS if rest.startswith(sign)]
    if text[max(0, offset - 1) : offset + 1] in ("==", "<>"):
        return _NOT_OURS[text[offset - 1 : offset + 1]]
    if token is None and foreign:
        return _NOT_OURS[max(foreign, key=len)]
    if token is None:
        return f"'{rest.split()[0]}' in quotes, or without {rest[0]!r}"
    if rules and "BOUND" in wanted and token.type == "OPEN_BRACKET":
        return "two dots in a bound: [..90d] or [1d..90d]"
    if "NAME" in wanted and str(token) in words:
        return _as_column(str(token), words)
    if rules and before and before[-1] in words and before[-1] not in ("in", "and", "or", "not"):
        return _as_column(before[-1], words)
    if wanted == {"LPAR"} and before and before[-1] in words and before[-1] != "in":
        return _as_column(before[-1], words)
    if wanted == {"LPAR"}:
        return "parentheses: x in ('a', 'b')"
    if token.type == "NAME" and "NAME" not in wanted:
        return _word_hint(str(token), wanted)
    if str(token) == ".":
        return 'double quotes around a column: "a.b", or $0.name for a field'
    if token.type in _COMPARISONS:
        return "parentheses, or `and` between two comparisons"
    if token.type == "$END":
        return "completing it" if "NAME" in wanted else "closing what was opened"
    return "removing it, or a value before it" if "NAME" in wanted else "removing it"


def _as_column(word: str, words: tuple[str, ...]) -> str:
    return f'"{word}" in double quotes if it is a column (reserved words: {" ".join(words)})'


def _word_hint(word: str, wanted: set[str]) -> str:
    if "MISSING" in wanted:
        return "`is missing` or `is not missing`"
    near = get_close_matches(word.lower(), RESERVED, n=1)
    if near:
        return f"`{near[0]}` (did you mean that?)"
    return "quotes around a text: 'a b', or double quotes around a column: \"a b\""
