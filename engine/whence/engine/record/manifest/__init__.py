"""What runs and logs of the record state of themselves: typed, with one reader and one writer.

Nobody else reads or writes the JSON of a manifest. What is on disk is described on the page on the
record.
"""

from __future__ import annotations

from whence.engine.language.stream_roles import StreamRole
from whence.engine.record.manifest.files import (
    MANIFEST,
    log_of_json,
    read_log,
    read_stated,
    run_of_json,
    write_manifest,
)
from whence.engine.record.manifest.log import ColumnInfo, EventIdentity, LogManifest, MadeBy
from whence.engine.record.manifest.parts import PartInfo, Parts
from whence.engine.record.manifest.run import PlanInfo, RunChoices, RunManifest
from whence.engine.record.manifest.stated import ManifestError
from whence.engine.record.manifest.streams import LISTS, Listed, StreamInfo

__all__ = [
    "LISTS",
    "MANIFEST",
    "ColumnInfo",
    "EventIdentity",
    "Listed",
    "LogManifest",
    "MadeBy",
    "ManifestError",
    "PartInfo",
    "Parts",
    "PlanInfo",
    "RunChoices",
    "RunManifest",
    "StreamInfo",
    "StreamRole",
    "log_of_json",
    "read_log",
    "read_stated",
    "run_of_json",
    "write_manifest",
]
