"""What notebooks show of runs and answers: static HTML with drawings, made where it is shown."""

from __future__ import annotations

from whence.cells.answers import cell_of_answer, text_of_answer
from whence.cells.runs import cell_of_run, picture_of_run

__all__ = ["cell_of_answer", "cell_of_run", "picture_of_run", "text_of_answer"]
