"""Comparisons and folds of plain values, as rules mean them."""

from __future__ import annotations

from typing import Any

__all__ = ["abs_in_order", "compare", "fold", "reads_trigger"]


def abs_in_order(log: list[dict[str, Any]], k: int, i: int) -> int:
    """How much later the later position is."""
    return int(log[max(k, i)]["time"] - log[min(k, i)]["time"])


def compare(value: Any, sign: str, other: Any) -> bool:
    if sign == "=":
        return bool(value == other)
    if sign == "!=":
        return bool(value != other)
    if value is None or other is None:
        return False
    return bool(
        {"<": value < other, "<=": value <= other, ">": value > other, ">=": value >= other}[sign]
    )


def fold(name: str, values: list[Any]) -> Any:
    if name == "count":
        return len(values)
    if name == "sum":
        return sum(values)
    if name == "distinct":
        return len(set(values))
    if not values:
        return None
    return (
        {"min": min(values), "max": max(values)}.get(name)
        if name != "mean"
        else (sum(values) / len(values))
    )


def reads_trigger(tree: Any) -> bool:
    if isinstance(tree, str):
        return "trigger" in tree
    return isinstance(tree, tuple) and any(reads_trigger(x) for x in tree)
