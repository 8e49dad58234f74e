"""Questions of the page and their answers: what a worker process does."""

from __future__ import annotations

import logging
import pickle
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from starlette.datastructures import QueryParams

from whence.engine.errors import SettingsError, WhenceError
from whence.engine.values.printable import printable
from whence.questions import VIEWS as OF_QUESTIONS
from whence.store import Secret, Settings
from whence.store.journal import note
from whence.web.asking import Asker, Gone
from whence.web.downloads import DOWNLOADS
from whence.web.problems import problem_of
from whence.web.view import Asked, View
from whence.web.views.explanation import graph
from whence.web.views.log import log
from whence.web.views.outputs import outputs
from whence.web.views.overview import overview
from whence.web.views.runs import runs

__all__ = ["VIEWS", "Question", "answer"]


def _shown(place: str) -> View:
    module, _, name = place.partition(":")
    found: View = getattr(import_module(f"whence.web.views.{module}"), name)
    return found


VIEWS: dict[str, tuple[str, View]] = {
    "/": ("Runs", runs),
    "/run/{run}": ("Run", overview),
    "/run/{run}/outputs": ("Outputs", outputs),
    "/run/{run}/log": ("Log", log),
    **{view.path: (view.title, _shown(view.shows)) for view in OF_QUESTIONS},
}
"""Every view by its address."""
PARTS: dict[str, View] = {
    **{path: view for path, (_, view) in VIEWS.items()},
    "/run/{run}/graph": graph,
}
LEEWAY = 5
"""Seconds after the limit until a worker ends by itself, if its server is not there to end it."""


@dataclass(frozen=True)
class Question:
    """What a request asks for.

    Attributes:
        take: whether a file is taken away; else a view is shown.
        name: the address of the view, or the name of the file.
        run: the run's id; empty if it is not about one run.
        query: what follows the question mark.
        record: the record's place.
        allow: modules whose functions chains may call when they are run again.
        settings: where the graph is.
        seconds: how long the answer, or the next piece of it, may take.
    """

    take: bool
    name: str
    run: str
    query: str
    record: Path
    allow: tuple[str, ...]
    settings: Settings
    seconds: float

    def packed(self) -> bytes:
        """As bytes, with the password: for a socket that only the two processes have."""
        into = BytesIO()
        _Packer(into).dump(self)
        return into.getvalue()


class _Packer(pickle.Pickler):
    def reducer_override(self, given: Any) -> Any:
        """A password that was given as a value refuses to travel, except here."""
        if not isinstance(given, Secret):
            return NotImplemented
        try:
            return given.__reduce__()
        except SettingsError:
            return Secret.of, (given.reveal(),)


Head = dict[str, Any]
"""The status of an answer and its headers."""


def answer(question: Question, asker: Asker) -> Iterator[Head | bytes]:
    """The head of an answer, then its content piece by piece."""
    pieces: Iterator[bytes] | None = None
    try:
        with _limited(question.seconds):
            head, pieces = _answered(question, asker)
    except Exception as error:
        problem = problem_of(error)
        if problem.away:
            asker.lost()
        head = {"status": problem.status, "away": problem.away}
        pieces = iter([problem.words.encode()])
    yield head
    while True:
        with _limited(question.seconds):
            piece = next(pieces, None)
        if piece is None:
            return
        yield piece


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """The kernel ends the process after this time, also in a computation that heeds no signal."""
    signal.alarm(int(seconds) + LEEWAY)
    try:
        yield
    finally:
        signal.alarm(0)


def _answered(question: Question, asker: Asker) -> tuple[Head, Iterator[bytes]]:
    asked = Asked(asker, question.run, QueryParams(question.query))
    if not question.take:
        part = PARTS[question.name](asked)
        return {"status": 200, "title": part.title}, iter([part.html().encode()])
    chosen = DOWNLOADS.get(question.name)
    if chosen is None:
        raise Gone("There is no such file.")
    taken = chosen(asked)
    _journal(question)
    return {"status": 200, "name": taken.name, "kind": taken.kind}, iter(taken.pieces)


def _journal(question: Question) -> None:
    """Write into the record's journal what is handed out, before it leaves."""
    words = ["web", question.name]
    if question.run:
        words += ["--run", question.run]
    for name, value in QueryParams(question.query).multi_items():
        words += [f"--{name}", value]
    try:
        note(question.record, words)
    except WhenceError as error:
        logging.getLogger("whence.web").warning("not in the journal: %s", printable(str(error)))
