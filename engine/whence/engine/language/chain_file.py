"""Chain files: read and write chains as YAML or JSON.

A file is only ever read as data. The one thing it can cause to run is a user's own function, which
it names by import path: only those of modules that the user allows are imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import yaml

from whence.engine.errors import ChainError, DefinitionError, ParameterError
from whence.engine.functions import AllowedFunctions, OwnFunctions
from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.file_tree import FileTree, add_scalar_forms, read_tree, too_deep
from whence.engine.language.log import COLUMN_KINDS, Log, check_kind
from whence.engine.values.limits import current

__all__ = ["dump_chain", "load_chain", "with_log"]

_ABOUT_KEYS = ("a key: ", "a processor: expected a known tag")
_ENDINGS = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def load_chain(
    source: str | Path, *, make_ids: bool = False, allow: OwnFunctions | Iterable[str] = ()
) -> Chain:
    """Read a chain from a file or from text.

    Args:
        source: a path; or, as a ``str`` that does not end in .yaml, .yml or .json, the text itself.
        make_ids: name processors without an id after their tag, instead of refusing them.
        allow: the modules whose functions it may call, such as ``mypackage``.

    Raises:
        DefinitionError: with the file, line and column of what is wrong.

    >>> load_chain("line: [{id: skip, trim: 1}, {id: positive, apply: value > 0}]").outputs
    ('positive',)
    """
    own = allow if isinstance(allow, OwnFunctions) else AllowedFunctions(allow)
    if isinstance(source, str) and not source.endswith(tuple(_ENDINGS)):
        _check_size(len(source), "the text")
        return _chain(read_tree(source, "the text"), "the text", make_ids, own)
    path = Path(source)
    read = read_tree(_text(path), path.name, form=_ENDINGS.get(path.suffix, ""))
    return _chain(read, path.name, make_ids, own)


def _chain(read: FileTree, name: str, make_ids: bool, own: OwnFunctions) -> Chain:
    if not isinstance(read.tree, dict):
        got = "nothing" if read.tree is None else f"a {type(read.tree).__name__}"
        msg = (
            f"{name}, line 1, column 1: expected a chain; got {got}; "
            "try `line: [{id: skip, trim: 2}]`"
        )
        raise DefinitionError(msg)
    try:
        made = chain_from_tree(read.tree, make_ids=make_ids, own=own)
    except DefinitionError as error:
        path = error.path or ()
        line, column = read.place(path, key=str(error).startswith(_ABOUT_KEYS))
        msg = f"{name}, line {line}, column {column}: {error}"
        raise DefinitionError(msg, error.path) from error
    except RecursionError as fault:
        raise too_deep(name) from fault
    limits, count = current(), sum(1 for _ in made.processors())
    if count > limits.processors:
        instead = "several runs, each of which reads what another one gave"
        raise limits.exceeded(
            "processors", name, f"{count:,}", instead, needed=count, kind=DefinitionError
        )
    return made


def _check_size(size: int, name: str) -> None:
    limits = current()
    if size > limits.chain:
        raise limits.exceeded(
            "chain", name, f"{size:,}", "a smaller file", needed=size, kind=DefinitionError
        )


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(current().chain + 1)
        _check_size(max(len(data), path.stat().st_size), path.name)
        return data.decode("utf-8-sig")
    except FileNotFoundError as fault:
        folder = path.parent
        names = [f.name for f in folder.iterdir()] if folder.is_dir() else []
        near = get_close_matches(path.name, names, n=1)
        hint = f"{folder / near[0]} (did you mean that?)" if near else "its full path"
        msg = f"expected the chain file {path}; got no such file; try {hint}"
        raise DefinitionError(msg) from fault
    except UnicodeDecodeError as fault:
        msg = (
            f"{path.name}: expected UTF-8; got byte 0x{fault.object[fault.start]:02x} "
            f"at offset {fault.start}; try saving it as UTF-8"
        )
        raise DefinitionError(msg) from fault
    except OSError as fault:
        msg = f"a chain file: expected {path} to be readable; got {fault.strerror}; try another"
        raise DefinitionError(msg) from fault


class _Dumper(yaml.SafeDumper):
    """Quotes every text that our reader, or one of YAML 1.1, would not read as a text."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out."""
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # Plain and single-quoted YAML turns every kind of line break into the same one.
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


add_scalar_forms(_Dumper)
_Dumper.add_representer(str, _text_node)


def dump_chain(chain: Chain, format: Literal["yaml", "json"] = "yaml") -> str:
    r"""Write a chain; `load_chain` reads it back as it was, with the same digest.

    >>> from whence.engine.processors import Trim
    >>> dump_chain(Chain.of(Trim("skip", n=2)))
    'id: skip\ntrim: 2\n'
    """
    tree = chain.tree()
    if format == "json":
        return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if format == "yaml":
        return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    msg = f"a chain's format: expected yaml or json; got {format!r}; try 'yaml'"
    raise ParameterError(msg)


def with_log(chain: Chain, log: str, declared: Log) -> Chain:
    """Declare something of a log, on top of what the chain already declares of it.

    >>> from whence.engine.processors import ApplyFunction
    >>> chain = Chain.of(ApplyFunction("big", "p > 100"))
    >>> dict(with_log(chain, "log", Log({"p": "integer"})).logs["log"].columns)
    {'p': 'integer'}
    """
    if log not in chain.inputs:
        known = ", ".join(chain.inputs)
        msg = f"a log: expected one of {known}; got {log!r}; try {chain.inputs[0]!r}"
        raise ChainError(msg)
    for column, kind in (declared.columns or {}).items():
        if not check_kind(kind):
            near = get_close_matches(kind, COLUMN_KINDS, n=1)
            hint = f"{near[0]!r} (did you mean that?)" if near else f"{column}=integer"
            expected = " or ".join(COLUMN_KINDS)
            msg = f"column {column!r}: expected {expected}; got {kind!r}; try {hint}"
            raise ParameterError(msg)
    return replace(chain, logs={**chain.logs, log: declared.over(chain.logs.get(log))})
