"""Fetch pinned jars with the Ivy that pyspark carries: no Maven, no download code of our own.

Every jar is named with version and classifier and nothing is resolved beyond that, so no POM is
read (that alone makes a first fetch two to three times as fast). Ivy's own MD5/SHA-1 check is off
because every jar is checked against its pinned SHA-256 afterwards, which is stronger.
"""

from __future__ import annotations

import os
import subprocess
import time
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from whence.engine.errors import MissingExtraError, ServerError
from whence.engine.java import Java
from whence.engine.progress import Reporter
from whence.store.server.jars import PinnedJars

__all__ = ["MIRROR", "ivy_jar", "retrieve"]

MIRROR = "WHENCE_MAVEN_MIRROR"
"""Environment variable: the root of a Maven repository to use instead of Ivy's default one."""

"""Called with bytes done, bytes in all, and what is being done."""

_MAVEN = "http://ant.apache.org/ivy/maven"  # the name of an XML namespace, never opened
_SILENCE_LIMIT = 120.0


def ivy_jar() -> Path:
    """Find Ivy inside pyspark without importing Spark."""
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError.for_extra(extra="spark", package="pyspark")
    found = sorted(Path(spec.submodule_search_locations[0]).glob("jars/ivy-*.jar"))
    if not found:
        msg = (
            "expected pyspark to carry jars/ivy-*.jar; got none; "
            "try: pip install --force-reinstall pyspark"
        )
        raise ServerError(msg)
    return found[-1]


def retrieve(
    pinned: PinnedJars, java: Java, cache: Path, work: Path, report: Reporter, lock: int
) -> None:
    """Fetch all jars into ``work/lib``; ``cache`` keeps what is there when this is interrupted.

    Ivy inherits ``lock``: if this process is killed, Ivy goes on for a while, and no second Ivy may
    write the same cache meanwhile.
    """
    cache.mkdir(parents=True, exist_ok=True)
    (work / "ivy.xml").write_bytes(_module(pinned))
    (work / "ivysettings.xml").write_bytes(_settings(cache))
    command = [
        str(java.executable),
        "-Xmx256m",
        "-jar",
        str(ivy_jar()),
        *("-settings", "ivysettings.xml", "-ivy", "ivy.xml", "-confs", "default"),
        *("-retrieve", "lib/[artifact]-[revision](-[classifier]).[ext]"),
    ]
    log = work / "ivy.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),
        )
        try:
            _watch(process, pinned, cache, log, report)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    if process.returncode != 0:
        msg = (
            f"expected to fetch {len(pinned.jars)} jars of {pinned.name}; got from Ivy: "
            f"{_reason(log)}; try again to resume; "
            f"without a direct way to a Maven repository set {MIRROR}"
        )
        raise ServerError(msg)


def _watch(
    process: subprocess.Popen[bytes], pinned: PinnedJars, cache: Path, log: Path, report: Reporter
) -> None:
    """Report progress until Ivy ends; give up when nothing has moved for a long time."""
    last, moved = (-1, -1), time.monotonic()
    while process.poll() is None:
        done = _size_of_jars(cache)
        if done:
            report(min(done, pinned.size), pinned.size, f"fetching {pinned.name}")
        else:  # at first Ivy asks for every jar whether it is there; that takes a while
            report(0, 0, f"looking up {pinned.name}, {len(pinned.jars)} files")
        if (done, log.stat().st_size) != last:
            last, moved = (done, log.stat().st_size), time.monotonic()
        elif time.monotonic() - moved > _SILENCE_LIMIT:
            msg = (
                f"expected to fetch {pinned.name}; got no data for {_SILENCE_LIMIT:.0f} s; "
                f"try again to resume; or set {MIRROR}"
            )
            raise ServerError(msg)
        try:
            process.wait(0.3)
        except subprocess.TimeoutExpired:
            continue


def _size_of_jars(cache: Path) -> int:
    total = 0
    for folder, _, names in os.walk(cache):
        for name in names:
            if ".jar" in name:
                try:
                    total += os.stat(os.path.join(folder, name)).st_size
                except FileNotFoundError:  # Ivy renames a finished part
                    continue
    return total


def _module(pinned: PinnedJars) -> bytes:
    """Name every jar; classifiers of one module must share a dependency or one of them is lost."""
    ElementTree.register_namespace("m", _MAVEN)
    root = ElementTree.Element("ivy-module", version="2.0")
    ElementTree.SubElement(root, "info", organisation="whence", module="local")
    ElementTree.SubElement(ElementTree.SubElement(root, "configurations"), "conf", name="default")
    dependencies = ElementTree.SubElement(root, "dependencies")
    for (group, artifact, version), jars in groupby(
        pinned.jars, key=lambda jar: (jar.group, jar.artifact, jar.version)
    ):
        dependency = ElementTree.SubElement(
            dependencies,
            "dependency",
            org=group,
            name=artifact,
            rev=version,
            transitive="false",
            conf="default->default",
        )
        for jar in jars:
            entry = ElementTree.SubElement(
                dependency, "artifact", name=artifact, type="jar", ext="jar"
            )
            if jar.classifier:
                entry.set(f"{{{_MAVEN}}}classifier", jar.classifier)
    return ElementTree.tostring(root)


def _settings(cache: Path) -> bytes:
    root = ElementTree.Element("ivysettings")
    ElementTree.SubElement(root, "settings", defaultResolver="repository")
    ElementTree.SubElement(root, "property", name="ivy.checksums", value="")
    ElementTree.SubElement(root, "caches", defaultCacheDir=str(cache))
    resolver = ElementTree.SubElement(
        ElementTree.SubElement(root, "resolvers"),
        "ibiblio",
        name="repository",
        m2compatible="true",
        usepoms="false",
    )
    mirror = os.environ.get(MIRROR)
    if mirror:
        resolver.set("root", mirror)
    return ElementTree.tostring(root)


def _reason(log: Path) -> str:
    """Pick the lines in which Ivy says what is wrong; it prints hundreds of others."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    telling = ("No space left", "Permission denied", "Read-only", "ERROR", "FAILED", "not found")
    said = [line for line in lines if any(word in line for word in telling)]
    return " | ".join(dict.fromkeys(said[:3])) or " | ".join(lines[-3:])
