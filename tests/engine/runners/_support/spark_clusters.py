"""Clusters of this machine, whose workers have the packages that Whence needs, but not Whence."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pyspark

from tests._support.quick_java import FOR_SPARK
from tests.ground.deployment import free_port, running, wait_for
from whence.engine.java import find_java

__all__ = ["LOCAL_CLUSTER", "drive", "python_of_workers", "standalone"]

LOCAL_CLUSTER = "local-cluster[2,1,1024]"
PATIENCE = 300.0
"""Seconds that a process may need to start, on a machine that is busy."""


def python_of_workers(folder: Path, *, packages: bool = True) -> Path:
    """A Python of its own that cannot import Whence.

    Args:
        folder: where it is made.
        packages: whether it has what is installed here. The paths that editable installs add are
            not taken over: those come from files that Python reads only in its own folder.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    if packages:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        site = folder / "lib" / version / "site-packages"
        lines = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        (site / "packages.pth").write_text("\n".join(lines) + "\n")
    python = folder / "bin" / "python"
    command = [str(python), "-c", "import whence.engine"]
    tried = subprocess.run(command, env={}, cwd=folder, capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError: No module named 'whence" in tried.stderr
    return python


def environment() -> dict[str, str]:
    """What every process of a cluster finds: nothing that leads to this repository."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "WHENCE_HOME")}
    return {
        **kept,
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
        "JDK_JAVA_OPTIONS": FOR_SPARK,
    }


@contextmanager
def standalone(folder: Path, *hosts: str) -> Iterator[str]:
    """A master and workers from the package pyspark; gives the master's address.

    Args:
        folder: where they write.
        hosts: the address of each worker, one unless told otherwise. Spark tries a slow task again
            only on another host.
    """
    spark_class = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    hosts = hosts or ("127.0.0.1",)
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    settings = {**environment(), "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOG_DIR": str(folder)}
    master = [spark_class, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1"]
    master += ["--port", str(port), "--webui-port", str(free_port())]
    worker = [spark_class, "org.apache.spark.deploy.worker.Worker"]
    worker += ["--cores", str(2 // len(hosts)), "--memory", "1g"]
    worker += ["--work-dir", str(folder / "work")]
    with ExitStack() as stack:
        log = stack.enter_context(running(master, settings, folder / "master.log"))
        wait_for(partial(_says, log, "I have been elected leader"), log, PATIENCE)
        for host in hosts:
            own = {**settings, "SPARK_LOCAL_IP": host, "SPARK_LOCAL_HOSTNAME": host}
            told = ["--host", host, "--webui-port", str(free_port()), address]
            log = stack.enter_context(running([*worker, *told], own, folder / f"{host}.log"))
            wait_for(partial(_says, log, "Successfully registered with master"), log, PATIENCE)
        yield address


def _says(log: Path, words: str) -> bool:
    return words in log.read_text(encoding="utf-8", errors="replace")


def drive(
    script: str, *arguments: str, python: Path, cwd: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a driver that finds this repository by itself, so that no other process inherits it.

    Args:
        script: what it does; ``sys.argv`` holds the arguments.
        arguments: what it is told.
        python: what the workers run.
        cwd: where it runs.
        env: what its environment has besides.
    """
    found = [path for path in sys.path if path]
    begin = f"import sys; sys.path[:0] = {found!r}\n"
    return subprocess.run(
        [sys.executable, "-c", begin + script, *arguments],
        env={**environment(), "PYSPARK_PYTHON": str(python), **env},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
