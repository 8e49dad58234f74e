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

__all__ = ["GROUPS", "SHARED", "Together", "folder_of_the_run", "group_of"]

GROUPS = "groups.json"

SPARK = "spark"
SHARED = (SPARK, "neo4j_server")
"""A test run has one session of Spark: all tests that use it are a group, and start the server that
some of them need as well. All others that use the server are another group, with another one."""


def group_of(item: pytest.Item) -> str | None:
    """The group of a test; None if it may run anywhere.

    Tests of a file that shares something between them, such as a server of its own, are a group.
    """
    if not isinstance(item, pytest.Function):
        return None
    for shared in SHARED:
        if shared in item.fixturenames:
            return shared
    if "request" in item.fixturenames and item.get_closest_marker(SPARK):
        return SPARK  # it may ask for the session while it runs
    definitions = item._fixtureinfo.name2fixturedefs.values()
    scopes = {definition.scope for several in definitions for definition in several}
    return str(item.path) if scopes & {"class", "module", "package"} else None


class Together(LoadScopeScheduling):
    """Hands out whole groups, the largest first, and all other tests one by one."""

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
