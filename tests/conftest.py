"""What all tests share: one real Neo4j, one real Spark session, and never the user's own data."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from tests import kills, together
from tests._support.commands import Commands, commands
from tests._support.quick_java import FOR_NEO4J, FOR_SPARK, make_archive
from tests._support.spark_session import spark_session
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


def pytest_configure(config: pytest.Config) -> None:
    """Keep tests together that share something, when several processes share the work."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts what runs in the background; but tests interrupt what they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(kills)
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(together)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the marks of a test say that it starts, starts quickly."""
    for item in items:
        if isinstance(item, pytest.Function):
            for mark in ("spark", "neo4j"):
                if item.get_closest_marker(mark):
                    # Not into the list, which an item shares with those of other parameters.
                    item.fixturenames = [*item.fixturenames, f"quick_{mark}"]


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
        patch.setenv("SPARK_SUBMIT_OPTS", FOR_SPARK)
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


@pytest.fixture(scope="session")
def quick_spark() -> None:
    """Every Spark of this test run starts with its classes at hand."""
    make_archive("spark")


@pytest.fixture(scope="session")
def quick_neo4j(jars: Path) -> None:
    """Every Neo4j of this test run starts with its classes at hand."""
    make_archive("neo4j", jars.parent.resolve())


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
    one_of(together.SERVERS, "the shared server", pytestconfig)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", FOR_NEO4J)
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
    with spark_session() as session:
        yield session


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
