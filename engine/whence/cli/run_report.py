"""How the outputs of a run are shown: a table for people, JSON lines or CSV for programs."""

from __future__ import annotations

import csv as csv_module
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence.cli.output import output
from whence.engine.notation import value_json
from whence.engine.tracker import Explanation, Witnesses, input_names
from whence.engine.values import Value

if TYPE_CHECKING:
    from whence.engine.interpreter.run import Output

__all__ = ["Report", "outputs_text"]

_NAMES_SHOWN = 8


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

    def print(self, rows: Iterable[dict[str, Any]], end: dict[str, Any], *, csv: bool) -> None:
        """Print outputs in the way that was chosen.

        Args:
            rows: the outputs as plain data.
            end: what a program is told at the end.
            csv: print rows for a spreadsheet.
        """
        if output().json:
            self._print_json_lines(rows, end)
        elif csv:
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
        writer = csv_module.writer(sys.stdout, lineterminator="\n")
        writer.writerow(self.columns())
        for row in rows:
            writer.writerow([_cell(row, column, None) for column in self.columns()])

    def _print_json_lines(self, rows: Iterable[dict[str, Any]], end: dict[str, Any]) -> None:
        """For a program: one object per output, then one that says how the run ended."""
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
        print(json.dumps({"end": end}, ensure_ascii=False))


def outputs_text(count: int, shown: int, pending: Mapping[str, int]) -> str:
    """How many outputs there are, how many of them are shown, and how many verdicts wait.

    >>> outputs_text(1200, 10, {"rule/G": 1})
    '1,200 outputs, the first 10 shown; pending verdicts: rule/G 1 (--closed decides them)'
    """
    text = f"{count:,} output{'' if count == 1 else 's'}"
    if shown < count:
        text += f", the first {shown} shown"
    if pending:
        waiting = ", ".join(f"{name} {number}" for name, number in pending.items())
        text += f"; pending verdicts: {waiting} (--closed decides them)"
    return text


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


def _value(value: Value) -> str:
    if value is None:
        return "missing"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _names(names: list[str], most: int | None) -> str:
    if most is not None and len(names) > most:
        return "; ".join(names[:most]) + f"; ... {len(names) - most} more"
    return "; ".join(names)
