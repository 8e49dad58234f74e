"""A Spark that Whence starts writes into private folders, and asks its processes for a secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whence.engine.runners.spark_session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCRIPT = """
import json, sys
import psutil
from whence.engine.runners.spark_session import spark_session

session = spark_session(sys.argv[1])
rows = session.range(0, 1000, 1, 2).repartition(2).mapInArrow(lambda some: some, "id long").count()
words, environments, files = [], [], []
for process in psutil.Process().children(recursive=True):
    try:
        words += process.cmdline()
        files += [file.path for file in process.open_files()]
    except psutil.Error:
        pass
conf, system = session.sparkContext.getConf(), session.sparkContext._jvm.java.lang.System
print("told " + json.dumps({
    "rows": rows,
    "words": words,
    "authenticate": conf.get("spark.authenticate"),
    "secret": conf.get("spark.authenticate.secret"),
    "local": conf.get("spark.local.dir").split(","),
    "warehouse": session.conf.get("spark.sql.warehouse.dir"),
    "temporary": system.getProperty("java.io.tmpdir"),
    "files": files,
}), flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,1,1024]"])
def test_scratch_is_private_and_the_secret_is_in_no_argument(master: str, tmp_path: Path) -> None:
    temporary, disk = tmp_path / "temporary", tmp_path / "disk"
    temporary.mkdir(mode=0o755)
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, master],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(disk)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    line = next((line for line in child.stdout if line.startswith("told ")), "told {}")
    told = json.loads(line.removeprefix("told "))
    try:
        assert told["rows"] == 1000
        assert told["authenticate"] == "true"
        assert (told["secret"] is not None) == master.startswith("local-cluster")
        if told["secret"]:
            assert len(told["secret"]) == 64
        assert not any(
            "secret" in word or (told["secret"] or "!?") in word for word in told["words"]
        )
        everything = [*temporary.iterdir(), *disk.iterdir()]
        assert {oct(place.stat().st_mode & 0o777) for place in everything} == {"0o700"}
        for place in (told["temporary"], told["warehouse"].removeprefix("file:")):
            assert Path(place).is_relative_to(temporary)
        assert [Path(place).parent for place in told["local"]] == [disk]
        assert list(disk.glob("whence-spark-*/*")) != []
        assert sorted(place.name for place in tmp_path.iterdir()) == ["disk", "temporary"]
        for file in told["files"]:
            if "work/app-" in file:
                work = Path(file[: file.index("work/app-")]) / "work"
                assert work.stat().st_mode & 0o777 == 0o700
    finally:
        child.communicate("\n", timeout=120)
    assert [*temporary.glob("whence-spark-*"), *disk.iterdir()] == []


def test_a_session_that_is_there_is_taken_as_it_is(spark: SparkSession) -> None:
    before = dict(spark.sparkContext.getConf().getAll())
    assert spark_session("local[1]") is spark
    assert dict(spark.sparkContext.getConf().getAll()) == before


SOMEBODYS = "open('caught', 'a').close()\nraise ImportError('not the module that was meant')\n"
COUNTED = """
from whence.engine.runners.spark_session import spark_session

some = spark_session("local[1]").range(10)
print("told", some.mapInArrow(lambda batches: batches, "id long").count(), flush=True)
"""


def test_workers_import_nothing_out_of_a_folder_that_is_only_looked_at(tmp_path: Path) -> None:
    for name in ("socket", "pyarrow", "json"):
        (tmp_path / f"{name}.py").write_text(SOMEBODYS)
    command = [sys.executable, "-P", "-c", COUNTED]  # as the command `whence` does
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert "told 10" in done.stdout, done.stderr[-2000:]
    assert not (tmp_path / "caught").exists()
    (tmp_path / "ours.py").write_text("def same(batches):\n    return batches\n")
    for name in ("socket", "pyarrow", "json"):
        (tmp_path / f"{name}.py").unlink()
    own = COUNTED.replace("lambda batches: batches", "ours.same")
    done = subprocess.run(
        [sys.executable, "-c", f"import ours\n{own}"],  # as a notebook, which imports from there
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "told 10" in done.stdout, done.stderr[-2000:]
