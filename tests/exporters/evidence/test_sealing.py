"""Packs of every profile: sealed, the same each time, and accepted by independent readers."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bagit
import nacl.exceptions
import nacl.signing
import prov.model
import pytest

from tests.exporters.evidence._support.judged_run import CASES, PRIVATE, Made, failures, made_in
from whence.engine.what_if import what_if
from whence.exporters.evidence import PROFILES
from whence.exporters.evidence.attesting import PAYLOAD_TYPE, pae
from whence.exporters.evidence.erasing import erase, plan_case
from whence.exporters.evidence.verify import ATTESTATION, BAG, FORMAT, archive, read_pack
from whence.store import connect
from whence.store.loading import load
from whence.store.server import Status

pytestmark = pytest.mark.neo4j

WANTED: dict[str, dict[str, Any]] = {
    "gdpr-decision": {"question": "explain 3"},
    "gdpr-access": {"question": f"case {CASES['A']}"},
    "bcbs239": {"question": "3"},
    "gdpr-erasure": {"question": "erasure latest"},
}


@pytest.fixture(scope="module")
def packs(
    neo4j_server: Status, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Made, dict[str, Path]]]:
    """A pack of each profile; that of a figure has an earlier date and an adjustment by hand."""
    with connect(neo4j_server.settings()) as graph:
        made = made_in(tmp_path_factory.mktemp("sealed"), graph)
        before = made.record
        kept = what_if(before, ["log@3.action=approve"], keep=True, by="Jo Example", reason="error")
        assert kept.kept is not None
        load(before.root, kept.kept, graph)
        for profile, wanted in WANTED.items():
            wanted["run"] = kept.kept if profile == "bcbs239" else before.id
        WANTED["bcbs239"]["against"] = before.id
        found = {
            profile: made.pack(f"{profile}.zip", profile=profile, **wanted)
            for profile, wanted in WANTED.items()
            if profile != "gdpr-erasure"
        }
        erase(plan_case(before.root, CASES["B"]), "request of 1 March", graph)
        last: dict[str, Any] = {"profile": "gdpr-erasure", **WANTED["gdpr-erasure"]}
        found["gdpr-erasure"] = made.pack("gdpr-erasure.zip", **last)
        yield made, found


@pytest.fixture(params=PROFILES)
def pack(packs: tuple[Made, dict[str, Path]], request: pytest.FixtureRequest) -> Path:
    return packs[1][request.param]


def test_there_is_a_pack_of_every_profile_with_all_its_files(
    packs: tuple[Made, dict[str, Path]],
) -> None:
    _, found = packs
    assert found.keys() == PROFILES.keys()
    names = {name for path in found.values() for name in read_pack(path)[0]}
    for wanted in ("difference.csv", "adjustments.csv", "erased.csv", "what-if.csv", "route.csv"):
        assert f"{BAG}data/{wanted}" in names
    public = packs[0].keys.path.with_suffix(".pub")
    assert [failures(path, public) for path in found.values()] == [[]] * len(PROFILES)


def test_a_changed_byte_of_any_file_is_found_and_named(pack: Path, tmp_path: Path) -> None:
    files, whole = read_pack(pack)
    changed = tmp_path / "changed.zip"
    for name, data in files.items():
        at = whole.index(data) + len(data) // 2
        changed.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert any(name in words for words in failures(changed)), name
        # The same by somebody who makes a proper archive of it, at either end and between.
        for middle in (0, len(data) // 2, len(data) - 1):
            other = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
            changed.write_bytes(archive({**files, name: other}))
            found = " ".join(failures(changed))
            assert name in found or "attestation" in found or "signature" in found, name


@pytest.mark.parametrize("profile", [name for name in PROFILES if name != "gdpr-erasure"])
def test_a_pack_made_twice_differs_by_the_time_of_signing_alone(
    packs: tuple[Made, dict[str, Path]], profile: str
) -> None:
    """Of one made after an erasure the answer is another, and this is not about that."""
    made, _ = packs
    wanted: dict[str, Any] = {"profile": profile, **WANTED[profile]}
    noon = made.pack("noon.zip", **wanted)
    later = made.pack("later.zip", now=datetime(2026, 3, 2, tzinfo=UTC), **wanted)
    first, second = read_pack(noon)[0], read_pack(later)[0]
    assert first.keys() == second.keys()
    assert {name for name in first if first[name] != second[name]} == {ATTESTATION}
    assert made.pack("again.zip", **wanted).read_bytes() == noon.read_bytes()


def test_a_pack_about_an_erasure_made_twice_is_the_same(
    packs: tuple[Made, dict[str, Path]],
) -> None:
    made, found = packs
    wanted: dict[str, Any] = {"profile": "gdpr-erasure", **WANTED["gdpr-erasure"]}
    assert made.pack("again.zip", **wanted).read_bytes() == found["gdpr-erasure"].read_bytes()


def test_independent_readers_accept_it(pack: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(pack) as zipped:
        zipped.extractall(tmp_path)
    bag = bagit.Bag(str(tmp_path / "pack"))
    bag.validate()
    document = prov.model.ProvDocument.deserialize(str(tmp_path / "pack/data/prov.json"))
    assert any(bundle.get_records() for bundle in document.bundles)
    envelope = json.loads((tmp_path / ATTESTATION).read_bytes())
    payload = base64.b64decode(envelope["payload"])
    pem = (tmp_path / "pack/data/key.pub").read_text().splitlines()
    key = nacl.signing.VerifyKey(base64.b64decode("".join(pem[1:-1]))[-32:])
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    key.verify(pae(PAYLOAD_TYPE, payload), signature)
    with pytest.raises(nacl.exceptions.BadSignatureError):
        key.verify(pae(PAYLOAD_TYPE, payload + b" "), signature)
    statement = json.loads(payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    manifest = (tmp_path / "pack/manifest-sha256.txt").read_bytes()
    assert statement["subject"][0]["digest"]["sha256"] == hashlib.sha256(manifest).hexdigest()
    (tmp_path / "pack/data/prov.nq").write_bytes(b"")
    with pytest.raises(bagit.BagValidationError):
        bag.validate()


def test_prov_is_of_exactly_this_scope(packs: tuple[Made, dict[str, Path]]) -> None:
    """The events that explain the output, the output, and no other event of the run."""
    for profile, wanted in (
        ("gdpr-decision", {"log:e1", "log:e3", "per-case:e3"}),
        ("gdpr-erasure", {"log:e1", "log:e3"}),
    ):
        files = read_pack(packs[1][profile])[0]
        (bundle,) = json.loads(files[f"{BAG}data/prov.json"])["bundle"].values()
        assert {name for name in bundle["entity"] if re.search(r":e\d+$", name)} == wanted
        told = files[f"{BAG}data/prov.nq"].decode()
        assert {f"log:e{n}" for n in re.findall(r"log/[^ >]*/e(\d+)>", told)} <= wanted


def test_what_is_read_is_the_same_in_page_and_print(pack: Path) -> None:
    files = read_pack(pack)[0]
    page = files[f"{BAG}data/report.html"].decode()
    # Every line of the print is drawn as it is, so that its words are there in their order.
    drawn = re.findall(rb"\((.*?)(?<!\\)\) Tj", files[f"{BAG}data/report.pdf"], re.DOTALL)
    printed = b"".join(drawn).replace(b"\\(", b"(").replace(b"\\)", b")").replace(b"\\\\", b"\\")
    titles = re.findall(r"<h2>(.*?)</h2>", page)
    assert {"Question", "Answer", "Known gaps", "What it is not"} <= set(titles)
    for title in titles:
        assert title.encode() in printed, title
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_an_event_cannot_be_shown_as_another(pack: Path, tmp_path: Path) -> None:
    """Not even by whoever makes the pack, and the table of events with it."""
    files, changed = read_pack(pack)[0], tmp_path / "changed.zip"
    proofs, rows = f"{BAG}data/proofs.json", f"{BAG}data/events.csv"
    first = json.loads(files[proofs])["events"][0]
    at = first["position"]
    row = f"log,{at},".encode()
    assert row in files[rows]
    values: dict[str, dict[str, Any]] = {
        "is not shown to be an event of the run": {"index": at + 1},
        "is shown to be an event of log/": {"name": "other"},
        f"@{at + 1} " + ("was erased" if "leaf" in first else "is not shown"): {"position": at + 1},
    }
    for words, change in values.items():
        told = json.loads(files[proofs])
        told["events"][0] |= change
        now = f"{change.get('name', 'log')},{change.get('position', at)},".encode()
        others = {proofs: json.dumps(told).encode(), rows: files[rows].replace(row, now, 1)}
        changed.write_bytes(archive({**files, **others}))
        found = failures(changed)
        assert any(each.startswith("proofs: ") and words in each for each in found), (words, found)


def test_words_and_numbers_of_tables_stay_whole_on_the_page(pack: Path) -> None:
    """Digests may be broken anywhere; a column's name or a position may not."""
    page = read_pack(pack)[0][f"{BAG}data/report.html"].decode()
    cells = re.findall(r"<t[dh]( class=\"long\")?>(.*?)</t[dh]>", page)
    assert cells
    for long, text in cells:
        widest = max((len(word) for word in html.unescape(text).split()), default=0)
        assert bool(long) == (widest > 24), text


def test_the_table_of_events_says_what_is_proved(pack: Path, tmp_path: Path) -> None:
    files, changed = read_pack(pack)[0], tmp_path / "changed.zip"
    rows = f"{BAG}data/events.csv"
    table = list(csv.reader(io.StringIO(files[rows].decode())))
    for column, other in ((3, '{"action": "other"}'), (4, "0" * 64)):
        made = io.StringIO()
        said = [*table[1][:column], other, *table[1][column + 1 :]]
        csv.writer(made, lineterminator="\n").writerows([table[0], said, *table[2:]])
        changed.write_bytes(archive({**files, rows: made.getvalue().encode()}))
        at = f"log@{table[1][1]}"
        assert f"counts: events.csv says of {at} what is not proved" in failures(changed)


def script_of(pack: Path, folder: Path) -> Path:
    script = folder / "verify.py"
    script.write_bytes(read_pack(pack)[0][f"{BAG}data/verify.py"])
    return script


def checked_alone(script: Path, pack: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-I", "-S", str(script), str(pack)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_the_script_in_the_pack_prints_nothing_that_steers_a_terminal(
    pack: Path, tmp_path: Path
) -> None:
    """Names of events and of files come from the pack, and whoever changed it chose them."""
    script, changed = script_of(pack, tmp_path), tmp_path / "changed.zip"
    files = read_pack(pack)[0]
    odd = "log\x1b]0;owned\x07\nholds  proofs: all is well\u202e\x9b2J"
    proofs = json.loads(files[f"{BAG}data/proofs.json"])
    for event in proofs["events"]:
        event["name"] = odd
    told = json.loads(files[f"{BAG}data/evidence.json"])
    told["files"] = [*told["files"], odd]
    counted = {**told, "format": odd}
    for text in (told, counted):
        spoiled = {
            **files,
            f"{BAG}data/proofs.json": json.dumps(proofs).encode(),
            f"{BAG}data/evidence.json": json.dumps(text).encode(),
        }
        changed.write_bytes(archive(spoiled))
        done = checked_alone(script, changed)
        assert done.returncode == 1
        said = done.stdout + done.stderr
        assert "\\x1b]0;owned\\x07\\nholds" in said
        for line in said.splitlines():
            assert line.isprintable()
            assert not line.startswith("holds  proofs: all is well")


def test_the_script_in_the_pack_needs_nothing_but_python(pack: Path, tmp_path: Path) -> None:
    script = script_of(pack, tmp_path)
    files, whole = read_pack(pack)
    done = checked_alone(script, pack)
    assert (done.returncode, done.stderr) == (0, "")
    assert "FAILS" not in done.stdout
    changed = tmp_path / "changed.zip"
    told = json.loads(files[f"{BAG}data/proofs.json"])
    told["events"][0]["position"] += 1
    files[f"{BAG}data/proofs.json"] = json.dumps(told).encode()
    changed.write_bytes(archive(files))
    done = checked_alone(script, changed)
    assert done.returncode == 1
    assert "FAILS  proofs: " in done.stdout
    changed.write_bytes(whole[:50])
    assert checked_alone(script, changed).returncode == 1
    assert "Traceback" not in checked_alone(script, changed).stderr


def test_the_script_says_first_what_it_does_not_check_and_wants_a_signature(
    packs: tuple[Made, dict[str, Path]], tmp_path: Path
) -> None:
    pack = packs[1]["gdpr-decision"]
    script, changed = script_of(pack, tmp_path), tmp_path / "changed.zip"
    assert checked_alone(script, pack).stdout.startswith("not checked here: who signed it")
    files, _ = read_pack(pack)
    unsigned = {**json.loads(files[ATTESTATION]), "signatures": []}
    changed.write_bytes(archive({**files, ATTESTATION: json.dumps(unsigned).encode()}))
    done = checked_alone(script, changed)
    assert done.returncode == 1
    assert "FAILS  attestation: expected one signature; got none" in done.stdout


def test_the_script_refuses_what_is_no_pack_in_one_line(
    packs: tuple[Made, dict[str, Path]], tmp_path: Path
) -> None:
    pack = packs[1]["gdpr-decision"]
    script, bad = script_of(pack, tmp_path), tmp_path / "bad.zip"
    files, _ = read_pack(pack)
    newer = json.loads(files[f"{BAG}data/evidence.json"]) | {"format": FORMAT + 1}
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr(f"{BAG}data/bomb", b"\0" * (200 << 20))
    for data, words in (
        (archive({**files, "../outside": b"x"}), "expected names in pack/"),
        (bomb.read_bytes(), "compressed"),
        (
            archive({**files, f"{BAG}data/evidence.json": json.dumps(newer).encode()}),
            "try a newer version of Whence",
        ),
        (b"no zip", "expected a zip archive"),
    ):
        bad.write_bytes(data)
        done = checked_alone(script, bad)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert words in line
    assert not (tmp_path.parent / "outside").exists()


OFFLINE = """
import socket, sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("neo4j", "pyspark", "py4j"):
            raise ModuleNotFoundError(name)
        return None

def refused(*_):
    raise OSError("no network here")

sys.meta_path.insert(0, Blocker())
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
from whence.cli import main
sys.argv[:] = ["whence", *sys.argv[1:]]
main()
"""


def test_verify_needs_neither_neo4j_nor_spark_nor_a_network(
    packs: tuple[Made, dict[str, Path]],
) -> None:
    public = packs[0].keys.path.with_suffix(".pub")
    pack = packs[1]["bcbs239"]
    words = ["evidence", "verify", str(pack), "--key", str(public)]
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ": verified" in done.stdout


def test_nothing_private_is_in_a_pack_unless_it_is_asked_for(
    packs: tuple[Made, dict[str, Path]],
) -> None:
    _, found = packs
    for profile in ("gdpr-decision", "bcbs239", "gdpr-erasure"):
        assert not any(each in found[profile].read_bytes() for each in PRIVATE), profile
    access = found["gdpr-access"].read_bytes()
    assert CASES["A"].encode() in access
    assert CASES["B"].encode() not in access
