"""Limits on what a log may ask of this machine; each has a name and can be raised by that name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from whence.engine.errors import LogError, ParameterError

__all__ = ["Limits"]

_WHAT = {
    "unpacked": "bytes after unpacking",
    "events": "events",
    "columns": "columns",
    "attributes": "attributes on one event",
    "nesting": "levels of nesting",
    "text": "characters in one value",
    "row": "bytes in one row",
    "workbook": "bytes of a workbook in memory",
}


@dataclass(frozen=True)
class Limits:
    """What is refused beyond, however little the file weighs when it is packed.

    >>> Limits.stated(["events=2_000_000_000"]).events
    2000000000

    Attributes:
        unpacked: bytes that compressed files may unpack to, together.
        events: events in a log.
        columns: columns in a log.
        attributes: attributes that one event may carry.
        nesting: levels of attributes inside attributes, or of JSON inside JSON.
        text: characters in one value.
        row: bytes in one row or line.
        workbook: bytes that a workbook may take in memory, before it becomes rows.
    """

    unpacked: int = 8 << 30
    events: int = 1_000_000_000
    columns: int = 4_096
    attributes: int = 4_096
    nesting: int = 64
    text: int = 4 << 20
    row: int = 64 << 20
    workbook: int = 2 << 30

    @classmethod
    def stated(cls, settings: Iterable[str]) -> Limits:
        """The limits, some of them changed by ``NAME=VALUE``.

        Raises:
            ParameterError: no such limit, or no number.
        """
        changed: dict[str, int] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in _WHAT:
                msg = (
                    f"a limit: expected one of {', '.join(_WHAT)}; got {name!r}; try events=1000000"
                )
                raise ParameterError(msg)
            try:
                changed[name] = int(value)
            except ValueError:
                changed[name] = 0
            if changed[name] < 1:
                msg = f"the limit {name}: expected a whole number above 0; got {value!r}; " + (
                    f"try {name}={cls().by_name(name)}"
                )
                raise ParameterError(msg)
        return replace(cls(), **changed)

    def by_name(self, name: str) -> int:
        return int(getattr(self, name))

    def check(self, name: str, amount: int, where: str) -> None:
        """Refuse more than the limit.

        Args:
            name: which limit.
            amount: how much has been seen so far.
            where: file and place, for the message.

        Raises:
            LogError: with the limit's name and how to raise it.
        """
        if amount > self.by_name(name):
            raise self.exceeded(name, where)

    def exceeded(self, name: str, where: str) -> LogError:
        """The error for more than the limit."""
        most = self.by_name(name)
        return LogError(
            f"{where}: expected at most {most:,} {_WHAT[name]} (the limit {name!r}); got more; "
            f"try --log-limit {name}={2 * most} if you trust this log"
        )


assert set(_WHAT) == {field.name for field in fields(Limits)}
