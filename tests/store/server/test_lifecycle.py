"""Breaking a real server on purpose: each fault ends in a running server or in one clear line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests._support.own_server import SMALL, own_server, up
from tests.conftest import Cli
from whence.engine.errors import ParameterError, ServerError
from whence.engine.java import find_java
from whence.store import connect
from whence.store.server import (
    instances,
    last_lines,
    lifecycle,
    start,
    status,
    stop,
)
from whence.store.server.instance import Instance
from whence.store.server.lifecycle import START_SECONDS
from whence.store.server.ports import choose_port
from whence.store.server.process import find_running

pytestmark = [pytest.mark.neo4j, pytest.mark.fault]

NAME = "faulty"


@pytest.fixture(scope="module", autouse=True)
def instance(jars: Path) -> Iterator[Instance]:
    """One instance for all faults of this file: setting one up takes seconds."""
    instance = Instance(NAME)
    with own_server(NAME):
        instance.create(find_java(), jars)
        yield instance


def run_start(cli: Cli) -> subprocess.CompletedProcess[str]:
    warn = {"PYTHONWARNINGS": "always::ResourceWarning"}
    done = cli("server", "start", "--name", NAME, "--memory", "768", "--json", env=warn)
    assert "ResourceWarning" not in done.stderr
    return done


def test_a_taken_port_is_stepped_around() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        now = start(NAME, port=port, memory=SMALL)
        assert now.port != port
        assert now.state == "running"
        with connect(now.settings()) as connection:
            assert connection.read("RETURN 1 AS one") == [{"one": 1}]


@pytest.mark.full
def test_a_port_lost_while_starting_is_given_up_for_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop(NAME)
    with socket.socket() as thief:
        thief.bind(("127.0.0.1", 0))
        thief.listen()
        stolen = thief.getsockname()[1]
        # As if it had been free when it was chosen.
        monkeypatch.setattr(
            lifecycle, "choose_port", lambda port: choose_port(None) if port is None else stolen
        )
        # Given back as soon as it has done harm: a look at the port afterwards tells nothing.
        harm = "Address already in use"

        def give_back() -> None:
            if _becomes(lambda: any(harm in line for line in last_lines(NAME, 500)), 120):
                thief.close()

        repent = threading.Thread(target=give_back)
        repent.start()
        now = start(NAME, port=stolen, memory=SMALL)
        repent.join()
    assert now.state == "running"
    assert now.port != stolen


def test_the_password_is_seen_nowhere(instance: Instance, cli: Cli) -> None:
    now = up(NAME)
    password = instance.secret.reveal()
    assert len(password) >= 32
    for process in psutil.process_iter():
        try:
            assert password not in " ".join(process.cmdline())
        except psutil.Error:
            continue
    for path in instance.home.rglob("*"):
        if path.is_file() and path != instance.password_file:
            assert password.encode() not in path.read_bytes(), path
    for path in (instance.password_file, instance.argument_file, instance.pid_file):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(instance.home.stat().st_mode) == 0o700
    assert password not in repr(now.settings())
    for arguments in (["server", "start", "--name", NAME], ["doctor", "--name", NAME]):
        done = cli(*arguments, "--debug")
        assert done.returncode == 0, done.stderr
        assert password not in done.stdout + done.stderr


def test_only_loopback_listens() -> None:
    server = psutil.Process(up(NAME).pid)
    listening = [each.laddr for each in server.net_connections() if each.status == "LISTEN"]
    addresses = {address.ip.removeprefix("::ffff:") for address in listening}
    assert addresses == {"127.0.0.1"}
    assert len(listening) == 1


def test_data_is_intact_after_kill_and_a_dead_pid_file_is_seen_through(instance: Instance) -> None:
    now = up(NAME)
    with connect(now.settings()) as connection:
        connection.write("UNWIND range(1, 1000) AS n CREATE (:Kept {n: n})")
    server = psutil.Process(now.pid)
    server.kill()
    assert instance.pid_file.exists()
    assert _becomes(lambda: status(NAME).state == "stopped")
    assert _becomes(lambda: not psutil.pid_exists(server.pid)), "whoever started it waits for it"
    again = up(NAME)
    assert again.pid != now.pid
    with connect(again.settings()) as connection:
        assert connection.read("MATCH (k:Kept) RETURN count(k) AS n") == [{"n": 1000}]


def test_a_frozen_server_is_seen_as_such() -> None:
    server = psutil.Process(up(NAME).pid)
    server.suspend()
    try:
        assert status(NAME).state == "not answering"
    finally:
        server.resume()
    assert status(NAME).state == "running"


def test_two_starts_at_once_give_one_server(cli: Cli, instance: Instance) -> None:
    stop(NAME)
    answers: list[dict[str, object]] = []

    def one() -> None:
        done = run_start(cli)
        answers.append(json.loads(done.stdout) if done.returncode == 0 else {"err": done.stderr})

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len({answer["pid"] for answer in answers}) == 1, answers
    # The command line is gone, the server is not: it has a session of its own.
    pid = answers[0]["pid"]
    assert isinstance(pid, int)
    assert os.getsid(pid) == pid
    mine = f"@{instance.argument_file}"
    assert sum(mine in (process.info["cmdline"] or []) for process in _processes()) == 1


@pytest.mark.full
def test_a_start_that_was_killed_is_taken_over_by_the_next(instance: Instance) -> None:
    stop(NAME)
    command = [sys.executable, "-m", "whence", "server", "start", "--name", NAME, "--quiet"]
    with subprocess.Popen([*command, "--memory", "768"]) as first:
        assert _becomes(lambda: find_running(instance) is not None, 60)
        first.kill()
    launched = find_running(instance)
    assert launched is not None
    assert up(NAME).pid == launched.pid


def test_a_lost_pid_file_does_not_hide_the_server(instance: Instance) -> None:
    now = up(NAME)
    instance.pid_file.unlink()
    assert status(NAME) == now
    assert up(NAME) == now


def test_the_environment_names_the_server_on_the_command_line_and_in_python(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, named = up(NAME), instances()
    monkeypatch.setenv("WHENCE_INSTANCE", NAME)
    for words in (("start", "--memory", "768"), ("logs",)):
        done = cli("server", *words, "--json")
        assert (done.returncode, json.loads(done.stdout)["name"]) == (0, NAME), done.stderr
    with connect() as connection:
        assert connection.settings.uri == now.uri
    assert (status().name, status().uri) == (NAME, now.uri)
    assert instances() == named  # no other one was set up
    monkeypatch.setenv("WHENCE_INSTANCE", "../../elsewhere")
    done = cli("server", "start")
    assert done.returncode == 1
    assert "expected an instance name of letters" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    with pytest.raises(ParameterError, match="expected an instance name"), connect():
        pass


def test_a_running_server_is_not_removed(cli: Cli) -> None:
    up(NAME)
    done = cli("server", "remove", "--name", NAME, "--yes")
    assert done.returncode == 1
    assert "to be stopped; got a running server; try" in done.stderr
    assert status(NAME).state == "running"


def kill_when_it_speaks(instance: Instance, over: threading.Event) -> None:
    while not over.wait(0.02):
        running = find_running(instance)
        if running and any("Starting" in line for line in last_lines(NAME, 100)):
            os.kill(running.pid, signal.SIGKILL)
            return


def start_and_kill(cli: Cli, instance: Instance) -> subprocess.CompletedProcess[str]:
    stop(NAME)
    over = threading.Event()
    killer = threading.Thread(target=kill_when_it_speaks, args=(instance, over))
    killer.start()
    done = run_start(cli)
    over.set()
    killer.join()
    return done


def test_a_server_killed_while_starting_is_said_with_its_last_words(
    cli: Cli, instance: Instance
) -> None:
    done = start_and_kill(cli, instance)
    for _ in range(2):  # a server that was there before it could be killed: once more
        if done.returncode == 0:
            done = start_and_kill(cli, instance)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("whence: expected the local Neo4j 'faulty' to")
    assert "got a process that ended; it last said: " in done.stderr
    assert "Starting..." in done.stderr
    assert "Traceback" not in done.stderr
    assert not instance.pid_file.exists()


def test_a_process_that_has_no_command_line_yet_is_waited_for(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between fork and exec the kernel gives an empty one; Java was taken for ended then."""
    now = up(NAME)
    real, young = psutil.Process.cmdline, iter(range(3))

    def cmdline(process: psutil.Process) -> list[str]:
        return real(process) if next(young, None) is None else []

    monkeypatch.setattr(psutil.Process, "cmdline", cmdline)
    running = find_running(instance)
    assert running is not None
    assert running.pid == now.pid
    assert next(young, None) is None


def test_a_reused_pid_is_neither_believed_nor_ended(instance: Instance) -> None:
    stop(NAME)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        started = psutil.Process(stranger.pid).create_time()
        record = {"pid": stranger.pid, "started": started, "port": 7687}
        instance.pid_file.write_text(json.dumps(record))
        assert status(NAME).state == "stopped"
        assert stop(NAME) is False
        instance.pid_file.write_text(json.dumps(record))
        now = up(NAME)
        assert now.pid != stranger.pid
        assert stranger.poll() is None
        stranger.kill()


def test_a_server_that_never_answers_is_given_up_with_its_last_words(
    instance: Instance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(NAME)
    real = find_java()
    home = tmp_path / "java"
    shutil.copytree(real.home / "bin", home / "bin", symlinks=True)
    (home / "lib").symlink_to(real.home / "lib")
    program = home / "bin" / "java"
    program.unlink()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in @*) echo \'I am stuck\'; exec tail -f /dev/null "$@";; esac\n'
        f'exec "{real.executable}" "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(ServerError, match=r"no answer on port \d+ within 4 s.*I am stuck.*; try"):
        start(NAME, port=None, memory=SMALL, timeout=4)
    assert find_running(instance) is None
    assert START_SECONDS <= 55  # the rest of the minute is for ending the process


def test_removing_deletes_everything_of_the_instance(cli: Cli, instance: Instance) -> None:
    stop(NAME)
    assert cli("server", "remove", "--name", NAME).returncode == 1  # nobody there to ask
    assert instance.home.exists()
    done = cli("server", "remove", "--name", NAME, "--yes")
    assert done.returncode == 0, done.stderr
    assert not instance.home.exists()
    assert status(NAME).state == "absent"


def _becomes(condition: Callable[[], bool], seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


def _processes() -> list[psutil.Process]:
    return list(psutil.process_iter(["cmdline"]))
