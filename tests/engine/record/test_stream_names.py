"""Outputs whose names a file system cannot keep apart, or cannot hold, are refused at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from whence.api import run
from whence.engine import ApplyFunction, Chain, Slice
from whence.engine.errors import LogError


def two(first: str, second: str) -> Chain:
    """Two outputs, of which one is 1 where the other is 2."""
    parts = [
        (ApplyFunction(first, "value + 1"), ["log"]),
        (ApplyFunction(second, "value"), ["log"]),
    ]
    return Chain.graph(["log"], parts)


@pytest.mark.parametrize(
    ("first", "second"), [("a ac", "a€"), ("x\nb", "x«"), ("x 01", "x\u2001"), ("a\x02b1", "a+1")]
)
def test_two_outputs_are_never_written_into_one_folder(
    first: str, second: str, tmp_path: Path
) -> None:
    with pytest.raises(
        LogError, match=r"differs from all others on disk; got .* beside"
    ) as refused:
        run(two(first, second), [1, 2], runner="local", record=tmp_path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("first", "second"), [("a ab", "a€"), ("x+b", "x«"), ("é", "e\u0301")])
def test_outputs_of_any_other_names_keep_their_values(
    first: str, second: str, tmp_path: Path
) -> None:
    found = run(two(first, second), [1, 2], runner="local", record=tmp_path)
    assert [value for _, value in found.outputs(first)] == [2, 3]
    assert [value for _, value in found.outputs(second)] == [1, 2]


@pytest.mark.parametrize(
    "chain",
    [
        ApplyFunction("x" * 300, "value"),
        ApplyFunction("é" * 200, "value"),
        Slice(
            "s" * 90,
            by="value",
            of=Slice("t" * 90, by="value", of=ApplyFunction("u" * 90, "value")),
        ),
    ],
)
def test_a_name_that_no_folder_can_have_is_one_short_line(
    chain: ApplyFunction | Slice, tmp_path: Path
) -> None:
    with pytest.raises(LogError, match=r"expected a name of at most 255 bytes") as refused:
        run(chain, [1], runner="local", record=tmp_path, detail="steps", tracked=True)
    assert len(str(refused.value)) < 300
