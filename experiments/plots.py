"""The report's pictures, as SVG that is the same whenever it is drawn from the same numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

__all__ = ["Line", "lines"]

COLORS = {
    "window": "#3366cc", "lifecycle": "#dc3912", "ltl": "#109618", "lifecycle.fresh": "#ff9900",
    "total": "#990099",
}  # fmt: skip
OTHERS = ("#3366cc", "#dc3912", "#109618", "#ff9900", "#990099", "#0099c6", "#666666", "#b77322")


class Line(NamedTuple):
    """One line of a picture: what it shows, of which colour, dashed or not."""

    label: str
    color: str
    dashed: bool
    points: Sequence[tuple[float, float]]


def lines(drawn: Sequence[Line], x: str, y: str, scale: Literal["log", "linear"] = "log") -> str:
    """Lines over logarithmic axes, or over a linear one from left to right."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "whence", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        axes: Any = figure.add_subplot()
        for line in drawn:
            axes.plot(
                *zip(*line.points, strict=True),
                color=line.color,
                linestyle="--" if line.dashed else "-",
                marker="o",
                markersize=3,
                label=line.label,
            )
        axes.set_xscale(scale)
        axes.set_yscale("log")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.grid(visible=True, which="major", alpha=0.3)
        # Beside the lines, never over them.
        figure.legend(loc="outside right upper", frameon=False)
        kept = io.StringIO()
        figure.savefig(kept, format="svg", metadata={"Date": None, "Creator": None})
    return _named(re.sub(r"[ \t]+$", "", kept.getvalue(), flags=re.MULTILINE))


def _named(drawn: str) -> str:
    """Number the frames: matplotlib names them by all digits of their place.

    The last of these digits differ between processors, and what is drawn does not.

    >>> _named('<a clip-path="url(#p0f58636ab5)"/><clipPath id="p0f58636ab5"/>')
    '<a clip-path="url(#frame0)"/><clipPath id="frame0"/>'
    """
    names: dict[str, str] = {}
    for name in re.findall(r'clipPath id="(\w+)"', drawn):
        names.setdefault(name, f"frame{len(names)}")
    pattern = r'(?<=url\(#)\w+(?=\))|(?<=clipPath id=")\w+(?=")'
    return re.sub(pattern, lambda found: names.get(found[0], found[0]), drawn)
