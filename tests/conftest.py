"""What all tests share: one real Neo4j, one real Spark session, and never the user's own data."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tests import kills, together
from tests._support.commands import Commands, commands
from whence.engine.java import find_java
from whence.store import Connection, connect
from whence.store.server import Memory, Status, start, stop
from whence.store.server.fetch import ensure_jars
from whence.store.server.folders import whence_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

USERS_HOME = whence_home()
"""Where the user of this machine keeps servers and jars: the tests take jars from it, no more."""

Cli = Callable[..., subprocess.CompletedProcess[str]]

SHORT_LIVED = "-XX:TieredStopAtLevel=1"
"""For Java: what lives for minutes never earns back what the second compiler takes."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests together that share something, when several processes share the work."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts what runs in the background; but tests interrupt what they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(kills)
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(together)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers that nobody could end, because the tests were interrupted."""
    if hasattr(config, "workerinput"):
        return  # another process of this test run may still need its own
    arguments = f"@{together.folder_of_the_run(config)}{os.sep}"
    for process in psutil.process_iter(["cmdline"]):
        if any(word.startswith(arguments) for word in process.info["cmdline"] or ()):
            with suppress(psutil.NoSuchProcess):
                process.kill()


@pytest.fixture(scope="session", autouse=True)
def home_for_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A WHENCE_HOME of this test run alone, without any settings of the user."""
    home = tmp_path_factory.mktemp("whence-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_HOME", str(home))
        patch.setenv("WHENCE_CONFIG", str(home / "config.toml"))
        patch.setenv("SPARK_SUBMIT_OPTS", SHORT_LIVED)
        for name in [name for name in os.environ if name.startswith("NEO4J_")]:
            patch.delenv(name)
        yield home


@pytest.fixture(autouse=True)
def never_the_users_home() -> Iterator[None]:
    """The guard: no test runs, or ends, with the user's own folder in use."""
    assert whence_home() != USERS_HOME
    yield
    assert whence_home() != USERS_HOME


@pytest.fixture(scope="session")
def jars(home_for_tests: Path) -> Path:
    """Neo4j's jars, fetched once per user and lent to the home of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_HOME", str(USERS_HOME))
        folder = ensure_jars(find_java(), None)
    (home_for_tests / "jars").symlink_to(folder.parent, target_is_directory=True)
    return folder


def one_of(count: int, name: str, config: pytest.Config) -> None:
    """Refuse to start more of something than this test run, in all its processes, may have."""
    for number in range(count):
        with suppress(FileExistsError):
            (together.folder_of_the_run(config) / f"{name} {number}").touch(exist_ok=False)
            return
    msg = f"{name}: expected {count} of it in a test run; got more; try tests/together.py"
    raise RuntimeError(msg)


@pytest.fixture(scope="session")
def neo4j_server(jars: Path, pytestconfig: pytest.Config) -> Iterator[Status]:
    """The shared server: a real one, on a free port, gone when the tests end."""
    one_of(len(together.SHARED), "the shared server", pytestconfig)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", SHORT_LIVED)
        status = start("shared", port=None, memory=Memory.of(1024))
    yield status
    stop("shared")


@pytest.fixture
def graph(neo4j_server: Status) -> Iterator[Connection]:
    """A connection to the shared server, whose graph is empty."""
    with connect(neo4j_server.settings()) as connection:
        connection.write("MATCH (n) DETACH DELETE n")
        yield connection


@pytest.fixture(scope="session")
def spark(pytestconfig: pytest.Config) -> Iterator[SparkSession]:
    """The one shared Spark session: two local cores, loopback only, no page."""
    one_of(1, "the shared session", pytestconfig)
    with pytest.MonkeyPatch.context() as patch:
        # Before the session is built: else workers take whatever python3 is on PATH.
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("JAVA_HOME", str(find_java().home))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .appName("whence tests")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        yield session
        gateway = session.sparkContext._gateway
        session.stop()
        # Spark's own process ends with its input; whoever started it waits for that.
        assert gateway is not None
        assert gateway.proc is not None
        gateway.shutdown()
        with gateway.proc as process:
            process.stdin.close()


@pytest.fixture(scope="session")
def command_processes(home_for_tests: Path) -> Iterator[Commands]:
    """What runs ``whence`` for the tests of this process."""
    with commands() as running:
        yield running


@pytest.fixture
def cli(tmp_path: Path, command_processes: Commands) -> Cli:
    """Run ``whence`` as a process of its own, in a folder without settings."""

    def run(
        *arguments: str, env: dict[str, str] | None = None, timeout: float = 600
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **(env or {})}
        return command_processes.run(arguments, tmp_path, environment, timeout)

    return run
