"""A question of the page can be ended, what leaves is in the journal, what is erased is dropped."""

from __future__ import annotations

import http.client
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import psutil
import pytest

from tests.ground.surroundings import ROOT
from tests.web._support.page_requests import Answer, ask, asker, journal, raw, take
from tools.browser import Served, served
from whence.api import run
from whence.engine import ApplyFunction, Chain
from whence.engine.runners import RunOptions
from whence.exporters.evidence.erasing import erase, plan_events
from whence.store import Connection
from whence.store.loading import load
from whence.store.server import Status
from whence.web import Asker
from whence.web.pool import Pool

MANY = 30_000
ENDLESS = quote(" or ".join(f"value={n}.5" for n in range(500)), safe="=")
"""Half a minute of work over this many values, on an idle machine."""
STUBBORN = """
import signal, sys, time
from whence.web import answers, worker
def endless(question, asker):
    if "never" in question.query:
        open(question.query.partition("=")[2], "w").close()
        while True:
            pass
    return ordinary(question, asker)
ordinary, answers._answered = answers._answered, endless
real, signal.signal = signal.signal, lambda *_: None
real(signal.SIGTERM, signal.SIG_IGN)
worker.main()
"""
"""A worker that heeds no request to end, and never answers some questions."""


BREAKING = """
import os
from whence.web import answers, worker
def pieces():
    yield b"x" * 100_000
    os._exit(1)
def broken(question, asker):
    return {"status": 200, "name": "outputs.csv", "kind": "text/csv"}, pieces()
answers._answered = broken
worker.main()
"""
"""A worker that dies in the middle of a file."""


def workers() -> list[psutil.Process]:
    """Worker processes of this test run that are there."""
    found = []
    for each in psutil.Process().children(recursive=True):
        try:
            told = each.status() != psutil.STATUS_ZOMBIE and "whence.web" in " ".join(
                each.cmdline()
            )
        except psutil.NoSuchProcess:
            continue
        if told:
            found.append(each)
    return found


def processor_time() -> float:
    """Seconds of processor time that the workers use in half a second."""
    before = {each.pid: each for each in workers()}
    times = {pid: sum(each.cpu_times()[:2]) for pid, each in before.items()}
    time.sleep(0.5)
    return sum(sum(e.cpu_times()[:2]) - times[e.pid] for e in workers() if e.pid in times)


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def at_rest() -> bool:
    return processor_time() < 0.05


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("ending")
    chain = Chain.of(ApplyFunction("twice", "value * 2"))
    numbers = [float(n) for n in range(MANY)]
    id = run(chain, numbers, runner="local", record=root, options=RunOptions(chunk=5000)).id
    return root, id


@pytest.fixture
def page(made: tuple[Path, str], neo4j_server: Status, graph: Connection) -> Iterator[Served]:
    load(*made, graph)
    settings = neo4j_server.settings()
    with served(Asker(lambda: settings, made[0])) as address:
        yield address


@pytest.fixture
def view(made: tuple[Path, str], page: Served) -> Callable[[str], Answer]:
    return lambda path: ask(page, f"/part/run/{made[1]}{path}", **page.headers)


@pytest.mark.neo4j
def test_a_question_that_takes_too_long_is_ended_and_others_are_answered_meanwhile(
    view: Callable[[str], Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert view("/outputs?page=1").status == 200
    monkeypatch.setattr("whence.web.serving.VIEW_SECONDS", 4.0)
    said: list[Answer] = []
    endless = threading.Thread(target=lambda: said.append(view(f"/outputs?where={ENDLESS}")))
    endless.start()
    eventually(lambda: processor_time() > 0.1)
    assert view("/outputs?page=2").status == 200
    assert said == []
    endless.join(30)
    assert (said[0].status, "longer than a page should wait" in said[0].text) == (504, True)
    eventually(at_rest, 10)
    assert view("/outputs?page=3").status == 200


@pytest.mark.neo4j
def test_a_question_of_a_browser_that_went_away_is_ended(
    page: Served, made: tuple[Path, str], view: Callable[[str], Answer]
) -> None:
    assert view("").status == 200
    eventually(at_rest)
    head = f"GET /part/run/{made[1]}/outputs?where={ENDLESS} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with socket.create_connection(("127.0.0.1", urlsplit(page).port or 0)) as browser:
        browser.sendall(f"{head}Cookie: {page.cookie}\r\nX-Part: 1\r\n\r\n".encode())
        eventually(lambda: processor_time() > 0.1)
    eventually(at_rest, 10)
    assert view("").status == 200


def test_a_worker_that_heeds_nothing_is_ended_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {each.pid for each in workers()}
    pool = Pool([sys.executable, "-P", "-c", STUBBORN], ready=1)
    with served(asker(tmp_path), pool=pool) as page:
        assert ask(page, "/part/", **page.headers).status == 503, "the graph is not there"
        eventually(at_rest)
        mark = tmp_path / "begun"
        with monkeypatch.context() as patch:
            patch.setattr("whence.web.serving.VIEW_SECONDS", 2.0)
            assert ask(page, f"/part/?never={mark}", **page.headers).status == 504
        assert mark.exists()
        eventually(at_rest)
        assert ask(page, "/part/", **page.headers).status == 503, "another one answers"
    assert {each.pid for each in workers()} <= before, "and none stays when the page stops"


SERVER = """
import socket, subprocess, sys, time
from pathlib import Path
from tests.web._support.page_requests import NOWHERE
from whence.web.answers import Question
code, query = sys.argv[1:]
own, other = socket.socketpair()
words = [sys.executable, "-P", "-c", code, str(other.fileno())]
made = subprocess.Popen(words, pass_fds=[other.fileno()])
other.close()
own.recv(4)
print(made.pid, flush=True)
if query:
    asked = Question(False, "/", "", query, Path("."), (), NOWHERE, 1.0).packed()
    own.sendall(len(asked).to_bytes(4, "big") + asked)
time.sleep(600)
"""


@pytest.mark.parametrize("busy", [False, True])
def test_a_worker_ends_when_its_server_was_killed(tmp_path: Path, busy: bool) -> None:
    mark = tmp_path / "begun"
    words = [sys.executable, "-c", SERVER, STUBBORN, f"never={mark}" if busy else ""]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        worker = psutil.Process(int(server.stdout.readline()))
        eventually(lambda: mark.exists() or not busy)
        assert worker.is_running()
        server.kill()
        server.wait()
        gone, _ = psutil.wait_procs([worker], timeout=30)
    assert gone or worker.status() == psutil.STATUS_ZOMBIE


def test_what_a_worker_leaves_on_the_disk_goes_with_it(tmp_path: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob("whence-page-*"))
    with served(asker(tmp_path)) as page:
        assert ask(page, "/part/", **page.headers).status == 503
        new = set(Path(tempfile.gettempdir()).glob("whence-page-*")) - before
        assert new
        mine = [path for path in new if path.exists() and path.owner()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in mine} == {0o700}
    assert not [path for path in new if path.exists()]


@pytest.mark.neo4j
def test_what_is_taken_away_is_in_the_journal(page: Served, made: tuple[Path, str]) -> None:
    root, id = made
    before = len(journal(root))
    where = f"/take/run/{id}/outputs.csv"
    assert ask(page, where, **page.headers).status == 405
    assert ask(page, where, "POST", "token=wrong", **page.headers).status == 403
    assert ask(page, where, "POST").status == 401
    assert len(journal(root)) == before
    taken = take(page, f"{where}?pipe=twice&where=value%3C10")
    assert (taken.status, taken.text.count("\n")) == (200, 6)
    assert "attachment" in taken.headers["content-disposition"]
    assert take(page, f"/take/run/{id}/why.json?output=twice%403").status == 200
    assert journal(root)[before:] == [
        ["web", "outputs.csv", "--run", id, "--pipe", "twice", "--where", "value<10"],
        ["web", "why.json", "--run", id, "--output", "twice@3"],
    ]
    assert take(page, f"/take/run/{id}/what.exe").status == 404
    assert take(page, "/take/run/nothing/why.csv?output=x").status == 404
    assert len(journal(root)) == before + 2, "what was refused did not leave"


@pytest.mark.neo4j
def test_a_file_that_is_long_comes_whole_and_one_that_is_broken_off_ends_the_worker(
    page: Served, made: tuple[Path, str]
) -> None:
    where = f"/take/run/{made[1]}/outputs.csv?pipe=twice"
    assert take(page, where).text.count("\n") == MANY + 1
    body = f"token={page.form()}"
    head = f"POST {where} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {page.cookie}\r\n"
    head += f"Sec-Fetch-Site: same-origin\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    assert raw(page, head.encode()).startswith(b"HTTP/1.1 200 ")
    eventually(at_rest, 10)


def test_a_file_that_breaks_off_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    pool = Pool([sys.executable, "-P", "-c", BREAKING], ready=1)
    with served(asker(tmp_path), pool=pool) as page, pytest.raises(http.client.IncompleteRead):
        take(page, "/take/run/1/outputs.csv")


@pytest.mark.neo4j
def test_after_an_erasure_the_page_has_nothing_of_it(
    tmp_path: Path, neo4j_server: Status, graph: Connection
) -> None:
    events = [{"who": name, "amount": n} for n, name in enumerate(["Ann", "Bo", "Cy"])]
    chain = Chain.of(ApplyFunction("name", "who"))
    id = run(chain, events, runner="local", record=tmp_path).id
    load(tmp_path, id, graph)
    settings = neo4j_server.settings()
    with served(Asker(lambda: settings, tmp_path)) as page:

        def views() -> str:
            paths = (
                "/outputs",
                "/outputs?search=Bo",
                "/why?output=name%401",
                "/log",
                "/log?search=Bo",
            )
            found = [ask(page, f"/part/run/{id}{path}", **page.headers) for path in paths]
            assert {each.status for each in found} == {200}
            return "".join(each.text for each in found)

        for _ in range(3):  # in every worker's answers
            assert ">Bo<" in views()
        erase(plan_events(tmp_path, id, {"log": ((1, 1),)}), "request", graph)
        after = views()
        assert ">Ann<" in after
        assert ">Bo<" not in after
        assert "Bo" not in take(page, f"/take/run/{id}/outputs.csv?pipe=name").text


def test_answers_of_before_an_erasure_are_dropped_unasked(tmp_path: Path) -> None:
    class Run:
        id, by_no, status, loaded = "1", (1,), "complete", True

    asks = asker(tmp_path)
    kept = iter(range(10))
    assert asks.kept(Run(), "what", lambda: next(kept)) == 0  # type: ignore[arg-type]
    assert asks.kept(Run(), "what", lambda: next(kept)) == 0  # type: ignore[arg-type]
    (tmp_path / "erasures").mkdir()
    (tmp_path / "erasures" / "1.json").write_text("{}")
    asks.forget_erased()
    assert not asks._answers

    def meanwhile() -> int:
        os.replace(_written(tmp_path / "new"), tmp_path / "erasures" / "1.json")
        return next(kept)

    assert asks.kept(Run(), "what", meanwhile) == 1  # type: ignore[arg-type]
    assert asks.kept(Run(), "what", lambda: next(kept)) == 2  # type: ignore[arg-type]


def _written(path: Path) -> Path:
    path.write_text("{}")
    return path
