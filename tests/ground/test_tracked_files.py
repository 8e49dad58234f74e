"""The repository speaks of itself alone: no place of any machine, no package host."""

from __future__ import annotations

import re

from tests.ground.surroundings import ROOT, tracked

# Put together from parts, so that this file does not contain what it looks for.
HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("repo1", "maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("search", "maven", "org"),
        ("central", "sonatype"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
        ("conda", "anaconda", "org"),
    )
]
PLACES = ["/" + place for place in ("work/", "root/", "home/[a-z]", "Users/[A-Za-z]", "opt/wheels")]
SECRETS = [
    "-----BEGIN [A-Z ]*" + "PRIVATE KEY",
    r"\b(?:ghp|gho|github_pat)" + "_[A-Za-z0-9]{20,}",
    r"\bAKIA" + "[A-Z0-9]{16}\\b",
]


def hits(patterns: list[str]) -> list[str]:
    expression = re.compile("|".join(patterns))
    found = []
    for file in tracked():
        text = (ROOT / file).read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if expression.search(line):
                found.append(f"{file}:{number}: {line.strip()[:80]}")
    return found


def test_the_search_reads_real_files() -> None:
    assert any(hit.startswith("LICENSE:") for hit in hits(["Apache License"]))


def test_no_package_host_is_named() -> None:
    assert hits([re.escape(host) for host in HOSTS]) == []


def test_no_place_of_a_machine_is_named() -> None:
    # A path begins after a space, a quote or the like; inside a word it is something else.
    assert hits([rf"(?<![\w.*~-]){place}" for place in PLACES]) == []


def test_no_secret_is_kept() -> None:
    assert hits(SECRETS) == []
