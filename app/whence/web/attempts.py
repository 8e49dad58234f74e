"""Wrong tokens: after each, its client waits, longer each time."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Attempts"]

LONGEST = 10.0
"""Seconds; no wait is longer."""
FORGOTTEN = 900.0
"""Seconds after the last wrong token, after which a client begins anew."""
CLIENTS = 1024


class Attempts:
    """Counts wrong tokens by client.

    During a wait tokens of that client are not looked at. Sessions and one-time links are not
    concerned. No request is held up: the answer comes at once, and says how long to wait.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Seconds until a token of this client is looked at."""
        _, last = self._found(client)
        return max(0.0, last - self._clock())

    def failed(self, client: str) -> float:
        """Note a wrong token, and return how many seconds to wait."""
        times, _ = self._found(client)
        seconds = min(LONGEST, 2.0 ** min(times, 10))
        self._wrong[_network(client)] = times + 1, self._clock() + seconds
        self._wrong.move_to_end(_network(client))
        while len(self._wrong) > CLIENTS:
            self._wrong.popitem(last=False)
        return seconds

    def succeeded(self, client: str) -> None:
        """Forget the wrong tokens of a client."""
        self._wrong.pop(_network(client), None)

    def _found(self, client: str) -> tuple[int, float]:
        times, until = self._wrong.get(_network(client), (0, 0.0))
        return (0, 0.0) if self._clock() - until > FORGOTTEN else (times, until)


def _network(client: str) -> str:
    """The address; of IPv6 the network, since a client has all addresses of it."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if address.version == 4:
        return client
    return str(ipaddress.ip_network((address, 64), strict=False))
