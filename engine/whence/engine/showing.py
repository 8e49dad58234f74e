"""What a notebook shows of chains and explanations; drawings are imported when one is shown."""

from __future__ import annotations

from whence.engine.language.chain import Chain
from whence.engine.lineage.tracker import Explanation
from whence.engine.values.shown import shown

__all__: list[str] = []

NAMES = 8
"""Input events named in a sentence, at most."""


@shown.register
def _chain(chain: Chain) -> dict[str, str]:
    from whence.engine.drawing import picture_of_chain
    from whence.engine.drawing.cell import bundle, cell_of_picture

    return bundle(cell_of_picture(picture_of_chain(chain)), repr(chain))


@shown.register
def _explanation(explanation: Explanation) -> dict[str, str]:
    """The sentence and the drawing."""
    from whence.engine.drawing import picture_of_steps, svg
    from whence.engine.drawing.cell import bundle, cell, line
    from whence.engine.lineage.steps import steps_of
    from whence.engine.lineage.words import value_text

    found = steps_of(explanation.event)
    names = explanation.names
    left = [f"{len(names) - NAMES:,} more"] if len(names) > NAMES else []
    because = ", ".join([*names[:NAMES], *left]) or "nothing that was read"
    text = f"{found.output} is {value_text(explanation.event.value)} because of {because}"
    return bundle(cell(line(text, strong=True), svg(picture_of_steps(found))), text)
