"""What makes a run and an answer display themselves in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whence.engine.language.chain import Chain
from whence.engine.language.definition import chain_from_tree

if TYPE_CHECKING:
    from whence.engine.record import RunRecord

__all__ = ["ShownAnswer", "ShownRun"]


class ShownAnswer:
    """An answer in a notebook: the sentence, the events as a table, a timeline and a graph."""

    if TYPE_CHECKING:
        found: Any
        record: RunRecord

    def _repr_html_(self) -> str:
        from whence.notebook.answers import cell_of_answer

        return cell_of_answer(self.found, self.record)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """The same with a line of text, for programs that show no HTML."""
        from whence.notebook.answers import text_of_answer

        return {"text/html": self._repr_html_(), "text/plain": text_of_answer(self.found)}


class ShownRun:
    """A run in a notebook: what it is, its first outputs, and its chain with counts."""

    if TYPE_CHECKING:
        record: RunRecord
        loaded: Any

    @property
    def chain(self) -> Chain:
        """The chain that was run; in a notebook, its drawing."""
        return chain_from_tree(self.record.manifest.chain)

    def __str__(self) -> str:
        told = self.record.manifest
        loaded = ", in the graph" if self.loaded is not None and self.loaded.complete else ""
        return f"run {self.record.id}: {told.status}, by the {told.runner} runner{loaded}"

    def _repr_html_(self) -> str:
        from whence.notebook.runs import cell_of_run

        return cell_of_run(self.record, str(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """The same with a line of text, for programs that show no HTML."""
        return {"text/html": self._repr_html_(), "text/plain": str(self)}
