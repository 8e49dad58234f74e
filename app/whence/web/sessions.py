"""Sessions: what a browser has after it was let in, known to this process alone."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["SESSION_SECONDS", "Session", "Sessions", "is_session_id"]

SESSION_SECONDS = 12 * 3600
MOST = 256
"""Sessions at a time; one more ends the oldest."""
_LONGEST = SESSION_SECONDS + 60
"""What a session has left at most; one that has more was begun before the clock was set back."""
_ID = re.compile(r"[A-Za-z0-9_-]{43}")


def is_session_id(text: str) -> bool:
    """Whether a text has the form of a session's id."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True)
class Session:
    """One browser that was let in.

    Attributes:
        key: the digest of its id; the id itself is in the browser's cookie only.
        form: what each of its forms has to say, so that no other page can send one.
        ends: when it ends.
    """

    key: bytes
    form: str
    ends: float

    def sent(self, given: str) -> bool:
        """Whether a form comes from a page of the session."""
        return hmac.compare_digest(given.encode(), self.form.encode())


class Sessions:
    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, Session] = OrderedDict()

    def open(self) -> str:
        """Begin a session, and return its id."""
        id = secrets.token_urlsafe(32)
        key = _key(id)
        made = Session(key, secrets.token_urlsafe(32), self._clock() + SESSION_SECONDS)
        self._known[key] = made
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return id

    def find(self, id: str) -> Session | None:
        """The session of an id, unless it has ended."""
        found = self._known.get(_key(id))
        if found is not None and not 0 < found.ends - self._clock() <= _LONGEST:
            self.close(found)
            return None
        return found

    def close(self, session: Session) -> None:
        self._known.pop(session.key, None)


def _key(id: str) -> bytes:
    return hashlib.sha256(id.encode()).digest()
