"""The result of a check: a verdict, and each violation with the statements it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from whence.exporters.validating.rules import CONSTRAINTS

__all__ = ["Report", "Violation", "Violations"]

KEPT = 20
"""Maximum number of violations per rule to store; the others are counted."""

SHOWN = 12
"""Maximum number of statements to show with a violation."""


@dataclass(frozen=True)
class Violation:
    """One way in which a document breaks a rule.

    Attributes:
        rule: the constraint's number, as ``C24``, or the name of a rule beyond them.
        message: what is wrong, in one line.
        statements: the statements it rests on, in PROV-N.
        also: further constraints without which it would not follow.
        bundle: the bundle it is in; ``None`` outside bundles, and if several are involved.
        standard: whether the standard forbids it, or only Whence.
    """

    rule: str
    message: str
    statements: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    bundle: str | None = None
    standard: bool = True

    def as_json(self) -> dict[str, Any]:
        """The violation for programs."""
        return {
            "rule": self.rule,
            "name": CONSTRAINTS[self.rule][0] if self.rule in CONSTRAINTS else None,
            "also": list(self.also),
            "standard": self.standard,
            "bundle": self.bundle,
            "message": self.message,
            "statements": list(self.statements),
        }


class Violations:
    """Collects violations; of each rule the first few, and how many there are."""

    def __init__(self) -> None:
        self.kept: list[Violation] = []
        self.counts: Counter[str] = Counter()
        self.standard = True

    def full(self, rule: str) -> bool:
        """Whether further violations of this rule are only counted."""
        return self.counts[rule] >= KEPT

    def add(
        self,
        rule: str,
        message: str,
        statements: Iterable[str] = (),
        *,
        also: Iterable[str] = (),
        bundle: str | None = None,
        standard: bool = True,
    ) -> None:
        if not self.full(rule):
            shown = list(dict.fromkeys(statements))
            if len(shown) > SHOWN:
                shown = [*shown[:SHOWN], f"… and {len(shown) - SHOWN} more"]
            self.kept.append(Violation(rule, message, tuple(shown), tuple(also), bundle, standard))
        self.counts[rule] += 1
        self.standard = self.standard and not standard


@dataclass(frozen=True)
class Report:
    """The verdict on a document.

    Attributes:
        format: the syntax it was read as.
        statements: how many statements it holds.
        bundles: how many bundles.
        violations: of each rule the first few.
        counts: how many violations of each rule there are.
        standard: whether it is valid by W3C PROV-CONSTRAINTS.
        unchecked: how many statements of each kind that PROV-DM does not have.
    """

    format: str
    statements: int
    bundles: int
    violations: tuple[Violation, ...]
    counts: dict[str, int]
    standard: bool
    unchecked: dict[str, int] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether nothing at all was found."""
        return not self.counts

    def as_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "valid": self.valid,
            "standard": self.standard,
            "format": self.format,
            "statements": self.statements,
            "bundles": self.bundles,
            "counts": dict(self.counts),
            "violations": [each.as_json() for each in self.violations],
            "unchecked": dict(self.unchecked),
        }
