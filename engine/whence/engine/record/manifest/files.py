"""Read and write the files of manifests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from whence.engine.errors import LogError
from whence.engine.record.files import read_json, write_json
from whence.engine.record.manifest.log import LogManifest
from whence.engine.record.manifest.run import RunManifest
from whence.engine.record.manifest.stated import ManifestError

__all__ = ["MANIFEST", "log_of_json", "read_log", "read_stated", "run_of_json", "write_manifest"]

M = TypeVar("M", RunManifest, LogManifest)

MANIFEST = "manifest.json"
"""The name of the file in the folder of a run or a log."""


def run_of_json(id: str, told: Any) -> RunManifest:
    """The manifest of a run.

    Args:
        id: the run's id.
        told: what the file states.

    Raises:
        LogError: it is damaged, or of a newer format.
    """
    return _checked(f"run {id}", RunManifest.FORMAT, told, RunManifest.read)


def log_of_json(id: str, told: Any) -> LogManifest:
    """The manifest of a log; see `run_of_json`."""
    return _checked(f"log {id}", LogManifest.FORMAT, told, LogManifest.read)


def read_log(folder: Path) -> LogManifest:
    """The manifest of the log in a folder."""
    return log_of_json(folder.name, read_stated(folder / MANIFEST, f"log {folder.name}"))


def read_stated(path: Path, where: str) -> Any:
    """What the file of a manifest states, before it is checked.

    Args:
        path: the file.
        where: what it is the manifest of.

    Raises:
        LogError: it is no JSON.
        OSError: it cannot be read.
    """
    try:
        return read_json(path)
    except (json.JSONDecodeError, UnicodeDecodeError) as fault:
        raise ManifestError("", "JSON", str(fault)[:80], where) from fault


def write_manifest(
    folder: Path, manifest: RunManifest | LogManifest, *, indent: int | None = 1, **more: Any
) -> None:
    """Replace the manifest in the folder of a run or a log, in one step.

    Args:
        folder: where it is.
        manifest: what it states.
        indent: as for `write_json`.
        more: what the file states beyond it.
    """
    write_json(folder / MANIFEST, {**manifest.json(), **more}, indent)


def _checked(where: str, newest: int, told: Any, read: Callable[[Any], M]) -> M:
    format = told.get("format", 1) if isinstance(told, dict) else 1
    if type(format) is int and format > newest:
        msg = (
            f"{where}: expected a manifest of format {newest} or older; got format {format}; "
            "try the version of Whence that wrote it, or a newer one"
        )
        raise LogError(msg)
    try:
        return read(told)
    except ManifestError as fault:
        raise fault.of(where) from None
