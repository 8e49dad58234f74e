"""Folders for Spark that only this user can look into, and a secret that no command line shows.

By default Spark puts parts of the data into folders that every user of the machine can read. And
every process of the machine can connect to its ports. Here scratch lies in folders of mode 0700,
and the processes of one Spark have to know a secret. Spark makes that secret by itself for a local
master; what starts executors has to be given one, which must not stand in any argument.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

__all__ = [
    "has_executors",
    "in_private",
    "private_folder",
    "private_settings",
    "secret_settings",
]

_LOCAL_DIRS = "SPARK_LOCAL_DIRS"


@cache
def private_folder(below: str = "") -> Path:
    """A folder of mode 0700, gone when this process ends.

    Args:
        below: where it is made; among the temporary files unless given.
    """
    folder = Path(tempfile.mkdtemp(prefix="whence-spark-", dir=below or None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def private_settings(master: str) -> dict[str, str]:
    """Spark's settings that keep what it writes beside the record in private folders.

    Args:
        master: where it will run, on this machine.
    """
    settings = {
        "spark.local.dir": ",".join(_local_dirs()),
        "spark.sql.warehouse.dir": str(private_folder() / "warehouse"),
        "spark.authenticate": "true",
    }
    if has_executors(master):
        name = "spark.executor.extraJavaOptions"
        settings[name] = f"{_default(name) or ''} {_temporary()}".strip()
        settings["spark.executorEnv.TMPDIR"] = str(private_folder())
        _close_work_folder()
    return settings


def has_executors(master: str) -> bool:
    """Whether executors are processes of their own, on this machine.

    >>> has_executors("local-cluster[2,1,1024]"), has_executors("local[*]")
    (True, False)
    """
    return master.startswith("local-cluster[")


def _temporary() -> str:
    """The option that gives a Java private temporary folders."""
    temporary = private_folder() / "tmp"
    temporary.mkdir(exist_ok=True)
    return f"-Djava.io.tmpdir={shlex.quote(str(temporary))}"


def _close_work_folder() -> None:
    """Executors keep what they print and fetch in Spark's own folder: let nobody else look."""
    import pyspark

    home = os.environ.get("SPARK_HOME") or str(Path(str(pyspark.__file__)).parent)
    with suppress(OSError):  # where it cannot be written, Spark says so
        work = Path(home) / "work"
        work.mkdir(mode=0o700, exist_ok=True)
        work.chmod(0o700)


def _local_dirs() -> list[str]:
    """Private folders on the disks that the user chose for scratch, if any were chosen."""
    chosen = os.environ.get(_LOCAL_DIRS) or _default("spark.local.dir")
    made = []
    for place in filter(None, (chosen or "").split(",")):
        Path(place).mkdir(parents=True, exist_ok=True)
        made.append(str(private_folder(place)))
    return made or [str(private_folder())]


def _default(name: str) -> str | None:
    """A setting out of the user's ``spark-defaults.conf``."""
    folder = os.environ.get("SPARK_CONF_DIR") or os.environ.get("SPARK_HOME", "") + "/conf"
    try:
        lines = (Path(folder) / "spark-defaults.conf").read_text("utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.strip().replace("=", " ", 1).partition(" ")
        if key == name:
            return value.strip()
    return None


@contextmanager
def in_private() -> Iterator[None]:
    """Let the Java that is started inside, and its children, use private temporary folders."""
    options = os.environ.get("SPARK_SUBMIT_OPTS", "")
    mine = {"SPARK_SUBMIT_OPTS": f"{options} {_temporary()}".strip()}
    if os.environ.get(_LOCAL_DIRS):
        mine[_LOCAL_DIRS] = ",".join(_local_dirs())  # it wins over the setting
    before = {name: os.environ.get(name) for name in mine}
    os.environ.update(mine)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def secret_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """A secret for executors that are processes of their own, which no argument shows.

    Args:
        settings: those of a Spark that is not started yet; they become arguments of its Java.
    """
    from pyspark import SparkConf, SparkContext

    if not has_executors(settings["spark.master"]):
        return {}
    # Java first, with all other settings as arguments; the secret goes over Python's connection.
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    SparkContext._ensure_initialized(conf=conf)
    return {"spark.authenticate.secret": secrets.token_hex(32)}
