"""Whoever owns the signer's key can sign anything; what does not follow is refused all the same."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.exporters._support.recorded_runs import product_run
from tests.exporters.evidence._support.judged_run import Made, failures, made_in
from tests.exporters.evidence._support.resigned_packs import DATA, resigned
from whence.cli.app import app
from whence.exporters.evidence import verify_pack
from whence.exporters.evidence.committing import commit_run, committed_of
from whence.exporters.evidence.deriving import derived, found_in, json_bytes, prov_files
from whence.exporters.evidence.rechecking import FAILS, recheck
from whence.exporters.evidence.verify import ATTESTATION, archive, read_pack
from whence.exporters.evidence.wording import answer_in_words
from whence.store import connect
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

Change = Callable[[dict[str, bytes]], dict[str, bytes | None]]


@pytest.fixture(scope="module")
def made(neo4j_server: Status, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    with connect(neo4j_server.settings()) as graph:
        yield made_in(tmp_path_factory.mktemp("resigned"), graph)


@pytest.fixture(scope="module")
def pack(made: Made) -> Path:
    return made.pack()


@pytest.fixture(scope="module")
def other(made: Made) -> dict[str, bytes]:
    """The files of another pack of the same run, about another output."""
    return data_of(made.pack("other.zip", question="5"))


def data_of(pack: Path) -> dict[str, bytes]:
    files = read_pack(pack)[0].items()
    return {name.removeprefix(DATA): data for name, data in files if name.startswith(DATA)}


def told_of(data: dict[str, bytes]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(data["evidence.json"])
    return told


def refused(made: Made, pack: Path, folder: Path, changes: dict[str, bytes | None]) -> list[str]:
    changed = folder / "changed.zip"
    changed.write_bytes(resigned(pack, made.keys, changes))
    return failures(changed, made.keys.path.with_suffix(".pub"))


def test_a_pack_that_is_only_signed_again_holds(made: Made, pack: Path, tmp_path: Path) -> None:
    assert refused(made, pack, tmp_path, {}) == []


AGENT = {"is": "Agent", "name": "Somebody else", "kind": "Person"}


def route(told: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = told["found"]["route"]["associations"]
    return found


def one_event(told: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = told["found"]["answer"]["events"][0]
    return found


def of_run(told: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = told["found"]["run"]
    return found


def all_covered(told: dict[str, Any]) -> None:
    """As if the run had another number of outputs, wherever that is told."""
    for coverage in (told["coverage"], told["found"]["answer"]["coverage"]):
        coverage.update(outputs=9, tracked=9)


WHAT_IF = b"place,value,changes,result\nlog@0.action,another value of the log,False,the same\n"


@pytest.mark.parametrize(
    "name",
    ["report.html", "what-if.csv", "prov.json", "chain.json", "explanation.svg", "route.csv"],
)
def test_no_file_says_what_the_facts_do_not(
    made: Made, pack: Path, other: dict[str, bytes], tmp_path: Path, name: str
) -> None:
    data = data_of(pack)
    changed: dict[str, bytes] = {
        "report.html": data["report.html"].replace(b"is false.", b"is true."),
        "what-if.csv": WHAT_IF,
        "prov.json": other["prov.json"],
        "chain.json": data["chain.json"].replace(b'"approve"', b'"approved"'),
        "explanation.svg": other["explanation.svg"],
        "route.csv": other["route.csv"],
    }
    assert changed[name] != data[name]
    found = refused(made, pack, tmp_path, {name: changed[name]})
    assert any(name in words for words in found), found


def test_another_verdict_is_refused_although_everything_was_made_anew(
    made: Made, pack: Path, tmp_path: Path
) -> None:
    """With the words of the answer, then with what was found: the proof says another value."""
    told = told_of(data_of(pack))
    told["answer"]["words"] = told["answer"]["words"].replace("is false.", "is true.")
    changes = {**derived(told), "evidence.json": json_bytes(told)}
    found = refused(made, pack, tmp_path, dict(changes))
    assert "facts: the answer in words is another than what was found" in found
    told["found"]["answer"]["output"]["value"] = True
    if told["found"]["answer"]["output"]["kind"] is not None:
        told["found"]["answer"]["output"]["value"] = "true"
    changes = {**derived(told), "evidence.json": json_bytes(told)}
    found = refused(made, pack, tmp_path, dict(changes))
    assert any(
        "is proved to be false, but the pack states something else" in words for words in found
    )


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("the events are others", lambda told: told["events"][0].update(fields=["note"])),
        ("the chain's digest", lambda told: told["scope"].update(chain_digest="sha256:0")),
        ("the logs are others", lambda told: told["scope"]["logs"][0].update(source="x.csv")),
        ("the coverage", lambda told: told["coverage"].update(tracked=1)),
        (
            "the words about omitted values do not fit them",
            lambda told: told["redaction"].update(words="Nothing."),
        ),
        (
            "the words about what the pack is not",
            lambda told: told.update({"not": "This pack is a legal opinion."}),
        ),
        ("the question is another", lambda told: told.update(question="explain per-case@4")),
        ("the dictionary", lambda told: told["dictionary"][0].update(events=7)),
        ("the counts are not", lambda told: told["reconciliation"][0].update(log="x")),
        ("the route does not", lambda told: route(told).pop(0)),
        ("the route does not", lambda told: route(told).pop()),
        ("the route does not", lambda told: route(told)[0].update(lo=4, hi=4)),
        ("the route does not", lambda told: route(told).append({**route(told)[0], "to": "log:x"})),
        ("the events one by one", lambda told: told["found"]["answer"]["events"].pop()),
        ("the events one by one", lambda told: one_event(told).update(case="somebody else")),
        ("other explanations", lambda told: told["found"]["answer"].update(alternatives=[])),
        ("the gaps are not", lambda told: told["gaps"].pop(0)),
        ("the gaps are not", lambda told: told["gaps"].append("Nothing else.")),
        ("the gaps are not", lambda told: told.update(what_if=[])),
        ("the values tried", lambda told: told["what_if"][0].update(place="log@0.action")),
        ("the values tried", lambda told: told["what_if"][0].update(value='"approve"')),
        ("the values tried", lambda told: told["what_if"][0].update(changes=True)),
        ("the values tried", lambda told: told.update(what_if=told["what_if"] * 9)),
        (
            "the values in clear are not those",
            lambda told: told["redaction"].update(reveal=["note"]),
        ),
        ("the columns", lambda told: told["scope"]["logs"][0]["columns"].pop("note")),
        ("the streams, processors", lambda told: of_run(told)["processors"].pop()),
        ("the streams, processors", lambda told: of_run(told)["streams"][0].update(role="step")),
        ("the streams, processors", lambda told: of_run(told)["streams"][0].update(count=7)),
        ("the streams, processors", lambda told: of_run(told).update(facts=[])),
        ("the stated processing", lambda told: told["metadata"].update(purpose="another")),
        ("the stated processing", lambda told: of_run(told).update(agents=[AGENT])),
        ("the coverage is not", lambda told: all_covered(told)),
        ("the trees are not of these logs and", lambda told: told["merkle"]["trees"].pop()),
        ("the words about PROV", lambda told: told["validation"].update(words="valid")),
    ],
)
def test_facts_that_do_not_follow_from_what_was_found_are_named(
    made: Made, pack: Path, tmp_path: Path, words: str, change: Callable[[dict[str, Any]], None]
) -> None:
    told = told_of(data_of(pack))
    change(told)
    changes = {**derived(told), "evidence.json": json_bytes(told)}
    changed = tmp_path / "changed.zip"
    changed.write_bytes(resigned(pack, made.keys, dict(changes)))
    found = [each for state, each in recheck(read_pack(changed)[0]) if state == FAILS]
    assert any(words in each for each in found), found


def test_a_file_that_the_facts_do_not_name_is_refused(
    made: Made, pack: Path, tmp_path: Path
) -> None:
    changed = tmp_path / "more.zip"
    more = {"annex.txt": b"the result is true"}
    assert f"files: {DATA}annex.txt is not of evidence.json" in refused(
        made, pack, tmp_path, dict(more)
    )
    changed.write_bytes(resigned(pack, made.keys, more, named=True))
    assert "facts: the files are not those of these facts" in failures(changed)
    changed.write_bytes(resigned(pack, made.keys, {"route.csv": None}, named=True))
    assert "facts: the files are not those of these facts" in failures(changed)


def test_the_root_of_another_run_is_refused(made: Made, pack: Path, tmp_path: Path) -> None:
    """Neither its parts nor, beside this run's own parts, what was committed of it."""
    other = product_run(tmp_path / "record")
    commit_run(other, keys=made.keys)
    root = committed_of(other)
    found = refused(made, pack, tmp_path, {"root.json": json_bytes(root)})
    assert "root: it covers another run" in found
    own = json.loads(data_of(pack)["root.json"])
    mixed = json_bytes({**own, "commits": root["commits"]})
    found = refused(made, pack, tmp_path, {"root.json": mixed})
    (words,) = (each for each in found if each.startswith("root: "))
    assert "expected a statement about this run by this key; got another one" in words
    assert "LogError" not in words


def test_an_event_that_is_left_out_everywhere_is_missed_on_the_route(
    made: Made, pack: Path, tmp_path: Path
) -> None:
    data = data_of(pack)
    told, proofs = told_of(data), json.loads(data["proofs.json"])
    gone = told["events"].pop()["position"]
    answer = told["found"]["answer"]
    answer["inputs"].pop()
    answer["events"].pop()
    told["answer"]["count"] -= 1
    told["answer"]["words"] = answer_in_words(told["question"], found_in(told).answer)
    proofs["events"] = [
        each for each in proofs["events"] if (each["kind"], each["position"]) != ("input", gone)
    ]
    changes = {**derived(told), **prov_files(told), "evidence.json": json_bytes(told)}
    found = refused(made, pack, tmp_path, {**changes, "proofs.json": json_bytes(proofs)})
    assert "facts: the route does not lead from the output to these events" in found


def test_events_that_change_places_are_refused(made: Made, pack: Path, tmp_path: Path) -> None:
    proofs = json.loads(data_of(pack)["proofs.json"])
    one, two = (each for each in proofs["events"] if each["kind"] == "input")
    one["fields"], two["fields"] = two["fields"], one["fields"]
    found = refused(made, pack, tmp_path, {"proofs.json": json_bytes(proofs)})
    assert any("is not shown to be an event of the run" in words for words in found)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"format": 3', b'"format": 3, "format": 3', "a name occurs twice"),
        (b'"position": 1,', b'"position": NaN,', "NaN is no number"),
        (b'"position": 1,', b'"position": 1e999,', "1e999 is no number"),
        (b'"position": 1,', b'"position":  1,', "is not written as packs write it"),
    ],
)
def test_json_of_which_two_readers_make_two_things_is_refused(
    made: Made, pack: Path, tmp_path: Path, old: bytes, new: bytes, words: str
) -> None:
    data = data_of(pack)["evidence.json"]
    assert old in data
    changed = tmp_path / "changed.zip"
    try:
        changed.write_bytes(resigned(pack, made.keys, {"evidence.json": data.replace(old, new, 1)}))
    except json.JSONDecodeError:
        pytest.fail("the test itself reads it")
    assert any(words in each for each in failures(changed)), failures(changed)


def test_names_that_differ_by_case_or_stand_twice_are_refused(pack: Path, tmp_path: Path) -> None:
    files, _ = read_pack(pack)
    changed = tmp_path / "changed.zip"
    changed.write_bytes(archive({**files, f"{DATA}Report.html": b"x"}))
    assert "plain names that differ by more than case" in failures(changed)[0]
    changed.write_bytes(archive({**files, f"{DATA}r\u00e9port.html": b"x"}))
    assert "plain names that differ by more than case" in failures(changed)[0]
    changed.write_bytes(pack.read_bytes())
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(changed, "a") as zipped:
        zipped.writestr(f"{DATA}report.html", b"x")
    assert "every name once" in failures(changed)[0]


def test_entries_that_share_their_bytes_do_not_grow(pack: Path, tmp_path: Path) -> None:
    """A thousand names for the same megabytes would be gigabytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        zipped.writestr(f"{DATA}0", bytes(1 << 20))
        (first,) = zipped.infolist()
        for number in range(1, 900):
            again = zipfile.ZipInfo(f"{DATA}{number}")
            again.header_offset, again.CRC = first.header_offset, first.CRC
            again.file_size = again.compress_size = first.file_size
            zipped.filelist.append(again)
    bomb = tmp_path / "bomb.zip"
    bomb.write_bytes(made.getvalue())
    (line,) = failures(bomb)
    assert "expected" in line
    assert len(line) < 300


@pytest.mark.parametrize(
    "change",
    [
        lambda envelope: envelope.update(signatures=[]),
        lambda envelope: envelope["signatures"][0].update(alg="none"),
        lambda envelope: envelope.update(algorithm="RSA"),
        lambda envelope: envelope["signatures"].append(dict(envelope["signatures"][0])),
        lambda envelope: envelope.update(payloadType="text/plain"),
    ],
)
def test_an_envelope_of_another_form_is_refused(
    pack: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    files, _ = read_pack(pack)
    envelope = json.loads(files[ATTESTATION])
    change(envelope)
    text = json.dumps(envelope, sort_keys=True, separators=(",", ":")) + "\n"
    changed = tmp_path / "changed.zip"
    changed.write_bytes(archive({**files, ATTESTATION: text.encode()}))
    assert any(words.startswith("signature: ") for words in failures(changed))


def test_a_key_of_another_algorithm_is_refused(made: Made, pack: Path, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key

    public = generate_private_key(SECP256R1()).public_key()
    pem = public.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    found = refused(made, pack, tmp_path, {"key.pub": pem})
    assert f"signature: {DATA}key.pub is no public key" in found


def test_without_a_key_the_origin_is_not_proved_and_the_exit_code_says_so(
    made: Made, pack: Path
) -> None:
    done = CliRunner().invoke(app, ["evidence", "verify", str(pack)])
    assert done.exit_code == 3
    assert "the origin is not proved" in done.stdout.splitlines()[-1]
    public = str(made.keys.path.with_suffix(".pub"))
    assert (
        CliRunner().invoke(app, ["evidence", "verify", str(pack), "--key", public]).exit_code == 0
    )


def test_a_pack_that_says_it_is_older_is_never_proved(
    made: Made, pack: Path, tmp_path: Path
) -> None:
    """Nor one that is: what it shows cannot be made again, so that whoever signed could lie."""
    told = told_of(data_of(pack))
    old = {**told, "format": 2}
    report = data_of(pack)["report.html"].replace(b"is false.", b"is true.")
    changed = tmp_path / "old.zip"
    changed.write_bytes(
        resigned(pack, made.keys, {"evidence.json": json_bytes(old), "report.html": report})
    )
    verified = verify_pack(changed, made.keys.path.with_suffix(".pub"))
    assert (verified.holds, verified.proved) == (True, False)
    (words,) = verified.unproved
    assert "this pack is of format 2" in words
    assert "cannot be checked" in words
