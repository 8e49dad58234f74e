"""A verdict is run again where the values are told, and never called so where they are not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.exporters._support.recorded_runs import recorded
from tests.exporters.evidence._support.resigned_packs import DATA
from whence.engine import ApplyFunction, Chain, Cumulate, Slice, Window, field
from whence.engine.language.chain import Log
from whence.engine.language.processor import Processor
from whence.engine.record import RunRecord
from whence.exporters.evidence import Wanted, create_keys, create_pack, verify_pack
from whence.exporters.evidence.checking_alone import recheck_alone
from whence.exporters.evidence.deriving import found_in
from whence.exporters.evidence.recomputing import recomputed
from whence.exporters.evidence.verify import read_pack
from whence.store import Connection
from whence.store.loading import load

pytestmark = pytest.mark.neo4j

PRODUCT = Window("three", n=3, of=Cumulate("product", "product"))


def packed(
    graph: Connection, root: Path, chain: Chain, log: Sequence[Any], declared: Any, **wanted: Any
) -> tuple[RunRecord, Path, Path]:
    run = recorded(root / "record", chain, {"log": log}, declared)
    load(run.root, run.id, graph)
    keys = create_keys("test", root / "keys")
    path = create_pack(graph, run.root, Wanted(run.id, **wanted), root / "a.zip", keys)
    return run, path, keys.path.with_suffix(".pub")


def said(path: Path, public: Path) -> list[str]:
    verified = verify_pack(path, public)
    assert verified.proved, verified.findings
    every = [*(words for _, words in verified.findings), *verified.notes]
    return [words for words in every if words.startswith("verdict: ")]


def once_more(
    path: Path,
    value: str | None = None,
    change: Callable[[dict[str, Any]], None] = lambda told: None,
) -> list[tuple[str, str]]:
    """What is recomputed, if another value or other facts were told of the output."""
    data = {name.removeprefix(DATA): each for name, each in read_pack(path)[0].items()}
    told, proofs, chain, root = (
        json.loads(data[name])
        for name in ("evidence.json", "proofs.json", "chain.json", "root.json")
    )
    for each in proofs["events"]:
        if value is not None and each["kind"] == "output":
            each["fields"]["value"]["value"] = value
    change(told)
    every = recomputed(told, found_in(told), proofs, chain, root["parts"]["options"])
    return [(state, words) for state, words in every if state != "note"]


def test_a_verdict_follows_from_the_values_that_it_leans_on(
    graph: Connection, tmp_path: Path
) -> None:
    """Of a product one zero is enough, whatever the other 119 values are."""
    log = [n % 5 for n in range(120)]
    _, path, public = packed(
        graph, tmp_path, Chain.of(PRODUCT), log, None, question="3", reveal=("value",)
    )
    (words,) = said(path, public)
    assert "recomputed, three@3 is 0, whatever the values are that are left out" in words
    assert once_more(path, "7")[0] == (
        "FAILS",
        "verdict: the chain gives three@3 as 0; the pack states 7",
    )


def test_a_verdict_is_not_recomputed_from_values_that_are_left_out(
    graph: Connection, tmp_path: Path
) -> None:
    log = [n % 5 for n in range(120)]
    _, path, public = packed(graph, tmp_path, Chain.of(PRODUCT), log, None, question="3")
    assert said(path, public) == [
        "verdict: not recomputed, as values that it depends on are left out"
    ]


def test_a_verdict_over_slices_is_recomputed_when_the_whole_log_is_told(
    graph: Connection, tmp_path: Path
) -> None:
    rows = [{"case": "a", "x": 1}, {"case": "b", "x": 2}]
    positive: Processor = ApplyFunction("positive", "x > 0")
    chain = Chain.of(Slice("all", by=field.case, of=positive, combine="and"))
    declared = Log({"case": "text", "x": "integer"}, case="case")
    _, path, public = packed(
        graph, tmp_path, chain, rows, declared, question="1", reveal=("case", "x")
    )
    (words,) = said(path, public)
    assert words == "verdict: recomputed, all@1 is true, from the whole log"
    assert once_more(path, "false")[0][0] == "FAILS"


def test_explanation_and_other_values_are_recomputed_when_the_whole_log_is_told(
    graph: Connection, tmp_path: Path
) -> None:
    """A signer leaves out an event that explains, and invents what another value would give."""
    sums = Window("sums", n=3, of=Cumulate("sum", "add"))
    _, path, public = packed(
        graph, tmp_path, Chain.of(sums), [2, 3, 1], None, question="0", reveal=("value",)
    )
    verified = verify_pack(path, public)
    assert verified.proved
    words = [words for _, words in verified.findings]
    assert "explanation: its events are those of the chain run again" in words
    assert "other values: all 6 give the stated result, tried again" in words
    forged = once_more(path, change=lambda told: told["found"]["answer"]["inputs"][0].update(hi=1))
    assert ("FAILS", "explanation: other events explain sums@0, as run again") in forged
    forged = once_more(path, change=lambda told: told["found"]["answer"].update(support=[]))
    assert ("FAILS", "explanation: other events are enough for sums@0, as run again") in forged
    forged = once_more(path, change=lambda told: told["what_if"][0].update(result="it would be 1"))
    assert ("FAILS", "other values: log@0 as 3: it would be 7") in forged


def test_functions_that_a_chain_names_are_never_loaded(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "loaded"
    log = [n % 5 for n in range(12)]
    _, path, _ = packed(
        graph, tmp_path, Chain.of(PRODUCT), log, None, question="3", reveal=("value",)
    )
    (tmp_path / "evil.py").write_text(f"open({str(marker)!r}, 'w')\nf = int\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    data = {name.removeprefix(DATA): each for name, each in read_pack(path)[0].items()}
    told, proofs, root = (
        json.loads(data[name]) for name in ("evidence.json", "proofs.json", "root.json")
    )
    chain = {"id": "three", "apply": "evil:f(value)"}
    every = recomputed(told, found_in(told), proofs, chain, root["parts"]["options"])
    assert any("may name functions of a module" in words for _, words in every)
    assert not marker.exists()


def test_a_pack_that_takes_too_long_is_refused(
    graph: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = [n % 5 for n in range(12)]
    _, path, _ = packed(graph, tmp_path, Chain.of(PRODUCT), log, None, question="3")
    monkeypatch.setattr("whence.exporters.evidence.checking_alone.SECONDS", 0)
    ((state, words),) = recheck_alone(path)
    assert state == "FAILS"
    assert "not done within" in words
