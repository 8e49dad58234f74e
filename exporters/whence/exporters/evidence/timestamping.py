"""A time that a third party certifies: a token of an RFC 3161 server."""

from __future__ import annotations

import hashlib
import http.client
import threading
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from whence.engine.errors import EvidenceError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from rfc3161_client import TimeStampResponse

__all__ = ["check_address", "check_token", "stamped", "time_of"]

_SECONDS = 15.0
_IN_ALL = 30.0
"""Timeouts of a server: without an answer, and in all."""
_MOST = 64 << 10
"""Bytes of an answer; a token with its certificates has some thousand."""
_QUERY, _REPLY = "application/timestamp-query", "application/timestamp-reply"


class _Here(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: only the named server is contacted."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        """Give no new request."""


def check_address(url: str) -> None:
    """Refuse what is no address of a server, before anything else is done.

    Raises:
        ParameterError: it is none.
    """
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in url
    except ValueError:
        fits = False
    if not fits:
        msg = f"--timestamp: expected http:// or https:// and a host; got {url!r}; try its address"
        raise ParameterError(msg)


def stamped(data: bytes, url: str) -> bytes:
    """Ask a server for a token over these bytes; only their digest is sent.

    Args:
        data: what the token is to be over.
        url: the server's address.

    Raises:
        EvidenceError: it gives none, or one over something else.
        ParameterError: the address is none.
    """
    check_address(url)
    try:
        from rfc3161_client import HashAlgorithm, TimestampRequestBuilder
    except ImportError as error:
        raise MissingExtraError.for_extra("evidence", "rfc3161-client") from error
    builder = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256)
    request = builder.cert_request(cert_request=True).nonce(nonce=True).build()
    reply = _asked(request.as_bytes(), url)
    found = _decoded(reply)
    told = found.tst_info
    if found.status != 0 or told.message_imprint.message != request.message_imprint.message:
        raise _refused(url, "a token over this digest", "another answer")
    if told.nonce != request.nonce:
        raise _refused(url, "the answer to this very request", "one to another")
    return reply


def _asked(query: bytes, url: str) -> bytes:
    """The answer, or none: a server that sends a byte now and then is left alone at last."""
    done: list[bytes | EvidenceError] = []

    def ask() -> None:
        try:
            done.append(_answer(query, url))
        except EvidenceError as error:
            done.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(_IN_ALL)
    found = done[0] if done else _refused(url, f"an answer within {_IN_ALL:g} seconds", "none")
    if isinstance(found, EvidenceError):
        raise found
    return found


def _answer(query: bytes, url: str) -> bytes:
    request = urllib.request.Request(url, query, {"Content-Type": _QUERY, "Accept": _REPLY})
    try:
        with urllib.request.build_opener(_Here).open(request, timeout=_SECONDS) as answer:
            kind = answer.headers.get_content_type()
            reply: bytes = answer.read(_MOST + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        got = error.reason if isinstance(error, urllib.error.URLError) else error
        raise _refused(url, "an answer", " ".join(str(got).split())[:200]) from error
    if kind != _REPLY or len(reply) > _MOST:
        got = f"{kind}" if kind != _REPLY else f"more than {_MOST:,} bytes"
        raise _refused(url, f"{_REPLY} of at most {_MOST:,} bytes", got)
    return reply


def _refused(url: str, expected: str, got: str) -> EvidenceError:
    return EvidenceError(
        f"the time server {url}: expected {expected}; got {got}; try another server"
    )


def _decoded(token: bytes) -> TimeStampResponse:
    try:
        from rfc3161_client import decode_timestamp_response
    except ImportError as error:
        raise MissingExtraError.for_extra("evidence", "rfc3161-client") from error
    try:
        found = decode_timestamp_response(token)
        _ = found.tst_info
    except Exception as error:  # the package raises what its parser does
        msg = f"a time: expected a token of RFC 3161; got {error}; try another server"
        raise EvidenceError(msg) from error
    return found


def time_of(token: bytes, data: bytes) -> str:
    """The time that a token over these bytes names; its signature is not looked at.

    Raises:
        EvidenceError: it is no token, or one over something else.
    """
    told = _decoded(token).tst_info
    if told.message_imprint.message != hashlib.sha256(data).digest():
        msg = "a time: expected a token over this statement; got one over another; try its copy"
        raise EvidenceError(msg)
    when: datetime = told.gen_time
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def check_token(token: bytes, data: bytes, certificate: Path) -> str:
    """Hold a token against what it should be over, and its signature against a certificate.

    Args:
        token: the token.
        data: what it should be over.
        certificate: PEM: the certificates that the server's own is to be traced to.

    Returns:
        The time.

    Raises:
        EvidenceError: the token does not hold.
        ParameterError: there is no certificate in the file.
    """
    from cryptography import x509
    from rfc3161_client import VerificationError, VerifierBuilder

    try:
        trusted = x509.load_pem_x509_certificates(certificate.read_bytes())
    except (OSError, ValueError) as error:
        msg = (
            f"{certificate}: expected certificates in PEM; got {error}; "
            "try the file that the time server's operator publishes"
        )
        raise ParameterError(msg) from error
    found = _decoded(token)
    builder = VerifierBuilder()
    for each in trusted:
        builder = builder.add_root_certificate(each)
    try:
        builder.build().verify_message(found, data)
    except (VerificationError, ValueError) as error:
        got = str(error).partition(": ErrorStack")[0][:120]
        msg = f"a time: expected a token over this statement that holds; got {got}; try its copy"
        raise EvidenceError(msg) from error
    return time_of(token, data)
