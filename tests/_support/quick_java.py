"""Let Java start in half the time: with fewer compilers, and with classes that are kept loaded.

Java can write down at its end which classes it had loaded, and how they look in memory (an archive
of class data); whoever starts with that file neither reads nor verifies them. The files lie in
``build/java``. The first test run of a checkout that needs one makes it, which takes a quarter of a
minute; Java itself leaves a file unread that is missing, or is not of this Java and these jars.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from tests.ground.surroundings import ROOT, run
from whence.engine.java import find_java
from whence.store.server.jars import NEO4J_VERSION

__all__ = ["FOR_NEO4J", "FOR_SPARK", "SHORT_LIVED", "make_archive"]

ARCHIVES = ROOT / "build" / "java"
SHORT_LIVED = "-XX:TieredStopAtLevel=1"
"""What lives for minutes never earns back what the second compiler takes."""
QUIETLY = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
PATIENCE = 600


def _file(name: str) -> Path:
    of = NEO4J_VERSION if name == "neo4j" else version("pyspark")
    return ARCHIVES / f"{name}-{of}.jsa"


def _with_archive(name: str) -> str:
    return f"{SHORT_LIVED} {QUIETLY} -XX:SharedArchiveFile={shlex.quote(str(_file(name)))}"


FOR_SPARK = _with_archive("spark")
"""For ``SPARK_SUBMIT_OPTS``, or in a cluster for ``JDK_JAVA_OPTIONS``."""
FOR_NEO4J = _with_archive("neo4j")
"""For ``JDK_JAVA_OPTIONS`` where Neo4j is started."""


def make_archive(name: str, jars: Path | None = None) -> None:
    """See to it that there is an archive; do not wait for another process that makes it.

    Args:
        name: of what, ``spark`` or ``neo4j``.
        jars: for Neo4j the folder of all jars.
    """
    ARCHIVES.mkdir(parents=True, exist_ok=True)
    with (ARCHIVES / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        java, file = find_java(), _file(name)
        made_by = file.with_suffix(".java")
        this = f"{java.home} {java.version} {jars}"
        if file.exists() and made_by.exists() and made_by.read_text("utf-8") == this:
            return
        file.unlink(missing_ok=True)
        # Java reads an archive only while the jars lie where they were: this stays, unlike a home
        # of one test run.
        home = ARCHIVES / "home"
        home.mkdir(exist_ok=True)
        if jars is not None:
            (home / "jars").unlink(missing_ok=True)
            (home / "jars").symlink_to(jars, target_is_directory=True)
        part = file.with_suffix(".part")
        options = f"{SHORT_LIVED} {QUIETLY} -XX:ArchiveClassesAtExit={shlex.quote(str(part))}"
        environment = {
            **java.environment(),
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "WHENCE_HOME": str(home),
            "SPARK_SUBMIT_OPTS" if name == "spark" else "JDK_JAVA_OPTIONS": options,
        }
        program = [sys.executable, "-m", f"tests._support.archive_{name}"]
        try:
            done = run(program, env=environment, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return  # on a machine that is this busy, tests go on without
        if done.returncode:  # tests find out why by themselves; without an archive they are slower
            sys.stderr.write(f"no archive of {name}'s classes: {done.stderr[-500:]}\n")
            return
        if part.exists():  # not where a Java comes without the archive of its own classes
            part.replace(file)
        made_by.write_text(this, encoding="utf-8")
