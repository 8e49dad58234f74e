"""The ways out: an answer or a run as a file, a ``prov`` document or an rdflib dataset."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.errors import ParameterError
from whence.engine.progress import Listener
from whence.exporters.answers import About, answer_of, run_about
from whence.exporters.documents import answer_document, runs_document
from whence.exporters.model import Answer
from whence.exporters.openlineage import openlineage_lines
from whence.exporters.prov.formats import BUNDLES, FORMATS, RUN_FORMATS, format_of
from whence.exporters.prov.saving import write_document, write_pieces
from whence.exporters.prov.writing.prov_document import prov_document
from whence.exporters.prov.writing.rdf import rdflib_dataset
from whence.exporters.recorded import RecordedRun

if TYPE_CHECKING:
    import rdflib
    from prov.model import ProvDocument

__all__ = ["save", "save_run", "save_runs", "to_prov", "to_rdflib"]


def save(
    answer: object, path: str | Path, format: str | None = None, *, about: About | None = None
) -> Path:
    """Write an answer to a file.

    Args:
        answer: what a question gave.
        path: the file; its ending names the format, as `FORMATS` says, and ``.gz`` may follow.
        format: one of `FORMATS`, if the file's extension does not determine it.
        about: the run in question: as the graph or as the record knows it.
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
        msg = "an export: expected the run of the answer; got none; try about=find_run(…)"
        raise ParameterError(msg)
    return answer_of(answer, run_about(about))


def save_run(
    root: Path,
    run: str,
    path: str | Path,
    format: str | None = None,
    *,
    values: bool = False,
    progress: Listener | None = None,
) -> Path:
    """Write a whole run of the record to a file, in constant memory; see `save_runs`."""
    format = format_of(Path(path), format, RUN_FORMATS)  # refused before anything is read
    (written,) = save_runs([RecordedRun(root, run, values=values)], path, format, progress=progress)
    return written


def save_runs(
    runs: Sequence[RecordedRun],
    path: str | Path,
    format: str | None = None,
    *,
    expand: bool = False,
    progress: Listener | None = None,
) -> list[Path]:
    """Write runs of the record, one bundle for each, in constant memory.

    Where a format has no bundles, as Turtle, several runs go to one file each: ``a-RUN.ttl`` beside
    ``a.ttl``.

    Args:
        runs: the runs, opened.
        path: the file; its ending names the format.
        format: one of `RUN_FORMATS`, if the file's extension does not determine it.
        expand: write every pair of output and input by itself, and no ranges.
        progress: called with a `Progress` now and then: how many events and associations are done.
    """
    path = Path(path)
    format = format_of(path, format, RUN_FORMATS)
    ids = [source.run.id for source in runs]
    if len(set(ids)) < len(ids):
        again = next(id for id in ids if ids.count(id) > 1)
        msg = f"an export: expected different runs; got {again} twice; try naming it once"
        raise ParameterError(msg)
    if format == "openlineage":
        return [write_pieces(path, (openlineage_lines(source.run) for source in runs))]
    document = partial(
        runs_document, progress=progress, doing=f"writing {path.name}", expand=expand
    )
    if format not in BUNDLES and len(runs) > 1:
        return [
            write_document(document([source]), _beside(path, source, format), format)
            for source in runs
        ]
    return [write_document(document(runs), path, format)]


def _beside(path: Path, source: RecordedRun, format: str) -> Path:
    """The file of one of several runs: the run's id before the endings."""
    endings = (*FORMATS[format], ".gz")
    gone = "".join(suffix for suffix in path.suffixes[-2:] if suffix in endings)
    return path.with_name(f"{path.name.removesuffix(gone)}-{source.run.id}{gone}")
