"""A chain's picture shows every processor, whatever is inside it, and every pipe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from tests.engine.random_chains import random_case
from whence.engine import ApplyFunction, Chain, Cumulate, Filter, Fork, Multiplex, Slice, Window
from whence.engine.drawing import Picture, dot, mermaid, picture_of_chain, svg
from whence.engine.palettes.fsm import MooreMachine

NESTED = Slice("all", by="case", of=Window("three", n=3, of=Cumulate("sum", "add")), combine="max")


def boxes(picture: Picture) -> Iterator[str]:
    for box in picture.boxes:
        yield box.lines[0]
        if box.inside is not None:
            yield from boxes(box.inside)


def ids(chain: Chain) -> Iterator[str]:
    for connection in chain.connections:
        yield connection.processor.id
        for name in ("of", "chain"):
            inner = getattr(connection.processor, name, None)
            if isinstance(inner, Chain):
                yield from ids(inner)


@pytest.mark.parametrize("seed", range(100))
def test_every_processor_and_pipe_of_a_random_chain_is_drawn(seed: int) -> None:
    chain = random_case(seed).chain()
    picture = picture_of_chain(chain)
    drawn = [line.partition(":")[0] for line in boxes(picture)]
    assert [name for name in ids(chain) if name not in drawn] == []
    pipes = sum(len(c.sources) for c in chain.connections) + len(chain.outputs)
    assert len(picture.arrows) == pipes
    ElementTree.fromstring(svg(picture))


def test_what_is_inside_is_drawn_inside_in_every_format() -> None:
    picture = picture_of_chain(Chain.of(NESTED))
    assert re.search(r"subgraph n1 .*subgraph n1_1 .*sum: Cumulate", mermaid(picture), re.DOTALL)
    assert re.search(r"cluster_n1 .*cluster_n1_1 .*sum: Cumulate", dot(picture), re.DOTALL)
    rects = re.findall(
        r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="(\d+)"', svg(picture)
    )
    at = {name: [float(n) for n in rect] for name, rect in zip(boxes(picture), rects, strict=True)}
    for inner, outer in (("three: Window", "all: Slice"), ("sum: Cumulate", "three: Window")):
        (x, y, w, h), (left, top, wide, high) = at[inner], at[outer]
        assert left < x
        assert x + w < left + wide
        assert top < y
        assert y + h < top + high


def test_counts_stand_beside_the_pipes() -> None:
    chain = Chain.of(Filter("large", "x > 5"))
    arrows = picture_of_chain(chain, {"log": 20_000, "large": 12}).arrows
    assert [(a.source, a.target, a.text) for a in arrows] == [
        ("log log", "large", "20,000"),
        ("large", "output large", "12"),
    ]


def test_pipes_of_one_processor_are_numbered_and_lead_to_its_box() -> None:
    chain = Chain.graph(
        ["log"],
        [(Fork("both", 2), ["log"]), (Multiplex("one"), ["both.0", "both.1"])],
    )
    arrows = picture_of_chain(chain).arrows
    assert [(a.source, a.target, a.text) for a in arrows][1:3] == [
        ("both", "one", "(0)"),
        ("both", "one", "(1)"),
    ]


def test_parameters_are_told_as_they_are_written() -> None:
    machine = MooreMachine(
        "order",
        initial="new",
        states={"new": True, "paid": True, "wrong": False},
        transitions=[("new", "activity = 'pay'", "paid")],
        otherwise={"new": "wrong", "paid": "wrong", "wrong": "wrong"},
    )
    (_, box, _) = picture_of_chain(Chain.of(machine)).boxes
    assert box.lines == (
        "order: MooreMachine",
        "initial = new",
        "states true: new, paid",
        "states false: wrong",
        "new —activity = 'pay'→ paid",
        "otherwise wrong: new, paid, wrong",
    )


def test_hostile_text_is_text_in_every_format() -> None:
    chain = Chain.of(ApplyFunction("f", "a = '<script>\"\\n;end'"))
    picture = picture_of_chain(chain, title='"<b>')
    root = ElementTree.fromstring(svg(picture))
    assert not [e for e in root.iter() if e.tag.endswith(("script", "}b"))]
    assert "<script>" not in mermaid(picture)
    assert '\\"' in dot(picture)
