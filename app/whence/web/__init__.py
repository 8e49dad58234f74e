"""The page: runs, outputs, explanations and the other answers, to look at in a browser.

It only reads, takes nothing from any other host, and waits for nothing longer than it says.
"""

from __future__ import annotations

from whence.web.access import Access, is_loopback
from whence.web.asking import Asker
from whence.web.running import serve
from whence.web.serving import create_app
from whence.web.tokens import Token

__all__ = ["Access", "Asker", "Token", "create_app", "is_loopback", "serve"]
