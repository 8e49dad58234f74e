"""What a pack shows, made from its facts alone: report, picture, tables and PROV.

Making and verifying a pack both use this module, so that each of these files is what
``evidence.json`` says, byte for byte, or is found out.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from whence.engine.lineage.association import LOG_PREFIX, Association
from whence.engine.values.spreadsheet import sheet_bytes
from whence.exporters.answers import answer_of
from whence.exporters.evidence.found import from_json
from whence.exporters.evidence.page import html_page
from whence.exporters.evidence.picture import Picture, picture_of, svg
from whence.exporters.evidence.printing import pdf
from whence.exporters.evidence.sections import NOT, event_rows, report, route_rows
from whence.exporters.model import Event, Run
from whence.exporters.shipping import save
from whence.store.questions import Impact, Why

__all__ = ["PROV_FILES", "Found", "derived", "files_of", "found_in", "json_bytes", "prov_files"]

PROV_FILES = ("prov.json", "prov.nq")

_ALWAYS = (
    *("README.txt", "report.html", "report.pdf", "explanation.svg", "evidence.json"),
    *("events.csv", "route.csv", "reconciliation.csv", "what-if.csv", "dictionary.csv"),
    *("chain.json", "root.json", "proofs.json", "verify.py", "key.pub", *PROV_FILES),
)


@dataclass(frozen=True)
class Found:
    """What was found, read from the facts.

    Attributes:
        answer: the answer as far as it may be revealed.
        run: the run.
        route: the associations of the route, in order.
        widths: of streams inside a Slice, how many positions each one outside has.
    """

    answer: Why | Impact
    run: Run
    route: tuple[Association, ...]
    widths: Mapping[str, int]


def found_in(told: Mapping[str, Any]) -> Found:
    """What was found, by the facts.

    Raises:
        TypeError: the facts hold something else.
    """
    found = told["found"]
    answer, run = from_json(found["answer"]), from_json(found["run"])
    route = from_json(found["route"]["associations"])
    if not isinstance(answer, (Why, Impact)) or not isinstance(run, Run):
        msg = f"expected an answer and a run; got {type(answer).__name__}, {type(run).__name__}"
        raise TypeError(msg)
    if not all(isinstance(each, Association) for each in route):
        msg = "expected associations on the route; got something else"
        raise TypeError(msg)
    return Found(answer, run, route, found["route"]["widths"])


def files_of(told: Mapping[str, Any]) -> list[str]:
    """The names of all files of a pack's data."""
    return sorted((*_ALWAYS, *_more_tables(told)))


def prov_files(told: Mapping[str, Any]) -> dict[str, bytes]:
    """The answer as PROV."""
    found = found_in(told)
    answer: object = found.answer
    if "erasure" in told:
        events = tuple(Event(LOG_PREFIX + each["log"], each["position"]) for each in told["events"])
        answer = replace(answer_of(found.answer, found.run), events=events)
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: save(answer, Path(folder, name), about=found.run).read_bytes()
            for name in PROV_FILES
        }


def derived(told: Mapping[str, Any]) -> dict[str, bytes]:
    """Report, picture and tables."""
    found = found_in(told)
    picture = _picture(told, found)
    page = report(told, route_rows(found.route, found.widths))
    counts = [list(each.values()) for each in told["reconciliation"]]
    return {
        "README.txt": _readme(told).encode(),
        "report.html": html_page(page, svg(picture)).encode(),
        "report.pdf": pdf(page, picture),
        "explanation.svg": svg(picture).encode(),
        "events.csv": sheet_bytes(*event_rows(told)),
        "route.csv": sheet_bytes(*route_rows(found.route)),
        "reconciliation.csv": sheet_bytes(
            list(told["reconciliation"][0]) if counts else ["log"], counts
        ),
        "what-if.csv": sheet_bytes(
            ["place", "value", "changes", "result"], [list(row.values()) for row in told["what_if"]]
        ),
        "dictionary.csv": sheet_bytes(
            ["name", "kind", "events", "owner"], [list(row.values()) for row in told["dictionary"]]
        ),
        **{
            name: sheet_bytes(list(rows[0]), [list(row.values()) for row in rows])
            for name, rows in _more_tables(told).items()
        },
    }


def _picture(told: Mapping[str, Any], found: Found) -> Picture:
    names = [f"{each['log']}@{each['position']}" for each in told["events"]]
    processors = [each.id for each in found.run.processors if each.definition is not None]
    output = told["question"].partition(" ")[2]
    if isinstance(found.answer, Impact):
        output = f"{sum(share.count for share in found.answer.explained):,} outputs"
    return picture_of(names, processors, output)


def _more_tables(told: Mapping[str, Any]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """Tables that only some packs have."""
    several = {
        "erased.csv": told.get("erasure", {}).get("erased", ()),
        "adjustments.csv": told["adjustments"],
        "difference.csv": told.get("difference", {}).get("figure", ()),
    }
    return {name: rows for name, rows in several.items() if rows}


def _readme(told: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            f"Evidence: {told['question']}",
            "",
            told["answer"]["words"],
            "",
            "report.html, report.pdf   the question, the answer and what they rest on, to read",
            "evidence.json             the same for programs; all else is made from it",
            "*.csv                     its tables",
            "prov.json, prov.nq        the same as W3C PROV",
            "proofs.json               that the events shown are events of the run",
            "root.json                 what the run was when it ended, and who signed that",
            "chain.json                what computed the answer",
            "verify.py                 python3 verify.py PACK.zip checks the pack, but not all",
            "",
            NOT,
            "",
        ]
    )


def json_bytes(content: Any) -> bytes:
    """JSON as packs have it; the order is that of the tables."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
