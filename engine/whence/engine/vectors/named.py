"""The chains that ``chains.json`` calls by name."""

from __future__ import annotations

from typing import Any

__all__ = ["NAMED"]

Tree = dict[str, Any]


def _input(pipe: int) -> Tree:
    return {"input": pipe}


def _binary(name: str) -> Tree:
    return _two({"apply": {name: [_input(0), _input(1)]}})


def _two(processor: Tree) -> Tree:
    return {
        "graph": {
            "inputs": ["s0", "s1"],
            "nodes": {"out": {"from": ["s0", "s1"], "is": processor}},
            "output": "out",
        }
    }


def _nodes(nodes: dict[str, tuple[list[str], Tree]], inputs: tuple[str, ...] = ("s0",)) -> Tree:
    """A graph over the inputs whose last node is the output."""
    return {
        "graph": {
            "inputs": list(inputs),
            "nodes": {name: {"from": reads, "is": what} for name, (reads, what) in nodes.items()},
            "output": list(nodes)[-1],
        }
    }


def _element(index: int) -> Tree:
    return {"element": [_input(0), index]}


def _is(value: object) -> Tree:
    return {"eq": [_input(0), value]}


_LIFECYCLE: Tree = {
    "moore": {
        "initial": "0",
        "states": {"0": True, "1": True, "2": True, "3": True, "4": False},
        "transitions": [
            ["0", _is("a"), "1"],
            ["1", _is("b"), "2"],
            ["2", _is("c"), "1"],
            ["2", _is("d"), "3"],
        ],
        "otherwise": {"0": "4", "1": "4", "2": "4", "3": "4", "4": "4"},
    }
}
_ABS: Tree = {"apply": {"abs": _input(0)}}
_PRODUCT3: Tree = {"window": {"n": 3, "of": {"cumulate": "product"}}}
_PER_CASE: Tree = {"line": [{"apply": _element(1)}, _LIFECYCLE]}


def _not_zero(constant_from: str) -> Tree:
    return _nodes(
        {
            "w": (["s0"], _PRODUCT3),
            "zero": ([constant_from], {"turn_into": 0}),
            "same": (["w", "zero"], {"apply": {"eq": [_input(0), _input(1)]}}),
            "out": (["same"], {"apply": {"not": _input(0)}}),
        }
    )


def _temporal(connective: str) -> Tree:
    return _nodes(
        {
            "low": (["s0"], {"apply": {"lt": [_element(1), 0]}}),
            "isA": (["s0"], {"apply": {"eq": [_element(0), "a"]}}),
            "nextA": (["isA"], {"ltl": "X"}),
            "both": (["isA", "nextA"], {"apply": {"and": [_input(0), _input(1)]}}),
            "then": (["both"], {"ltl": "X"}),
            "rule": (["low", "then"], {"apply": {connective: [_input(0), _input(1)]}}),
            "out": (["rule"], {"ltl": "G"}),
        }
    )


_FORK_OUT = {
    f"fork_out{pipe}": {
        "graph": {
            "inputs": ["s0"],
            "nodes": {"f": {"from": ["s0"], "is": {"fork": 2}}},
            "output": f"f.{pipe}",
        }
    }
    for pipe in (0, 1)
}

NAMED: dict[str, Tree] = {
    "passthrough": {"passthrough": {}},
    "apply_abs": _ABS,
    "apply_add": _binary("add"),
    "apply_mul": _binary("product"),
    "apply_lt": _binary("lt"),
    "apply_eq": _binary("eq"),
    "apply_not": {"apply": {"not": _input(0)}},
    "apply_and": _binary("and"),
    "apply_or": _binary("or"),
    "apply_implies": _binary("implies"),
    "apply_ifthenelse": _nodes(
        {"out": (["s0", "s1", "s2"], {"apply": {"if": [_input(0), _input(1), _input(2)]}})},
        ("s0", "s1", "s2"),
    ),
    "apply_tree": _two({"apply": {"and": [{"gt": [_input(0), 0]}, {"gt": [_input(1), 0]}]}}),
    "cumulate_sum": {"cumulate": "add"},
    "cumulate_product": {"cumulate": "product"},
    "cumulate_and": {"cumulate": "and"},
    "cumulate_or": {"cumulate": "or"},
    "decimate_2": {"decimate": 2},
    "decimate_3": {"decimate": 3},
    "trim_2": {"trim": 2},
    "filter": _two({"filter": {}}),
    **_FORK_OUT,
    "turninto_0": {"turn_into": 0},
    "freeze": {"freeze": {}},
    "insert_2": {"insert": {"n": 2, "value": 99}},
    "stutter_2": {"stutter": 2},
    "multiplex": _two({"multiplex": {}}),
    "window3_sum": {"window": {"n": 3, "of": {"cumulate": "add"}}},
    "window3_product": _PRODUCT3,
    "moore": _LIFECYCLE,
    "ltl_g": {"ltl": "G"},
    "ltl_f": {"ltl": "F"},
    "ltl_x": {"ltl": "X"},
    "ltl_u": _two({"ltl": "U"}),
    "group_sum_dec2": {"group": {"line": [{"cumulate": "add"}, {"decimate": 2}]}},
    "group_abs": {"group": _ABS},
    "slice_last": {"slice": {"by": _element(0), "of": {"apply": _element(1)}}},
    "slice_moore": {"slice": {"by": _element(0), "of": {"group": _PER_CASE}}},
    "chain_trim_dec": {"line": [{"trim": 1}, {"decimate": 2}]},
    "chain_dec_abs_trim": {"line": [{"decimate": 2}, _ABS, {"trim": 1}]},
    "chain_g_x": {"line": [{"ltl": "X"}, {"ltl": "G"}]},
    "chain_abs_sum_dec": {"line": [_ABS, {"cumulate": "add"}, {"decimate": 2}]},
    "paper_window_forkafter": _not_zero("w"),
    "paper_window_forkbefore": _not_zero("s0"),
    "paper_window_bare": _PRODUCT3,
    "paper_lifecycle": {"slice": {"by": _element(0), "of": _PER_CASE, "combine": "and"}},
    "paper_ltl": _temporal("implies"),
    "paper_ltl_lab": _temporal("and"),
}
