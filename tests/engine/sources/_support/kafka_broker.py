"""A real broker of Kafka for the tests: one node, on loopback, gone when they end."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests._support.quick_java import SHORT_LIVED
from tests.conftest import USERS_HOME
from whence.engine.errors import ServerError
from whence.engine.java import find_java
from whence.store.server.fetch import ensure_jars
from whence.store.server.jars import PinnedJars

__all__ = ["Broker", "running_broker"]

_JARS = Path(__file__).with_name("kafka-4.1.1.txt")
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
"""


class Broker:
    """A broker that runs.

    Attributes:
        servers: its address.
    """

    def __init__(self, servers: str) -> None:
        self.servers = servers

    def topic(self, name: str, partitions: int = 1) -> str:
        """Make a topic; its address."""
        from confluent_kafka.admin import AdminClient
        from confluent_kafka.cimpl import NewTopic

        admin = AdminClient({"bootstrap.servers": self.servers})
        admin.create_topics([NewTopic(name, partitions, 1)])[name].result(60)
        return f"kafka://{self.servers}/{name}"

    def send(self, topic: str, values: Iterable[bytes | None], partition: int = 0) -> None:
        """Put messages at the end of a topic."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 5})
        for value in values:
            producer.produce(topic, value, partition=partition)
        assert producer.flush(60) == 0

    def forget(self, topic: str, before: int) -> None:
        """Remove the messages before an offset, as Kafka does when they are too old."""
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": self.servers})
        for done in admin.delete_records([TopicPartition(topic, 0, before)]).values():
            done.result(60)


def _jars() -> Path:
    """Kafka's jars, fetched once per user; a test is left out where they cannot be had."""
    name = _JARS.stem
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHENCE_HOME", str(USERS_HOME))
        try:
            pinned = PinnedJars.parse(name, _JARS.read_text(encoding="utf-8"))
            return ensure_jars(find_java(), None, pinned)
        except ServerError as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"Kafka cannot be fetched here: {error}")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    """Start a broker whose files are in a folder, and end it."""
    port, controller = _free_ports(2)
    settings = folder / "server.properties"
    settings.write_text(_SETTINGS.format(port=port, controller=controller, folder=folder))
    java = [str(find_java().executable), "-Xmx512m", SHORT_LIVED, "-cp", f"{_jars()}/*"]
    form = [*java, "kafka.tools.StorageTool", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ"]
    subprocess.run([*form, "-c", str(settings)], check=True, capture_output=True)
    log = folder / "broker.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*java, "kafka.Kafka", str(settings)], stdout=stream, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(process, port, log)
            yield Broker(f"127.0.0.1:{port}")
        finally:
            process.kill()
            process.wait()


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"Kafka did not start: {log.read_text(errors='replace')[-2000:]}")
