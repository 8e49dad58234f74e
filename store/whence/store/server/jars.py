"""The pinned jars of Neo4j Community: which, how large, and with which SHA-256."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

__all__ = ["NEO4J_VERSION", "Jar", "PinnedJars", "neo4j_jars", "sha256_of"]

NEO4J_VERSION = "5.26.21"


@dataclass(frozen=True)
class Jar:
    """One jar of the list.

    >>> Jar("io.netty", "netty-epoll", "4.1", "linux-x86_64", 10, "ab").file_name
    'netty-epoll-4.1-linux-x86_64.jar'
    """

    group: str
    artifact: str
    version: str
    classifier: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """The name under which the jar is kept."""
        parts = [self.artifact, self.version, self.classifier]
        return "-".join(part for part in parts if part) + ".jar"


@dataclass(frozen=True)
class PinnedJars:
    """A list of jars that belong together, under one name."""

    name: str
    jars: tuple[Jar, ...]

    @property
    def size(self) -> int:
        """All jars together, in bytes."""
        return sum(jar.size for jar in self.jars)

    @property
    def digest(self) -> str:
        """One digest for the whole list; another list has another digest."""
        lines = sorted(f"{jar.file_name} {jar.size} {jar.sha256}" for jar in self.jars)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @classmethod
    def parse(cls, name: str, text: str) -> PinnedJars:
        """Read lines ``group:artifact:version[:classifier] size sha256``; ``#`` begins a comment.

        >>> PinnedJars.parse("x", "g:a:1:linux 7 ab").jars[0].classifier
        'linux'
        """
        jars = []
        for line in text.splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            coordinates, size, sha256 = line.split()
            group, artifact, version, *classifier = coordinates.split(":")
            jars.append(Jar(group, artifact, version, "".join(classifier), int(size), sha256))
        return cls(name, tuple(jars))


@cache
def neo4j_jars() -> PinnedJars:
    """Read the list that is shipped with this package."""
    name = f"neo4j-{NEO4J_VERSION}"
    text = files("whence.store.server").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return PinnedJars.parse(name, text)


def sha256_of(path: Path) -> str:
    """Digest a file without reading it into memory at once."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
