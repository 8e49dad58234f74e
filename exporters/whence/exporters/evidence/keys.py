"""Keys of Ed25519: made here, stored in files that only their owner can read."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whence.engine.errors import MissingExtraError, ParameterError
from whence.store.server.folders import whence_home, write_private

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

__all__ = [
    "KeyPair",
    "PublicKey",
    "create_keys",
    "find_keys",
    "key_folder",
    "public_key",
    "public_key_of",
    "signing_keys",
]

_PRIVATE, _PUBLIC = ".key", ".pub"


@dataclass(frozen=True)
class PublicKey:
    """A public key.

    Attributes:
        pem: as a text that other programs read.
        id: the SHA-256 of its 32 bytes, in hex.
    """

    pem: str
    id: str

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """Whether a signature is of this key, and of this very data."""
        from cryptography.exceptions import InvalidSignature

        try:
            _loaded(self.pem, Path("the key")).verify(signature, data)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class KeyPair:
    """A key to sign with; what is secret stays in its file until it is used.

    Attributes:
        path: the file of the private key.
        public: the public key.
    """

    path: Path
    public: PublicKey

    def sign(self, data: bytes) -> bytes:
        return _private(self.path).sign(data)


def key_folder() -> Path:
    """Where keys are stored, unless another folder is given."""
    return whence_home() / "keys"


def create_keys(name: str = "default", folder: Path | None = None) -> KeyPair:
    """Make a pair of keys: ``NAME.key``, for you alone, and ``NAME.pub``, for everybody.

    Raises:
        ParameterError: there is one of this name already; it is never replaced.
    """
    _needed()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", name):
        msg = f"a key: expected a name of letters, digits, - and _; got {name!r}; try default"
        raise ParameterError(msg)
    folder = key_folder() if folder is None else folder
    path = folder / f"{name}{_PRIVATE}"
    if path.exists() or path.with_suffix(_PUBLIC).exists():
        msg = f"{path}: expected no key of this name; got one; try --name with another"
        raise ParameterError(msg)
    private = Ed25519PrivateKey.generate()
    text = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public = _public(private.public_key())
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(path, text.decode("ascii"))
        path.with_suffix(_PUBLIC).write_text(public.pem, encoding="ascii")
    except OSError as error:
        msg = f"{folder}: expected a folder for keys; got: {error.strerror}; try --folder"
        raise ParameterError(msg) from error
    return KeyPair(path, public)


def find_keys(given: str | Path | None = None) -> KeyPair:
    """The pair to sign with: by the name or the file of its private key.

    Raises:
        ParameterError: there is none, or others than its owner can read it.
    """
    _needed()
    path = Path(given) if given is not None else Path("default")
    if not path.suffix and path.name == str(path):
        path = key_folder() / f"{path}{_PRIVATE}"
    if not path.is_file():
        msg = f"{path}: expected a private key; got no such file; try whence keys create"
        raise ParameterError(msg)
    if os.stat(path).st_mode & 0o077:
        msg = f"{path}: expected a key that only you can read; got more; try chmod 600 {path}"
        raise ParameterError(msg)
    return KeyPair(path, _public(_private(path).public_key()))


def signing_keys(given: str | None = None) -> KeyPair | None:
    """The pair that runs are signed with: as given, of ``WHENCE_KEY``, or ``default``.

    ``WHENCE_KEY=none`` leaves runs unsigned, and so does a folder without ``default.key``.

    Raises:
        ParameterError: what is given, or in ``WHENCE_KEY``, is no key.
    """
    named = given or os.environ.get("WHENCE_KEY")
    if named == "none":
        return None
    if named:
        return find_keys(named)
    return find_keys() if (key_folder() / f"default{_PRIVATE}").is_file() else None


def public_key(path: Path) -> PublicKey:
    """Read a public key.

    Raises:
        ParameterError: it is none.
    """
    _needed()
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        got = getattr(error, "strerror", None) or "something else"
        msg = f"{path}: expected a public key; got: {got}; try the .pub file of who signed"
        raise ParameterError(msg) from error
    return public_key_of(text, path)


def public_key_of(text: str, where: Path) -> PublicKey:
    """Read a public key from its text.

    Raises:
        ParameterError: it is none.
    """
    _needed()
    return _public(_loaded(text, where))


def _public(key: Ed25519PublicKey) -> PublicKey:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return PublicKey(pem, hashlib.sha256(raw).hexdigest())


def _loaded(text: str, path: Path) -> Ed25519PublicKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    found: object = None
    # Of another algorithm, that package says so with an error of its own.
    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        found = load_pem_public_key(text.encode("ascii"))
    if not isinstance(found, Ed25519PublicKey):
        msg = f"{path}: expected a public key of Ed25519; got another file; try a .pub file"
        raise ParameterError(msg)
    return found


def _private(path: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    found: object = None
    with suppress(OSError, ValueError, TypeError):
        found = load_pem_private_key(path.read_bytes(), None)
    if not isinstance(found, Ed25519PrivateKey):
        msg = f"{path}: expected a private key of Ed25519; got another file; try a .key file"
        raise ParameterError(msg)
    return found


def _needed() -> None:
    try:
        import cryptography  # noqa: F401  only whether it is there
    except ImportError as error:
        raise MissingExtraError.for_extra("evidence", "cryptography") from error
