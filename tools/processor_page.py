"""``python -m tools.processor_page``: the reference page of all processors, from their files.

What a processor gives and what explains it stand in its file, with an example; the page shows them,
and of each example a picture: outputs above, the inputs that explain them below.
"""

from __future__ import annotations

import doctest
import inspect
import io
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from whence import engine
from whence.engine import testing
from whence.engine.drawing import Arrow, Box, Picture, svg
from whence.engine.language.processor import Machine, Processor
from whence.engine.language.registry import processor_types
from whence.engine.lineage.words import value_text

__all__ = ["files"]

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "processors.md"
HEAD = """# Processors

This page lists every processor: its outputs, what explains each output, and an example with a
picture that shows outputs above and the input events that explain them below.
[Positions](glossary.md#position) count from 0. For the YAML form of each, see
[Chain files](chain-files.md#processors); for your own, see
[Write your own](../how-to/extend-the-engine.md).

`python -m tools.processor_page` generates this page from the processors' files.
"""


class Seen(NamedTuple):
    """What an example ran, and what came of it: by pipe, each output with what explains it."""

    logs: dict[str, list[Any]]
    pipes: list[list[tuple[Any, set[str]]]]


def files() -> dict[str, str]:
    """The page and its pictures, by their path below the page's folder."""
    kinds = sorted(
        (kind for group in processor_types().values() for kind in group if _own(kind)),
        key=lambda kind: kind.__name__,
    )
    made = {PAGE.name: HEAD + "".join("\n" + _section(kind) for kind in kinds)}
    for kind in kinds:
        seen = _seen(kind)
        if seen is not None:
            made[_picture_file(kind)] = svg(_picture(kind, seen))
    return made


def _own(kind: type[Processor]) -> bool:
    return kind.__module__.startswith("whence.")


def _picture_file(kind: type[Processor]) -> str:
    return f"processors/{kind.__name__}.svg"


def _section(kind: type[Processor]) -> str:
    text, example = _told(kind)
    lines = [f"## {kind.__name__}", "", text, ""]
    lines += [f"*Rule:* {' '.join(_rules(kind))}", ""] if any(_rules(kind)) else []
    if _seen(kind) is not None:
        lines += [f"![An example of {kind.__name__}]({_picture_file(kind)})", ""]
    lines += ["```python", f">>> from {_home(kind)} import {kind.__name__}", example, "", "```", ""]
    return "\n".join(lines)


def _home(kind: type[Processor]) -> str:
    """Where a user imports it from."""
    return "whence.engine" if hasattr(engine, kind.__name__) else kind.__module__.rpartition(".")[0]


def _told(kind: type[Processor]) -> tuple[str, str]:
    """The text and the example of a processor."""
    text, mark, example = (inspect.getdoc(kind) or "").partition(">>> ")
    if "Args:" in text:
        text, _, arguments = text.partition("Args:\n")
        text = text.strip() + "\n\n" + "\n".join(_arguments(arguments))
    return text.strip().replace("``", "`"), (mark + example).strip()


def _arguments(text: str) -> Iterator[str]:
    """The parameters as a list; continuation lines stay with theirs."""
    items: list[str] = []
    for line in text.rstrip().splitlines():
        if line.startswith("     ") and items:
            items[-1] += " " + line.strip()
        elif line.strip():
            items.append(line.strip())
    for item in items:
        name, _, told = item.partition(": ")
        if name != "id":
            yield f"- `{name}`: {told}"


def _rules(kind: type[Processor]) -> Iterator[str]:
    """What the machines beside the declaration say of their rule, each once."""
    module = sys.modules[kind.__module__]
    rules: list[str] = []
    for machine in vars(module).values():
        if inspect.isclass(machine) and issubclass(machine, Machine):
            if machine.__module__ != kind.__module__:
                continue
            for told in (machine.__doc__, getattr(vars(machine).get("feed"), "__doc__", None)):
                if told and told not in rules:
                    rules.append(told)
    for rule in rules:
        yield " ".join(rule.partition("\n\n")[0].split()).replace("``", "`")


def _seen(kind: type[Processor]) -> Seen | None:
    """Run the example, and look at what it runs."""
    found: list[Seen] = []
    run = testing.run

    def looking(part: Any, logs: Any, **more: Any) -> Any:
        given = logs if isinstance(logs, dict) else {"log": list(logs)}
        outputs: Any = run(part, logs, **more)
        pipes = outputs if outputs and isinstance(outputs[0], list) else [outputs]
        found.append(Seen(given, [[(v, _names(why)) for v, why in pipe] for pipe in pipes]))
        return outputs

    names = dict(vars(sys.modules[kind.__module__]))
    with patch.object(testing, "run", looking), redirect_stdout(io.StringIO()):
        for example in doctest.DocTestParser().get_examples(inspect.getdoc(kind) or ""):
            exec(compile(example.source, kind.__name__, "single"), names)
    return found[0] if found else None


def _names(why: set[Any]) -> set[str]:
    return {name if isinstance(name, str) else f"log@{name}" for name in why}


def _picture(kind: type[Processor], seen: Seen) -> Picture:
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    for pipe, outputs in enumerate(seen.pipes):
        for number, (value, why) in enumerate(outputs):
            name = f"{pipe}@{number}" if len(seen.pipes) > 1 else f"@{number}"
            boxes.append(Box(f"out {name}", (name, f"= {_short(value)}"), "output"))
            arrows += [Arrow(f"out {name}", each) for each in sorted(why)]
    for log, events in seen.logs.items():
        boxes += [
            Box(f"{log}@{number}", (f"{log}@{number}", _short(value)), "input")
            for number, value in enumerate(events)
        ]
    title = f"{kind.__name__}: outputs and what explains them"
    return Picture(title, tuple(boxes), tuple(arrows))


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={value_text(each)}" for name, each in value.items())
    return value_text(value)


if __name__ == "__main__":
    for name, text in files().items():
        path = PAGE.parent / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(PAGE.parent.parent.parent))
