"""The checker and the standard taken at its word agree on random documents."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

from tests.exporters.validating._support.documents_by_rule import judged
from tests.exporters.validating._support.inferences_one_by_one import Statement, is_valid

CASES = 20_000 if os.environ.get("WHENCE_TEST_PROFILE") == "full" else 800
TIMES = ("2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z")
SHAPES = {
    "entity": "", "activity": "tt", "agent": "", "wasGeneratedBy": "Eat", "used": "Aet",
    "wasInvalidatedBy": "Eat", "wasStartedBy": "Aeat", "wasEndedBy": "Aeat",
    "wasInformedBy": "AA", "wasAttributedTo": "EG", "wasAssociatedWith": "Age",
    "actedOnBehalfOf": "GGA", "wasDerivedFrom": "EEanu", "wasInfluencedBy": "XX",
    "specializationOf": "EE",
}  # fmt: skip
"""The arguments of each kind; those in capitals are always said."""


LIKELY = {"t": 0.3}
NAMES = {
    "e": ("ex:e1", "ex:e2", "ex:e3"), "a": ("ex:a1", "ex:a2"), "g": ("ex:ag", "ex:e1", "ex:a1"),
    "n": ("ex:wasGe1", "ex:wasGe2"), "u": ("ex:used1", "ex:used2"),
    "x": ("ex:e1", "ex:e2", "ex:a1", "ex:a2"), "t": TIMES,
}  # fmt: skip
ELEMENTS = {"entity": "e", "activity": "a", "agent": "g"}


def drawn(random: Random) -> list[Statement]:
    """A few statements of a few kinds, about few names, so that they meet."""
    words = random.sample(sorted(SHAPES), k=random.randint(2, 5))
    if random.random() < 0.5:
        words += ["entity", "activity"]
    odd = random.choice((0.0, 0.0, 0.05))  # how often one name stands for anything

    def one(letter: str) -> str:
        if letter != "t" and random.random() < odd:
            return "ex:odd"
        return random.choice(NAMES[letter.lower()])

    made: list[Statement] = []
    for _ in range(random.randint(2, 7)):
        word = random.choice(words)
        if word in ELEMENTS:
            id = one(ELEMENTS[word])
        elif word == "specializationOf" or random.random() < 0.5:
            id = "-"
        else:
            id = "ex:odd" if random.random() < odd else f"ex:{word[:5]}{random.randint(1, 2)}"
        rest = [
            one(letter) if letter.isupper() or random.random() < LIKELY.get(letter, 0.6) else "-"
            for letter in SHAPES[word]
        ]
        if word == "wasDerivedFrom" and rest[2] == "-" and random.random() < 0.9:
            rest[3:] = ["-", "-"]
        made.append((word, id, *rest))
    return made


def text(statement: Statement) -> str:
    word, id, *rest = statement
    if word in ("entity", "activity", "agent"):
        return f"{word}({', '.join([id, *rest])})"
    own = "" if word == "specializationOf" else f"{id}; "
    return f"{word}({own}{', '.join(rest)})"


def test_the_verdicts_are_the_same(tmp_path: Path) -> None:
    seen = {True: 0, False: 0}
    rules: set[str] = set()
    for seed in range(CASES):
        statements = drawn(Random(seed))
        expected = is_valid(statements)
        body = "\n".join(text(each) for each in statements)
        report = judged(tmp_path, body, beyond=False)
        assert report.standard == expected, (seed, body, report.violations)
        seen[expected] += 1
        rules.update(report.counts)
    assert min(seen.values()) > CASES // 8
    assert {"C22", "C23", "C24", "C42", "C50", "C51", "C52", "C53", "C54"} <= rules
