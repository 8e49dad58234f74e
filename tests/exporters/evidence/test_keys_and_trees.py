"""Keys are private, trees prove what they say, envelopes are those of DSSE."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from whence.cli.app import app
from whence.engine.errors import ParameterError
from whence.exporters.evidence.attesting import pae
from whence.exporters.evidence.keys import create_keys, find_keys, public_key
from whence.exporters.evidence.merkle import Tree
from whence.exporters.evidence.verify import node_digest, root_from


def test_a_private_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["keys", "create", "--name", "a", "--folder", str(tmp_path)])
    assert done.exit_code == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
    keys = find_keys(tmp_path / "a.key")
    assert keys.public == public_key(tmp_path / "a.pub")
    assert keys.public.id in done.stdout.replace("\n", "")
    assert "PRIVATE" not in done.stdout + repr(keys)
    before = (tmp_path / "a.key").read_bytes()
    with pytest.raises(ParameterError, match="expected no key of this name; got one"):
        create_keys("a", tmp_path)
    assert (tmp_path / "a.key").read_bytes() == before


def test_what_is_no_key_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="got no such file; try whence keys create"):
        find_keys(tmp_path / "none.key")
    keys = create_keys("a", tmp_path)
    keys.path.chmod(0o644)
    with pytest.raises(ParameterError, match="expected a key that only you can read"):
        find_keys(keys.path)
    keys.path.chmod(0o600)
    with pytest.raises(ParameterError, match=r"expected a public key of Ed25519; got another file"):
        public_key(keys.path)
    with pytest.raises(ParameterError, match="expected a public key; got"):
        public_key(tmp_path / "none.pub")
    keys.path.write_text("nothing")
    with pytest.raises(ParameterError, match="expected a private key of Ed25519"):
        find_keys(keys.path)
    with pytest.raises(ParameterError, match="expected a name of letters"):
        create_keys("../a", tmp_path)


def root_by_definition(leaves: list[bytes]) -> bytes:
    """RFC 6962, 2.1: split at the largest power of two below the count."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return node_digest(root_by_definition(leaves[:half]), root_by_definition(leaves[half:]))


@given(st.integers(0, 40), st.data())
def test_every_leaf_is_proved_and_no_other(count: int, data: st.DataObject) -> None:
    leaves = [hashlib.sha256(b"%d" % n).digest() for n in range(count)]
    tree = Tree(b"".join(leaves))
    assert tree.root == root_by_definition(leaves)
    for index, leaf in enumerate(leaves):
        path = tree.path(index)
        assert root_from(leaf, index, count, path) == tree.root
        other = hashlib.sha256(b"other").digest()
        assert root_from(other, index, count, path) != tree.root
        assert root_from(leaf, index, count, [*path, other]) is None
        wrong = data.draw(st.integers(-1, count + 1))
        if wrong != index:
            assert root_from(leaf, wrong, count, path) != tree.root


def test_what_is_signed_is_the_encoding_that_dsse_states() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
