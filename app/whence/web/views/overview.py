"""A run: its chain with the counts on its pipes, its logs, and links to its views."""

from __future__ import annotations

from whence.engine.drawing import Picture, picture_of_chain, svg
from whence.engine.record.manifest import RunManifest
from whence.questions import TABS
from whence.store.catalog import RunGraph
from whence.store.cypher import cypher
from whence.store.questions import chain_of
from whence.store.questions.answers import coverage_of
from whence.web.html import Inside, el, raw, shown
from whence.web.view import PNG, Asked, Part, link, number, plural

__all__ = ["chain_picture", "head", "overview"]

VIEWS = (("", "Overview"), ("/outputs", "Outputs"), *TABS, ("/log", "Log"))


def head(run: RunGraph, here: str, title: Inside = None) -> Inside:
    """The tabs above every view of a run."""
    links = [
        el("a", words, href=f"/run/{run.id}{path}", aria_current="page" if path == here else None)
        for path, words in VIEWS
    ]
    compare = el("a", "Compare", href=link("/compare", first=run.id))
    return [
        el(
            "nav",
            el("a", "Runs", href="/"),
            el("span", "/", aria_hidden="true"),
            el("a", run.id, href=f"/run/{run.id}", class_="name"),
            class_="crumbs",
            aria_label="Where you are",
        ),
        el("nav", links, compare, class_="tabs", aria_label="Views of this run"),
        title,
    ]


def chain_picture(asked: Asked, run: RunGraph) -> Picture:
    """The chain, with how many events went through each pipe of this run."""
    chain = asked.asker.kept(run, "chain", lambda: chain_of(asked.asker.graph(), run.id))
    counts = {name: log.length for log in run.logs for name in log.names}
    counts |= {stream.name: stream.length for stream in run.streams if not stream.role.is_heads}
    counts |= {
        f"{stream.processor}.{stream.pipe}": stream.length
        for stream in run.streams
        if stream.role.is_pipe
    }
    return picture_of_chain(chain, counts, f"the chain of run {run.id}")


def overview(asked: Asked) -> Part:
    run = asked.asker.run(asked.run)
    picture = chain_picture(asked, run)
    kept = asked.asker.recorded(run.id)
    manifest = None if kept is None else kept.manifest
    pipes = [
        el(
            "a",
            el("b", shown(stream.name, 60)),
            el("span", plural(stream.length, "output")),
            class_="card",
            href=link(f"/run/{run.id}/outputs", pipe=stream.name),
        )
        for stream in run.outputs
    ]
    logs = [
        el(
            "a",
            el("b", shown(log.name, 60)),
            el("span", plural(log.length, "event")),
            class_="card input",
            href=link(f"/run/{run.id}/log", log=log.name),
        )
        for log in run.logs
    ]
    body = [
        head(
            run,
            "",
            el("h1", " and ".join(s.name for s in run.outputs)[:120], el("small", f"run {run.id}")),
        ),
        el("div", logs, el("span", "→", class_="to", aria_hidden="true"), pipes, class_="cards"),
        el(
            "section",
            el("h2", "Chain"),
            el(
                "div",
                raw(svg(picture, inside=True)),
                class_="drawing",
                id="drawing",
                tabindex="0",
                role="region",
                aria_label="drawing of the chain",
            ),
        ),
        el("section", el("h2", "Facts"), _facts(run, manifest)),
    ]
    takes = [
        ("Chain as SVG", f"/take/run/{run.id}/chain.svg"),
        ("Chain as PNG", f"{PNG}/take/run/{run.id}/chain.svg"),
    ]
    queries = {name: cypher(name) for name in ("run_read", "run_plan")}
    return Part(f"Run {run.id}", body, queries, takes)


def _facts(run: RunGraph, manifest: RunManifest | None) -> Inside:
    options = ", ".join(
        f"{name} {value}"
        for name, value in run.options.json().items()
        if value not in (None, False)
    )
    known = {
        "Status": run.status if run.loaded else f"{run.status}, not all of it loaded",
        "Coverage": str(coverage_of(run, run.outputs)),
        "Began": str(run.started)[:19].replace("T", " "),
        "Runner": manifest and manifest.runner,
        "Options": options.replace(" True", ""),
        "Chain": manifest and manifest.chain_digest,
        "Logs": "; ".join(
            f"{log.name}: {number(log.length)} events, columns {', '.join(log.columns) or 'none'}"
            for log in run.logs
        ),
        **{
            str(name): str(value) for name, value in (manifest.metadata if manifest else {}).items()
        },
    }
    return el(
        "dl",
        [
            [el("dt", name), el("dd", shown(str(value), 400))]
            for name, value in known.items()
            if value
        ],
    )
