"""Leaves and trees are the same whoever works them out, and however much of them is kept."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporters._support.recorded_runs import recorded
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import LogError
from whence.engine.language.chain import Log
from whence.exporters.evidence.hashing import BRANCH, SIZE, Work
from whence.exporters.evidence.hashing_pool import HashingPool
from whence.exporters.evidence.leaves import LEAVES, RunLeaves, Shown, tombstone
from whence.exporters.evidence.merkle import Tree
from whence.exporters.evidence.verify import node_digest, root_from

PLACE = "log/x"
SECRETS = [bytes([n]) * SIZE for n in range(3)]


def some_leaves(count: int) -> bytes:
    return b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(count))


def plain_root(level: list[bytes]) -> bytes:
    """Pair by pair, up to the root."""
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [*(node_digest(a, b) for a, b in pairs), *odd]
    return level[0]


near = st.integers(0, 4).flatmap(
    lambda n: st.integers(max(1, n * BRANCH - 3), n * BRANCH + 3)
) | st.integers(1, 4 * BRANCH)


@given(near, st.data())
def test_kept_tops_give_the_root_and_the_paths_of_the_whole_tree(
    count: int, data: st.DataObject
) -> None:
    leaves = some_leaves(count)
    tree = Tree(leaves)
    kept = Tree(leaves, tree.tops)
    assert len(tree.tops) == Tree.branches(count) * SIZE
    several = [leaves[at : at + SIZE] for at in range(0, len(leaves), SIZE)]
    assert tree.root == kept.root == plain_root(several)
    for index in {0, count - 1, data.draw(st.integers(0, count - 1))}:
        assert kept.fits(index)
        assert kept.path(index) == tree.path(index)
        assert root_from(several[index], index, count, kept.path(index)) == tree.root


def work_in(folder: Path, rows: list[int], erased: list[int], salts: dict[int, bytes]) -> Work:
    """Parts of so many events, which belong to three cases in turn; erased ones to none."""
    files, before = [], 0
    for number, many in enumerate(rows):
        positions = range(before, before + many)
        texts = [f"é{n % 7}" * (n % 50) for n in positions]
        table = pa.table({"position": pa.array(positions, pa.int64()), "a": texts, "b": positions})
        files.append(folder / f"{number}.parquet")
        pq.write_table(table, files[-1])
        before += many
    numbers = np.arange(before) % 3
    numbers[[*erased, *salts]] = -1
    kinds = {"a": "text", "b": "integer"}
    gone = np.array(erased, np.int64)
    return Work(tuple(files), kinds, PLACE, numbers, b"".join(SECRETS), gone, salts)


ROWS = [1500, 7, 1, 2100, 1024, 300]
ERASED = [0, 1024, 3000, 4931]
SALTS = {5: b"s" * SIZE, 4000: b"t" * SIZE}


def test_processes_work_out_what_one_does_and_each_leaf_is_what_a_proof_shows(
    tmp_path: Path,
) -> None:
    work = work_in(tmp_path, ROWS, ERASED, SALTS)
    here = Tree(work.done().leaves)
    with HashingPool(3, many=0) as pool:
        trees = [pool.begin(work, ROWS) for _ in range(2)]
        assert pool.busy
        for tree in trees:
            assert (tree().leaves, tree().tops) == (here.leaves, here.tops)
    assert here.count == sum(ROWS)
    for position in (1, 2, 5, 1023, 2048, 4000, 4930):
        values = {"a": f'"{f"é{position % 7}" * (position % 50)}"', "b": str(position)}
        shown = Shown(PLACE, position, values, work.salt(position, position))
        assert here.leaf(position) == shown.leaf
    for position in ERASED:
        assert here.leaf(position) == tombstone(PLACE, position)
    assert work.salt(4000, 4000) == SALTS[4000]
    expected = hmac.new(SECRETS[1], f"{PLACE}\0001\0".encode(), "sha256").digest()
    assert work.salt(1, 1) == expected


def test_a_process_that_fails_is_replaced_by_this_one(tmp_path: Path) -> None:
    work = work_in(tmp_path, ROWS, [], {})
    with HashingPool(2, many=0) as pool:
        begun = pool.begin(work, ROWS)
        for worker in pool._workers:
            assert worker._process is not None
            worker._process.kill()
        assert begun().root == Tree(work.done().leaves).root


def test_nobody_waits_for_what_is_not_needed(tmp_path: Path) -> None:
    work = work_in(tmp_path, ROWS, [], {})
    with HashingPool(2, many=0) as pool:
        pool.begin(work, ROWS)
    assert all(
        worker._process is not None and worker._process.returncode for worker in pool._workers
    )


def test_leaves_without_tops_are_completed_and_wrong_ones_refused(tmp_path: Path) -> None:
    log = [{"case": "a", "n": n} for n in range(5)]
    declared = Log({"case": "text", "n": "integer"}, case="case")
    run = recorded(tmp_path / "r", Chain.of(ApplyFunction("n", "n")), {"log": log}, declared)
    logs = {"log": run.log("log")}
    file = logs["log"].folder / LEAVES

    def leaves() -> RunLeaves:
        with HashingPool() as pool:
            return RunLeaves.begun(run, logs, ["n"], pool)

    root = leaves().logs["log"].tree.root
    whole = file.read_bytes()
    file.write_bytes(whole[: 5 * SIZE])  # as earlier versions wrote it
    assert leaves().logs["log"].tree.root == root
    assert file.read_bytes() == whole
    file.write_bytes(whole[: 5 * SIZE] + bytes(SIZE) + whole[6 * SIZE :])
    with pytest.raises(LogError, match="expected nodes that fit their leaves"):
        leaves().logs["log"].shown([2])
    file.write_bytes(whole[: 4 * SIZE])
    with pytest.raises(LogError, match="expected 5 leaves; got 4; try removing the file"):
        _ = leaves().logs["log"].tree
    file.unlink()
    assert [index for index, _ in leaves().logs["log"].shown([2, 4])] == [2, 4]
    assert file.read_bytes() == whole
