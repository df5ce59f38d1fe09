"""`krand keygen` and key files: for their owner, never lost, read with errors that say why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x448
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from command_line import done, refused, told
from krand import InvalidInput, generate_private_key, read_private_key
from krand.wire.keys import parse_private_key, private_key_pem, write_private

KEY = generate_private_key()
PEM = private_key_pem(KEY)
SECRET = b"correct horse"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_analyst_is_made_once(tmp_path: Path) -> None:
    """The line that names it, the same each time; a key and an identity for their owner alone."""
    line = done("keygen institute", at=tmp_path).stdout.strip()
    own = tmp_path / "institute" / "keys"
    public = read_private_key(own / "analyst.pem").public_key().public_bytes_raw().hex()
    assert line.startswith("krand-analyst:")
    assert line.endswith(f".{public}")
    assert {(own / name).stat().st_mode & 0o777 for name in ("analyst.pem", "identity.pem")} == {
        0o600
    }
    found = told("keygen institute", at=tmp_path)
    assert found == {"analyst": line, "key": "institute/keys/analyst.pem"}
    assert done("keygen another", at=tmp_path).stdout.strip() != line
    (own / "analyst.pem").write_bytes(b"precious")
    assert refused("keygen institute", at=tmp_path)["field"] == "private key"
    assert (own / "analyst.pem").read_bytes() == b"precious"


@pytest.mark.parametrize("mask", [0o022, 0, 0o077])
def test_a_private_key_is_its_owners_before_anything_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: int
) -> None:
    """Whatever the mask of the process."""
    modes: list[tuple[int, int]] = []
    change = os.chmod

    def watch(handle: int, mode: int) -> None:
        change(handle, mode)
        found = os.fstat(handle)
        modes.append((found.st_mode & 0o777, found.st_size))

    monkeypatch.setattr(os, "chmod", watch)
    before = os.umask(mask)
    try:
        write_private("key", tmp_path / "key.pem", PEM)
    finally:
        os.umask(before)
    assert modes == [(0o600, 0)]
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600


def test_what_is_there_is_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, a folder; on a full disk, and in a folder that is not there."""
    (tmp_path / "key.pem").write_bytes(b"precious")
    (tmp_path / "folder").mkdir()
    for name in ("key.pem", "folder", "nowhere/key.pem"):
        with pytest.raises(InvalidInput) as caught:
            write_private("key", tmp_path / name, PEM)
        assert caught.value.field == "key"
    for path in (tmp_path / "nowhere.pem", tmp_path / "folder"):
        with pytest.raises(InvalidInput, match="must be a file that can be read"):
            read_private_key(path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match="no space left"):
        write_private("key", tmp_path / "new.pem", PEM)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "key.pem"]
    assert (tmp_path / "key.pem").read_bytes() == b"precious"


PUBLIC_PEM = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
ENCRYPTED = private_key_pem(KEY, SECRET)
PRIVATE_FAULTS: tuple[tuple[bytes, bytes | None, str], ...] = (
    (b"", None, "must be PEM"),
    (KEY.private_bytes_raw(), None, "must be PEM"),
    (PUBLIC_PEM, None, "must be the PEM of a private key.*this is a public key"),
    (b"-----BEGIN CERTIFICATE-----\n", None, "must be the PEM of a private key"),
    (ENCRYPTED, b"wrong", "wrong passphrase, or damaged"),
    (ENCRYPTED, b"", "wrong passphrase, or damaged"),
    (PEM, SECRET, "is not encrypted: give no passphrase"),
    (PEM[:60] + PEM[70:], None, "must be a complete PEM file"),
    (PEM.replace(b"END", b"EMD"), None, "must be a complete PEM file"),
)


def test_a_key_that_cannot_be_read_says_why() -> None:
    """Not PEM, the wrong half, a wrong passphrase, damage; no key is ever printed."""
    for pem, passphrase, problem in PRIVATE_FAULTS:
        with pytest.raises(InvalidInput, match=problem) as caught:
            parse_private_key(pem, passphrase, "some.pem")
        assert (caught.value.field, "some.pem" in str(caught.value)) == ("private key", True)
    for passphrase in (b"", b"x" * 1024):
        with pytest.raises(InvalidInput, match="passphrase: must have 1 to 1,023 bytes"):
            private_key_pem(KEY, passphrase)
    for key in (
        ed25519.Ed25519PrivateKey.generate(),
        x448.X448PrivateKey.generate(),
        ec.generate_private_key(ec.SECP256R1()),
        rsa.generate_private_key(65537, 2048),
    ):
        with pytest.raises(InvalidInput, match="private key: must be an X25519 key"):
            parse_private_key(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
