"""Which format a log is in: what is stated, else the file's ending, else how it begins."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from whence.engine.errors import LogError
from whence.engine.sources.limits import Limits
from whence.engine.sources.opening import LogBytes, shown

__all__ = ["FORMATS", "format_of", "source_class"]

FORMATS = {
    "csv": ("csv", "CsvSource"),
    "jsonl": ("jsonl", "JsonlSource"),
    "parquet": ("parquet", "ParquetSource"),
    "xes": ("xes", "XesSource"),
    "ocel": ("ocel", "OcelSource"),
    "text": ("text", "TextSource"),
    "xlsx": ("xlsx", "XlsxSource"),
}
"""The formats, and the module and class that read each."""

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xes": "xes",
    ".sqlite": "ocel",
    ".jsonocel": "ocel",
    ".xmlocel": "ocel",
    ".log": "text",
    ".txt": "text",
    ".xlsx": "xlsx",
}
_OTHER_SHEETS = (".xls", ".xlsb", ".xlsm", ".ods")
_HEAD = 1 << 16


def source_class(format: str) -> Any:
    """The class that reads a format.

    Raises:
        LogError: there is no such format.
    """
    if format not in FORMATS:
        msg = f"a log's format: expected one of {', '.join(FORMATS)}; got {format!r}; try csv"
        raise LogError(msg)
    module, name = FORMATS[format]
    return getattr(import_module(f"whence.engine.sources.{module}"), name)


def format_of(files: Sequence[Path]) -> str:
    """The format that all files are in.

    Raises:
        LogError: they differ, or cannot be determined.
    """
    found = [_format(file) for file in files]
    for file, format in zip(files, found, strict=True):
        if format != found[0]:
            msg = (
                f"a log: expected files of one format; got {shown(files[0])} ({found[0]}) and "
                f"{shown(file)} ({format}); try naming the files, or --log-format"
            )
            raise LogError(msg)
    return found[0]


def _format(file: Path) -> str:
    name = file.name.lower().removesuffix(".gz")
    ending = Path(name).suffix
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    with LogBytes(file, Limits()) as stream:
        head = stream.read(_HEAD)
    found = _by_content(head, ending)
    if found is None and ending in _OTHER_SHEETS:
        msg = f"{shown(file)}: expected a log; got a workbook as {ending}; try saving it as .xlsx"
        raise LogError(msg)
    if found is None:
        msg = (
            f"{shown(file)}: expected a name that ends with one of {', '.join(_ENDINGS)}; "
            f"got {shown(file)}; try --log-format csv, or another of {', '.join(FORMATS)}"
        )
        raise LogError(msg)
    return found


def _by_content(head: bytes, ending: str) -> str | None:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"SQLite format 3\0"):
        return "ocel"
    begins = head.lstrip()[:1]
    if begins == b"<" or ending == ".xml":
        # OCEL 1.0 and 2.0 differ from XES below the root, which both call log.
        objects = b"<object" in head or b"<event-type" in head or b"ocel" in head.lower()
        return "ocel" if objects else "xes"
    if begins in (b"{", b"[") or ending == ".json":
        signs = (b'"eventTypes"', b'"objectTypes"', b'"objectId"', b'"ocel:')
        return "ocel" if any(sign in head for sign in signs) else "jsonl"
    from whence.engine.sources.text.patterns import recognized

    first = head.lstrip().partition(b"\n")[0].rstrip(b"\r").decode("utf-8", "replace")
    return "text" if recognized(first) else None
