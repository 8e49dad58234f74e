"""A time is proved by a token of a server that is trusted, and by nothing else."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.x509 import ObjectIdentifier
from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.exporters.evidence._support.judged_run import made_in
from tests.exporters.evidence._support.time_server import TimeServer, time_server
from whence.api import run
from whence.engine import ApplyFunction, Chain
from whence.engine.errors import EvidenceError, ParameterError
from whence.engine.record.root import read_commits
from whence.exporters.evidence import timestamping, verify_pack
from whence.exporters.evidence.committing import commit_run
from whence.exporters.evidence.timestamping import check_token, stamped, time_of
from whence.exporters.evidence.verify import TOKEN, archive, read_pack
from whence.store import Connection

DATA = b"a statement"


@pytest.fixture(autouse=True)
def no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_KEY", "none")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TimeServer]:
    with time_server(tmp_path) as server:
        yield server


def test_a_token_covers_its_statement_and_is_traced_to_a_certificate(
    server: TimeServer, tmp_path: Path
) -> None:
    token = stamped(DATA, server.url)
    assert DATA not in server.asked[0]  # its digest alone is sent
    when = check_token(token, DATA, server.certificates)
    assert when == time_of(token, DATA)
    with pytest.raises(EvidenceError, match="expected a token over this statement"):
        check_token(token, DATA + b"!", server.certificates)
    with pytest.raises(EvidenceError, match="got one over another"):
        time_of(token, DATA + b"!")
    (tmp_path / "other").mkdir()
    with (
        time_server(tmp_path / "other") as other,
        pytest.raises(EvidenceError, match="expected a token over this statement that holds"),
    ):
        check_token(token, DATA, other.certificates)
    at = len(token) - 20
    with pytest.raises(EvidenceError):
        check_token(
            token[:at] + bytes([token[at] ^ 1]) + token[at + 1 :], DATA, server.certificates
        )
    with pytest.raises(ParameterError, match="expected certificates in PEM"):
        check_token(token, DATA, tmp_path / "none.pem")


@pytest.mark.parametrize(
    ("days", "purpose"),
    [
        ((-5, -2), ExtendedKeyUsageOID.TIME_STAMPING),
        ((2, 5), ExtendedKeyUsageOID.TIME_STAMPING),
        ((-1, 1), ExtendedKeyUsageOID.SERVER_AUTH),
    ],
)
def test_a_certificate_that_is_not_valid_then_or_for_something_else_proves_no_time(
    tmp_path: Path, days: tuple[int, int], purpose: ObjectIdentifier
) -> None:
    with time_server(tmp_path, days, purpose) as server:
        token = stamped(DATA, server.url)
        with pytest.raises(EvidenceError, match="that holds; got Error while verifying") as error:
            check_token(token, DATA, server.certificates)
        assert len(str(error.value)) < 250


def test_what_a_server_should_not_answer_is_refused_in_one_line(server: TimeServer) -> None:
    whole = server.reply
    early = stamped(DATA, server.url)
    for reply, words in (
        (lambda _: b"", "expected a token of RFC 3161"),
        (lambda _: b"\x30\x80" * 1000, "expected a token of RFC 3161"),
        (lambda _: bytes(1 << 20), "at most 65,536 bytes"),
        (lambda _: early, "expected the answer to this very request"),
    ):
        server.reply = reply
        with pytest.raises(EvidenceError, match=words) as error:
            stamped(DATA, server.url)
        assert len(str(error.value).splitlines()) == 1
    server.reply, server.kind = whole, "text/html"
    with pytest.raises(EvidenceError, match="got text/html"):
        stamped(DATA, server.url)


def test_a_server_that_is_silent_is_left_alone(
    server: TimeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timestamping, "_IN_ALL", 0.2)

    def slow(_: bytes) -> bytes:
        time.sleep(2)
        return b""

    server.reply = slow
    with pytest.raises(EvidenceError, match=r"expected an answer within 0\.2 seconds; got none"):
        stamped(DATA, server.url)
    with pytest.raises(EvidenceError, match="expected an answer"):
        stamped(DATA, "http://127.0.0.1:9/")


def test_a_run_has_a_time_that_is_vouched_for(server: TimeServer, tmp_path: Path) -> None:
    chain = Chain.of(ApplyFunction("big", "value > 3"))
    result = run(chain, [1, 5], runner="local", record=tmp_path / "a", timestamp=server.url)
    assert result.committed is not None
    assert result.committed.stamped
    (commit,) = read_commits(result.record)
    token = base64.b64decode(commit["timestamp"])
    assert check_token(token, commit["envelope"].encode(), server.certificates)
    away = "http://127.0.0.1:9/"
    result = run(chain, [1, 5], runner="local", record=tmp_path / "b", timestamp=away)
    assert result.committed is not None
    (problem,) = result.committed.problems
    assert "no time that others vouch for: the time server" in problem
    assert read_commits(result.record)[0]["timestamp"] is None


@pytest.mark.neo4j
def test_verify_says_whether_a_time_is_proved(
    server: TimeServer, graph: Connection, tmp_path: Path
) -> None:
    made = made_in(tmp_path, graph)
    commit_run(made.record, keys=made.keys, timestamp=server.url)
    pack = made.pack(timestamp=server.url)
    public = made.keys.path.with_suffix(".pub")
    claimed = verify_pack(pack, public)
    assert claimed.proved
    times = [words for words in claimed.notes if words.startswith("time: ")]
    assert len(times) == 2
    assert all("claimed, and not proved" in words for words in times)
    proved = verify_pack(pack, public, server.certificates)
    assert proved.proved
    times = [words for _, words in proved.findings if words.startswith("time: ")]
    assert [words.partition(" was there at ")[0] for words in times] == [
        "time: the root",
        "time: the pack",
    ]
    files, _ = read_pack(pack)
    (tmp_path / "other").mkdir()
    with time_server(tmp_path / "other") as other:
        forged = verify_pack(pack, public, other.certificates)
        assert not forged.holds
        files[TOKEN] = stamped(b"something else", other.url)
    changed = tmp_path / "changed.zip"
    changed.write_bytes(archive(files))
    assert not verify_pack(changed, public).holds
    plain = verify_pack(made.pack("plain.zip"), public)
    claimed_only = "time: that of the pack is claimed by who signed, and not proved"
    assert claimed_only in plain.notes
    asked = verify_pack(made.pack("plain.zip"), public, server.certificates)
    assert (asked.holds, asked.unproved) == (True, (claimed_only,))  # whoever asks is told
