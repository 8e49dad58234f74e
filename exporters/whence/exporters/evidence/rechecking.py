"""Hold everything that a pack shows against its facts, and the facts against each other.

A pack comes from anybody, who may have signed what they like with their own key. So all of it that
can be made again is made again, and compared. This runs in a process of its own, which ends after
a while and has only so much memory, whatever the pack asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from whence.engine.record.erasing import ERASED
from whence.engine.record.root import definition_digest, root_of
from whence.engine.values.columns import canonical
from whence.exporters.evidence.agreeing import disagreeing
from whence.exporters.evidence.deriving import (
    Found,
    derived,
    files_of,
    found_in,
    json_bytes,
    prov_files,
)
from whence.exporters.evidence.recomputing import recomputed
from whence.exporters.evidence.reporting import reporting
from whence.exporters.evidence.sections import NOT
from whence.exporters.evidence.verify import BAG, strict_json
from whence.exporters.evidence.wording import (
    IMPORTED,
    answer_in_words,
    coverage_in_words,
    redaction_in_words,
    validation_in_words,
)
from whence.exporters.recorded import json_text
from whence.store.questions import Why

__all__ = ["FAILS", "HOLDS", "NOTE", "OPEN", "State", "recheck"]

State = tuple[str, str]
"""A state, one of the following words, and what it is about, in words."""
HOLDS, FAILS, NOTE, OPEN = "holds", "FAILS", "note", "open"

_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)


def recheck(files: Mapping[str, bytes]) -> list[State]:
    """Everything that can be made again of a pack whose digests hold."""
    data = {name.removeprefix(f"{BAG}data/"): each for name, each in files.items()}
    try:
        read = {name: strict_json(data[name]) for name in _READ}
        told = read["evidence.json"]
        found = found_in(told)
    except _DAMAGE as error:
        return [(FAILS, f"facts: they cannot be read: {type(error).__name__}: {error}")]
    states: list[State] = []
    for name in ("evidence.json", "proofs.json", "root.json"):
        if json_bytes(read[name]) != data[name]:
            states.append((FAILS, f"facts: {name} is not written as packs write it"))
    stages: dict[str, Callable[[], Iterator[State]]] = {
        "facts": lambda: _facts(
            told, found, read["proofs.json"], read["root.json"]["parts"], read["chain.json"]
        ),
        "derived": lambda: _derived(told, data),
        "chain": lambda: _chain(told, found, read["chain.json"]),
        "root": lambda: _root(told, read["root.json"], read["chain.json"]),
        "verdict": lambda: recomputed(
            told,
            found,
            read["proofs.json"],
            read["chain.json"],
            read["root.json"]["parts"]["options"],
        ),
    }
    for name, stage in stages.items():
        try:
            states += list(stage())
        except _DAMAGE as error:
            states.append((FAILS, f"{name}: {type(error).__name__}: {error}"))
    return states


_READ = ("evidence.json", "proofs.json", "chain.json", "root.json")


def _facts(
    told: Mapping[str, Any],
    found: Found,
    proofs: Mapping[str, Any],
    parts: Mapping[str, Any],
    chain: Any,
) -> Iterator[State]:
    """The words follow from what was found, and what was found is what is proved."""
    scope, answer, run = told["scope"], found.answer, found.run
    known = {log.name: log for log in run.logs}
    logs = [
        (each["name"], each["id"], each["count"], each["digest"], each["source"])
        for each in scope["logs"]
    ]
    cited = {(each["log"], each["position"]): each["fields"] for each in told["events"]}
    own = reporting(run, told["metadata"], told["reconciliation"], scope)
    statements = told["validation"]["files"]["prov.json"]["statements"]
    redaction = told["redaction"]
    trees = {each["place"]: each["count"] for each in told["merkle"]["trees"]}
    said = {
        "the answer in words is another than what was found": told["answer"]["words"]
        == answer_in_words(told["question"], answer, told.get("erasure")),
        "the run of the answer is another": answer.run == run.id == scope["run"],
        "the question is another than what was found": _asked(told, answer),
        "the events are others than what was found": cited == _cited(answer, told)
        and len(cited) == len(told["events"]) == told["answer"]["count"],
        "the logs are others than those of the run": logs
        == [(n, x.id, x.count, x.digest, x.source) for n, x in known.items()],
        "the chain's digest is another than the run's": scope["chain_digest"] == run.chain_digest,
        "the trees are not of these logs": all(
            trees.get(f"log/{each['id']}") == each["count"] for each in scope["logs"]
        ),
        "the counts are not of these logs": {
            (each["log"], each["count"]) for each in told["reconciliation"]
        }
        == {(each["name"], each["count"]) for each in scope["logs"]},
        "the coverage is another": {
            **_plain(asdict(answer.coverage)),
            "words": coverage_in_words(answer.coverage),
        }
        == told["coverage"],
        "the words about omitted values do not fit them": redaction["words"]
        == redaction_in_words(redaction["reveal"], redaction["subject"]),
        "the words about PROV are others": told["validation"]["words"]
        == validation_in_words(statements),
        "the words about what the pack is not are others": told["not"] == NOT,
        "the files are not those of these facts": told["files"] == files_of(told),
        **{f"the {name} is not of this run": told[name] == each for name, each in own.items()},
    }
    wrong = [words for words, holds in said.items() if not holds]
    wrong += _output(answer, proofs["events"])
    wrong += disagreeing(told, found, proofs["events"], parts, chain)
    yield from ((FAILS, f"facts: {words}") for words in wrong)
    if not wrong:
        yield HOLDS, "facts: words, events, scope and figures follow from what was found"


def _plain(told: Mapping[str, Any]) -> Any:
    """As JSON has it."""
    return strict_json(json_bytes(told))


def _asked(told: Mapping[str, Any], answer: object) -> bool:
    question = str(told["question"])
    if isinstance(answer, Why):
        return question == f"explain {answer.output.label}"
    if "erasure" in told:
        return question == f"erasure {told['erasure']['id']}"
    return question.startswith("case ")


def _cited(answer: object, told: Mapping[str, Any]) -> dict[tuple[str, int], Any]:
    """The events that an answer rests on, with the fields that matter."""
    most = len(told["events"])
    ranges: list[tuple[str, int, int, Any]] = []
    if isinstance(answer, Why):
        ranges = [(e.log, e.lo, e.hi, e.fields) for e in answer.inputs]
    else:
        shares = getattr(answer, "inputs", ())
        ranges = [(share.log, lo, hi, None) for share in shares for lo, hi in share.ranges]
    if sum(hi - lo + 1 for _, lo, hi, _ in ranges) > most:
        return {}
    return {
        (log, at): None if fields is None else list(fields)
        for log, lo, hi, fields in ranges
        for at in range(lo, hi + 1)
    }


def _output(answer: object, proofs: list[dict[str, Any]]) -> Iterator[str]:
    """The output that is shown is the one that is proved, with its value."""
    shown = [each for each in proofs if each["kind"] == "output"]
    if not isinstance(answer, Why):
        if shown:
            yield "an output is proved that the question does not name"
        return
    output = answer.output
    if [(each["name"], each["position"]) for each in shown] != [(output.name, output.position)]:
        yield "the proved output is not the one that the question names"
        return
    (proof,) = shown
    if "leaf" in proof:
        if output.kind != ERASED:
            yield f"the value of {output.label} is stated, but it was erased"
        return
    proved = str(proof["fields"]["value"]["value"])
    if not _is_value(output.value, output.kind, proved):
        yield f"{output.label} is proved to be {proved[:60]}, but the pack states something else"


_CUT = 1000
"""The graph keeps the beginning of long values only, and no less than this."""


def _is_value(value: Any, kind: str | None, proved: str) -> bool:
    if kind == "missing":
        return proved == "null"
    if kind is None and isinstance(value, str) and len(value) >= _CUT:
        return proved.startswith(canonical(value[: _CUT - 1])[:-1])
    if kind is None:
        return canonical(value) == proved
    text = str(value)
    return text == proved or (len(text) >= _CUT and proved.startswith(text[:_CUT]))


def _derived(told: Mapping[str, Any], data: Mapping[str, bytes]) -> Iterator[State]:
    """Every file that is made from the facts is made again, and is the same."""
    made = {**derived(told), **prov_files(told)}
    wrong = [name for name, each in made.items() if data.get(name) != each]
    elsewhere = told["made"]["reportlab"]
    if wrong == ["report.pdf"] and elsewhere != version("reportlab"):
        wrong = []
        yield (
            OPEN,
            f"derived: report.pdf was drawn by reportlab {elsewhere}, and here is "
            f"{version('reportlab')}: it was not compared; read report.html",
        )
    for name in wrong:
        yield FAILS, f"derived: {name} is not what evidence.json says"
    script = Path(__file__).with_name("verify.py").read_bytes()
    if data["verify.py"] != script:
        if told["made"]["whence"] == version("whence"):
            yield FAILS, "derived: verify.py is not the one of this version of Whence"
        else:
            yield NOTE, f"derived: verify.py is of whence {told['made']['whence']}; not compared"
    if not wrong:
        yield HOLDS, f"derived: {len(made)} files are what evidence.json says, byte for byte"


def _chain(told: Mapping[str, Any], found: Found, chain: Any) -> Iterator[State]:
    """The software that computed the answer is that of the run."""
    stated = told["scope"]["chain_digest"]
    is_job = not isinstance(chain, dict) or "job" in chain  # which is no chain, and has no such
    if not is_job and definition_digest(chain) != stated:
        yield FAILS, f"chain: chain.json is not the chain of the run, {stated}"
    elif found.run.chain != json_text(chain):
        yield FAILS, "chain: chain.json is another than the one that PROV has"
    else:
        yield HOLDS, f"chain: chain.json is the chain of the run, {stated}"


def _root(told: Mapping[str, Any], root: Mapping[str, Any], chain: Any) -> Iterator[State]:
    """What was committed when the run ended is about this run, chain and logs."""
    parts, scope = root["parts"], told["scope"]
    logs = [(each["name"], each["id"], each["events"], each["digest"]) for each in parts["logs"]]
    outputs = {each["name"]: each["events"] for each in parts["streams"]}
    trees = {each["place"]: each["count"] for each in told["merkle"]["trees"]}
    prefix = f"run/{scope['run']}/"
    said = {
        "another run": parts["run"] == scope["run"] and parts["ended"] == scope["ended"],
        "another chain": parts["chain"] == scope["chain_digest"]
        and parts["definition"] == definition_digest(chain),
        "other logs": logs
        == [(x["name"], x["id"], x["count"], x["digest"]) for x in scope["logs"]],
        "other outputs": all(
            outputs.get(place.removeprefix(prefix)) == count
            for place, count in trees.items()
            if place.startswith(prefix)
        ),
    }
    wrong = [words for words, holds in said.items() if not holds]
    yield from ((FAILS, f"root: it covers {words}") for words in wrong)
    if not wrong:
        yield HOLDS, f"root: {root_of(parts)} covers this run, its chain, logs and outputs"
    if parts.get("imported"):
        yield NOTE, f"origin: {IMPORTED}"
