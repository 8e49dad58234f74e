"""Which tests stay together when several processes share the work: ``pytest -n 2``.

A plugin for pytest-xdist, registered by conftest.py. Its processes find the groups while they
collect, and write them where its scheduler reads them. (The groups that xdist has itself are marks
which it appends to the names of tests; since pytest 9.2 it loses them, and without a word.)
"""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

__all__ = ["GROUPS", "SERVERS", "Together", "folder_of_the_run", "group_of"]

GROUPS = "groups.json"

SPARK = "spark"
SERVER = "neo4j_server"
APART = "store"
SERVERS = 3
"""A test run has one session of Spark: all tests that use it are a group, and start the server that
some of them need as well. All others that use the server are two groups, with one each: those
in the folder `APART` take as long as those in all others."""


def group_of(item: pytest.Item) -> str | None:
    """The group of a test; None if it may run anywhere.

    Tests of a file that shares something between them, such as a server of its own, are a group.
    """
    if not isinstance(item, pytest.Function):
        return None
    if SPARK in item.fixturenames or (item.get_closest_marker(SPARK) and _may_ask(item)):
        return SPARK
    if SERVER in item.fixturenames:
        folders = item.nodeid.partition("::")[0].split("/")
        return f"{SERVER} for {APART}" if APART in folders else SERVER
    definitions = item._fixtureinfo.name2fixturedefs.values()
    scopes = {definition.scope for several in definitions for definition in several}
    return str(item.path) if scopes & {"class", "module", "package"} else None


def _may_ask(item: pytest.Function) -> bool:
    """Whether a test, or a fixture of it, may ask for the session while it runs.

    Many of pytest's own fixtures could, such as ``tmp_path``; they do not.
    """
    definitions = [each for all in item._fixtureinfo.name2fixturedefs.values() for each in all]
    own = [each for each in definitions if not each.func.__module__.startswith("_pytest.")]
    names = [item._fixtureinfo.argnames, *(each.argnames for each in own)]
    return any("request" in each for each in names)


def _starts_its_own(item: pytest.Item) -> bool:
    """Whether a test that may run anywhere has a server or a session to itself: that takes long."""
    marks = (SPARK, "neo4j", "fault")
    return group_of(item) is None and any(item.get_closest_marker(mark) for mark in marks)


class Together(LoadScopeScheduling):
    """Hands out whole groups, the largest first, and all other tests one by one."""

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        """Forget what is done: else all of it is counted through after each test."""
        super().mark_test_complete(node, item_index, duration)
        units = self.assigned_work[node]
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(units[scope].values()):
            del units[scope]

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid, nodeid)

    @cached_property
    def _groups(self) -> dict[str, str]:
        file = folder_of_the_run(self.config) / GROUPS
        groups: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
        return groups


def folder_of_the_run(config: pytest.Config) -> Path:
    """The temporary folder that all processes of this test run have in common."""
    folder: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    return folder.parent if hasattr(config, "workerinput") else folder


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let long tests begin early: else one of them runs when all others are done."""
    if hasattr(config, "workerinput"):
        items.sort(key=_starts_its_own, reverse=True)


@pytest.hookimpl(tryfirst=True)  # before xdist tells the scheduler that all is collected
def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the groups down, if this is one of several processes: each finds the same."""
    if not hasattr(session.config, "workerinput"):
        return
    groups = {item.nodeid: group for item in session.items if (group := group_of(item))}
    file = folder_of_the_run(session.config) / GROUPS
    part = file.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(groups), encoding="utf-8")
    part.replace(file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Together:
    """Let xdist hand out the tests in our way."""
    return Together(config, log)
