"""Work for a browser ends when the browser goes away."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Message, Receive

__all__ = ["GoneAwayError", "unless_gone"]

T = TypeVar("T")


class GoneAwayError(Exception):
    """The browser closed the connection."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Work, unless the browser goes away: then the work is cancelled.

    Raises:
        GoneAwayError: it went away.
    """
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise GoneAwayError
    finally:
        doing.cancel()
        leaving.cancel()
        await asyncio.gather(doing, leaving, return_exceptions=True)


async def _left(receive: Receive) -> None:
    message: Message = {"type": ""}
    while message["type"] != "http.disconnect":
        message = await receive()
