"""Open the files of a log: plain or packed, any encoding, counted while they are read."""

from __future__ import annotations

import codecs
import gzip
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from whence.engine.errors import LogError
from whence.engine.sources.limits import Limits

__all__ = [
    "LogBytes",
    "Where",
    "codec",
    "fingerprint",
    "has_changed",
    "is_packed",
    "log_files",
    "on_one_line",
    "readable",
    "shown",
    "undecodable",
]

Where = str | os.PathLike[str]

_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20


def on_one_line(text: str) -> str:
    r"""Text without anything that would break a line, or that no file could hold.

    >>> on_one_line("two\nlines")
    'two\\nlines'
    """
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in whole)


def shown(path: Path) -> str:
    """The file's name for people, on one line whatever it holds."""
    return on_one_line(path.name)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what the system says of a file into one clear line.

    Raises:
        LogError: the file is not there, or cannot be read.
    """
    place = on_one_line(str(path))
    try:
        yield
    except FileNotFoundError as fault:
        names = [f.name for f in path.parent.iterdir()] if path.parent.is_dir() else []
        near = get_close_matches(path.name, names, n=1)
        hint = "its full path"
        if near:
            hint = on_one_line(str(path.parent / near[0])) + " (did you mean that?)"
        msg = f"a log: expected {place}; got no such file; try {hint}"
        raise LogError(msg) from fault
    except (OSError, ValueError) as fault:
        if isinstance(fault, LogError):
            raise
        said = getattr(fault, "strerror", None) or fault
        msg = f"a log: expected {place} to be readable; got {said}; try another file"
        raise LogError(msg) from fault


def log_files(where: Where | Sequence[Where]) -> list[Path]:
    """The files of a log in the order in which they are read: by name.

    Args:
        where: a file, several files, or a folder; of a folder all files but hidden ones and those
            that begin with ``_``, which are notes of the writer.

    Raises:
        LogError: there is nothing to read.
    """
    given = [where] if isinstance(where, str | os.PathLike) else list(where)
    found: list[Path] = []
    for path in map(Path, given):
        with readable(path):
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode):
                inside = [f for f in path.iterdir() if f.name[:1] not in "._" and f.is_file()]
                if not inside:
                    msg = f"a log: expected files in {on_one_line(str(path))}; got none; try a file"
                    raise LogError(msg)
                found += inside
            elif stat.S_ISREG(mode):
                found.append(path)
            else:
                msg = (
                    f"a log: expected a file; got {on_one_line(str(path))}, a pipe or device; "
                    "try saving it to a file first"
                )
                raise LogError(msg)
    if not found:
        raise LogError("a log: expected at least one file; got none; try its path")
    found.sort(key=lambda file: (os.fsencode(file.name), os.fsencode(file)))
    for one, next_one in pairwise(found):
        if one == next_one:
            msg = f"a log: expected each file once; got {shown(one)} twice; try one of them"
            raise LogError(msg)
    return found


def fingerprint(files: Iterable[Path]) -> str:
    """What changes when one of the files does: size, time of change, place on the disk."""
    told = []
    for file in files:
        with readable(file):
            at = file.stat()
            told.append(f"{at.st_size}:{at.st_mtime_ns}:{at.st_ino}")
    return " ".join(told)


def has_changed(name: str) -> LogError:
    """The error for a log whose files changed while they were read."""
    return LogError(
        f"{name}: expected a log that stays as it is; got a file that changed while it was read; "
        "try a copy of it, or again when it is written"
    )


def is_packed(path: Path) -> bool:
    """Whether the file is gzip, whatever it is called.

    Raises:
        LogError: it is called ``.gz`` and is not.
    """
    with readable(path), path.open("rb") as file:
        head = file.read(2)
    if head == _GZIP:
        return True
    if path.suffix.lower() == ".gz":
        got = "an empty file" if not head else "something else"
        msg = f"{shown(path)}: expected a gzip file; got {got}; try a name without .gz"
        raise LogError(msg)
    return False


def codec(encoding: str | None, name: str) -> str:
    """The codec's own name; UTF-8 unless another encoding is stated.

    Raises:
        LogError: there is no such encoding.
    """
    try:
        found = codecs.lookup(encoding or "utf-8")
        "".encode(found.name)
    except (LookupError, ValueError) as fault:
        msg = f"{name}: expected a known encoding; got {encoding!r}; try utf-8 or latin-1"
        raise LogError(msg) from fault
    return found.name


class LogBytes:
    """The bytes of one file: unpacked if it is packed, as UTF-8 if it is encoded otherwise.

    Never holds more than a block. A byte order mark is left out.

    Attributes:
        size: the file's size on disk.
        packed: whether it is gzip.
        mark: the length of the byte order mark that was left out, once reading has begun.
    """

    def __init__(
        self, path: Path, limits: Limits, *, encoding: str | None = None, start: int = 0
    ) -> None:
        """Open the file.

        Args:
            path: the file.
            limits: how much it may unpack to.
            encoding: transcode to UTF-8 from this; ``None`` or UTF-8 leaves bytes as they are.
            start: begin at this byte; only of a plain file that needs no transcoding.

        Raises:
            LogError: it cannot be opened, or the encoding is unknown.
        """
        self._path = path
        self._name = shown(path)
        self._limits = limits
        wanted = codec(encoding, self._name)
        self.packed = is_packed(path)
        with readable(path):
            self._file: IO[bytes] = path.open("rb")
            self.size = os.fstat(self._file.fileno()).st_size
        self._stream: Any = gzip.GzipFile(fileobj=self._file) if self.packed else self._file
        self._count = 0
        self._held = b""
        self.mark = 0
        self._decoder = None
        self._begun = start > 0
        if start:
            self._file.seek(start)
        if wanted != "utf-8":
            self._decoder = codecs.getincrementaldecoder(wanted)("strict")
            self._encoding = wanted

    @property
    def done(self) -> int:
        """How much of the file on disk has been read."""
        return self._file.tell()

    def read(self, size: int = _BLOCK) -> bytes:
        """The next bytes, about this many; none at the end.

        Raises:
            LogError: the file is damaged, unpacks to too much, or is not in its encoding.
        """
        if self._held:
            held, self._held = self._held[:size], self._held[size:]
            return held
        while True:
            block = self._unpacked(size)
            first, self._begun = not self._begun, True
            if self._decoder is None:
                if first and block.startswith(codecs.BOM_UTF8):
                    block, self.mark = block[3:], 3
                    if not block:
                        continue
                return block
            made = self._transcoded(block)
            if first and made.startswith(codecs.BOM_UTF8):
                made = made[3:]
            if made or not block:
                return made

    def skip(self, size: int) -> None:
        """Skip this many of the bytes that `read` would return."""
        while size > 0 and (block := self.read()):
            self._held, size = block[size:], size - len(block)

    def blocks(self, size: int = _BLOCK) -> Iterator[bytes]:
        """All that is left, block after block."""
        while block := self.read(size):
            yield block

    def _unpacked(self, size: int) -> bytes:
        with readable(self._path):
            try:
                block: bytes = self._stream.read(size)
            except EOFError as fault:
                msg = (
                    f"{self._name}: expected a whole gzip file; got one that is cut off after "
                    f"{self._count:,} unpacked bytes; try fetching it again"
                )
                raise LogError(msg) from fault
            except (gzip.BadGzipFile, zlib.error) as fault:
                msg = (
                    f"{self._name}: expected a whole gzip file; got damage after "
                    f"{self._count:,} unpacked bytes; try fetching it again"
                )
                raise LogError(msg) from fault
        self._count += len(block)
        if self.packed:
            self._limits.check("unpacked", self._count, self._name)
        return block

    def _transcoded(self, block: bytes) -> bytes:
        assert self._decoder is not None
        held = len(self._decoder.getstate()[0])
        try:
            return self._decoder.decode(block, not block).encode("utf-8")
        except UnicodeDecodeError as fault:
            offset = self._count - len(block) - held + fault.start
            raise undecodable(
                self._name, self._encoding, fault.object[fault.start], offset
            ) from fault
        except UnicodeError as fault:
            msg = (
                f"{self._name}: expected {self._encoding}; got something else before offset "
                f"{self._count}; try another encoding (--encoding utf-8)"
            )
            raise LogError(msg) from fault

    def close(self) -> None:
        self._stream.close()
        self._file.close()

    def __enter__(self) -> LogBytes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def undecodable(name: str, encoding: str, byte: int, offset: int) -> LogError:
    """The error for a byte that the encoding does not have."""
    hint = "encoding latin-1 (--encoding latin-1), or saving it as UTF-8"
    return LogError(
        f"{name}: expected {encoding}; got byte 0x{byte:02x} at offset {offset}; try {hint}"
    )
