"""What went wrong, in one line for a person, with the status that says whether to try again."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass

from whence.engine.errors import ServerError, StoreError, WhenceError
from whence.engine.values.printable import printable
from whence.web.asking import Gone

__all__ = ["Problem", "problem_of"]


@dataclass(frozen=True)
class Problem:
    """What a person reads.

    Attributes:
        status: of HTTP.
        words: one line.
        away: whether the graph could not be reached.
    """

    status: int
    words: str
    away: bool = False


def problem_of(error: BaseException) -> Problem:
    """What to say of an error."""
    if isinstance(error, Gone):
        return Problem(404, str(error))
    late = isinstance(error, TimeoutError) or "TransactionTimedOut" in str(error)
    if late or (isinstance(error, StoreError) and "in time" in str(error)):
        words = "This takes longer than a page should wait. Try a narrower question, or the command"
        return Problem(504, f"{words} line, which has no such limit.")
    if _is_away(error):
        words = "The graph does not answer: Neo4j is not running, or is starting. Retrying …"
        return Problem(503, words, away=True)
    if isinstance(error, WhenceError):
        return Problem(400, " ".join(str(error).split())[:2000])
    trace = printable("".join(traceback.format_exception(error)))  # values of a log may be in it
    logging.getLogger("whence.web").error("a question failed: %s", trace)
    name = type(error).__name__
    return Problem(500, f"Something unexpected went wrong ({name}); the server's output says what.")


def _is_away(error: BaseException) -> bool:
    """Whether the graph was unreachable, so that retrying may help."""
    if isinstance(error, ServerError):
        return True
    signs = (
        "got no answer",
        "DatabaseUnavailable",
        "got a refusal",
        "expected to talk to",
        "TransientError",
        "DatabaseNotFound",
    )
    return isinstance(error, StoreError) and any(sign in str(error) for sign in signs)
