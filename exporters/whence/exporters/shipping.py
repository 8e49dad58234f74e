"""The ways out: an answer or a run as a file, a ``prov`` document or an rdflib dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.errors import ParameterError
from whence.exporters.answers import About, answer_of, run_about
from whence.exporters.documents import Progress, answer_document, run_document
from whence.exporters.model import Answer
from whence.exporters.prov_document import prov_document
from whence.exporters.rdf import rdflib_dataset
from whence.exporters.recorded import RecordedRun
from whence.exporters.saving import format_of, write_document

if TYPE_CHECKING:
    import rdflib
    from prov.model import ProvDocument

__all__ = ["save", "save_run", "to_prov", "to_rdflib"]


def save(
    answer: object, path: str | Path, format: str | None = None, *, about: About | None = None
) -> Path:
    """Write an answer to a file.

    Args:
        answer: what a question gave.
        path: the file; its ending names the format (``.json``, ``.nq``, ``.trig``, then ``.gz``).
        format: ``prov-json``, ``nquads`` or ``trig``, if the ending does not say it.
        about: the run that was asked: as the graph or as the record knows it.
    """
    return write_document(answer_document(_known(answer, about)), Path(path), format)


def to_prov(answer: object, *, about: About | None = None) -> ProvDocument:
    """An answer as a document of the ``prov`` package; the same statements as in a file."""
    return prov_document(answer_document(_known(answer, about)))


def to_rdflib(answer: object, *, about: About | None = None) -> rdflib.Dataset:
    """An answer as an rdflib dataset; the same statements as in a file."""
    return rdflib_dataset(answer_document(_known(answer, about)))


def _known(answer: object, about: About | None) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if about is None:
        msg = "an export: expected the run that was asked; got none; try about=find_run(…)"
        raise ParameterError(msg)
    return answer_of(answer, run_about(about))


def save_run(
    root: Path,
    run: str,
    path: str | Path,
    format: str | None = None,
    *,
    values: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write a whole run of the record to a file, in constant memory.

    Args:
        root: the record's place.
        run: the run's id, or ``latest``.
        path: the file; its ending names the format.
        format: ``prov-json``, ``nquads`` or ``trig``, if the ending does not say it.
        values: tell the values of input events too.
        progress: told how many events are done.
    """
    format = format_of(Path(path), format)  # refused before anything is read
    source = RecordedRun(root, run, values=values)
    return write_document(run_document(source, progress), Path(path), format)
