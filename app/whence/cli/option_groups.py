"""Options that several commands share, listed once.

A group is a function whose parameters are the options and which makes one thing of them. A command
that is decorated with the group has these options, and is handed that thing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

__all__ = ["Command", "option_group"]

Command = Callable[..., None]


def option_group(
    name: str, make: Callable[..., Any], *, without: Sequence[str] = ()
) -> Callable[[Command], Command]:
    """Make a decorator for commands.

    Args:
        name: the command's parameter in whose place the options are shown.
        make: takes the options, annotated as typer wants them, and gives what the command gets.
        without: options of the group that would mean nothing to the command.

    >>> @option_group("size", lambda wide=2, high=3: wide * high)
    ... def show(what: str, size: int) -> None:
    ...     print(what, size)
    >>> list(inspect.signature(show).parameters)
    ['what', 'wide', 'high']
    >>> show(what="box", wide=5, high=3)
    box 15
    """
    offered = inspect.signature(make, eval_str=True).parameters
    added = {option: each for option, each in offered.items() if option not in without}

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True)

        @wraps(command)
        def grouped(**given: Any) -> None:
            said = {option: given.pop(option) for option in added if option in given}
            command(**given, **{name: make(**said)})

        shown: list[inspect.Parameter] = []
        for parameter in own.parameters.values():
            shown.extend(added.values() if parameter.name == name else [parameter])
        keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in shown]
        grouped.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]
        grouped.__annotations__ = {each.name: each.annotation for each in keywords}
        return grouped

    return decorate
