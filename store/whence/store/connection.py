"""Talk to Neo4j: open a connection, run Cypher, and say in one line what went wrong."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from whence.engine.errors import MissingExtraError, StoreError
from whence.store.settings import Settings, resolve_settings

if TYPE_CHECKING:
    import neo4j

    from whence.engine.progress import Listener

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
    """An open connection; thin on purpose, the driver itself is there for everything else.

    Use it as it is, or in a ``with`` block, which closes it. One that `connect` opened closes by
    itself when neither it nor a `Result` refers to it any more, and at the end of the program.
    """

    settings: Settings
    driver: neo4j.Driver
    until: float | None = field(default=None, kw_only=True)
    lifetime: object = field(default=None, kw_only=True, repr=False, compare=False)

    def __enter__(self) -> Connection:
        """Begin a block that closes the connection at its end."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection; again is no fault."""
        self.driver.close()

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
                    # A failed transaction returns its connection to the pool before it is closed.
                    # If it was reused by then, the driver loses the original error.
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
    quiet = {
        name: _SuppressedLog(v) if isinstance(v, list) else v for name, v in parameters.items()
    }
    # The text comes from a .cypher file of ours; values only ever as parameters.
    return transaction.run(cypher, quiet)  # pyright: ignore[reportArgumentType]


class _SuppressedLog(list[Any]):
    """Rows whose representation is only their number.

    The driver formats all parameters even if no logger listens. Formatting
    thousands of rows takes longer than sending them, and their values must not reach a log.

    >>> _SuppressedLog(["secret", "secret"])
    [2 rows]
    """

    def __repr__(self) -> str:
        return f"[{len(self)} rows]"


class _Lifetime:
    """Shared by a connection and its copies: when it is collected, the driver is closed."""


def connect(
    settings: Settings | None = None,
    *,
    timeout: float = CONNECT_SECONDS,
    progress: Listener | None = None,
) -> Connection:
    """Open a connection that has answered once; a ``with`` block closes it, but is not needed.

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
    except BaseException:
        driver.close()
        raise
    lifetime = _Lifetime()
    weakref.finalize(lifetime, driver.close)
    return Connection(chosen, driver, lifetime=lifetime)


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
        if error.args[:1] == ("Driver closed",):
            msg = f"expected an open connection to {where}; got a closed one; try connect() again"
            raise StoreError(msg) from error
        msg = f"expected to talk to {where}; got {type(error).__name__}: {error}; try whence doctor"
        raise StoreError(msg) from error


def _local(progress: Listener | None) -> Settings:
    from whence.store.server import start

    return start(progress=progress).settings()
