"""Objects of a manifest as frozen dataclasses: read by their annotations, written as they were.

What this version does not know is stored, and every field is written at the place where it was
read, so that an object that was read and written back is the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from whence.engine.errors import LogError

__all__ = ["ManifestError", "Stated", "as_json"]

Reader = Callable[[Any], Any]


class ManifestError(LogError):
    """A manifest that is damaged, or written by a newer version.

    Attributes:
        path: where in the manifest, such as ``streams.0.length``; empty: all of it.
        expected: what should be there.
        got: what is there.
        where: what it is the manifest of.
    """

    def __init__(self, path: str, expected: str, got: str, where: str = "a manifest") -> None:
        """Name the place, what was expected there, and what was found."""
        self.path, self.expected, self.got, self.where = path, expected, got, where
        named = f" with {path}: {expected}" if path else f": {expected}"
        super().__init__(
            f"{where}: expected a manifest{named}; got {got}; "
            "try a copy of the record, or another run"
        )

    def inside(self, name: str) -> ManifestError:
        """The same, seen from the object that has it under a name."""
        path = f"{name}.{self.path}" if self.path else name
        return ManifestError(path, self.expected, self.got)

    def of(self, where: str) -> ManifestError:
        """The same, of a manifest that is known by name."""
        return ManifestError(self.path, self.expected, self.got, where)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process, as errors of Spark's workers do."""
        return ManifestError, (self.path, self.expected, self.got, self.where)


@dataclass(frozen=True, kw_only=True)
class Stated:
    """An object of a manifest. A field that has a default may be absent in the JSON.

    Attributes:
        unknown: what is stated beyond the fields of the class.
    """

    unknown: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _order: tuple[str, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def read(cls, told: Any) -> Self:
        """Read a JSON object; one that was read already stays as it is.

        Raises:
            ManifestError: a field is absent, or not what its annotation says.
        """
        if isinstance(told, cls):
            return told
        if not isinstance(told, dict):
            raise _unexpected("an object", told)
        shape = _shape(cls)
        found: dict[str, Any] = {}
        unknown: dict[str, Any] = {}
        for name, value in told.items():
            reader = shape.readers.get(name)
            if reader is None:
                unknown[name] = value
                continue
            try:
                found[name] = reader(value)
            except ManifestError as fault:
                raise fault.inside(name) from None
        for name in shape.required:
            if name not in found:
                raise ManifestError(name, "a value", "none")
        return cls(**found, unknown=unknown, _order=tuple(told))

    def json(self) -> dict[str, Any]:
        """As the manifest states it. Mappings and lists of parts are not copied."""
        shape = _shape(type(self))
        written: dict[str, Any] = {}
        for name in self._order:
            known = name in shape.readers
            written[name] = as_json(getattr(self, name)) if known else self.unknown[name]
        for name, absent in shape.absent.items():
            if name not in written and (value := getattr(self, name)) != absent:
                written[name] = as_json(value)
        return written


def as_json(value: Any) -> Any:
    """A field's value as JSON."""
    if isinstance(value, tuple):
        return [as_json(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    made = getattr(value, "json", None)
    return value if made is None else made()


@dataclass(frozen=True)
class _Shape:
    """How a class is read and written.

    Attributes:
        readers: of each field, in order.
        required: the fields without a default.
        absent: of each field the value that is not written unless it was read.
    """

    readers: Mapping[str, Reader]
    required: tuple[str, ...]
    absent: Mapping[str, Any]


_SHAPES: dict[type[Stated], _Shape] = {}


def _shape(cls: type[Stated]) -> _Shape:
    found = _SHAPES.get(cls)
    if found is None:
        found = _SHAPES[cls] = _shape_of(cls)
    return found


def _shape_of(cls: type[Stated]) -> _Shape:
    hints = get_type_hints(cls)
    own = [each for each in fields(cls) if each.name not in ("unknown", "_order")]
    absent = {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in own
    }
    return _Shape(
        {each.name: _reader(hints[each.name]) for each in own},
        tuple(name for name, default in absent.items() if default is MISSING),
        absent,
    )


def _reader(hint: Any) -> Reader:
    """What reads a value of this annotation."""
    if hint is Any:
        return lambda value: value
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _choice(inside)
    if origin in (Union, UnionType):
        return _one_of(hint, inside)
    if origin is tuple:
        return _tuple(inside)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_reader(inside[1]))
    if issubclass(hint, Enum):
        return _enum(hint)
    reads: Reader | None = getattr(hint, "read", None)
    return reads if reads is not None else _scalar(hint)


_NAMES = {str: "text", int: "a whole number", bool: "true or false", NoneType: "null"}


def _scalar(kind: type) -> Reader:
    expected = _NAMES[kind]

    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise _unexpected(expected, value)
        return value

    return read


def _enum(kind: type[Enum]) -> Reader:
    def read(value: Any) -> Enum:
        try:
            return kind(value)
        except ValueError:
            expected = "one of " + ", ".join(str(each.value) for each in kind)
            raise _unexpected(expected, value) from None

    return read


def _choice(choices: tuple[Any, ...]) -> Reader:
    def read(value: Any) -> Any:
        if value not in choices:
            raise _unexpected(" or ".join(choices), value)
        return value

    return read


def _one_of(hint: Any, inside: tuple[Any, ...]) -> Reader:
    readers = [_reader(each) for each in inside if each is not NoneType]
    nullable = NoneType in inside

    def read(value: Any) -> Any:
        if value is None and nullable:
            return None
        if len(readers) == 1:
            return readers[0](value)
        for reader in readers:
            try:
                return reader(value)
            except ManifestError:
                continue
        raise _unexpected(str(hint), value)

    return read


def _tuple(inside: tuple[Any, ...]) -> Reader:
    item = _reader(inside[0])  # of pairs both are alike
    exact = None if inside[-1] is Ellipsis else len(inside)

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)) or exact not in (None, len(value)):
            raise _unexpected("a list" if exact is None else f"a list of {exact}", value)
        found = []
        for number, each in enumerate(value):
            try:
                found.append(item(each))
            except ManifestError as fault:
                raise fault.inside(str(number)) from None
        return tuple(found)

    return read


def _mapping(item: Reader) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _unexpected("an object", value)
        for name, each in value.items():
            try:
                item(each)
            except ManifestError as fault:
                raise fault.inside(str(name)) from None
        return value

    return read


def _unexpected(expected: str, got: Any) -> ManifestError:
    text = repr(got)
    return ManifestError("", expected, text if len(text) <= 60 else text[:57] + "...")
