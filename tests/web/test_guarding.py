"""Who may see the page, and from where: limits, origins, names, headers."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.conftest import Cli
from tests.web._support.page_requests import ask, asker, raw
from tools.browser import Served
from tools.browser import served as served_with
from whence.web import Access, Asker, Token, create_app, is_loopback
from whence.web.pool import Pool
from whence.web.running import listen

TEXT = "a token of the tests, long enough"
DATA = ("/part/", "/part/run/1/outputs?where=value%3D1", "/take/run/1/why.csv", "/api/", "/health")


def served(asker: Asker, access: Token | Access | None = None) -> AbstractContextManager[Served]:
    """A page none of whose workers is needed: what is refused is not asked."""
    return served_with(asker, access, pool=Pool(ready=0))


def test_nothing_from_any_other_host_is_allowed(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        for path in ("/", "/empty", "/part/", "/nowhere", "/login"):
            policy = ask(page, path, **{"Cookie": page.cookie}).headers["content-security-policy"]
            parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
            assert parts["default-src"] == "'none'"
            assert {word for each in parts.values() for word in each.split()} == {
                "'none'",
                "'self'",
                "blob:",
            }


@pytest.mark.parametrize("path", DATA)
def test_data_without_a_session_are_refused(tmp_path: Path, path: str) -> None:
    with served(asker(tmp_path), Token(TEXT)) as page:
        for method in ("GET", "POST", "PUT", "DELETE"):
            assert ask(page, path, method).status == 401
        assert ask(page, path, Cookie=f"whence-{urlsplit(page).port}={'x' * 43}").status == 401


@pytest.mark.parametrize(
    "path",
    ["/%70art/run/1/outputs", "/part/run/..%2f..", "/part/run/%00/log", "/take/run/%2e%2e/log.csv",
     "/api/%ff", "/part/../static/page.css", "/part/run/1%0d%0aSet-Cookie:%20a=b/log"],
)  # fmt: skip
def test_no_spelling_of_a_path_leads_past_the_guard(path: str, tmp_path: Path) -> None:
    with served(asker(tmp_path), Token(TEXT)) as page:
        for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "TRACE"):
            answer = ask(page, path, method)
            assert answer.status == 401
            assert "set-cookie" not in answer.headers


def test_a_view_without_a_session_leads_to_the_login_and_back(tmp_path: Path) -> None:
    with served(asker(tmp_path), Token(TEXT)) as page:
        status, headers, _ = ask(page, "/run/1/why?output=all@3")
        assert (status, headers["location"]) == (303, "/login?next=/run/1/why%3Foutput%3Dall%403")
        form = ask(page, headers["location"]).text
        assert 'name="next" value="/run/1/why?output=all@3"' in form
        said = f"token={TEXT.replace(' ', '+')}&next=%2Frun%2F1%2Fwhy%3Foutput%3Dall%403"
        status, headers, _ = ask(page, "/login", "POST", said)
        assert (status, headers["location"]) == (303, "/run/1/why?output=all@3")
        for other in ("//evil.example", "https:%2F%2Fevil.example", "/%09/evil", "/%5Cevil"):
            said = f"token={TEXT.replace(' ', '+')}&next={other}"
            assert ask(page, "/login", "POST", said).headers["location"] == "/"


def test_another_name_that_leads_here_is_not_answered(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        own = page.headers
        assert ask(page, "/empty", **{**own, "Host": "evil.example"}).status == 421
        assert ask(page, "/login", Host="127.0.0.1.evil.example").status == 421
        for name in ("localhost", "[::1]"):
            host = f"{name}:{urlsplit(page).port}"
            assert ask(page, "/empty", **{**own, "Host": host}).status == 200
    with served(asker(tmp_path), Access(Token(TEXT), "https://whence.example")) as page:
        assert ask(page, "/login", Host="whence.example").status == 200
        assert ask(page, "/login", Host="evil.example").status == 421


ELSEWHERE = [
    {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "image"},
    {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors", "Sec_Fetch_Dest": "empty"},
    {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "null"},
]


@pytest.mark.parametrize("headers", ELSEWHERE, ids=str)
def test_requests_of_other_sites_are_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    with served(asker(tmp_path)) as page:
        for path in (*DATA, "/", "/run/1/outputs", "/login"):
            assert ask(page, path, **page.headers, **headers).status == 403, path
        body = f"token={page.form()}"
        for path in ("/take/run/1/why.csv", "/logout", "/login"):
            assert ask(page, path, "POST", body, **page.headers, **headers).status == 403, path
        assert ask(page, "/empty", **page.headers).status == 200, "and nobody was logged out"


def test_from_elsewhere_one_may_navigate_to_a_view_and_to_nothing_else(tmp_path: Path) -> None:
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    link["Sec_Fetch_Dest"] = "document"
    with served(asker(tmp_path)) as page:
        own = {"Cookie": page.cookie, **link}
        assert ask(page, "/run/1/outputs", **own).status == 200
        for path in DATA:
            assert ask(page, path, **own).status == 403
        body = f"token={page.form()}"
        assert ask(page, "/take/run/1/why.csv", "POST", body, **own).status == 403


def test_a_browser_that_says_nothing_of_the_origin_has_to_show_that_the_page_asks(
    tmp_path: Path,
) -> None:
    with served(asker(tmp_path)) as page:
        assert ask(page, "/part/nothing", Cookie=page.cookie).status == 403
        assert ask(page, "/part/nothing", Cookie=page.cookie, X_Part="1").status == 404


def test_nothing_but_a_form_of_the_session_writes(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        own = page.headers
        for path in ("/take/run/1/evidence.zip", "/take/run/1/outputs.csv", "/logout"):
            assert ask(page, path, **own).status == 405
            for body in ("", "token=", f"token={'x' * 43}", "&" * 100, "token=%ff%00"):
                assert ask(page, path, "POST", body, **own).status == 403
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert ask(page, "/part/", method, f"token={page.form()}", **own).status == 405


@pytest.mark.parametrize(
    "cookies",
    ["a(b=c", "=x", "novalue", "whence-{port}=", "whence-{port}=<script>", "whence-{port}=a b",
     "whence-{port}={good}; whence-{port}={good}", "x=" + "y" * 20_000],
)  # fmt: skip
def test_malformed_cookies_are_a_bad_request(tmp_path: Path, cookies: str) -> None:
    with served(asker(tmp_path)) as page:
        text = cookies.format(port=urlsplit(page).port, good="x" * 43)
        for path in ("/empty", "/part/", "/login"):
            status, _, words = ask(page, path, Cookie=text)
            assert (status, "malformed" in words) == (400, True)
        others = f'theme=dark; _x=a=b; {page.cookie}; json={{"a":[1,2]}}'
        assert ask(page, "/empty", Cookie=others).status == 200


def test_cookies_of_two_pages_on_one_host_do_not_clash(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as one, served(asker(tmp_path)) as other:
        both = f"{one.cookie}; {other.cookie}"
        assert ask(one, "/empty", Cookie=both).status == 200
        assert ask(other, "/empty", Cookie=both).status == 200
        assert ask(other, "/empty", Cookie=one.cookie).status == 303


@pytest.mark.parametrize("path", ["/login", "/part/", "/take/run/1/why.csv", "/nowhere"])
def test_a_stranger_cannot_send_more_than_a_few_bytes(tmp_path: Path, path: str) -> None:
    with served(asker(tmp_path), Token(TEXT)) as page:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        said = raw(page, f"{head}Content-Length: 1400000000\r\n\r\n".encode() + b"x" * 5000)
        assert said.startswith(b"HTTP/1.1 413 ")
        chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        said = raw(page, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + 2 * chunk)
        assert said.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in said


def test_a_body_is_bounded_after_the_login_as_well(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        assert ask(page, "/logout", "POST", "x" * 60_000, **page.headers).status == 403
        assert ask(page, "/logout", "POST", "x" * 70_000, **page.headers).status == 413


def test_much_that_is_sent_takes_no_memory(tmp_path: Path) -> None:
    import psutil

    with served(asker(tmp_path), Token(TEXT)) as page:
        before = psutil.Process().memory_info().rss
        with socket.create_connection(("127.0.0.1", urlsplit(page).port or 0), 30) as peer:
            peer.sendall(
                b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 300000000\r\n\r\n"
            )
            with pytest.raises((ConnectionResetError, BrokenPipeError)):
                peer.sendall(b"x" * 300_000_000)
        assert psutil.Process().memory_info().rss - before < 50_000_000


def test_a_body_that_does_not_come_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.web.guarding.BODY_SECONDS", 0.3)
    with served(asker(tmp_path), Token(TEXT)) as page:
        said = raw(
            page, b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 20\r\n\r\ntok"
        )
        assert said.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("before", [b"", b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_a_head_that_does_not_come_is_not_waited_for(
    before: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would hold a connection, and the page has as many as it may have open files."""
    monkeypatch.setattr("whence.web.heads.HEAD_SECONDS", 0.3)
    with served(asker(tmp_path), Token(TEXT)) as page:
        port = urlsplit(page).port or 0
        for half in (b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nA: ", b"G"):
            with socket.create_connection(("127.0.0.1", port), 30) as peer:
                peer.sendall(before)
                found = b""
                while before and b"</html>" not in found:
                    found += peer.recv(65_536)
                peer.sendall(half)
                assert peer.recv(65_536) == b""  # or it is not closed, and this times out
        with socket.create_connection(("127.0.0.1", port), 30) as peer:
            assert peer.recv(65_536) == b""
        assert ask(page, "/login").status == 200


def test_after_wrong_tokens_one_waits_longer_each_time_and_sessions_do_not(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        status, headers, words = ask(page, "/login", "POST", "token=wrong")
        assert (status, headers["retry-after"]) == (401, "1")
        assert "Wrong token" in words
        # Meanwhile no token is looked at, also none that is right; who is inside notices nothing.
        right = "token=the+token+of+the+pages+that+are+served+here"
        began = time.monotonic()
        status, headers, words = ask(page, "/login", "POST", right)
        assert (status, "wait a moment" in words) == (429, True)
        assert ask(page, "/empty", Cookie=page.cookie).status == 200
        assert ask(page, "/part/", Authorization="Bearer wrong").status == 429
        assert time.monotonic() - began < 1
        time.sleep(max(0.0, 1.1 - (time.monotonic() - began)))
        status, headers, _ = ask(page, "/part/", Authorization="Bearer wrong")
        assert (status, headers["retry-after"]) == (401, "2")
        time.sleep(2.1)
        assert ask(page, "/login", "POST", right).status == 303
        assert ask(page, "/login", "POST", "token=wrong").headers["retry-after"] == "1"


def test_many_wrong_tokens_at_once_hold_up_nobody(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        tries = [
            threading.Thread(target=ask, args=(page, "/login", "POST", f"token=wrong{n}"))
            for n in range(50)
        ]
        for each in tries:
            each.start()
        assert ask(page, "/empty", Cookie=page.cookie).status == 200
        for each in tries:
            each.join(10)
        assert not any(each.is_alive() for each in tries)


def test_a_socket_that_is_no_request_is_closed(tmp_path: Path) -> None:
    said: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    app = create_app(asker(tmp_path), Token(TEXT))
    scope = {"type": "websocket", "path": "/part/", "headers": [], "query_string": b""}
    asyncio.run(app(scope, receive, send))
    assert said == [{"type": "websocket.close", "code": 1008}]


def test_it_says_which_addresses_are_of_this_machine() -> None:
    assert is_loopback("127.9.9.9")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("127.0.0.1.evil.example")


def test_a_port_that_is_taken_is_one_clear_line(cli: Cli, tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        taken.listen()
        port = str(taken.getsockname()[1])
        done = cli("web", "--port", port, env={**os.environ, "NEO4J_URI": "bolt://127.0.0.1:1"})
    assert done.returncode == 1
    assert f"expected to listen at 127.0.0.1, port {port}; got: Address already in use" in (
        done.stderr
    )
    assert "Traceback" not in done.stderr
