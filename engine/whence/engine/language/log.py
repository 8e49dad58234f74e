"""What is declared of a log: the kinds of its columns, what they mean, how it is read and ordered.

The same words serve in a chain file under ``logs``, in Python, and as options of the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from whence.engine.errors import ParameterError

__all__ = ["COLUMN_KINDS", "DECLARABLE", "ROLES", "Log", "base_kind", "check_kind"]

COLUMN_KINDS = ("boolean", "integer", "float", "text", "instant", "duration", "list", "any")
ROLES = ("case", "activity", "time", "id")
"""What a column can be to a log."""

_CHOICES = {
    "missing": ("first", "last"),
    "on_bad": ("refuse", "drop", "keep"),
    "decimal": (",", "."),
}
_TYPES: Mapping[str, tuple[type, str]] = {
    "header": (bool, "true"),
    "limits": (Mapping, "{events: 5}"),
}


def base_kind(kind: str) -> str:
    """A kind without the form in which it is written.

    >>> base_kind("instant(%d.%m.%Y)")
    'instant'
    """
    return kind.partition("(")[0]


def check_kind(kind: object) -> bool:
    """Whether this is a kind; an instant may say in brackets how it is written.

    >>> check_kind("instant(%d.%m.%Y)"), check_kind("integer(5)")
    (True, False)
    """
    if kind in COLUMN_KINDS:
        return True
    return isinstance(kind, str) and kind.startswith("instant(") and kind.endswith(")")


@dataclass(frozen=True)
class Log:
    """What is declared of an input log; what is not stated is ``None``.

    >>> Log(case="customer", order="time").over(Log({"paid": "instant"}, time="paid")).time
    'paid'

    Attributes:
        columns: the kind of each column (``integer``, ``text``, ...).
        case: the column that names the case.
        activity: the column that names the activity.
        time: the column that holds the time.
        id: the column that names each event.
        order: ``file``, ``time``, or columns to order by; the row number breaks ties.
        missing: where events without a value to order by go: ``first`` or ``last``.
        format: how the file is written, if its name does not say so.
        delimiter: what separates cells.
        encoding: how text is encoded.
        header: whether the first row names the columns.
        pattern: of a text log: a pattern's name, or a regular expression with named groups.
        object_type: of an object-centric log: the type whose objects are the cases.
        timezone: the zone of times that carry none.
        on_bad: what to do with a row that does not fit: ``refuse``, ``drop`` or ``keep``.
        limits: how much of what is too much, by name.
        decimal: the decimal sign of numbers that are texts: ``.`` or ``,``.
        sheet: of a workbook: the sheet that is the log.
        guessed: the roles whose columns were not declared, but found in the log. This is no part
            of the declaration.
    """

    columns: Mapping[str, str] | None = field(default=None, hash=False)
    case: str | None = None
    activity: str | None = None
    time: str | None = None
    id: str | None = None
    order: str | tuple[str, ...] | None = None
    missing: str | None = None
    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    pattern: str | None = None
    object_type: str | None = None
    timezone: str | None = None
    on_bad: str | None = None
    limits: Mapping[str, int] | None = field(default=None, hash=False)
    decimal: str | None = None
    sheet: str | None = None
    guessed: tuple[str, ...] = field(default=(), compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what can never be right, whatever the log."""
        if isinstance(self.order, list):
            object.__setattr__(self, "order", tuple(self.order))
        for name in DECLARABLE:
            value = getattr(self, name)
            if value is None or name == "columns":
                continue
            wanted, example = _TYPES.get(name, (str, "a text"))
            if name == "order":
                texts = (value,) if isinstance(value, str) else value
                fits = isinstance(texts, tuple) and texts and all(map(_is_text, texts))
                example = "time"
            else:
                fits = isinstance(value, wanted)
            choices = _CHOICES.get(name)
            if choices is not None and value not in choices:
                fits, example = False, choices[0]
            if not fits:
                expected = " or ".join(choices) if choices else f"something like {example}"
                msg = f"a log's {name}: expected {expected}; got {value!r}; try {example}"
                raise ParameterError(msg)

    def over(self, below: Log | None) -> Log:
        """This, and where it says nothing, what is below; kinds and limits one by one."""
        if below is None:
            return self
        stated = {name: getattr(self, name) for name in DECLARABLE}
        for name in ("columns", "limits"):
            under = getattr(below, name)
            if stated[name] is not None and under is not None:
                stated[name] = {**under, **stated[name]}
        own = {name: v for name, v in stated.items() if v is not None}
        guessed = {*self.guessed, *(role for role in below.guessed if role not in own)}
        return replace(below, **own, guessed=tuple(sorted(guessed)))

    def tree(self) -> dict[str, Any]:
        """As in a chain file: what is stated, and nothing else."""
        tree: dict[str, Any] = {}
        for name in DECLARABLE:
            value = getattr(self, name)
            if isinstance(value, Mapping):
                value = dict(value)
            if value is not None:
                tree[name] = list(value) if isinstance(value, tuple) else value
        return tree


DECLARABLE = tuple(each.name for each in fields(Log) if each.name != "guessed")
"""What can be declared of a log, by name."""


def _is_text(value: object) -> bool:
    return isinstance(value, str)
