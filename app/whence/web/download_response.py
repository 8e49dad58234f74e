"""A file on its way to the browser, made by a worker as it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from whence.web.answers import Question
from whence.web.disconnects import GoneAwayError, unless_gone
from whence.web.pool import Pool, WorkerLostError
from whence.web.problems import Problem, problem_of

__all__ = ["LOST", "Download"]

STALL_SECONDS = 60.0
"""Seconds without progress after which a browser loses its worker."""
LOST = Problem(500, "The question ended unexpectedly, possibly because memory ran out.")


class Download:
    """The answer to a question for a file.

    Each piece has the question's time. If the browser goes away, or a piece does not come, the
    worker is ended; the connection is then cut, so that the rest is not taken for the whole.
    """

    def __init__(
        self,
        pool: Pool,
        question: Question,
        refused: Callable[[Problem], Awaitable[Response]],
    ) -> None:
        """Ask nothing yet.

        Args:
            pool: the workers.
            question: the question.
            refused: makes the answer where there is no file.
        """
        self._pool = pool
        self._question = question
        self._refused = refused
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            problem = await unless_gone(receive, self._sent(send))
        except GoneAwayError:
            return
        except (TimeoutError, WorkerLostError) as error:
            if self._begun:
                return
            problem = LOST if isinstance(error, WorkerLostError) else problem_of(error)
        if problem is not None:
            answer = await self._refused(problem)
            await answer(scope, receive, send)

    async def _sent(self, send: Send) -> Problem | None:
        """Send the file, or say why there is none."""
        loop, seconds = asyncio.get_running_loop(), self._question.seconds
        async with asyncio.timeout(seconds) as limit, self._pool.worker() as worker:
            head = await worker.ask(self._question)
            if head["status"] != 200:
                words = b"".join([piece async for piece in worker.pieces()]).decode()
                return Problem(head["status"], words, head["away"])
            self._begun = True
            headers = [
                (b"content-type", head["kind"].encode()),
                (
                    b"content-disposition",
                    f"attachment; filename*=UTF-8''{quote(head['name'])}".encode(),
                ),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            async for piece in worker.pieces():
                limit.reschedule(loop.time() + STALL_SECONDS)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                limit.reschedule(loop.time() + seconds)
        await send({"type": "http.response.body", "body": b""})
        return None
