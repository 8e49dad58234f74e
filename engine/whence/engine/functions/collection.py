"""Lists and membership: ``list(x, y)``, ``x in (1, 2)``, ``element(list, 0)``, ``size(list)``."""

from __future__ import annotations

from collections.abc import Mapping

from whence.engine.functions.base import Function, takes
from whence.engine.values import Value, ValueFault, describe, kind_of, same
from whence.engine.values.limits import check_size, current, size_of

__all__ = ["FUNCTIONS"]


def _list(*items: Value) -> Value:
    if any([isinstance(item, (list, tuple, Mapping)) for item in items]):
        check_size(size_of(items, current().value))
    return list(items)


def _items(value: Value) -> list[Value]:
    if isinstance(value, (list, tuple)):
        return list(value)
    raise ValueFault("a list", describe(value), "a column that holds lists, or list(x, y)")


def _in(value: Value, *candidates: Value) -> bool:
    """Membership as ``=`` sees it; a candidate of another kind is an error as in ``=``."""
    if len(candidates) == 1 and isinstance(candidates[0], (list, tuple)):
        candidates = tuple(candidates[0])
    return any([same(value, candidate) for candidate in candidates])


def _element(value: Value, index: Value) -> Value:
    """The element at an index, counted from 0; missing beyond the end."""
    if value is None or index is None:
        return None
    if kind_of(index) != "integer" or index < 0:  # type: ignore[operator]
        raise ValueFault("an index from 0 on", describe(index), "0 for the first element")
    items = _items(value)
    return items[index] if index < len(items) else None  # type: ignore[call-overload,operator]


def _size(value: Value) -> Value:
    return None if value is None else len(_items(value))


FUNCTIONS = (
    Function("list", _list, (1, None), check=takes("any", "list"), missing="never"),
    Function("in", _in, (2, None), check=takes("any", "boolean"), missing="never"),
    Function("element", _element, (2, 2), missing="always"),
    Function("size", _size, (1, 1), check=takes("list", "integer")),
)
