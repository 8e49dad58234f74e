"""The shared server and session are what later tests believe them to be."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import USERS_HOME
from whence.store.server import Status
from whence.store.server.folders import whence_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_tests_have_a_home_of_their_own() -> None:
    assert not whence_home().is_relative_to(USERS_HOME)


@pytest.mark.neo4j
def test_the_shared_server_is_not_the_users(neo4j_server: Status) -> None:
    assert neo4j_server.state == "running"
    assert neo4j_server.home.is_relative_to(whence_home())


@pytest.mark.spark
def test_spark_workers_are_this_python(spark: SparkSession) -> None:
    workers = spark.sparkContext.parallelize([0, 1], 2).map(lambda _: sys.executable).collect()
    assert set(workers) == {sys.executable}
    assert spark.sparkContext.uiWebUrl is None
