r"""What the lines of a text log look like.

A pattern is a regular expression with named groups, each of which is a column. It has to match the
whole line. Patterns are matched in time that grows with the line, whatever they are, so there is
no looking ahead and no reference back. An empty group is missing.

The patterns of web servers keep texts as they stand in the log, with ``\"`` for a quote; ``-`` is
missing as a size, which is a number, and a text everywhere else. A line may end inside its last
text, as real logs have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from whence.engine.errors import LogError
from whence.engine.values.arrow_compute import pc
from whence.engine.values.limits import current

__all__ = ["PATTERNS", "Pattern", "own_pattern", "recognized"]

_QUOTED = r'(?:[^"\\]|\\.)*'
_REQUEST = (
    r'(?P<request>(?P<method>[A-Z]+) (?P<path>(?:[^"\\ ]|\\.)+)(?: (?P<protocol>HTTP/[0-9.]+))?'
)
_COMMON = (
    r"(?P<address>\S+) (?P<identity>\S+) (?P<user>.+?) \[(?P<time>[^\]]+)\] "
    rf'"{_REQUEST}|{_QUOTED})" (?P<status>[0-9]{{3}}) (?:(?P<size>[0-9]+)|-)'
)
_COMBINED = rf'{_COMMON} "(?P<referer>{_QUOTED})" "(?P<agent>{_QUOTED})"?'
_KINDS = {"time": "instant(%d/%b/%Y:%H:%M:%S %z)", "status": "integer", "size": "integer"}
_ROLES = {"case": "address", "activity": "request", "time": "time"}


@dataclass(frozen=True)
class Pattern:
    """How a line is read.

    Attributes:
        name: for people.
        text: the regular expression.
        columns: its groups, in order.
        kinds: those of columns that are not text.
        roles: what the columns are to a log, as far as that is known.
    """

    name: str
    text: str
    columns: tuple[str, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)

    def match(self, lines: pa.Array) -> pa.StructArray:
        """The groups of each line; null where it does not match as a whole."""
        return pc.extract_regex(lines, rf"\A(?:{self.text})\z")


def _groups(text: str) -> tuple[str, ...]:
    """The names of the groups.

    Raises:
        ArrowInvalid: it is no regular expression of the kind that is needed.
    """
    found = pc.extract_regex(pa.array([""]), rf"\A(?:{text})\z")
    return tuple(found.type.field(n).name for n in range(found.type.num_fields))


def _web(name: str, text: str) -> Pattern:
    columns = _groups(text)
    return Pattern(name, text, columns, {**_KINDS, "port": "integer"}, _ROLES)


PATTERNS = {
    "common": _web("common", _COMMON),
    "combined": _web("combined", _COMBINED),
    "vhost_combined": _web("vhost_combined", rf"(?P<host>[^\s:]+):(?P<port>[0-9]+) {_COMBINED}"),
}
"""The patterns that have a name: those of Apache; nginx writes ``combined`` by default.
"""


def own_pattern(given: str) -> Pattern:
    """A pattern by its name, or one that the user wrote.

    Raises:
        LogError: it is neither.
    """
    if given in PATTERNS:
        return PATTERNS[given]
    hint = "(?P<name>...) for each column and (?:...) for other groups"
    expected = f"one of {', '.join(PATTERNS)}, or a regular expression with named groups"
    limits = current()
    if len(given) > limits.pattern:
        raise limits.exceeded(
            "pattern",
            "a pattern",
            f"{len(given):,}",
            "a shorter one",
            needed=len(given),
            kind=LogError,
        )
    try:
        columns = _groups(given)
    except pa.ArrowInvalid as fault:
        said = str(fault).partition("\n")[0].removeprefix("Invalid regular expression: ")
        msg = f"a pattern: expected {expected}; got {given[:80]!r}: {said}; try {hint}"
        raise LogError(msg) from fault
    if not columns:
        msg = f"a pattern: expected {expected}; got {given[:80]!r}; try {hint}"
        raise LogError(msg)
    for name in columns:
        if columns.count(name) > 1:
            msg = f"a pattern: expected names that differ; got {name!r} twice; try {name}_2"
            raise LogError(msg)
    return Pattern("given", given, columns)


def recognized(line: str) -> Pattern | None:
    """The named pattern that a line matches, if any.

    >>> recognized('::1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326').name
    'common'
    """
    for pattern in reversed(PATTERNS.values()):  # a host would pass as part of an address
        if pattern.match(pa.array([line])).null_count == 0:
            return pattern
    return None
