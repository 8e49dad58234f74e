"""One error tree. Every message a user reads says: expected; got; try.

::

    WhenceError
    ├── ParameterError (ValueError)      a processor or function was declared wrongly
    ├── ChainError (ValueError)          processors do not fit together
    ├── FormulaError (ValueError)        text that does not parse, with line and column
    ├── DefinitionError (ValueError)     a YAML or JSON file that is no chain, with its line
    ├── EventError (ValueError)          an event that a processor cannot take, with its position
    ├── LogError (ValueError)            a log file that cannot be read as declared
    ├── DiskError (OSError)              a disk that is full, read-only or not the user's
    ├── RunnerError (RuntimeError)       what runs a chain broke down before the run had ended
    ├── SettingsError (ValueError)       connection settings that contradict each other
    ├── ServerError (RuntimeError)       the local Neo4j could not be fetched, started or stopped
    ├── StoreError (RuntimeError)        the graph store refused or did not answer
    ├── EvidenceError (ValueError)       a file that is no evidence pack, or is not safe to open
    └── MissingExtraError (ImportError)  an optional part is not installed
"""

from __future__ import annotations

import inspect
import warnings

__all__ = [
    "ChainError",
    "DefinitionError",
    "DiskError",
    "EventError",
    "EvidenceError",
    "FormulaError",
    "LogError",
    "MissingExtraError",
    "ParameterError",
    "RunnerError",
    "ServerError",
    "SettingsError",
    "StoreError",
    "WhenceError",
    "WhenceWarning",
    "warn_user",
]


class WhenceError(Exception):
    """Anything that Whence itself refuses or fails at; the message is one line for a person."""


class WhenceWarning(UserWarning):
    """Something that a person should look at; nothing was refused."""


def warn_user(line: str, category: type[WhenceWarning] = WhenceWarning) -> None:
    """Warn at the line of the user's program that called Whence, however many calls lie between.

    The text may hold names and values of a log: what would steer a terminal is shown as escapes.
    """
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("whence."):
        frame, level = frame.f_back, level + 1
    warnings.warn(line, category, stacklevel=level)


class ParameterError(WhenceError, ValueError):
    """A processor or function was declared with a parameter it cannot have."""


class ChainError(WhenceError, ValueError):
    """Processors that do not fit together: a cycle, a free pipe, a double id."""


class FormulaError(WhenceError, ValueError):
    """Formula or expression text that does not parse."""


class DefinitionError(WhenceError, ValueError):
    """A chain file that does not describe a chain.

    Attributes:
        path: where in the file's tree, as keys and list indexes; ``None`` if that is not known.
    """

    def __init__(self, message: str, path: tuple[str | int, ...] | None = None) -> None:
        """Keep the path, from which a file's line can be found."""
        super().__init__(message)
        self.path = path


class EventError(WhenceError, ValueError):
    """An event that a processor cannot take; names the processor and the position."""


class LogError(WhenceError, ValueError):
    """A log that cannot be read as declared."""


class DiskError(WhenceError, OSError):
    """A disk that is full or read-only, or a folder that this user cannot write."""


class RunnerError(WhenceError, RuntimeError):
    """What runs a chain broke down: a worker was lost, Spark ended."""


class SettingsError(WhenceError, ValueError):
    """Connection settings that are incomplete, unsafe or contradict each other."""


class ServerError(WhenceError, RuntimeError):
    """The local Neo4j server could not be fetched, started or stopped."""


class StoreError(WhenceError, RuntimeError):
    """The graph store refused or did not answer."""


class EvidenceError(WhenceError, ValueError):
    """A file that is no evidence pack, is not safe to open, or is of a newer version."""


class MissingExtraError(WhenceError, ImportError):
    """An optional part of Whence is not installed.

    >>> MissingExtraError.for_extra("spark", "pyspark").args[0]
    "expected the package 'pyspark'; it is not installed; try: pip install 'whence[spark]'"
    """

    @classmethod
    def for_extra(cls, extra: str, package: str) -> MissingExtraError:
        """Name the package that is missing and the extra that brings it."""
        return cls(
            f"expected the package {package!r}; it is not installed; "
            f"try: pip install 'whence[{extra}]'"
        )
