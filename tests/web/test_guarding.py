"""Who may see the page: this machine, or whoever has the token; and nobody sees the token."""

from __future__ import annotations

import http.client
import logging
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import Cli
from tools.browser import served
from whence.engine.errors import ParameterError
from whence.store import Secret, Settings
from whence.web import Asker, Token, is_loopback, serve
from whence.web.running import listen

NOWHERE = Settings("bolt://127.0.0.1:1", "nobody", Secret.of("no password"))
TEXT = "a token of the tests, long enough"


def asker(root: Path) -> Asker:
    return Asker(lambda: NOWHERE, root)


def ask(
    page: str, path: str, method: str = "GET", body: str = "", **headers: str
) -> tuple[int, Mapping[str, str], str]:
    connection = http.client.HTTPConnection(urlsplit(page).netloc, timeout=60)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        told = {name.casefold(): value for name, value in answer.getheaders()}
        return answer.status, told, answer.read().decode()
    finally:
        connection.close()


def test_nothing_from_any_other_host_is_allowed(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        for path in ("/", "/empty", "/part/", "/nowhere"):
            policy = ask(page, path)[1]["content-security-policy"]
            parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
            assert parts["default-src"] == "'none'"
            assert {word for each in parts.values() for word in each.split()} == {
                "'none'",
                "'self'",
                "blob:",
            }


def test_it_only_reads(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert ask(page, "/part/", method)[0] == 405


def test_another_name_that_leads_here_is_not_answered(tmp_path: Path) -> None:
    with served(asker(tmp_path)) as page:
        assert ask(page, "/empty", Host="evil.example")[0] == 421
        assert ask(page, "/empty", Host=f"localhost:{urlsplit(page).port}")[0] == 200
        assert ask(page, "/empty", Host=f"[::1]:{urlsplit(page).port}")[0] == 200


def test_with_a_token_nothing_is_told_without_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with served(asker(tmp_path), Token(TEXT)) as page:
        status, headers, _ = ask(page, "/run/1/outputs", Host="evil.example")
        assert (status, headers["location"]) == (303, "/login")
        assert ask(page, "/part/")[0] == 401
        assert ask(page, "/take/run/1/why.csv")[0] == 401
        assert ask(page, "/part/", Cookie="whence=0", Authorization="Bearer wrong")[0] == 401
        began = time.monotonic()
        assert ask(page, "/login", "POST", "token=wrong")[0] == 401
        assert time.monotonic() - began > 0.5
        status, headers, _ = ask(page, "/login", "POST", f"token={TEXT.replace(' ', '+')}")
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.casefold()
        assert TEXT not in cookie
        assert ask(page, "/empty", Cookie=cookie.partition(";")[0])[0] == 200
        assert ask(page, "/empty", Authorization=f"Bearer {TEXT}")[0] == 200
    assert TEXT not in caplog.text
    assert TEXT not in repr(Token(TEXT))


def test_a_token_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "inner" / "token"
    first = Token.kept_in(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text(encoding="utf-8").strip()
    assert len(text) > 40
    assert first.is_told(text)
    assert Token.kept_in(path).is_told(text)
    path.chmod(0o644)
    with pytest.raises(ParameterError, match="chmod 600"):
        Token.kept_in(path)
    short = tmp_path / "short"
    short.touch(mode=0o600)
    with pytest.raises(ParameterError, match="at least 16"):
        Token.kept_in(short)


def test_elsewhere_than_here_it_is_not_served_without_a_token(tmp_path: Path) -> None:
    assert not is_loopback("0.0.0.0")
    listening = listen("0.0.0.0", 0)
    with listening, pytest.raises(ParameterError, match="expected a token"):
        serve(asker(tmp_path), listening)


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
