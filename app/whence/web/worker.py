"""A process that answers questions of the page, one after the other, and can be ended.

It is started with a socket that it has in common with the server. Frames go both ways: four bytes
of length, then that many bytes. It sends an empty frame when it is ready. A question is one frame;
its answer is a head in JSON, pieces, and an empty frame.
"""

from __future__ import annotations

import json
import pickle
import select
import signal
import socket
import sys
from functools import partial
from io import BufferedRWPair
from typing import NoReturn

from whence.store import Settings
from whence.web.answers import Question, answer
from whence.web.asking import Asker
from whence.web.problems import problem_of

__all__ = ["LENGTH", "main"]

LENGTH = 4
LOOK_SECONDS = 1.0
"""After this time without a question, a worker looks whether something was erased."""


def main() -> None:
    """Answer questions until the server closes the socket, whose number is the last argument."""
    signal.signal(signal.SIGTERM, _end)
    _serve(int(sys.argv[-1]))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends anyway


def _serve(descriptor: int) -> None:
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rwb") as stream:
        _send(stream, b"")
        asker: Asker | None = None
        while True:
            while not select.select([connection], [], [], LOOK_SECONDS)[0]:
                if asker is not None:
                    asker.forget_erased()
            question = _question(stream)
            if question is None:
                return
            if asker is None:
                first = partial(_first, question.settings)
                asker = Asker(first, question.record, question.allow)
            asker.turn_to(question.settings)
            try:
                _say(stream, question, asker)
            except OSError:
                return  # the server wants no more of it
            except Exception as error:
                # The content had begun: what is cut off is no answer, and the server sees that.
                problem_of(error)
                return


def _first(settings: Settings) -> Settings:
    return settings


def _say(stream: BufferedRWPair, question: Question, asker: Asker) -> None:
    for piece in answer(question, asker):
        if isinstance(piece, dict):
            _send(stream, json.dumps(piece).encode())
        elif piece:
            _send(stream, piece)
    _send(stream, b"")


def _question(stream: BufferedRWPair) -> Question | None:
    length = stream.read(LENGTH)
    if len(length) < LENGTH:
        return None
    size = int.from_bytes(length, "big")
    packed = stream.read(size)
    if len(packed) < size:
        return None
    found = pickle.loads(packed)  # from the server that started this process, and no other
    assert isinstance(found, Question)
    return found


def _send(stream: BufferedRWPair, data: bytes) -> None:
    stream.write(len(data).to_bytes(LENGTH, "big"))
    stream.write(data)
    stream.flush()


def _end(*_: object) -> NoReturn:
    """End in order, so that temporary files go."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)
