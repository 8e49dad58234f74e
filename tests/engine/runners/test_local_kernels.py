"""What a run by kernels leaves on disk says the same as the interpreter's tracker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.engine.random_chains import random_case
from tests.engine.runners.kernel_records import check, even, record
from whence.engine.errors import WhenceError
from whence.engine.interpreter import interpret
from whence.engine.runners import RunOptions
from whence.engine.tracker import MemoryTracker


@pytest.mark.parametrize("detail", ["ends", "steps"])
@pytest.mark.parametrize("seed", range(40))
def test_the_record_explains_and_supports_as_the_tracker_does(
    tmp_path: Path, seed: int, detail: str
) -> None:
    case = random_case(seed)
    options = RunOptions(
        detail=detail,  # type: ignore[arg-type]
        closed=case.closed,
        chunk=3 if seed % 3 else 100,
    )
    logs = even(tmp_path, case)
    fault = ""
    try:
        expected = interpret(case.chain(), logs, tracker=MemoryTracker(), closed=case.closed)
    except WhenceError as error:
        fault = str(error)
    if fault:
        with pytest.raises(WhenceError, match=re.escape(fault)):
            record(tmp_path, case.chain(), logs, options)
        return
    check(record(tmp_path, case.chain(), logs, options), expected)
