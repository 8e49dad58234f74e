"""Errors of formula text: where, what was expected, what came, what to try; always one line."""

from __future__ import annotations

from difflib import get_close_matches

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from whence.engine.errors import FormulaError

__all__ = ["RESERVED", "fault_at", "fault_of"]

RESERVED = (
    ("and", "or", "xor", "not", "in", "is", "missing", "if", "then", "else", "true", "false")
    + ("G", "F", "X", "U")
)  # fmt: skip

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


def fault_at(at: Token, expected: str, got: str, hint: str) -> FormulaError:
    """An error at a token."""
    line, column = at.line or 1, at.column or 1
    return FormulaError(
        f"formula, line {line}, column {column}: expected {expected}; got {got}; try {hint}"
    )


def fault_of(error: UnexpectedInput, text: str) -> FormulaError:
    """Translate the parser's error."""
    line, column, offset = _place(error, text)
    found = _found(error, text, offset)
    token = error.token if isinstance(error, UnexpectedToken) else None
    wanted = set(error.expected if isinstance(error, UnexpectedToken) else error.allowed or ())
    expected, hint = _wanted(wanted, token, text, offset)
    excerpt = f"{text[max(0, offset - 24) : offset]}{_MARK}{text[offset : offset + 16]}"
    excerpt = " ".join(excerpt.split())
    return FormulaError(
        f"formula, line {line}, column {column}: expected {expected}; "
        f"got {found} in `{excerpt}`; try {hint}"
    )


def _place(error: UnexpectedInput, text: str) -> tuple[int, int, int]:
    """Line, column and offset; for the end of the text, just behind its last sign."""
    offset = error.pos_in_stream
    if offset is None or (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        offset = len(text.rstrip())
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, offset


def _found(error: UnexpectedInput, text: str, offset: int) -> str:
    if offset >= len(text.rstrip()):
        return "the end"
    if isinstance(error, UnexpectedToken):
        return repr(str(error.token))
    return repr(text[offset])


def _wanted(wanted: set[str], token: Token | None, text: str, offset: int) -> tuple[str, str]:
    rest = text[offset:]
    foreign = next((sign for sign in sorted(_NOT_OURS, key=len, reverse=True)
                    if rest.startswith(sign)), "")  # fmt: skip
    value = "NAME" in wanted
    if value:
        expected = "a value, a column or a function"
    elif wanted == {"THEN"} or "THEN" in wanted:
        expected = "an operator or `then`"
    elif "ELSE" in wanted:
        expected = "an operator or `else`"
    elif "RPAR" in wanted and "PLUS" in wanted:
        expected = "an operator or `)`"
    elif "PLUS" in wanted or token is None:
        expected = "an operator or the end"
    else:
        names = {"LPAR": "`(`", "RPAR": "`)`", "COMMA": "`,`", "RSQB": "`]`"}
        shown = sorted(names.get(w, f"`{w.lower()}`" if w.isalpha() else w) for w in wanted)
        expected = " or ".join(shown)
    if foreign and (token is None or foreign in ("==", "<>")):
        return expected, _NOT_OURS[foreign]
    if token is not None and value and str(token) in RESERVED:
        return (
            expected,
            f'"{token}" in double quotes if it is a column (reserved: {" ".join(RESERVED)})',
        )
    if token is not None and token.type == "NAME" and not value:
        word = str(token)
        if word.lower() in RESERVED or get_close_matches(word, RESERVED, n=1, cutoff=0.6):
            near = (
                word.lower()
                if word.lower() in RESERVED
                else get_close_matches(word, RESERVED, n=1)[0]
            )
            return expected, f"`{near}` (did you mean that?)"
        return expected, "quotes around a text: 'a b', or double quotes around a column: \"a b\""
    if offset >= len(text.rstrip()):
        return expected, "completing it" if value else "closing what was opened"
    return (
        expected,
        "parentheses, or removing it" if value else "removing it, or an operator before it",
    )
