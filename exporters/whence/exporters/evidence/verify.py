"""Check an evidence pack with nothing but Python: ``python3 verify.py PACK.zip``.

It checks the structure, all digests, that the attestation speaks of this very pack, the proofs
that the events shown are events of the run, the counts, that ``evidence.json`` names every file,
and that the archive holds nothing else. What it leaves to ``whence evidence verify``, it prints.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["ATTESTATION", "BAG", "DERIVED_SINCE", "FORMAT", "TOKEN", "Finding", "PackError"]
__all__ += ["archive", "check", "field_digest", "leaf_digest", "node_digest", "read_pack"]
__all__ += ["one_line", "root_from", "strict_json"]

FORMAT = 3
DERIVED_SINCE = 3
"""The format since which all that a pack shows can be made again from ``evidence.json``."""
BAG = "pack/"
ATTESTATION = "attestation.dsse.json"
TOKEN = "attestation.tsr"
"""A time that a server vouches for, if one was asked."""
NOT_CHECKED = (
    "not checked here: who signed it; whether report, tables, picture and PROV say what "
    "evidence.json says; whether the verdict follows from the values; root.json; the time. "
    "For all that: whence evidence verify PACK.zip --key KEY.pub"
)
MOST_BYTES = 64 << 20
MOST_FILES = 1000

_DAMAGE = (
    *(KeyError, TypeError, ValueError, AttributeError),
    *(OverflowError, RecursionError, csv.Error),
)
"""What may happen where a file is not as it was written."""

Finding = tuple[bool, str]
"""Whether something holds, and what, in words."""


class PackError(Exception):
    """A file that is no evidence pack, or one that is not safe to look into; one line."""


def field_digest(salt: bytes, name: str, value: str) -> bytes:
    """What stands for one field of an event: without its salt it tells nothing."""
    return hashlib.sha256(b"\x02" + salt + name.encode() + b"\0" + value.encode()).digest()


def leaf_digest(place: str, position: int, fields: bytes) -> bytes:
    """What stands for an event: the digests of its fields, in the order of their names."""
    head = f"{place}\0{position}\0".encode()
    return hashlib.sha256(b"\x00" + head + fields).digest()


def node_digest(left: bytes, right: bytes) -> bytes:
    """What stands for two branches of a tree."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_from(leaf: bytes, index: int, count: int, path: Sequence[bytes]) -> bytes | None:
    """The root to which a path leads from a leaf (RFC 9162, 2.1.3.2); none if it cannot."""
    first, last, found = index, count - 1, leaf
    if not 0 <= index < count:
        return None
    for each in path:
        if last == 0:
            return None
        if first & 1 or first == last:
            found = node_digest(each, found)
            while not first & 1 and first:
                first, last = first >> 1, last >> 1
        else:
            found = node_digest(found, each)
        first, last = first >> 1, last >> 1
    return found if last == 0 else None


def archive(files: Mapping[str, bytes]) -> bytes:
    """The one zip of these files: in order, stored as they are, of a fixed date."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as zipped:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            zipped.writestr(entry, files[name])
    return made.getvalue()


def read_pack(path: Path) -> tuple[dict[str, bytes], bytes]:
    """The files of a pack, and the bytes of its archive.

    Raises:
        PackError: it is none, or looking into it is not safe.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise _refused(path, f"at most {MOST_BYTES >> 20} MB", f"{path.stat().st_size:,} bytes")
        whole = path.read_bytes()
        zipped = zipfile.ZipFile(io.BytesIO(whole))
    except OSError as error:
        raise _refused(path, "a file that can be read", error.strerror or str(error)) from error
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _refused(path, "a zip archive", f"{error}") from error
    with zipped:
        entries = zipped.infolist()
        if len(entries) > MOST_FILES:
            raise _refused(path, f"at most {MOST_FILES} files", f"{len(entries):,}")
        files: dict[str, bytes] = {}
        room = len(whole)
        for entry in entries:
            _check_entry(path, entry, files)
            room -= entry.file_size
            if room < 0:  # entries that share their bytes could grow without bound
                raise _refused(path, "files beside each other", "some that lie over each other")
            try:
                files[entry.filename] = zipped.read(entry)
            except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError) as error:
                raise _refused(path, f"{entry.filename!r} whole", f"damage: {error}") from error
    return files, whole


def _check_entry(path: Path, entry: zipfile.ZipInfo, files: Mapping[str, bytes]) -> None:
    name = entry.filename
    parts = name.split("/")
    inside = name in (ATTESTATION, TOKEN) or (name.startswith(BAG) and all(parts))
    if not inside or ".." in parts or "." in parts or "\\" in name or "\0" in name:
        raise _refused(path, f"names in {BAG} and {ATTESTATION}", f"{name!r}")
    if name in files:
        raise _refused(path, "every name once", f"{name!r} twice")
    if not name.isascii() or name.lower() in {other.lower() for other in files}:
        raise _refused(path, "plain names that differ by more than case", f"{name!r}")
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise _refused(path, "files that are stored as they are", f"{name!r} compressed")
    if entry.file_size > MOST_BYTES:
        raise _refused(path, f"at most {MOST_BYTES >> 20} MB", f"{name!r} of {entry.file_size:,}")


def _refused(path: Path, expected: str, got: str) -> PackError:
    got = " ".join(got.split())
    return PackError(f"{path.name}: expected {expected}; got {got}; try the pack as it was made")


def check(files: Mapping[str, bytes], whole: bytes) -> Iterator[Finding]:
    """Check what can be checked with the standard library.

    Raises:
        PackError: the pack is of a newer version than this, or too damaged to go on.
    """
    told = _json(files, f"{BAG}data/evidence.json")
    format = told.get("format")
    if not isinstance(format, int) or format > FORMAT:
        msg = (
            f"{BAG}data/evidence.json: expected a pack of format {FORMAT}; got {format!r}; "
            "try a newer version of Whence"
        )
        raise PackError(msg)
    yield from _digests(files)
    stages = {"attestation": _attested, "proofs": _proofs, "counts": _counts}
    if format >= DERIVED_SINCE:
        stages = {"files": _accounted, **stages}
    for name, stage in stages.items():
        try:
            yield from list(stage(files, told))
        except PackError as error:
            yield False, f"{name}: {error}"
        except _DAMAGE as error:
            yield False, f"{name}: they cannot be read: {type(error).__name__}: {error}"
    yield from _canonical(files, whole)


def strict_json(data: bytes | str) -> Any:
    """JSON of which every reader makes the same, or a ValueError: no name twice, no NaN."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else _no("a name occurs twice")

    def number(text: str) -> float:
        found = float(text)
        return found if found - found == 0 else _no(f"{text} is no number of JSON")

    text = data if isinstance(data, str) else data.decode()
    return json.loads(text, object_pairs_hook=once, parse_float=number, parse_constant=number)


def _no(words: str) -> Any:
    raise ValueError(words)


def _json(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    try:
        found = strict_json(files[name])
        if isinstance(found, dict):
            return found
        got = "something else"
    except KeyError:
        got = "none"
    except (ValueError, RecursionError) as error:
        got = f"damage: {error}"
    msg = f"{name}: expected this file in the pack, a JSON object; got {got}; try it as it was made"
    raise PackError(msg)


def _digests(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Every file is listed, and is what is listed."""
    wrong = []
    tags = {f"{BAG}{name}" for name in ("bagit.txt", "bag-info.txt", "manifest-sha256.txt")}
    own = f"{BAG}tagmanifest-sha256.txt"
    listed = {**_listed(files, f"{BAG}manifest-sha256.txt"), **_listed(files, own)}
    for name in sorted(set(files) - {ATTESTATION, TOKEN, own} | set(listed) | tags):
        if name not in files:
            wrong.append(f"{name} is missing")
        elif name not in listed:
            wrong.append(f"{name} is in no manifest")
        elif hashlib.sha256(files[name]).hexdigest() != listed[name]:
            wrong.append(f"{name} was changed")
    yield from ((False, f"digests: {each}") for each in wrong)
    if not wrong:
        yield True, f"digests: all {len(listed)} files are what the manifests list"


def _accounted(files: Mapping[str, bytes], told: Mapping[str, Any]) -> Iterator[Finding]:
    """Nothing is in the pack that the facts do not name, and all that they name is."""
    tags = ("bagit.txt", "bag-info.txt", "manifest-sha256.txt", "tagmanifest-sha256.txt")
    named = [str(each) for each in told["files"]]
    known = {*(BAG + name for name in tags), *(f"{BAG}data/{name}" for name in named)}
    there = set(files) - {ATTESTATION, TOKEN}
    for name in sorted(there ^ known):
        yield False, f"files: {name} is " + ("not of evidence.json" if name in there else "missing")
    if there == known:
        yield True, f"files: evidence.json accounts for all {len(named)}"


def _listed(files: Mapping[str, bytes], manifest: str) -> dict[str, str]:
    lines = files.get(manifest, b"").decode("utf-8", "replace").splitlines()
    return {BAG + name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _attested(files: Mapping[str, bytes], told: Mapping[str, Any]) -> Iterator[Finding]:
    """The attestation speaks of this very pack."""
    envelope = _json(files, ATTESTATION)
    try:
        statement = strict_json(base64.b64decode(envelope["payload"], validate=True))
        signatures = len(envelope["signatures"])
        subjects = {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        yield False, f"attestation: {ATTESTATION} cannot be read: {error}"
        return
    for name in ("manifest-sha256.txt", "tagmanifest-sha256.txt"):
        digest = hashlib.sha256(files.get(BAG + name, b"")).hexdigest()
        if subjects.get(name) != digest:
            yield False, f"attestation: it does not match {BAG}{name}"
    if signatures != 1:
        yield False, f"attestation: expected one signature; got {signatures or 'none'}"
    if subjects.get("merkle-root") != told["merkle"]["root"]:
        yield False, "attestation: it names another Merkle root"
    elif set(subjects) != {"manifest-sha256.txt", "tagmanifest-sha256.txt", "merkle-root"}:
        yield False, "attestation: it names something else as well"
    else:
        yield True, "attestation: it matches this pack"


def _proofs(files: Mapping[str, bytes], told: Mapping[str, Any]) -> Iterator[Finding]:
    """Every event that is shown is one of the run's events, with the values that are shown."""
    merkle = told["merkle"]
    trees = {each["place"]: each for each in merkle["trees"]}
    leaves = [
        leaf_digest(each["place"], each["count"], bytes.fromhex(each["root"]))
        for each in merkle["trees"]
    ]
    wrong = 0
    if _root(leaves).hex() != merkle["root"]:
        wrong += 1
        yield False, "proofs: the trees do not make the Merkle root"
    proofs = _json(files, f"{BAG}data/proofs.json")["events"]
    for proof in proofs:
        named = f"{proof['name']}@{proof['position']}"
        tree = trees.get(proof["place"], {"count": 0, "root": ""})
        path = [bytes.fromhex(each) for each in proof["path"]]
        root = root_from(_leaf(proof), proof["index"], tree["count"], path)
        if root is None or root.hex() != tree["root"]:
            wrong += 1
            yield False, f"proofs: {named} is not shown to be an event of the run"
        elif proof["place"] != _place(proof, told["scope"]):
            wrong += 1
            yield False, f"proofs: {named} is shown to be an event of {proof['place']} instead"
        elif "leaf" in proof and proof["index"] != proof["position"]:
            # The fields are gone, and with them what binds the position; but events are in order.
            wrong += 1
            yield False, f"proofs: {named} was erased; what is shown was at {proof['index']:,}"
    if not wrong:
        yield True, f"proofs: all {len(proofs)} events shown are events of the run"


def _place(proof: Mapping[str, Any], scope: Mapping[str, Any]) -> str:
    """What an event's log or output is called in trees."""
    if proof["kind"] == "output":
        return f"run/{scope['run']}/{proof['name']}"
    return "log/" + next((log["id"] for log in scope["logs"] if log["name"] == proof["name"]), "?")


def _leaf(proof: Mapping[str, Any]) -> bytes:
    """What stands for an event; of one that was erased no more is known."""
    if "leaf" in proof:
        return bytes.fromhex(proof["leaf"])
    digests = b"".join(
        field_digest(bytes.fromhex(field["salt"]), name, field["value"])
        if "value" in field
        else bytes.fromhex(field["digest"])
        for name, field in sorted(proof["fields"].items())
    )
    return leaf_digest(proof["place"], proof["position"], digests)


def _root(leaves: Sequence[bytes]) -> bytes:
    level = list(leaves) or [hashlib.sha256(b"").digest()]
    while len(level) > 1:
        pairs = [node_digest(*level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(level) // 2 * 2 :]
    return level[0]


def _counts(files: Mapping[str, bytes], told: Mapping[str, Any]) -> Iterator[Finding]:
    """The counts reconcile, and the events of the answer are those that are proved."""
    wrong = 0
    for each in told["reconciliation"]:
        parts = ("explained", "support_only", "open", "never_matters")
        if sum(each[word] for word in parts) != each["count"]:
            wrong += 1
            yield False, f"counts: those of {each['log']} do not add up to {each['count']:,}"
    proofs = _json(files, f"{BAG}data/proofs.json")["events"]
    proved = {(each["name"], each["position"]): each for each in proofs if each["kind"] == "input"}
    text = files.get(f"{BAG}data/events.csv", b"").decode("utf-8", "replace")
    rows = list(csv.DictReader(io.StringIO(text)))
    listed = {(row["log"], int(row["position"])): row for row in rows}
    if listed.keys() != proved.keys() or not len(listed) == len(rows) == told["answer"]["count"]:
        wrong += 1
        yield False, "counts: the events of the answer, of events.csv and of proofs.json differ"
    for at in sorted(listed.keys() & proved.keys()):
        if not _same(listed[at], proved[at]):
            wrong += 1
            yield False, f"counts: events.csv says of {at[0]}@{at[1]} what is not proved"
    if not wrong:
        yield True, f"counts: they reconcile; {len(listed)} events in the answer, each with proof"


def _same(row: Mapping[str, str], proof: Mapping[str, Any]) -> bool:
    """Whether a row says of an event what its proof does."""
    fields = proof.get("fields", {}).items()
    shown = {name: field["value"] for name, field in fields if "value" in field}
    values = strict_json(row["values"] or "{}")
    # Packs have had values as text that is JSON, too.
    same = values in (shown, {name: strict_json(value) for name, value in shown.items()})
    return same and row["reference"] == _leaf(proof).hex()


def _canonical(files: Mapping[str, bytes], whole: bytes) -> Iterator[Finding]:
    """The archive is the one that these files make, and nothing is hidden between them."""
    made = archive(files)
    if made == whole:
        yield True, "archive: it contains only these files"
        return
    pairs = zip(made, whole, strict=False)
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(made), len(whole)))
    yield False, f"archive: something outside the files was changed, at byte {at:,}"


def one_line(words: object) -> str:
    """One line for a terminal: what a pack holds neither steers it nor begins a line of its own."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(words))


def main(arguments: Sequence[str]) -> int:
    """Check one pack and say in words what holds."""
    if len(arguments) != 1:
        print("usage: python3 verify.py PACK.zip", file=sys.stderr)
        return 2
    try:
        found = list(check(*read_pack(Path(arguments[0]))))
    except PackError as error:
        print(f"verify: {one_line(error)}", file=sys.stderr)
        return 1
    print(NOT_CHECKED)
    for holds, words in found:
        print(f"{'holds' if holds else 'FAILS'}  {one_line(words)}")
    return 0 if all(holds for holds, _ in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
