"""The way into the page and out of it: token, one-time links, sessions, log-out."""

from __future__ import annotations

import logging
import os
import re
import stat
import time
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.conftest import Cli
from tests.web._support.page_requests import ask, asker
from tests.web._support.watched_tabs import Watched
from tools.browser import TOKEN, Served, served
from whence.engine.errors import ParameterError
from whence.store.server.folders import whence_home
from whence.web import Access, Token
from whence.web.attempts import Attempts
from whence.web.opening import opened
from whence.web.pool import Pool
from whence.web.sessions import SESSION_SECONDS, Sessions
from whence.web.tokens import Codes

TEXT = "a token of the tests, long enough"


def form(text: str) -> str:
    return f"token={text.replace(' ', '+').replace(',', '%2C')}"


def test_the_token_becomes_a_session_and_is_told_to_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with served(asker(tmp_path), Token(TEXT), pool=Pool(ready=0)) as page:
        status, headers, _ = ask(page, "/login", "POST", form(TEXT))
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"]
        parts = [part.strip().casefold() for part in cookie.split(";")][1:]
        assert set(parts) == {"httponly", "max-age=43200", "path=/", "samesite=lax"}
        assert cookie.startswith(f"whence-{urlsplit(page).port}=")
        assert TEXT not in cookie
        again = ask(page, "/login", "POST", form(TEXT)).headers["set-cookie"]
        assert again.partition(";")[0] != cookie.partition(";")[0], "each has its own"
        assert ask(page, "/empty", Cookie=cookie.partition(";")[0]).status == 200
        assert ask(page, "/empty", Authorization=f"Bearer {TEXT}").status == 200
    assert TEXT not in caplog.text
    assert TEXT not in repr(Token(TEXT))


def test_a_cookie_is_for_encrypted_connections_only_where_there_is_one(tmp_path: Path) -> None:
    access = Access(Token(TEXT), "https://whence.example")
    with served(asker(tmp_path), access, pool=Pool(ready=0)) as page:
        own = {"Host": "whence.example", "Origin": "https://whence.example"}
        cookie = ask(page, "/login", "POST", form(TEXT), **own).headers["set-cookie"]
        assert "; Secure" in cookie
        assert ask(page, "/empty", Cookie=cookie.partition(";")[0], **own).status == 200
        own["Origin"] = "http://whence.example"
        assert ask(page, "/login", "POST", form(TEXT), **own).status == 403
    with served(asker(tmp_path), Token(TEXT), pool=Pool(ready=0)) as page:
        # What anybody may write into a header is not believed.
        said = ask(page, "/login", "POST", form(TEXT), X_Forwarded_Proto="https")
        assert "Secure" not in said.headers["set-cookie"]
    for wrong in (
        "whence.example",
        "ftp://whence.example",
        "https://a@b",
        "https://x/y",
        "https://",
    ):
        with pytest.raises(ParameterError, match="--public: expected"):
            Access(Token(TEXT), wrong)


def test_a_link_opens_the_page_once(tmp_path: Path) -> None:
    with served(asker(tmp_path), Token(TEXT), pool=Pool(ready=0)) as page:
        port = urlsplit(page).port or 0
        code = Token(TEXT).new_code(port)
        assert TEXT not in code
        status, headers, _ = ask(page, f"/enter?code={code}")
        assert (status, headers["location"]) == (303, "/")
        assert ask(page, "/empty", Cookie=headers["set-cookie"].partition(";")[0]).status == 200
        for spent in (code, "", "x" * 75, "%FF", Token(TEXT).new_code(port + 1)):
            status, headers, words = ask(page, f"/enter?code={spent}")
            assert (status, "set-cookie" in headers) == (401, False)
            assert "whence web link" in words
        other = Token("another token, long enough").new_code(port)
        assert ask(page, f"/enter?code={other}").status == 401
        # A wrong token does not keep out who has a link.
        assert ask(page, "/login", "POST", "token=wrong").status == 401
        assert ask(page, f"/enter?code={Token(TEXT).new_code(port)}").status == 303


def test_a_code_is_good_for_a_minute_and_not_after_a_restart() -> None:
    token = Token(TEXT)
    now = [time.time()]
    codes = Codes(token, lambda: now[0])
    code, late = token.new_code(8017), token.new_code(8017)
    now[0] += 59
    assert codes.use(code, 8017)
    assert not codes.use(code, 8017)
    now[0] += 2
    assert not codes.use(late, 8017)
    before = token.new_code(8017)
    time.sleep(0.05)
    assert not Codes(token).use(before, 8017)


def test_a_session_ends_after_half_a_day_and_by_the_log_out(tmp_path: Path) -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    id = sessions.open()
    now[0] = SESSION_SECONDS - 1
    assert sessions.find(id) is not None
    now[0] = SESSION_SECONDS
    assert sessions.find(id) is None
    many = [sessions.open() for _ in range(300)]
    assert [sessions.find(each) is not None for each in (many[0], many[-1])] == [False, True]
    assert len(sessions._known) == 256
    with served(asker(tmp_path), pool=Pool(ready=0)) as page:
        other = Served.at(page, TOKEN)
        said = ask(page, "/logout", "POST", f"token={page.form()}", **page.headers)
        assert (said.status, said.headers["location"]) == (303, "/login")
        assert "Max-Age=0" in said.headers["set-cookie"]
        assert ask(page, "/part/", **page.headers).status == 401
        assert ask(page, "/empty", **other.headers).status == 200, "another browser stays"


def test_a_session_does_not_grow_longer_when_the_clock_is_set_back() -> None:
    now = [10.0**6]
    sessions = Sessions(lambda: now[0])
    stays, ends = sessions.open(), sessions.open()
    now[0] -= 5  # as a clock is set right that was fast
    assert sessions.find(stays) is not None
    now[0] -= 3600
    assert sessions.find(ends) is None
    assert sessions.find(ends) is None


def test_waits_after_wrong_tokens_grow_have_a_limit_and_are_forgotten() -> None:
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    waits = []
    for _ in range(8):
        waits.append(attempts.failed("10.0.0.1"))
        now[0] += waits[-1]
    assert waits == [1, 2, 4, 8, 10, 10, 10, 10]
    assert attempts.failed("10.0.0.2") == 1, "each client has its own"
    attempts.failed("2001:db8::1")
    assert attempts.wait("2001:db8::2") == 1
    now[0] += 1000
    assert attempts.failed("10.0.0.1") == 1
    for n in range(3000):
        attempts.failed(f"10.1.{n // 256}.{n % 256}")
    assert len(attempts._wrong) == 1024


def test_a_token_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "inner" / "token"
    first = Token.kept_in(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text(encoding="utf-8").strip()
    assert len(text) > 40
    assert first.matches(text)
    assert Token.kept_in(path).matches(text)
    path.chmod(0o644)
    with pytest.raises(ParameterError, match="chmod 600"):
        Token.kept_in(path)
    short = tmp_path / "short"
    short.touch(mode=0o600)
    with pytest.raises(ParameterError, match="at least 16"):
        Token.kept_in(short)
    with pytest.raises(ParameterError, match="got no file"):
        Token.kept_in(tmp_path / "none", make=False)
    assert not (tmp_path / "none").exists()


def test_a_command_prints_a_new_link_for_a_page_that_runs(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "token"
    with served(asker(tmp_path), Token.kept_in(place), pool=Pool(ready=0)) as page:
        port = str(urlsplit(page).port)
        done = cli("web", "link", "--port", port, "--token-file", str(place))
        assert (done.returncode, done.stderr) == (0, "")
        assert re.fullmatch(rf"{re.escape(page)}/enter\?code=[\w-]+\n", done.stdout)
        assert place.read_text("utf-8").strip() not in done.stdout
        assert ask(Served.entered(done.stdout.strip()), "/empty").status == 303
    missing = cli("web", "link", "--token-file", str(tmp_path / "none"))
    assert missing.returncode == 1
    assert "expected the token of a page; got no file; try whence web" in missing.stderr


def test_a_browser_is_given_a_private_file_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr(webbrowser, "open", given.append)
    with opened("http://127.0.0.1:8017/enter?code=secret"):
        until = time.monotonic() + 10
        while not given and time.monotonic() < until:
            time.sleep(0.01)
        assert "secret" not in given[0]
        path = Path(urlsplit(given[0]).path)
        assert path.parent == whence_home() / "web"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert 'content="0;url=http://127.0.0.1:8017/enter?code=secret"' in path.read_text("utf-8")
    assert not path.exists()


def test_the_file_leads_a_real_browser_into_the_page(browser: Browser, tmp_path: Path) -> None:
    with served(asker(tmp_path), Token(TEXT)) as page:
        link = f"{page}/enter?code={Token(TEXT).new_code(urlsplit(page).port or 0)}"
        seen: list[str] = []

        def watch(address: str) -> bool:
            seen.append(address)
            return True

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(webbrowser, "open", watch)
            with opened(link):
                context = browser.new_context()
                shown = context.new_page()
                while not seen:
                    time.sleep(0.01)
                shown.goto(seen[0])
                shown.wait_for_url(f"{page}/")
                expect(shown.get_by_role("button", name="Log out")).to_be_visible()
                shown.get_by_role("button", name="Log out").click()
                shown.wait_for_url(f"{page}/login")
                context.close()


def test_a_person_logs_in_and_lands_where_they_wanted_to(browser: Browser, tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        tab = Watched(context.new_page(), page, allowed=("Failed to load resource",))
        shown = tab.page
        shown.goto(f"{page}/empty?of=mine")
        tab.keep("login")
        shown.keyboard.type("wrong token")
        shown.keyboard.press("Enter")
        expect(shown.get_by_role("alert")).to_contain_text("Wrong token")
        tab.keep("login-wrong")
        shown.wait_for_timeout(1500)
        shown.get_by_label("Token").fill(TOKEN)
        shown.get_by_role("button", name="Open").click()
        shown.wait_for_url(f"{page}/empty?of=mine")
        assert (tab.said, tab.outside()) == ([], [])
        context.close()


def test_the_command_says_where_it_is_wrong(cli: Cli, tmp_path: Path) -> None:
    environment = {**os.environ, "NEO4J_URI": "bolt://127.0.0.1:1", "NEO4J_PASSWORD": "none"}
    done = cli("web", "--port", "0", "--public", "nothing", env=environment)
    assert done.returncode == 1
    assert "--public: expected the page's address for browsers; got 'nothing'" in done.stderr
