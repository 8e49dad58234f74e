"""Runs: which runs are there?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whence.engine.record import list_runs
from whence.store.cypher import cypher
from whence.web.asking import Asker
from whence.web.html import Html, Inside, el, shown
from whence.web.pieces import search_field, table
from whence.web.view import Asked, Part, link, number, pages, plural

__all__ = ["facts", "runs"]

PAGE = 50
STATUSES = ("complete", "running", "interrupted", "failed")


def runs(asked: Asked) -> Part:
    """The runs, the newest first; search by id, output, log and status."""
    asker = asked.asker
    loaded = {row["id"]: row for row in asker.graph().read(cypher("runs_read"))}
    ids = sorted({*loaded, *_recorded(asker)}, reverse=True)
    wanted, status = asked.text("search").casefold(), asked.text("status")
    if wanted or status:
        told = ((id, facts(asker, id, loaded.get(id))) for id in ids)
        ids = [
            id
            for id, fact in told
            if wanted in f"{id} {fact['outputs']} {fact['logs']} {fact['runner']}".casefold()
            and (not status or fact["status"] == status)
        ]
    page = min(asked.whole("page"), max((len(ids) - 1) // PAGE, 0))
    some = ids[page * PAGE : (page + 1) * PAGE]
    rows = [_row(id, facts(asker, id, loaded.get(id))) for id in some]
    body: list[Inside] = [
        el("h1", "Runs"),
        el(
            "p",
            "Each run checked one or more logs with a chain of processors, and stored which "
            "events explain each output.",
            class_="lead",
        ),
        _form(asked, status),
    ]
    if rows:
        columns = ("Run", "Outputs", "Logs", "Number of outputs", "Status", "Began")
        body.append(table(columns, rows, "runs", numbers=(3,)))
        body.append(
            pages(
                page,
                PAGE,
                len(ids),
                lambda to: link("/", search=asked.text("search"), status=status, page=to),
            )
        )
    else:
        body.append(_none(bool(wanted or status)))
    return Part("Runs", body, {"runs_read": cypher("runs_read")})


def _form(asked: Asked, status: str) -> Inside:
    return el(
        "form",
        search_field(asked.text("search"), "id, output or log"),
        el(
            "label",
            "Status",
            el(
                "select",
                [el("option", "any", value="")]
                + [el("option", each, value=each, selected=each == status) for each in STATUSES],
                name="status",
            ),
        ),
        el("button", "Show", type="submit"),
        class_="filter",
        method="get",
        action="/",
        role="search",
    )


def _none(searched: bool) -> Inside:
    if searched:
        return el("p", "No matching runs. ", el("a", "Show all", href="/"), class_="empty")
    return el(
        "div",
        el("p", "There is no run yet. Make one:"),
        el("pre", "whence run CHAIN.yaml --log FILE --track"),
        class_="empty",
    )


def _row(id: str, fact: Mapping[str, Any]) -> Html:
    path = f"/run/{id}"
    name = el("a", id, href=path, class_="name") if fact["in_graph"] else el("span", id)
    state = fact["status"] if fact["in_graph"] else f"{fact['status']}, not loaded"
    if fact["in_graph"] and not fact["loaded"]:
        state = f"{fact['status']}, loading"
    return el(
        "tr",
        el("th", name, scope="row"),
        el("td", shown(fact["outputs"], 80)),
        el("td", shown(fact["logs"], 80)),
        el(
            "td",
            el("a", fact["count"], href=f"{path}/outputs") if fact["in_graph"] else fact["count"],
            class_="n",
        ),
        el("td", el("span", state, class_=f"state {fact['status']}")),
        el(
            "td",
            el("time", str(fact["started"])[:19].replace("T", " "), datetime=str(fact["started"])),
        ),
    )


def _recorded(asker: Asker) -> list[str]:
    try:
        return list(list_runs(asker.record))
    except OSError:
        return []


def facts(asker: Asker, id: str, stored: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a list says of a run."""
    kept = asker.recorded(id)
    manifest = None if kept is None else kept.manifest
    outputs = () if manifest is None else manifest.outputs
    logs = () if manifest is None else manifest.logs
    stored_status = None if stored is None else stored["status"]
    return {
        "outputs": ", ".join(s.name for s in outputs) or "not in this record",
        "logs": ", ".join(logs) or "not in this record",
        "count": number(sum(s.length for s in outputs)) if outputs else "open",
        "status": manifest.status if manifest else stored_status or "unknown",
        "started": manifest.started if manifest else (stored or {}).get("started") or "",
        "runner": manifest.runner if manifest else "",
        "in_graph": stored is not None,
        "loaded": bool(stored and stored["loaded"]),
        "words": plural(len(outputs), "output pipe"),
    }
