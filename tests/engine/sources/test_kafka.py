"""A topic of Kafka as a stream: a real broker, a real Spark."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.runners._support.kernel_records import check
from tests.engine.runners._support.stream_runs import CHAINS, EVENTS, OPTIONS, interpreted
from tests.engine.sources._support.kafka_broker import Broker, running_broker
from whence.engine import Chain
from whence.engine.errors import LogError
from whence.engine.language.log import Log
from whence.engine.record import RunRecord
from whence.engine.runners.stream.on_spark import StreamProgress, run_stream
from whence.engine.sources.kafka_stream import KafkaStream
from whence.engine.sources.kafka_topic import kafka_settings, topic_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MESSAGES = [json.dumps(event).encode() for event in EVENTS]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def follow(root: Path, where: str, name: str, session: Any, **given: Any) -> RunRecord:
    stream = KafkaStream(where, given.pop("declared", None))
    chain = Chain.of(CHAINS[name]())
    return run_stream(root, chain, stream, OPTIONS, session=session, every=0.1, **given)


@pytest.mark.spark
def test_a_topic_says_what_the_interpreter_says_of_its_messages(
    tmp_path: Path, spark: SparkSession, broker: Broker
) -> None:
    where = broker.topic("lifecycle")
    broker.send("lifecycle", MESSAGES[:120])
    stop = threading.Event()
    later = [MESSAGES[120:121], MESSAGES[121:200]]
    seen: list[StreamProgress] = []

    def tell(progress: StreamProgress) -> None:
        seen.append(progress)
        if later:
            broker.send("lifecycle", later.pop(0))
        else:
            stop.set()

    stopped = follow(tmp_path, where, "lifecycle", spark, stop=stop, tell=tell)
    assert stopped.manifest.status == "interrupted"
    assert [progress.position for progress in seen] == [119, 120, 199]
    assert seen[0].lag == "0 messages"
    broker.send("lifecycle", MESSAGES[200:])
    run = follow(tmp_path, where, "lifecycle", spark, available_now=True)
    assert run.id == stopped.id
    check(run, interpreted("lifecycle"))
    (log,) = run.manifest.logs
    part = run.log(log).part(0)
    assert part.column("row").to_pylist() == part.column("position").to_pylist()


@pytest.mark.spark
def test_what_does_not_fit_is_told_by_its_offset_or_dropped(
    tmp_path: Path, spark: SparkSession, broker: Broker
) -> None:
    where = broker.topic("odd")
    broker.send("odd", [*MESSAGES[:5], None, b'{"case": "c",\n "act": "a", "x": 1}', b"{", b""])
    with pytest.raises(LogError, match=r"odd\[0\] from offset 0, row 6 .*expected a JSON object"):
        follow(tmp_path, where, "rule", spark, available_now=True)
    dropped = Log(on_bad="drop")
    run = follow(tmp_path, where, "rule", spark, available_now=True, declared=dropped)
    (name,) = run.manifest.logs
    log = run.log(name)
    assert log.part(0).column("row").to_pylist() == [0, 1, 2, 3, 4, 6]
    assert log.manifest.report["dropped"] == 3


@pytest.mark.spark
def test_messages_that_kafka_has_forgotten_are_missed(
    tmp_path: Path, spark: SparkSession, broker: Broker
) -> None:
    where = broker.topic("short")
    broker.send("short", MESSAGES[:50])
    stop = threading.Event()
    follow(tmp_path, where, "rule", spark, stop=stop, tell=lambda progress: stop.set())
    broker.send("short", MESSAGES[50:90])
    broker.forget("short", 60)
    with pytest.raises(LogError, match="expected messages from offset 50 on; got 60"):
        follow(tmp_path, where, "rule", spark, available_now=True)
    assert RunRecord(tmp_path, "latest").manifest.status == "interrupted"


def test_several_partitions_have_no_order_unless_one_is_named(broker: Broker) -> None:
    where = broker.topic("wide", partitions=3)
    with pytest.raises(LogError, match=r"expected a topic with one partition.*got 3; try \?part"):
        KafkaStream(where)
    assert KafkaStream(f"{where}?partition=2").origin.endswith("/wide?partition=2")
    with pytest.raises(LogError, match="expected one of the partitions 0, 1, 2; got 7"):
        KafkaStream(f"{where}?partition=7")
    with pytest.raises(LogError, match="expected a topic; got"):
        KafkaStream(f"kafka://{broker.servers}/nothing")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("kafka://localhost:9092", "expected a folder or kafka://"),
        ("http://localhost/log", "expected a folder or kafka://"),
        ("kafka://me:secret@localhost/log", "got one with a user"),
        ("kafka://localhost/log?partition=x", "expected partition=NUMBER"),
        ("kafka://localhost/log?from=now", "expected partition=NUMBER"),
    ],
)
def test_an_address_is_checked(where: str, message: str) -> None:
    with pytest.raises(LogError, match=message) as error:
        topic_of(where)
    assert "secret" not in str(error.value)


def test_settings_are_read_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "kafka.properties"
    file.write_text("# how\nsecurity.protocol = SASL_SSL\nsasl.password=a=b\n")
    assert kafka_settings(file) == {"security.protocol": "SASL_SSL", "sasl.password": "a=b"}
    topic, _ = topic_of("kafka://localhost/log", file)
    assert "a=b" not in repr(topic)
    file.write_text("secret\n")
    with pytest.raises(LogError, match="line 1: expected name=value") as error:
        kafka_settings(file)
    assert "secret" not in str(error.value)
