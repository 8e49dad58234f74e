"""Regular expressions: in linear time, whatever runs them, with Python's letters and digits."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING
from unicodedata import category

import pytest

from tests.engine.runners._support.kernel_records import logs_of
from tests.engine.sources.test_hostile import bounded
from whence.engine.errors import ChainError, DefinitionError, EventError, FormulaError, LogError
from whence.engine.formula import parse_expression
from whence.engine.functions import FUNCTIONS
from whence.engine.functions.patterns import matches, matches_each
from whence.engine.interpreter import interpret
from whence.engine.language.chain import Chain
from whence.engine.language.chain_file import load_chain
from whence.engine.processors import ApplyFunction
from whence.engine.record import RunRecord, ingest
from whence.engine.runners import RunOptions
from whence.engine.runners.local_kernels import run_kernels
from whence.engine.runners.spark.batch import run_on_spark
from whence.engine.sources import events_of, open_source
from whence.engine.values import ValueFault
from whence.engine.values.limits import RunLimits, limited

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FREEZING = "^(a+)+$"
TEXTS = ["a" * 40 + "!", "a" * 40, "!"]
CONSTANT = Chain.of(ApplyFunction("odd", f"matches(value, '{FREEZING}')"))
PER_VALUE = Chain.of(ApplyFunction("odd", "matches(text, pattern)"))
PAIRS = [{"text": text, "pattern": FREEZING} for text in TEXTS]


def outputs(run: RunRecord) -> list[object]:
    return [row["value"] == "true" for row in run.outputs("odd", 0).to_pylist()]


@pytest.mark.parametrize(("chain", "log"), [(CONSTANT, TEXTS), (PER_VALUE, PAIRS)])
def test_a_pattern_that_freezes_other_engines_ends_at_once(
    chain: Chain, log: list[object], tmp_path: Path
) -> None:
    with bounded(200, 30):
        assert interpret(chain, log).values == [False, True, False]
        records = logs_of(tmp_path, chain, {"log": log}, 10)
        run = run_kernels(tmp_path, chain, records, RunOptions(chunk=10))
    assert outputs(run) == [False, True, False]


@pytest.mark.spark
def test_a_pattern_that_freezes_other_engines_ends_at_once_on_spark(
    tmp_path: Path, spark: SparkSession
) -> None:
    records = logs_of(tmp_path, CONSTANT, {"log": TEXTS}, 10)
    with bounded(200, 100):
        run = run_on_spark(tmp_path, CONSTANT, records, RunOptions(chunk=10), session=spark)
    assert outputs(run) == [False, True, False]


@pytest.mark.parametrize("pattern", ["(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", r"(a)\1"])
def test_what_would_need_backtracking_is_refused_when_the_formula_is_read(pattern: str) -> None:
    expected = r"expected a regular expression without look-around and references back; got '.*'; "
    with pytest.raises(FormulaError, match=rf"formula, line 1, column 5: {expected}try two cond"):
        parse_expression(f"not matches(x, '{pattern}')")
    json_form = '{"id": "odd", "apply": {"matches": [{"field": "x"}, %s]}}'
    written = '"' + pattern.replace("\\", "\\\\") + '"'
    chain = load_chain(json_form % written)  # an old record, which can still be opened
    with pytest.raises(ChainError, match=f"ApplyFunction 'odd': {expected}"):
        chain.check()


def test_a_chain_file_with_a_pattern_that_is_none_names_its_line() -> None:
    with pytest.raises(DefinitionError, match=r"line 2, .*got '\(' \(missing \): \(\); try escap"):
        load_chain("id: odd\napply: matches(x, '(')")


def test_a_pattern_out_of_the_log_is_refused_at_its_event() -> None:
    log = [PAIRS[0], {"text": "a", "pattern": "(?=a)"}]
    with pytest.raises(EventError, match="odd, position 1: expected a regular expression with"):
        interpret(PER_VALUE, log)


def test_patterns_have_a_length_that_can_be_raised() -> None:
    long = "a" * 1_001
    expected = r"at most 1,000 characters in a regular expression \(the limit 'pattern'\); got "
    for refused in (lambda: matches("a", long), lambda: matches_each(["a"], long)):
        with pytest.raises(ValueFault, match=expected):
            refused()
    with pytest.raises(FormulaError, match=expected):
        parse_expression(f"matches(x, '{long}')")
    with limited(RunLimits(pattern=2_000)):
        assert matches(long, long)


def test_a_pattern_that_would_fill_the_memory_is_refused() -> None:
    with bounded(100, 20), pytest.raises(ValueFault, match="a regular expression"):
        matches("a", r"((\w{1000})*(\w{1000})*){1000}" * 30)


@pytest.mark.parametrize("sign", ["w", "d", "s"])
def test_letters_digits_and_spaces_are_those_of_all_alphabets(sign: str) -> None:
    known = [chr(code) for code in range(0x110000) if category(chr(code)) not in ("Cn", "Cs")]
    for pattern in (rf"\{sign}", rf"\{sign.upper()}", rf"[\{sign}]", rf"[\{sign.upper()}]"):
        ours = matches_each(known, pattern).to_pylist()
        assert ours == [re.search(pattern, each) is not None for each in known]


PIECES = (
    *("a", "b", "1", "_", " ", "-", "\u00e9", "\u00df", "\u0663", "\u2003", ".", "]", "["),
    *(r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "^", "*", "+", "?", "|", "(", ")", "[a-c]"),
    *(r"[^\d]", r"[\w-]", "{,2}", "[]a]", "[[]", r"[\S]", r"[\s\S]", r"[^\W\d]", r"\u00e9", r"\Z"),
)


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
def test_random_patterns_mean_what_they_mean_in_python() -> None:
    random, compared = Random(5), 0
    while compared < 2_000:
        pattern = random.choice(("", "(?i)", "(?s)", "(?m)"))
        pattern += "".join(random.choices(PIECES, k=random.randrange(7)))
        text = "".join(
            random.choices("ab1_ -\u00e9\u00c9\u00df\u0663\u2003.][\x1c\n", k=random.randrange(8))
        )
        try:
            expected = re.search(pattern, text) is not None
            found = matches(text, pattern)
        except (re.error, ValueFault):
            continue
        assert found is expected, (pattern, text)
        compared += 1


def test_random_texts_and_patterns_are_alike_in_interpreter_and_kernels(tmp_path: Path) -> None:
    random = Random(6)
    texts = ["", "a\x00b", "\u00e9t\u00e9", "aa", "A", "a\nb", "1" * 300, "\u0663", "x y"]
    patterns = ["", "a", "^a", "a$", r"\d+", r"\w", "(?i)a", "(?s)a.b", "\x00", "^(a|aa)+$", "("]
    for seed in range(12):
        log = [
            {
                "text": random.choice([*texts, None]),
                "pattern": random.choice(patterns[: 11 - seed % 2]),
            }
            for _ in range(random.randrange(1, 40))
        ]
        constant = random.choice(patterns[:-1])
        log[0]["text"] = "a"
        either = f"matches(text, pattern) or matches(text, '{constant}')"
        chain = Chain.of(ApplyFunction("odd", either))
        root = tmp_path / str(seed)
        records = {"log": ingest(root, "log", log, chunk=50)}
        try:
            expected: object = interpret(chain, log).values
        except EventError as fault:
            expected = str(fault)
        try:
            options = RunOptions(chunk=50)
            found: object = outputs(run_kernels(root, chain, records, options, batch=7))
        except EventError as fault:
            found = str(fault)
        assert found == expected


def test_half_a_surrogate_pair_in_a_text_is_no_fault() -> None:
    assert FUNCTIONS["matches"].compute("a\ud800b", "^a.b$") is True


def test_the_pattern_of_a_text_log_has_a_length_too(tmp_path: Path) -> None:
    file = tmp_path / "log.log"
    file.write_text("x\n")
    with pytest.raises(LogError, match="a pattern: expected at most 1,000 characters"):
        open_source(file, pattern="(?P<a>" + "x" * 1_000 + ")")


@pytest.mark.parametrize("sign", ["<![CDATA[", "<!- ", "<? "])
def test_comments_full_of_what_looks_like_comments_are_read_once(sign: str, tmp_path: Path) -> None:
    begin, end = {"<![CDATA[": ("<![CDATA[", "]]>"), "<!- ": ("<!--", "-->")}.get(
        sign, ("<?x ", "?>")
    )
    event = '<event><string key="concept:name" value="a"/></event>'
    file = tmp_path / "log.xes"
    file.write_text(
        f"<log>{begin}{sign * 600_000}{end}"
        f'<trace><string key="concept:name" value="c"/>{event}</trace></log>'
    )
    with bounded(200, 30):
        assert len(list(events_of(open_source(file)))) == 1
