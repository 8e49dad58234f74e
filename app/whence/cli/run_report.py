"""How the outputs of a run are shown: a table for people, JSON lines or CSV for programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from whence.cli.output import output, several
from whence.engine.interpreter.pending import InSlices, pending_text
from whence.engine.lineage.tracker import Explanation, Witnesses, input_names
from whence.engine.values import Value
from whence.engine.values.printable import json_line
from whence.engine.values.value_json import value_json

if TYPE_CHECKING:
    from whence.engine.interpreter.run import Output

__all__ = ["Report", "outputs_text", "values_text"]

_NAMES_SHOWN = 8
_VALUES_SHOWN = 3
_LONG = 40


@dataclass(frozen=True)
class Report:
    """What to show of each output.

    Attributes:
        pipes: whether outputs of several pipes are mixed, and each must say which it is.
        track: show what explains it.
        support: show what supports it.
        witnesses: with ``all``, show every alternative.
    """

    pipes: bool
    track: bool
    support: bool
    witnesses: Witnesses

    def rows(self, outputs: Sequence[Output]) -> Iterator[dict[str, Any]]:
        """Each output as plain data."""
        for given in outputs:
            row: dict[str, Any] = {"pipe": given.name} if self.pipes else {}
            row |= {"position": given.position, "moment": given.moment}
            row["value"] = value_json(given.value)
            explanation = Explanation(given.event, self.witnesses)
            if self.track:
                row["explains"] = explanation.names
            if self.track and self.witnesses == "all":
                found = explanation.alternatives
                row["alternatives"] = [input_names(dict.fromkeys(one)) for one in found.sets]
                row["more_alternatives"] = found.cut
            if self.support:
                row["supports"] = input_names(explanation.support)
            yield row

    def columns(self) -> list[str]:
        """The columns of the table and of the CSV."""
        names = ["pipe"] if self.pipes else []
        names += ["position", "moment", "value"]
        names += ["explains"] if self.track else []
        names += ["alternatives"] if self.track and self.witnesses == "all" else []
        return names + (["supports"] if self.support else [])

    def print(self, rows: Iterable[dict[str, Any]], end: dict[str, Any]) -> None:
        """Print outputs.

        Args:
            rows: the outputs as plain data.
            end: the last line for programs.
        """
        if output().json:
            self._print_json_lines(rows, end)
        elif output().csv:
            self._print_csv(rows)
        else:
            self._print_table(rows)

    def _print_table(self, rows: Iterable[dict[str, Any]]) -> None:
        """For a person: long explanations are cut, and say how much is left out."""
        shown = [
            {column: _cell(row, column, _NAMES_SHOWN) for column in self.columns()} for row in rows
        ]
        output().table(shown, self.columns())

    def _print_csv(self, rows: Iterable[dict[str, Any]]) -> None:
        """For a spreadsheet: everything, lists separated by ``; ``."""
        names = self.columns()
        made = ([_sheet_cell(row, column) for column in names] for row in rows)
        output().rows(chain([names], made))

    def _print_json_lines(self, rows: Iterable[dict[str, Any]], end: dict[str, Any]) -> None:
        """For a program: one object per output, then one that says how the run ended."""
        for row in rows:
            print(json_line(row))
        print(json_line({"end": end}))


def outputs_text(count: int, shown: int, pending: Mapping[str, int | InSlices]) -> str:
    """How many outputs there are, how many of them are shown, and how many verdicts wait.

    >>> outputs_text(1200, 10, {"rule/G": 1})
    '1,200 outputs, the first 10 shown; pending verdicts: rule/G 1 (--closed decides them)'
    >>> outputs_text(3, 3, {"paid": {"slices": 918, "of": 1735, "verdicts": 2000}})
    '3 outputs; paid: 918 of 1,735 slices are not decided yet (--closed decides them)'
    """
    text = several(count, "output")
    if shown < count:
        text += f", the first {shown} shown"
    alone = {name: one for name, one in pending.items() if isinstance(one, int)}
    if alone:
        text += f"; pending verdicts: {pending_text(alone)}"
    for name, one in pending.items():
        if not isinstance(one, int):
            text += f"; {name}: {one['slices']:,} of {one['of']:,} slices are not decided yet"
    return f"{text} (--closed decides them)" if pending else text


def values_text(name: str, counts: Counter[str]) -> str:
    """Which values a pipe gave, and how often each: all of a few, else the most frequent.

    >>> values_text("rule", Counter({"false": 1337, "true": 1}))
    'rule: false (1,337 times), true (1 time)'
    >>> values_text("late", Counter({"3443": 3663, "331": 780, "5": 2, "6": 2, "7": 1}))
    'late: 5 different values, most often 3,443 (3,663 times), 331 (780 times), 5 (2 times)'
    >>> values_text("sum", Counter(map(str, range(12))))
    'sum: 12 different values, each once'

    Args:
        name: the pipe.
        counts: how often it gave each value, by its canonical text.
    """
    few = len(counts) <= _VALUES_SHOWN + 1
    if not few and max(counts.values()) == 1:
        return f"{name}: {len(counts):,} different values, each once"
    shown = counts.most_common(None if few else _VALUES_SHOWN)
    said = ", ".join(f"{_short(value)} ({several(n, 'time')})" for value, n in shown)
    return f"{name}: " + ("" if few else f"{len(counts):,} different values, most often ") + said


def _short(value: str) -> str:
    """A canonical value for a person.

    >>> _short("-12345"), _short("null"), _short("1234.5")
    ('-12,345', 'missing', '1234.5')
    """
    shown = "missing" if value == "null" else value
    if shown.removeprefix("-").isdecimal():
        shown = f"{int(shown):,}" if len(shown) <= _LONG else shown
    return shown if len(shown) <= _LONG else shown[: _LONG - 1] + "…"


def _cell(row: dict[str, Any], column: str, most: int | None) -> Any:
    value = row[column]
    if column == "value":
        return _value(value)
    if column in ("explains", "supports"):
        return _names(value, most)
    if column == "alternatives":
        sets = " | ".join([_names(names, most) for names in value])
        return sets + (" | ..." if row["more_alternatives"] else "")
    return value


def _sheet_cell(row: dict[str, Any], column: str) -> Any:
    """A number stays one; whatever else as in the table, but whole."""
    value = row[column]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else _cell(row, column, None)


def _value(value: Value) -> str:
    if value is None:
        return "missing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _names(names: list[str], most: int | None) -> str:
    if most is not None and len(names) > most:
        return "; ".join(names[:most]) + f"; ... {len(names) - most} more"
    return "; ".join(names)
