"""``python -m tools.pictures``: the pictures of README and tutorial, from what they show.

The log and the chain are those of the tutorial; the picture is what ``whence draw --run latest
--explain 632`` draws there.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from whence.api import run
from whence.engine.drawing import Lane, Mark, Timeline, picture_of_steps, svg, timeline
from whence.engine.language.chain_file import load_chain
from whence.engine.sources.generate import payment_log
from whence.notebook.runs import picture_of_run
from whence.store.questions import explain_recorded, steps_recorded

__all__ = ["files"]

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "pictures"
TUTORIAL = ROOT / "docs" / "tutorial" / "from-a-log-to-evidence.md"


def files() -> dict[str, str]:
    """The pictures, by the name of their file."""
    page = TUTORIAL.read_text(encoding="utf-8")
    found = re.search(r"`lifecycle.yaml`:\n\n```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None, "the tutorial has its chain"
    with TemporaryDirectory() as folder:
        chain = load_chain(found[1])
        result = run(chain, payment_log(2000, seed=11), runner="local", record=folder)
        why = explain_recorded(result.record, str(result.first(False)))
        labels = tuple((event.position, str(event.activity)) for event in why.events)
        lit = tuple((event.position, event.position) for event in why.events)
        lane = Lane("payments", result.record.log("log").length, (Mark(lit, "strong", labels),))
        steps = steps_recorded(result.record, why)
        drawn = picture_of_run(result.record)
    return {
        "why.svg": svg(picture_of_steps(steps)),
        "timeline.svg": timeline(Timeline(f"the events that explain {why.output.label}", (lane,))),
        "lifecycle.svg": svg(drawn).replace(f"run {result.id}", "the life cycle of payments"),
    }


if __name__ == "__main__":
    for name, text in files().items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
