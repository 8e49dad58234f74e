"""No public name, parameter or attribute comes or goes unseen."""

from __future__ import annotations

from difflib import unified_diff

from tests.ground.public_names import LISTED, public_names


def test_the_public_names_are_those_that_are_listed() -> None:
    listed = LISTED.read_text(encoding="utf-8").splitlines()
    changed = list(unified_diff(listed, public_names().splitlines(), "listed", "now", lineterm=""))
    assert changed == [], "meant so: python -m tests.ground.public_names, and CHANGELOG.md"
