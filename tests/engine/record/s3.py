"""A store of objects on loopback that speaks S3, for records at a URI."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.fs as fs
import pytest

from tests.ground.deployment import free_port, running, wait_for
from whence.engine.record import remote

__all__ = ["BUCKET", "object_store", "store_in_reach"]

BUCKET = "whence-tests"


@contextmanager
def object_store(folder: Path) -> Iterator[dict[str, str]]:
    """Start one with a bucket; gives what the environment says of it."""
    port = free_port()
    told = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "the-key-of-the-tests",
        "AWS_SECRET_ACCESS_KEY": "a-secret-that-nobody-shall-see",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with running(command, {**os.environ, **told}, folder / "s3.log") as log:
        wait_for(lambda: "Running on" in log.read_text(), log, 300)
        client = fs.S3FileSystem(
            access_key=told["AWS_ACCESS_KEY_ID"],
            secret_key=told["AWS_SECRET_ACCESS_KEY"],
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            allow_bucket_creation=True,
        )
        client.create_dir(BUCKET)
        yield told


@contextmanager
def store_in_reach(folder: Path) -> Iterator[dict[str, str]]:
    """Start one of which the environment of this process tells."""
    with object_store(folder) as told, pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        remote._filesystem.cache_clear()
        yield told
    remote._filesystem.cache_clear()
