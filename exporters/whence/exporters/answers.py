"""From what the store answers to what an export is made from."""

from __future__ import annotations

from functools import singledispatch

from whence.engine.errors import ParameterError
from whence.exporters.model import Answer

__all__ = ["answer_of"]


@singledispatch
def answer_of(answer: object) -> Answer:
    """The answer in the form that is exported; each kind of answer registers its own way."""
    msg = (
        f"an export: expected an answer; got {type(answer).__name__}; "
        "try what explain, never_matters or impact give"
    )
    raise ParameterError(msg)


@answer_of.register
def _(answer: Answer) -> Answer:
    return answer
