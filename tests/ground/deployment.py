"""Read compose file and Dockerfile, and play their containers as plain processes on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import yaml
from dockerfile_parse import DockerfileParser

from tests._support.quick_java import SHORT_LIVED
from tests.ground.surroundings import ROOT
from whence.engine.java import find_java

__all__ = [
    "Stage",
    "compose",
    "containers",
    "dockerfile",
    "free_port",
    "running",
    "service_command",
    "service_environment",
    "wait_for",
]

COMPOSE = ROOT / "deploy" / "compose.yaml"
DOCKERFILE = ROOT / "deploy" / "Dockerfile"


def compose() -> dict[str, Any]:
    """The compose file with its merges resolved."""
    content: dict[str, Any] = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))
    return content


def dockerfile() -> DockerfileParser:
    """The Dockerfile, parsed."""
    return DockerfileParser(str(DOCKERFILE))


def free_port() -> int:
    """A port of loopback that nobody has at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Stage:
    """Where things are when no container is: each container path or name, and its stand-in.

    Longer names are replaced first, so that a folder does not hide what lies in it.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        """Take the replacements."""
        self._places = sorted(places.items(), key=lambda pair: -len(pair[0]))

    def __call__(self, text: str) -> str:
        """Translate one text."""
        for inside, outside in self._places:
            text = text.replace(inside, outside)
        return text


def containers(folder: Path) -> Stage:
    """The stage for the services of the compose file; ``folder`` takes what they write."""
    (folder / "data").mkdir()
    return Stage(
        {
            "/opt/whence/bin": str(Path(sys.executable).parent),
            "/opt/whence/whence-java": str(find_java().home),
            "/opt/whence/lib/python3.12/site-packages/pyspark": str(Path(pyspark.__file__).parent),
            "/run/secrets": str(folder / "secrets"),
            "/tmp/spark-work": str(folder / "spark-work"),
            "WHENCE_HOME=/data": f"WHENCE_HOME={folder / 'data'}",
            "--host spark-master": "--host 127.0.0.1",
            "//spark-master": "//127.0.0.1",
            "//neo4j": "//127.0.0.1",
            "spark.driver.host=whence": "spark.driver.host=127.0.0.1",
            "0.0.0.0": "127.0.0.1",
            ":7077": f":{(master := free_port())}",
            "--port 7077": f"--port {master}",
            ":7687": f":{free_port()}",
            "--webui-port 8080": f"--webui-port {free_port()}",
            "--webui-port 8081": f"--webui-port {free_port()}",
        }
    )


def service_environment(name: str, stage: Stage) -> dict[str, str]:
    """What a process of this service finds in its environment, and nothing of the user's own."""
    declared = dict(dockerfile().envs) | compose()["services"][name].get("environment", {})
    lines = [stage(f"{key}={value}") for key, value in declared.items()]
    # Certificates and the like come from the machine; a container has no host name but its own.
    machine = {
        "HOME": os.environ["HOME"],
        "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
        "JDK_JAVA_OPTIONS": SHORT_LIVED,
    }
    return machine | dict(line.split("=", 1) for line in lines)


def service_command(name: str, stage: Stage) -> list[str]:
    """The service's command with its words translated."""
    return stage(" ".join(compose()["services"][name]["command"])).split(" ")


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[Path]:
    """Keep a process going for the time of a test; its words go to ``log``."""
    with log.open("wb") as words:
        process = subprocess.Popen(command, env=environment, stdout=words, stderr=words)
    try:
        yield log
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(what: Callable[[], bool], log: Path, seconds: float = 90) -> None:
    """Wait until it holds; fail with the process's own words."""
    deadline = time.monotonic() + seconds
    while not what():
        said = log.read_text(encoding="utf-8", errors="replace")[-2000:]
        assert time.monotonic() < deadline, said
        time.sleep(0.2)
