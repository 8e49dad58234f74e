"""Which modules chain files may call: those the caller names, and those of the settings files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from whence.engine.errors import WhenceError
from whence.engine.functions import LOADED, AllowedFunctions, checked_modules
from whence.engine.language.chain import Chain
from whence.engine.language.chain_file import load_chain
from whence.engine.language.definition import chain_from_tree
from whence.engine.language.processor import Processor
from whence.store.whence_toml import read_configuration, read_whence_toml

__all__ = ["given_chain", "load_own_functions", "own_functions", "why_not_loaded"]


def given_chain(chain: str | Path | Chain | Processor, allow: Iterable[str] = ()) -> Chain:
    """A chain that was given, or that is in the file that was given.

    Args:
        chain: a chain, or the path of a chain file.
        allow: modules that the caller allows a chain file to call.
    """
    if isinstance(chain, (str, Path)):
        return load_chain(chain, allow=own_functions(allow))
    return Chain.of(chain)


def own_functions(allow: Iterable[str] = (), folder: Path | None = None) -> AllowedFunctions:
    """The functions that a chain file may call.

    Args:
        allow: modules that the caller allows.
        folder: where the search for ``whence.toml`` begins; the working folder by default.

    Raises:
        ParameterError: a module that cannot be allowed.
    """
    given = checked_modules(allow)
    return AllowedFunctions(lambda: _modules(given, folder or Path.cwd()))


def load_own_functions(
    chain: Any, allow: Iterable[str] = (), *, folder: Path | None = None
) -> None:
    """Load the functions of a recorded chain that are allowed, for all questions of this process.

    The others stay what they are without it: names, which refuse to compute.

    Args:
        chain: the chain's tree, as the record or the graph has it; that of a job is passed over.
        allow: modules that the caller allows.
        folder: where the search for ``whence.toml`` begins; the working folder by default.

    Raises:
        ParameterError: a module that cannot be allowed, or an allowed function that is not there.
    """
    own = own_functions(allow, folder)
    if not isinstance(chain, dict) or "job" in chain:
        return
    try:
        chain_from_tree(chain)
    except WhenceError:
        return  # a palette that is not installed, say: running it again is refused, nothing else
    chain_from_tree(chain, own=AllowedFunctions(lambda: own.modules, others=True))


def why_not_loaded(chain: Any) -> str | None:
    """Why a recorded chain cannot be run again: it calls what was not allowed, for instance."""
    if not isinstance(chain, dict) or "job" in chain:
        return None
    try:
        chain_from_tree(chain, own=LOADED)
    except WhenceError as error:
        return str(error)
    return None


def _modules(given: Iterable[str], folder: Path) -> Iterator[str]:
    yield from given
    for found in (read_configuration(), read_whence_toml(folder)):
        if found is not None:
            yield from found.allow
