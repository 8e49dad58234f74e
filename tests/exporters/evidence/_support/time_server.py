"""A small time server of RFC 3161 on loopback: real requests, real tokens, keys of its own."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["TimeServer", "time_server"]

_SHA256, _TST_INFO = "2.16.840.1.101.3.4.2.1", "1.2.840.113549.1.9.16.1.4"
_SIGNED_DATA, _RSA = "1.2.840.113549.1.7.2", "1.2.840.113549.1.1.1"
_CONTENT_TYPE, _DIGEST = "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4"
_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47"


def der(tag: int, *parts: bytes) -> bytes:
    """A value of DER: its tag, its length and what is in it."""
    body = b"".join(parts)
    size = len(body)
    if size < 0x80:
        return bytes([tag, size]) + body
    long = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(long)]) + long + body


def sequence(*parts: bytes) -> bytes:
    return der(0x30, *parts)


def integer(number: int) -> bytes:
    return der(0x02, number.to_bytes(number.bit_length() // 8 + 1))


def oid(dotted: str) -> bytes:
    first, second, *rest = map(int, dotted.split("."))
    body = bytearray([first * 40 + second])
    for number in rest:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.append(0x80 | (number & 0x7F))
        body += bytes(reversed(digits))
    return der(0x06, bytes(body))


@dataclass
class TimeServer:
    """A server that answers.

    Attributes:
        url: its address.
        certificates: a file with the certificate that its own is to be traced to.
        reply: gives the answer to a request; tests put others in its place.
        kind: the media type of the answer.
        asked: the requests that came.
    """

    url: str
    certificates: Path
    reply: Callable[[bytes], bytes]
    kind: str
    asked: list[bytes]


def _certificate(
    name: str,
    key: rsa.RSAPrivateKey,
    issuer: str,
    by: rsa.RSAPrivateKey,
    *,
    days: tuple[int, int] = (-9, 9),
    purpose: x509.ObjectIdentifier | None = None,
) -> x509.Certificate:
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(named(name))
        .issuer_name(named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(x509.BasicConstraints(purpose is None, None), critical=True)
    )
    if purpose is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=True)
    return builder.sign(by, hashes.SHA256())


class _Authority:
    """Keys, and tokens that are signed with them."""

    def __init__(self, days: tuple[int, int], purpose: x509.ObjectIdentifier) -> None:
        root = rsa.generate_private_key(65537, 2048)
        self.key = rsa.generate_private_key(65537, 2048)
        self.root = _certificate("Test Root", root, "Test Root", root)
        self.own = _certificate(
            "Test Time", self.key, "Test Root", root, days=days, purpose=purpose
        )

    def reply(self, request: bytes) -> bytes:
        """The answer to a request: its imprint and its number, with the time."""
        imprint, nonce = _asked(request)
        when = datetime.now(UTC).strftime("%Y%m%d%H%M%SZ").encode()
        info = sequence(
            *(integer(1), oid("1.2.3.4.1"), imprint, integer(7), der(0x18, when), nonce),
        )
        own = self.own.public_bytes(serialization.Encoding.DER)
        algorithm = sequence(oid(_SHA256), b"\x05\x00")
        digest = hashlib.sha256(info).digest()
        certificate = sequence(sequence(sequence(der(0x04, hashlib.sha256(own).digest()))))
        attributes = sorted(
            [
                sequence(oid(_CONTENT_TYPE), der(0x31, oid(_TST_INFO))),
                sequence(oid(_DIGEST), der(0x31, der(0x04, digest))),
                sequence(oid(_CERTIFICATE_V2), der(0x31, certificate)),
            ]
        )
        signature = self.key.sign(der(0x31, *attributes), padding.PKCS1v15(), hashes.SHA256())
        issuer = self.own.issuer.public_bytes()
        signer = sequence(
            integer(1),
            sequence(issuer, integer(self.own.serial_number)),
            algorithm,
            der(0xA0, *attributes),
            sequence(oid(_RSA), b"\x05\x00"),
            der(0x04, signature),
        )
        signed = sequence(
            integer(3),
            der(0x31, algorithm),
            sequence(oid(_TST_INFO), der(0xA0, der(0x04, info))),
            der(0xA0, own),
            der(0x31, signer),
        )
        return sequence(sequence(integer(0)), sequence(oid(_SIGNED_DATA), der(0xA0, signed)))


def _asked(request: bytes) -> tuple[bytes, bytes]:
    """The imprint and the nonce of a request, as they stand in it."""
    body = _values(_values(request)[0][1])
    imprint = next(whole for tag, _, whole in body if tag == 0x30)
    numbers = [whole for tag, _, whole in body if tag == 0x02]
    return imprint, numbers[1]  # the first is the version


def _values(data: bytes) -> list[tuple[int, bytes, bytes]]:
    found, at = [], 0
    while at < len(data):
        tag, size, start = data[at], data[at + 1], at + 2
        if size & 0x80:
            start += size & 0x7F
            size = int.from_bytes(data[at + 2 : start])
        found.append((tag, data[start : start + size], data[at : start + size]))
        at = start + size
    return found


@contextmanager
def time_server(
    folder: Path,
    days: tuple[int, int] = (-1, 1),
    purpose: x509.ObjectIdentifier = ExtendedKeyUsageOID.TIME_STAMPING,
) -> Iterator[TimeServer]:
    """A server as long as it is needed.

    Args:
        folder: where its authority's certificate is written to.
        days: from when to when its own certificate is valid, from now on.
        purpose: what that certificate is for.
    """
    authority = _Authority(days, purpose)
    certificates = folder / "tsa.pem"
    certificates.write_bytes(authority.root.public_bytes(serialization.Encoding.PEM))
    server = TimeServer("", certificates, authority.reply, "application/timestamp-reply", [])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = self.rfile.read(int(self.headers["Content-Length"]))
            server.asked.append(request)
            answer = server.reply(request)
            self.send_response(200)
            self.send_header("Content-Type", server.kind)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}/tsr"
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
