"""Rules on the events of cases: deadlines, the past, sums over a window, a verdict per trigger."""

from __future__ import annotations

from whence.engine.rules.rule import Closes, ReadyRule, Rule, closes_from
from whence.engine.rules.run import RuleRun
from whence.engine.rules.running import Pending, Verdict

__all__ = ["Closes", "Pending", "ReadyRule", "Rule", "RuleRun", "Verdict", "closes_from"]
