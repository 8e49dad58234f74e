"""One local Neo4j by name: its folder, its configuration, its password."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from whence.engine.errors import ServerError
from whence.engine.java import Java
from whence.store.secret import Secret
from whence.store.server.folders import (
    default_instance,
    disk_trouble,
    instance_folder,
    write_private,
)
from whence.store.server.memory import Memory

__all__ = [
    "USERNAME",
    "Instance",
    "clean_environment",
    "java_arguments",
    "run_admin",
    "write_conf",
]

USERNAME = "neo4j"

_PASSWORD_SECONDS = 55.0

# The quiet period is how long a stopping server still listens for latecomers, 5 s twice by default:
# on one machine there are none.
_SETTINGS = """\
server.default_listen_address=127.0.0.1
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
dbms.security.allow_csv_import_from_file_urls=false
dbms.usage_report.enabled=false
server.memory.heap.initial_size={heap}m
server.memory.heap.max_size={heap}m
server.memory.pagecache.size={page_cache}m
db.transaction.timeout=120s
db.tx_log.rotation.retention_policy=1 days 2G
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
"""


@dataclass(frozen=True)
class Instance:
    """The folder of one local server; it may exist or not."""

    name: str = field(default_factory=default_instance)

    @property
    def home(self) -> Path:
        """Where everything of this instance is kept."""
        return instance_folder(self.name)

    @property
    def exists(self) -> bool:
        """Whether it was ever set up; it is set up whole or not at all."""
        return self.password_file.is_file()

    @property
    def password_file(self) -> Path:
        """The random password, readable by its owner only."""
        return self.home / "password"

    @property
    def pid_file(self) -> Path:
        """Which process serves this instance, on which port."""
        return self.home / "run" / "server.json"

    @property
    def argument_file(self) -> Path:
        """The arguments Java is started with; its path also marks the process as ours."""
        return self.home / "run" / "server.args"

    @property
    def console_log(self) -> Path:
        """What the running server prints: its own log, and what Java says when it dies."""
        return self.home / "logs" / "console.log"

    @property
    def secret(self) -> Secret:
        """The password, by where it is."""
        return Secret.in_file(self.password_file)

    def create(self, java: Java, jars: Path) -> None:
        """Set it up beside its place and rename it, so that nothing half set up is ever found."""
        with disk_trouble(f"set up instance {self.name!r}", self.home):
            self.home.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=self.home.parent))
            try:
                for name in ("conf", "data", "logs", "run", "plugins", "import"):
                    (fresh / name).mkdir(mode=0o700)
                write_conf(fresh, 7687, Memory.for_machine())
                password = secrets.token_hex(16)
                _set_initial_password(fresh, java, jars, password)
                write_private(fresh / "password", password + "\n")
                shutil.rmtree(self.home, ignore_errors=True)  # without a password: of no use
                fresh.rename(self.home)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)


def write_conf(home: Path, port: int, memory: Memory) -> None:
    """Write neo4j.conf: loopback only, no HTTP, no usage report, no reading of the user's files."""
    text = _SETTINGS.format(port=port, heap=memory.heap, page_cache=memory.page_cache)
    write_private(home / "conf" / "neo4j.conf", text)


def java_arguments(home: Path, jars: Path, heap: int, *program: str) -> str:
    """Write Java's arguments for an ``@file``: one a line, quoted, so that spaces survive."""
    options = [
        f"-Xms{heap}m",
        f"-Xmx{heap}m",
        "-XX:+UseG1GC",
        "-XX:-OmitStackTraceInFastThrow",
        "-XX:+UnlockExperimentalVMOptions",
        "-XX:+TrustFinalNonStaticFields",
        "-XX:+DisableExplicitGC",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dlog4j2.disable.jmx=true",
        "-Dfile.encoding=UTF-8",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        "-cp",
        f"{home / 'plugins'}/*{os.pathsep}{jars}/*",
        *program,
    ]
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in options)
    return "".join(f'"{word}"\n' for word in quoted)


def clean_environment() -> dict[str, str]:
    """Give the environment without the user's own Neo4j settings: they are not for this server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}


def _set_initial_password(home: Path, java: Java, jars: Path, password: str) -> None:
    program = ("dbms", "set-initial-password", password)
    run_admin(home, java, jars, *program, doing="set its first password", secret=password)


def run_admin(
    home: Path,
    java: Java,
    jars: Path,
    *program: str,
    doing: str,
    heap: int = 256,
    timeout: float = _PASSWORD_SECONDS,
    secret: str = "",
) -> str:
    """Run Neo4j's own admin tool on a home whose server is stopped; return what it said.

    Args:
        home: the folder of the server.
        java: what runs it.
        jars: Neo4j's jars.
        *program: the command and its arguments.
        doing: what it is expected to do, for the error.
        heap: megabytes.
        timeout: seconds after which it is ended.
        secret: what must not be repeated in an error.

    Raises:
        ServerError: it failed, or did not end in time.
    """
    arguments = home / "run" / "admin.args"
    # Passwords are only ever in this file, never on a command line that others can list.
    text = java_arguments(home, jars, heap, "org.neo4j.cli.AdminTool", *program)
    write_private(arguments, text)
    environment = {
        **clean_environment(),
        "NEO4J_HOME": str(home),
        "NEO4J_CONF": str(home / "conf"),
    }
    try:
        done = subprocess.run(
            [str(java.executable), f"@{arguments}"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        msg = f"expected Neo4j to {doing}; got no end; try again"
        raise ServerError(msg) from late
    finally:
        arguments.unlink(missing_ok=True)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        shown = said.replace(secret, "***") if secret else said
        lines = [line.strip() for line in shown.splitlines()]
        last = " | ".join([line for line in lines if line and not line.startswith("at ")][-6:])
        last = last or f"nothing, and exit code {done.returncode}"  # negative: by a signal
        msg = f"expected Neo4j to {doing}; got: {last}; try again"
        raise ServerError(msg)
    return said
