"""Talk to Neo4j: open a connection, run Cypher, and say in one line what went wrong."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from whence.engine.errors import MissingExtraError, StoreError
from whence.store.settings import Settings, resolve_settings

if TYPE_CHECKING:
    import neo4j

    from whence.store.server.ivy import Progress

__all__ = ["Connection", "connect", "run_cypher"]

T = TypeVar("T")

CONNECT_SECONDS = 10.0
QUERY_SECONDS = 120.0
WRITE_SECONDS = 1800.0
"""A chunk is written in one transaction; one that is given up would be given up every time."""
RETRY_SECONDS = 30.0
PAUSE_SECONDS = 0.2

# The driver's warnings about attempts it repeats are its own affair unless the user's program
# configures logging; what finally fails is raised.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Connection:
    """An open connection; thin on purpose, the driver itself is there for everything else."""

    settings: Settings
    driver: neo4j.Driver
    until: float | None = field(default=None, kw_only=True)

    def within(self, seconds: float) -> Connection:
        """The same connection for one answer: all its reads together end within this time."""
        return replace(self, until=time.monotonic() + seconds)

    def read(self, cypher: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a query that only reads, and return its rows."""
        return self._run("READ", lambda tx: run_cypher(tx, cypher, parameters).data())

    def read_values(self, cypher: str, **parameters: Any) -> list[list[Any]]:
        """As `read`, each row as a list: for answers with many rows."""
        return self._run("READ", lambda tx: run_cypher(tx, cypher, parameters).values())

    def write(self, cypher: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a statement that changes the graph in one transaction, and return its rows."""
        return self._run("WRITE", lambda tx: run_cypher(tx, cypher, parameters).data())

    def transact(self, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        """Do several things in one transaction; it is repeated whole if it meets a deadlock."""
        return self._run("WRITE", work)

    def _run(self, mode: str, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        from neo4j import exceptions, unit_of_work

        limited = unit_of_work(timeout=self._seconds(mode))(work)
        until = time.monotonic() + RETRY_SECONDS
        with translated(self.settings):
            while True:
                try:
                    return self._managed(mode, limited)
                except exceptions.ResultFailedError as hidden:
                    # A transaction that failed gives its connection back before it is closed. If
                    # somebody else has it by then, the driver hides what failed, and gives up.
                    failed = hidden.__cause__
                    if not isinstance(failed, (exceptions.Neo4jError, exceptions.DriverError)):
                        raise
                    if not failed.is_retryable() or time.monotonic() >= until:
                        raise failed from None
                    time.sleep(PAUSE_SECONDS)

    def _managed(self, mode: str, work: Callable[[neo4j.ManagedTransaction], T]) -> T:
        with self.driver.session(database=self.settings.database) as session:
            if mode == "READ":
                return session.execute_read(work)
            return session.execute_write(work)

    def _seconds(self, mode: str) -> float:
        """How long the next statement may take."""
        most = QUERY_SECONDS if mode == "READ" else WRITE_SECONDS
        if self.until is None:
            return most
        left = self.until - time.monotonic()
        if left <= 0:
            msg = "an answer: expected it in time; got none yet; try a smaller question"
            raise StoreError(msg)
        return min(left, most)


def run_cypher(
    transaction: neo4j.ManagedTransaction, cypher: str, parameters: dict[str, Any]
) -> neo4j.Result:
    """Run a statement in a transaction that `Connection.transact` gave."""
    quiet = {name: _Unsaid(v) if isinstance(v, list) else v for name, v in parameters.items()}
    # The text comes from a .cypher file of ours; values only ever as parameters.
    return transaction.run(cypher, quiet)  # pyright: ignore[reportArgumentType]


class _Unsaid(list[Any]):
    """Rows of which only the number is shown.

    The driver makes a text of all parameters, whether anybody listens or not: of thousands of rows
    that takes longer than to send them, and their values belong into no log.

    >>> _Unsaid(["secret", "secret"])
    [2 rows]
    """

    def __repr__(self) -> str:
        """How many."""
        return f"[{len(self)} rows]"


@contextmanager
def connect(
    settings: Settings | None = None,
    *,
    timeout: float = CONNECT_SECONDS,
    progress: Progress | None = None,
) -> Iterator[Connection]:
    """Open a connection that has answered once.

    Args:
        settings: Where to; if None, what the environment and ``whence.toml`` say, and if they name
            no server, the local one, which is fetched and started if need be.
        timeout: Seconds until a server that does not answer counts as unreachable.
        progress: Told how far fetching the local server has come.
    """
    require_driver()
    chosen = settings or resolve_settings() or _local(progress)
    driver = open_driver(chosen, timeout)
    try:
        with translated(chosen), driver.session(database=chosen.database) as session:
            session.run("RETURN 1").consume()
        yield Connection(chosen, driver)
    finally:
        driver.close()


def require_driver() -> None:
    """Refuse early, and name the extra, where the driver is not installed."""
    try:
        import neo4j  # noqa: F401
    except ImportError as error:
        raise MissingExtraError.for_extra(extra="neo4j", package="neo4j") from error


def open_driver(
    settings: Settings, timeout: float, *, retry: float = RETRY_SECONDS
) -> neo4j.Driver:
    """Make a driver with our time limits; it has not spoken to the server yet.

    Args:
        settings: where to.
        timeout: seconds until a server that does not answer counts as unreachable.
        retry: seconds for which a transaction is repeated that met a deadlock, or no server.
    """
    require_driver()
    from neo4j import GraphDatabase

    return GraphDatabase.driver(
        settings.uri,
        auth=(settings.username, settings.password.reveal()),
        connection_timeout=timeout,
        connection_acquisition_timeout=timeout,
        max_transaction_retry_time=retry,
        telemetry_disabled=True,
        # The server notes every name that no node has yet; a young graph has few of them.
        notifications_min_severity="OFF",
        user_agent=f"whence/{version('whence')}",
    )


@contextmanager
def translated(settings: Settings) -> Iterator[None]:
    """Turn the driver's errors into one line each; none of them repeats the password."""
    from neo4j import exceptions

    where = settings.uri
    try:
        yield
    except exceptions.AuthError as error:
        msg = (
            f"expected {where} to accept user {settings.username!r}; got a refusal for the "
            f"password {settings.password.place}; try NEO4J_USERNAME and NEO4J_PASSWORD_FILE"
        )
        raise StoreError(msg) from error
    except (exceptions.ServiceUnavailable, exceptions.SessionExpired) as error:
        msg = (
            f"expected a Neo4j server at {where}; got no answer; "
            "try whence doctor, and see whether the server runs and the address is right"
        )
        raise StoreError(msg) from error
    except exceptions.Neo4jError as error:
        if (error.code or "").endswith("DatabaseNotFound"):
            msg = (
                f"expected a database {settings.database!r} at {where}; got none of that name; "
                "try leaving NEO4J_DATABASE out, the server then chooses"
            )
        else:
            msg = (
                f"expected {where} to carry out a statement; got {error.code}: {error.message}; "
                "try --debug"
            )
        raise StoreError(msg) from error
    except exceptions.DriverError as error:
        msg = f"expected to talk to {where}; got {type(error).__name__}: {error}; try whence doctor"
        raise StoreError(msg) from error


def _local(progress: Progress | None) -> Settings:
    from whence.store.server import start

    return start(progress=progress).settings()
