"""Places that are not on this machine: a `Path` whose files are in an object store or a cluster.

The record speaks to all its places in the same few words (read, put, list, move, remove). Here they
go to a file system of Arrow. Whatever would take such a path for a file of this machine is refused:
it has no name that the operating system could open.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PosixPath
from typing import IO, Any, NoReturn
from urllib.parse import urlsplit

from pyarrow import fs

from whence.engine.errors import LogError

__all__ = ["SCHEMES", "RemotePath"]

SCHEMES = ("s3", "s3a", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")
"""What a place can begin with, other than ``file``."""


class RemotePath(PosixPath):
    """A place in a file system of Arrow, written as its URI.

    >>> str(RemotePath("s3://bucket/record") / "runs" / "x")
    's3://bucket/record/runs/x'
    """

    def __str__(self) -> str:
        """The URI; a path that leads from one place to another stays as it is."""
        first, *rest = self.parts or ("",)
        return f"{first}//{'/'.join(rest)}" if first.endswith(":") else "/".join(self.parts)

    def __repr__(self) -> str:
        """The URI, named."""
        return f"RemotePath({str(self)!r})"

    def __fspath__(self) -> NoReturn:
        """There is no such file on this machine."""
        msg = f"{self}: expected a folder of this machine for this; got a URI; try such a folder"
        raise LogError(msg)

    @property
    def filesystem(self) -> fs.FileSystem:
        """Where it is."""
        with self._asked():
            return _filesystem(self.parts[0], self.parts[1])[0]

    @property
    def key(self) -> str:
        """Its name there."""
        with self._asked():
            _, base = _filesystem(self.parts[0], self.parts[1])
        return "/".join([base.rstrip("/"), *self.parts[2:]])

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """What a store says when it refuses, in one line."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as fault:
            lines = str(fault).splitlines() or [type(fault).__name__]
            msg = (
                f"{self}: expected a place that can be read and written; got: {lines[0][:300]}; "
                "try its name, and the access that the environment or the machine's role gives"
            )
            raise LogError(msg) from fault

    def _info(self) -> fs.FileInfo:
        with self._asked():
            return self.filesystem.get_file_info(self.key)

    def exists(self, **_: Any) -> bool:
        """Whether there is a file, or anything under this name."""
        return bool(self._info().type != fs.FileType.NotFound)

    def is_file(self, **_: Any) -> bool:
        """Whether there is a file."""
        return bool(self._info().type == fs.FileType.File)

    def is_dir(self, **_: Any) -> bool:
        """Whether there is anything under this name."""
        return bool(self._info().type == fs.FileType.Directory)

    def age(self, now: float) -> float:
        """Seconds since the file was written, as its store tells the time."""
        info = self._info()
        if info.type == fs.FileType.NotFound:
            raise FileNotFoundError(str(self))
        return now - float(info.mtime_ns or 0) / 1e9

    def __truediv__(self, key: Any) -> RemotePath:
        """What is under it."""
        return self.joinpath(key)

    def absolute(self) -> RemotePath:
        """It is."""
        return self

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """Nothing: a folder is there as soon as something is in it."""

    def open(self, mode: str = "r", *_: Any, **__: Any) -> IO[Any]:  # type: ignore[override]
        """Open for reading bytes; writing is `put`, which is all or nothing."""
        if mode != "rb":
            self.__fspath__()
        with self._asked():
            return self.filesystem.open_input_file(self.key)  # type: ignore[no-any-return]

    def read_bytes(self) -> bytes:
        """All it holds."""
        with self._asked(), self.filesystem.open_input_file(self.key) as file:
            return bytes(file.read())

    def read_text(self, encoding: str | None = None, *_: Any, **__: Any) -> str:
        """All it holds, as text."""
        return self.read_bytes().decode(encoding or "utf-8")

    def put(self, file: Path) -> None:
        """Give it the content of a file of this machine, in one step.

        An object store shows an object when it is whole; elsewhere the file is written beside and
        renamed.
        """
        with self._asked():
            place = self.filesystem
            key = self.key
            beside = key
            if isinstance(place, fs.HadoopFileSystem):
                folder, _, name = key.rpartition("/")
                beside = f"{folder}/.{name}.{os.urandom(4).hex()}.part"
                place.create_dir(folder, recursive=True)
            with file.open("rb") as source, place.open_output_stream(beside) as target:
                try:
                    shutil.copyfileobj(source, target, 8 << 20)
                except BaseException:
                    if hasattr(target, "abort"):
                        target.abort()
                    raise
            if beside != key:
                place.move(beside, key)

    def replace(self, target: Any) -> Any:
        """Move it; on an object store that is a copy, made there."""
        with self._asked():
            self.filesystem.move(self.key, target.key)
        return target

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove it."""
        with self._asked():
            try:
                self.filesystem.delete_file(self.key)
            except FileNotFoundError:
                if not missing_ok:
                    raise

    def remove_tree(self) -> None:
        """Remove everything under this name."""
        with self._asked(), suppress(FileNotFoundError):
            self.filesystem.delete_dir(self.key)

    def _below(self, *, recursive: bool) -> list[RemotePath]:
        with self._asked():
            chosen = fs.FileSelector(self.key, allow_not_found=True, recursive=recursive)
            found = self.filesystem.get_file_info(chosen)
        start = len(self.key.rstrip("/")) + 1
        return [self / info.path[start:] for info in sorted(found, key=lambda info: str(info.path))]

    def iterdir(self) -> Iterator[RemotePath]:  # type: ignore[override]
        """What is directly under it."""
        return iter(self._below(recursive=False))

    def glob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:  # type: ignore[override]
        """What is under it by a pattern of names; one listing for each name with a wildcard."""
        first, _sep, rest = pattern.partition("/")
        if any(sign in first for sign in "*?["):
            found = [path for path in self.iterdir() if fnmatchcase(path.name, first)]
        else:
            found = [self / first] if rest or (self / first).exists() else []
        for path in found:
            if rest:
                yield from path.glob(rest)
            else:
                yield path

    def rglob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:  # type: ignore[override]
        """Files at any depth by a pattern of their names."""
        for path in self._below(recursive=True):
            if fnmatchcase(path.name, pattern):
                yield path


@cache
def _filesystem(scheme: str, host: str) -> tuple[fs.FileSystem, str]:
    """The file system of a place, and what names begin with there.

    Who may use it is said by the environment, never by the URI.
    """
    if scheme in ("s3:", "s3a:"):
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint:
            told = urlsplit(endpoint)
            made = fs.S3FileSystem(
                region=region or "us-east-1",
                endpoint_override=told.netloc or endpoint,
                scheme=told.scheme or "https",
                connect_timeout=10,
            )
            return made, host
        region = region or fs.resolve_s3_region(host)
        return fs.S3FileSystem(region=region, connect_timeout=10), host
    found, base = fs.FileSystem.from_uri(f"{scheme}//{host}/")
    return found, str(base)
