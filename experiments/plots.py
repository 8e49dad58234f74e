"""The report's pictures, as SVG that is the same whenever it is drawn from the same numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["Line", "lines"]

COLORS = {"window": "#3366cc", "lifecycle": "#dc3912", "ltl": "#109618"}


class Line(NamedTuple):
    """One line of a picture."""

    label: str
    query: str
    tracked: bool
    points: Sequence[tuple[float, float]]


def lines(drawn: Sequence[Line], x: str, y: str) -> str:
    """Lines over logarithmic axes; dashed without tracking."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "whence", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        axes: Any = figure.add_subplot()
        for line in drawn:
            axes.loglog(
                *zip(*line.points, strict=True),
                color=COLORS[line.query],
                linestyle="-" if line.tracked else "--",
                marker="o",
                markersize=3,
                label=line.label,
            )
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend(frameon=False)
        kept = io.StringIO()
        figure.savefig(kept, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r"[ \t]+$", "", kept.getvalue(), flags=re.MULTILINE)
