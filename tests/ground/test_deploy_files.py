"""What stands in the compose file and the Dockerfile, as far as reading can tell."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from tests.ground.deployment import compose, dockerfile
from tests.ground.surroundings import ROOT, run

SERVICES = ("neo4j", "spark-master", "spark-worker", "whence")


def test_the_four_services_are_there() -> None:
    assert sorted(compose()["services"]) == sorted(SERVICES)


def test_neo4j_is_the_long_term_version_that_the_local_server_is() -> None:
    image = compose()["services"]["neo4j"]["image"]
    pinned = [path.stem for path in (ROOT / "store/whence/store/server").glob("neo4j-*.txt")]
    assert re.fullmatch(r"neo4j:5\.26-community", image)
    assert all(name.startswith("neo4j-5.26.") for name in pinned)
    assert pinned


def test_only_loopback_is_published() -> None:
    ports = [port for s in compose()["services"].values() for port in s.get("ports", [])]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_secrets_are_files_that_git_does_not_see() -> None:
    declared = compose()["secrets"]
    assert sorted(declared) == ["neo4j_auth", "neo4j_password"]
    for secret in declared.values():
        path = (ROOT / "deploy" / secret["file"]).resolve()
        assert run(["git", "check-ignore", "--quiet", str(path)]).returncode == 0
    used = {name for s in compose()["services"].values() for name in s.get("secrets", [])}
    assert used == set(declared)


def test_no_environment_variable_holds_a_password() -> None:
    for service in compose()["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|AUTH|SECRET|TOKEN", name):
                assert name.endswith("_FILE")
                assert value.startswith("/run/secrets/")


@pytest.mark.parametrize("name", ["spark-master", "spark-worker", "whence"])
def test_our_own_services_give_privileges_away(name: str) -> None:
    service = compose()["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["build"] == {"context": "..", "dockerfile": "deploy/Dockerfile"}


def test_the_image_is_built_in_two_stages_and_does_not_run_as_root() -> None:
    parsed = dockerfile()
    assert len(parsed.parent_images) == 2
    users = [step["value"] for step in parsed.structure if step["instruction"] == "USER"]
    assert users == ["whence"]
    names = [step["instruction"] for step in parsed.structure]
    assert names.index("USER") < names.index("CMD")


def test_every_package_in_the_image_is_pinned_by_hash_or_taken_from_what_is() -> None:
    installs = [
        step["value"]
        for step in dockerfile().structure
        if step["instruction"] == "RUN" and re.search(r"pip (install|wheel)", step["value"])
    ]
    assert len(installs) == 4
    assert [i for i in installs if "--require-hashes" not in i and "--no-index" not in i] == []


def test_everything_that_is_copied_is_there_and_not_kept_out() -> None:
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for step in dockerfile().structure:
        if step["instruction"] == "COPY" and not step["value"].startswith("--from"):
            for source in step["value"].split()[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in allowed or source.startswith("requirements"), source


def test_preparing_writes_one_password_in_two_forms_for_this_user_only(tmp_path: Path) -> None:
    script = str(ROOT / "deploy" / "prepare.sh")
    assert run(["sh", script, str(tmp_path)]).returncode == 0
    folder = tmp_path / "secrets"
    password = (folder / "neo4j_password").read_text()
    assert re.fullmatch(r"[A-Za-z0-9]{40}", password)
    assert (folder / "neo4j_auth").read_text() == f"neo4j/{password}"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sorted(os.listdir(folder)) == ["neo4j_auth", "neo4j_password"]

    again = run(["sh", script, str(tmp_path)])
    assert again.returncode == 0, again.stderr
    assert (folder / "neo4j_password").read_text() == password
    assert password not in again.stdout
