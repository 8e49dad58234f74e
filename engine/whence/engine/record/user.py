"""Who works on a record: the user of this process, not what the environment says."""

from __future__ import annotations

import os
import pwd

__all__ = ["process_user"]


def process_user() -> tuple[str, int]:
    """The name and the number of the real user of this process.

    ``LOGNAME`` and ``USER`` are not looked at: everybody can set them. A user without a name, as in
    a container, is called by the number.
    """
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name, number
    except KeyError:
        return str(number), number
