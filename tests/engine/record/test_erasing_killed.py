"""An erasure that was killed, at any step and between any two files, is taken up again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests._support.texts_in_files import holding
from tests.engine.record.erasable import CASES, SENTINELS, noted, values
from whence.engine.errors import LogError
from whence.engine.record import RunRecord
from whence.engine.record.erasing import unfinished
from whence.engine.record.verifying import verify_run
from whence.exporters.evidence import erasing
from whence.exporters.evidence.erasing import Plan, erase, go_on, plan_case
from whence.store.journal import note, read_journal


def killed_at(plan: Plan, number: int, *, inside: bool) -> bool:
    """Begin an erasure and stop it at a step, before or behind what it does; say if it got there.

    What is written is written as whole files, so that a kill and an exception leave the same.
    """

    class Killed(BaseException):
        pass

    steps = erasing._Work._steps

    def fewer(self: Any) -> Iterator[tuple[str, Any]]:
        for at, (name, step) in enumerate(steps(self)):

            def stop(step: Any = step) -> None:
                if inside:
                    step()
                raise Killed

            yield name, stop if at == number else step

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(erasing._Work, "_steps", lambda self: list(fewer(self)))
        try:
            erase(plan, "why", None)
        except Killed:
            return True
    return False


@pytest.mark.parametrize("inside", [False, True])
def test_a_kill_at_any_step_is_taken_up_again(tmp_path: Path, inside: bool) -> None:
    first = noted(tmp_path / "first")
    shutil.copytree(first.root, tmp_path / "whole")
    whole = RunRecord(tmp_path / "whole", first.id)
    erase(plan_case(whole.root, CASES["B"]), "why", None)
    wanted = (values(whole, "say"), list(whole.log("log").read()))
    number = 0
    while True:
        root = tmp_path / str(number)
        shutil.copytree(first.root, root)
        run = RunRecord(root, first.id)
        plan = plan_case(root, CASES["B"])
        if not killed_at(plan, number, inside=inside):
            break
        begun = unfinished(root)
        assert begun is not None
        assert any(f"erasure {begun.id} is not done" in line for line in verify_run(run).problems)
        with pytest.raises(LogError, match="was stopped on its way"):
            plan_case(root, CASES["B"])
        done = go_on(root, None, None)
        assert done.id == begun.id
        assert unfinished(root) is None
        assert holding(root, SENTINELS) == []
        assert verify_run(run).problems == ()
        assert (values(run, "say"), list(run.log("log").read())) == wanted
        number += 1
    assert number > 6


def test_a_kill_between_any_two_files_is_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log of several parts, cut off before the n-th file is put in its place."""

    class Killed(BaseException):
        pass

    first = noted(tmp_path / "first")
    note(first.root, ["impact", "latest", "--case", CASES["B"]])
    place = Path.replace
    left = 0

    def counted(self: Path, target: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return place(self, target)

    monkeypatch.setattr(Path, "replace", counted)
    left, number, taken_up = 10**6, 1, 0
    while True:
        root = tmp_path / str(number)
        shutil.copytree(first.root, root)
        plan = plan_case(root, CASES["B"])
        left = number
        try:
            erase(plan, "why", None)
            break
        except Killed:
            left = 10**6
        go_on(root, None, None)
        taken_up += 1
        assert holding(root, SENTINELS) == []
        assert verify_run(RunRecord(root, first.id)).problems == ()
        read_journal(root)
        number += 2
    assert taken_up > 8
