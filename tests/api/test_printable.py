"""What a program prints by itself does not steer the terminal that it runs in."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from whence import load_notices
from whence.api import NotLoadedWarning, run
from whence.engine import ApplyFunction
from whence.engine.errors import WhenceWarning
from whence.engine.progress import Progress
from whence.results import Result

STEERING = "\x1b]0;owned\x07\n\x9b2J\u202e"
SHOWN = r"\x1b]0;owned\x07\n\x9b2J\u202e"


def test_a_warning_shows_the_controls_of_a_logs_values(tmp_path: Path) -> None:
    log = [{"activity": f"approve{STEERING}"}, {"activity": "pay"}]
    with pytest.warns(WhenceWarning) as warned:
        run(ApplyFunction("rule", f"activity = 'aprove{STEERING}'"), log, runner="interpreter")
    (line,) = [str(each.message) for each in warned]
    assert "approve" in line
    assert line.isprintable()
    assert r"\x1b]0;owned" in line


def test_a_warning_of_the_load_shows_the_controls_of_its_cause() -> None:
    found: Any = SimpleNamespace(
        id="20260101-000000-000000",
        loaded=None,
        not_loaded=f"a stream {STEERING}",
        record=SimpleNamespace(root=Path(f"/record{STEERING}")),
    )
    with pytest.warns(NotLoadedWarning) as warned:
        load_notices.warn_if_not_loaded(cast(Result, found))
    line = str(warned[0].message)
    assert line.isprintable()
    assert line.count(SHOWN) == 2


def test_a_line_about_waiting_shows_the_controls_of_what_is_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(load_notices, "EVERY_SECONDS", 0.0)
    lines = load_notices.WaitingLines()
    lines.begin()
    text = f"loading {STEERING.replace(chr(10), '')}"
    lines(Progress("loading", 1, 2, "parts", text))
    said = capsys.readouterr().err
    assert said.startswith("whence: the run is done; loading \\x1b]0;owned\\x07\\x9b2J\\u202e")
    assert said.rstrip("\n").isprintable()
