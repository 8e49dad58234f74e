"""Cases that others published, with the verdicts that they expect: those that fit the language.

What does not fit is counted, with the reason.

RTAMT's give a robustness, whose sign is the verdict (zeros say nothing). DejaVu's give the events
at which a formula of the past is false.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from whence.engine import Each, Slice
from whence.engine.testing import run

PUBLIC = Path(__file__).parents[4] / "shared" / "public"
pytestmark = pytest.mark.skipif(not PUBLIC.is_dir(), reason="they are not on this machine")


class UnfitError(Exception):
    """Why a case does not fit."""


def cases(name: str) -> list[dict[str, Any]]:
    lines = (PUBLIC / name / "cases.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


WORDS = {
    "always": "G", "eventually": "F", "historically": "H", "once": "O", "since": "S", "until": "U",
    "implies": "->", "prev": "Z", "next": "N",
    "not": "not", "and": "and", "or": "or",
}  # fmt: skip
COMPARISON = {"==": "=", "!==": "!=", "!=": "!=", ">=": ">=", "<=": "<=", ">": ">", "<": "<"}
TOKEN = re.compile(r"\s*(!==|[<>=!]=|\[[^\]]*\]|[A-Za-z_]\w*|\d+(?:\.\d+)?|[()<>])")


def stl(spec: str, names: set[str]) -> str:
    """A specification of RTAMT as a formula."""
    text = spec.partition("=")[2] if re.match(r"\s*\w+\s*=[^=]", spec) else spec
    if re.search(
        r"\b(abs|sqrt|exp|pow|rise|fall|iff|unless|s_next|s_prev|strong_\w+)\b|[-+*/]", text
    ):
        raise UnfitError("arithmetic, or an operator that only it has")
    if re.search(r"\bxor\b", text):
        raise UnfitError("its xor measures a distance, and is not that of conditions")
    found, at = [], 0
    while at < len(text.rstrip()):
        token = TOKEN.match(text, at)
        if token is None:
            raise UnfitError("another syntax")
        found.append(token[1])
        at = token.end()
    made = []
    for number, word in enumerate(found):
        around = found[max(0, number - 1) : number + 2]
        if word.startswith("["):
            bound = re.fullmatch(r"\[(\d+)[,:](\d+)\]", word.replace(" ", ""))
            if bound is None:
                raise UnfitError("bounds with units, or open ones")
            made.append(f"[{bound[1]}s..{bound[2]}s]")
        elif word in names and not set(around) & set(COMPARISON):
            made.append(f"({word} > 0)")
        elif word in WORDS or word in names or word in "()" or word in COMPARISON:
            made.append(WORDS.get(word, COMPARISON.get(word, word)))
        elif re.fullmatch(r"\d+(\.\d+)?", word) and set(around) & set(COMPARISON):
            made.append(word)
        else:
            raise UnfitError("a constant as a signal, or another name")
    return re.sub(r"([GFHOSUZN]) \[", r"\1[", " ".join(made))


def rtamt(case: dict[str, Any]) -> tuple[int, int]:
    """How many verdicts of a case agree, and how many there are."""
    if not case["cls"].startswith("StlDiscreteTime") or not case.get("spec"):
        raise UnfitError("operators on their own, or dense time: signals between samples")
    if any(x[0] == "io" for x in case["extra"]) or "Iastl" in case["test"]:
        raise UnfitError("interface-aware semantics")
    if any(x[0] != "pastify" for x in case["extra"]):
        raise UnfitError("constants, units or sampling periods of its own")
    calls, expected = case["calls"], case["expected"]
    if calls and calls[0][0] == "evaluate":
        columns = calls[-1][1]
        log = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    else:
        log = [{"time": call[1], **dict(call[2])} for call in calls]
    names = {name for event in log for name in event} - {"time"}
    must = stl(case["spec"], names)
    future = re.search(r"\b[GFUN]\b", must)
    if not isinstance(expected, list):
        at = len(log) - 1
        if future is not None:
            ends = [int(high) for high in re.findall(r"[GFU]\[\d+s\.\.(\d+)s\]", must)]
            if len(re.findall(r"\b[GFUN]\b", must)) != 1 or len(ends) != 1:
                raise UnfitError("a future without a bound, online")
            at -= ends[0]
        expected = [[at, expected]] if at >= 0 else []
    rule = Each("rule", must=must, when="true", in_order=True, time="time")
    verdicts = [value for value, _ in run(rule, log, closed=True)]
    signs = [(position, float(x)) for position, x in expected if float(x) != 0]
    times = {event["time"]: number for number, event in enumerate(log)}
    agree = [verdicts[times.get(p, int(p))] is (x > 0) for p, x in signs]
    return sum(agree), len(agree)


class Qtl:
    """Reads a formula of DejaVu; over one quantified variable at most."""

    def __init__(self, text: str, variable: str) -> None:
        pattern = r"\s*(->|\[<=\d+\]|\[>\d+\]|\"[^\"]*\"|\w+|[()\[\],!&|@])"
        self.tokens = re.findall(pattern, text)
        if "".join(self.tokens) != re.sub(r"\s", "", text):
            raise UnfitError("arithmetic or comparisons of data")
        self.variable, self.at = variable, 0
        self.numbers: set[int] = set()

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted: str = "") -> str:
        token = self.peek()
        if wanted and token != wanted:
            raise UnfitError("another syntax")
        self.at += 1
        return token

    def formula(self) -> str:
        left = self.any_of()
        if self.peek() == "->":
            self.take()
            return f"({left}) -> ({self.formula()})"
        return left

    def any_of(self) -> str:
        left = self.all_of()
        while self.peek() == "|":
            self.take()
            left = f"({left}) or ({self.all_of()})"
        return left

    def all_of(self) -> str:
        left = self.since()
        while self.peek() == "&":
            self.take()
            left = f"({left}) and ({self.since()})"
        return left

    def bound(self) -> str:
        found = re.fullmatch(r"\[(<=|>)(\d+)\]", self.peek())
        if found is None:
            return ""
        self.take()
        return f"[..{found[2]}s]" if found[1] == "<=" else f"[{int(found[2]) + 1}s..]"

    def since(self) -> str:
        left = self.unary()
        if self.peek() == "S":
            self.take()
            bound = self.bound()
            return f"({left}) S{bound} ({self.since()})"
        return left

    def unary(self) -> str:
        token = self.take()
        if token in ("!", "@", "P", "H"):
            bound = self.bound()
            word = {"!": "not", "@": "Y", "P": "O", "H": "H"}[token]
            return f"{word}{bound} ({self.unary()})"
        if token == "(":
            inner = self.formula()
            self.take(")")
            return inner
        if token == "[":
            left = self.formula()
            self.take(",")
            right = self.formula()
            self.take(")")
            return f"(not ({right})) S (({left}) and not ({right}))"
        if token in ("true", "false"):
            return token
        return self.atom(token)

    def atom(self, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z]\w*", name) or name.lower() in ("forall", "exists", "z"):
            raise UnfitError("more than one variable, or another operator")
        parts = [f"name = '{name}'"]
        if self.peek() == "(":
            self.take()
            number = 0
            while self.peek() != ")":
                argument = self.take()
                if argument.startswith('"') or argument.isdigit():
                    constant = argument.strip('"')
                    parts.append(f"a{number} = '{constant}'")
                elif argument == self.variable:
                    self.numbers.add(number)
                else:
                    raise UnfitError("more than one variable")
                number += 1
                if self.peek() == ",":
                    self.take()
            self.take()
        elif self.variable:
            raise UnfitError("events of all keys in one formula")
        return f"({' and '.join(parts)})"


def dejavu(case: dict[str, Any]) -> tuple[int, int]:
    """Whether the violating events of a case agree."""
    if case["violating_events"] is None:
        raise UnfitError("no verdict is published")
    text = re.sub(r"//[^\n]*", "", case["spec_text"]).strip()
    if re.search(r"\b(where|pred|event|events)\b", text) or text.count("prop ") != 1:
        raise UnfitError("macros, recursion or several properties")
    _, _, body = text.partition(":")
    found = re.match(r"\s*[Ff]orall\s+(\w+)\s*\.", body)
    variable = found[1] if found else ""
    reader = Qtl(body[found.end() :] if found else body, variable)
    must = reader.formula()
    if reader.peek():
        raise UnfitError("another syntax")
    if variable and ("@" in body or "->" not in body or len(reader.numbers) != 1):
        raise UnfitError("looks at events of all keys")
    log: list[dict[str, Any]] = []
    for line in case["log_text"].split():
        name, *rest = line.split(",")
        time = int(rest.pop()) if case["timed"] else len(log)
        arguments = {f"a{number}": value for number, value in enumerate(rest)}
        log.append({"name": name, **arguments, "time": time})
    if len(log) > 20_000:
        raise UnfitError("longer than a test should take")
    rule: Any = Each("rule", must=must, when="true", time="time")
    if variable:
        (number,) = reader.numbers
        rule = Slice("keys", by=f"a{number}", of=rule, combine="each")
    # A formula of the past has its verdict with its event: the n-th verdict is that of event n.
    given: list[Any] = [value for value, _ in run(rule, log)]
    verdicts = [value["value"] for value in given] if variable else given
    bad = [number for number, value in enumerate(verdicts, 1) if value is False]
    return int(bad == case["violating_events"] and len(given) == len(log)), 1


@pytest.mark.parametrize(("name", "least"), [("rtamt", 250), ("dejavu", 11)])
def test_every_published_case_that_fits_agrees(
    name: str, least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    unfit: Counter[str] = Counter()
    agree, wrong = 0, []
    for case in cases(name):
        try:
            right, many = rtamt(case) if name == "rtamt" else dejavu(case)
        except UnfitError as fault:
            unfit[str(fault)] += 1
            continue
        if right == many:
            agree += 1
        else:
            wrong.append((case["test"], case.get("spec"), right, many))
    with capsys.disabled():
        print(f"\n{name}: {agree} agree, {len(wrong)} do not, {sum(unfit.values())} do not fit:")
        for why, count in unfit.most_common():
            print(f"  {count:4} {why}")
    assert wrong == []
    assert agree >= least
