"""Drawings: everything is in them, whatever it is called; what is left out is counted."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.engine.random_chains import random_case, refusals_skipped
from whence.engine.drawing import Arrow, Box, Picture, draw, draw_to, picture_of_steps
from whence.engine.errors import ParameterError
from whence.engine.interpreter import interpret
from whence.engine.lineage.steps import Step, StepEdge, Steps, steps_of
from whence.engine.lineage.tracker import MemoryTracker

ODD = ('say "a" <b> & \\ [c] #35; {d} |e|', "zwei\nZeilen", "\x00", "日本 @3")


def texts(drawn: str) -> list[str]:
    root = ElementTree.fromstring(drawn)
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("format", ["svg", "mermaid", "dot"])
def test_every_box_and_arrow_is_drawn(format: str) -> None:
    boxes = tuple(Box(f"b{n}", (f"box {n}",)) for n in range(4))
    arrows = (Arrow("b0", "b1", "amount"), Arrow("b0", "b2"), Arrow("b2", "b3"))
    drawn = draw(Picture("a picture", boxes, arrows), format)
    assert all(f"box {n}" in drawn for n in range(4))
    assert "amount" in drawn
    assert "a picture" in drawn
    count = {"svg": 'marker-end="url(#to)"', "mermaid": "-->", "dot": " -> "}[format]
    assert drawn.count(count) == 3


@pytest.mark.parametrize("odd", ODD)
def test_names_break_nothing(odd: str) -> None:
    picture = Picture(odd, (Box(odd, (odd,)), Box("b", ("b",))), (Arrow(odd, "b", odd),))
    assert "b" in texts(draw(picture, "svg").replace("\x00", ""))
    for line in draw(picture, "mermaid").splitlines()[2:]:
        quoted = re.fullmatch(r"\s*n\d+ ?(?:-->\||\[)\"([^\"]*)\"(?:\]|\| n\d+)", line)
        assert quoted is not None, line
        assert not set(quoted[1]) & set("<>[]{}|`\\") or "<br>" in quoted[1]
    for line in draw(picture, "dot").splitlines()[1:-1]:
        assert re.fullmatch(r'\s+n\d+.*\[label="(?:[^"\\]|\\.)*"[^"]*\];', line), line


@pytest.mark.parametrize("seed", range(10))
def test_boxes_stand_below_what_points_at_them_and_apart(seed: int) -> None:
    case = random_case(seed)
    with refusals_skipped():
        result = interpret(case.chain(), case.logs, tracker=MemoryTracker(), closed=case.closed)
    if not result.outputs:
        pytest.skip("no output")
    found = steps_of(result.outputs[-1].event)
    drawn = draw(picture_of_steps(found), "svg")
    root = ElementTree.fromstring(drawn)
    space = "{http://www.w3.org/2000/svg}"
    boxes = [
        tuple(float(r.attrib[name]) for name in ("x", "y", "width", "height"))
        for r in root.iter(f"{space}rect")
    ]
    assert len(boxes) == len(found.steps)
    for n, (x, y, w, h) in enumerate(boxes):
        assert x >= 0
        assert x + w <= float(root.attrib["width"])
        assert y + h <= float(root.attrib["height"])
        for ox, oy, ow, oh in boxes[:n]:
            assert x >= ox + ow or ox >= x + w or y >= oy + oh or oy >= y + h
    for path in root.iter(f"{space}path"):
        if "marker-end" in path.attrib:
            numbers = [float(n) for n in re.findall(r"[\d.]+", path.attrib["d"])]
            assert numbers[1] < numbers[-1]


def test_what_is_left_out_is_counted() -> None:
    names = [f"log@{n}" for n in range(1000)]
    below = {"o@0": tuple(StepEdge("o@0", name) for name in names)}
    found = Steps("o@0", {n: Step(n, None) for n in ["o@0", *names]}, below)
    picture = picture_of_steps(found, most=10)
    assert len(picture.boxes) == 11
    assert picture.boxes[-1].lines == ("… 991 more",)


def test_a_file_says_by_its_ending_how(tmp_path: Path) -> None:
    picture = Picture("p", (Box("a", ("a",)),))
    for name, begins in (("x.svg", "<svg"), ("x.mmd", "flowchart"), ("x.dot", "digraph")):
        assert draw_to(picture, tmp_path / name).read_text().startswith(begins)
    with pytest.raises(
        ParameterError, match=r"expected a file \.svg, \.mmd or \.dot; got .*x\.png"
    ):
        draw_to(picture, tmp_path / "x.png")
    with pytest.raises(ParameterError, match="expected to write"):
        draw_to(picture, tmp_path / "no" / "x.svg")
    assert {each.name for each in tmp_path.iterdir()} == {"x.svg", "x.mmd", "x.dot"}
