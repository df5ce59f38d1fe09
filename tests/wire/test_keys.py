"""`krand keygen` and key files: for their owner, never lost, read with errors that say why."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x448
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from command_line import done, refused, run, told
from krand import InvalidInput, generate_private_key, read_private_key, read_public_key
from krand.wire.keys import (
    parse_private_key,
    parse_public_key,
    private_key_pem,
    public_key_pem,
    write_key_pair,
)

KEY = generate_private_key()
SECRET = b"correct horse"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_key_pair_is_made_and_named(tmp_path: Path) -> None:
    """Two files that belong together, and the fingerprint of the public one."""
    result = done("keygen -o key.pem", at=tmp_path)
    public = read_public_key(tmp_path / "key.pub.pem")
    mark = hashlib.sha256(public.public_bytes_raw()).hexdigest()[:16]
    assert read_private_key(tmp_path / "key.pem").public_key() == public
    for word in ("key.pem", "key.pub.pem", "not encrypted", mark):
        assert word in result.stdout
    assert "PRIVATE" not in result.output
    assert names(tmp_path) == ["key.pem", "key.pub.pem"]
    found = told("keygen --output a.pem", at=tmp_path)
    files = {"private_key": "a.pem", "public_key": "a.pub.pem"}
    own = hashlib.sha256(read_public_key(tmp_path / "a.pub.pem").public_bytes_raw()).hexdigest()
    assert found == {**files, "fingerprint": own[:16], "encrypted": False}


@pytest.mark.parametrize("secret", ["corréct horse", "x" * 1023], ids=["words", "longest"])
def test_a_passphrase_is_typed_or_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, secret: str
) -> None:
    """The private key opens with it and does not show without it; it is not printed."""
    monkeypatch.setenv("SOME_SECRET", secret)
    from_environment = run("keygen -o a.pem --passphrase-env SOME_SECRET --json", at=tmp_path)
    words = "keygen -o b.pem --passphrase --json"
    typed = run(words, at=tmp_path, typed=f"{secret}\n{secret}\n")
    for result, name in ((from_environment, "a.pem"), (typed, "b.pem")):
        assert json.loads(result.stdout)["encrypted"] is True, result.output
        assert secret not in result.output
        assert (tmp_path / name).read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
        read_private_key(tmp_path / name, secret.encode())
        with pytest.raises(InvalidInput, match="is encrypted: a passphrase must be given"):
            read_private_key(tmp_path / name)
    assert run("keygen -o c.pem --passphrase", at=tmp_path, typed="").exit_code == 130
    assert "c.pem" not in names(tmp_path)


@pytest.mark.parametrize("existing", ["key.pem", "key.pub.pem"])
def test_a_key_is_replaced_only_by_force(tmp_path: Path, existing: str) -> None:
    """If either file exists nothing is written; with --force there is another, private pair."""
    (tmp_path / existing).write_bytes(b"precious")
    (tmp_path / existing).chmod(0o644)
    assert "must not exist yet" in refused("keygen -o key.pem", at=tmp_path)["rule"]
    assert names(tmp_path) == [existing]
    assert (tmp_path / existing).read_bytes() == b"precious"
    done("keygen -o key.pem --force", at=tmp_path)
    public = read_public_key(tmp_path / "key.pub.pem")
    assert read_private_key(tmp_path / "key.pem").public_key() == public
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("mask", "public_mode"), [(0o022, 0o644), (0, 0o666), (0o077, 0o600)])
def test_the_private_key_is_its_owners_from_the_first_byte_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mask: int, public_mode: int
) -> None:
    """Whatever the mask: while the bytes are written, and when the file has its name."""
    created: list[tuple[int, int]] = []
    write = os.fdopen

    def watch(handle: int, kind: str) -> object:
        state = os.fstat(handle)
        created.append((state.st_mode & 0o777, state.st_size))
        return write(handle, kind)

    monkeypatch.setattr(os, "fdopen", watch)
    files = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    before = os.umask(mask)
    try:
        write_key_pair(KEY, *files)
    finally:
        os.umask(before)
    assert created == [(0o600, 0), (public_mode, 0)]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600, public_mode]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(("failing", "field"), [(1, "output"), (2, "public")])
def test_a_full_disk_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, field: str, overwrite: bool
) -> None:
    """Both new files are complete before the first old one goes."""
    files = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    if overwrite:
        write_key_pair(KEY, *files)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    calls = itertools.count(1)

    def full(handle: int) -> None:
        if next(calls) == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match="no space left") as caught:
        write_key_pair(generate_private_key(), *files, overwrite=overwrite)
    assert caught.value.field == field
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("overwrite", [False, True])
def test_places_that_do_not_do_are_named(tmp_path: Path, overwrite: bool) -> None:
    """A missing folder, a folder instead of a file, one file for both."""
    folder = tmp_path / "folder"
    folder.mkdir()
    key, nowhere = tmp_path / "key.pem", tmp_path / "nowhere" / "key.pem"
    for private, public, field in (
        (nowhere, key, "output"),
        (key, nowhere, "public"),
        (folder, key, "output"),
        (key, folder, "public"),
        (key, folder / ".." / "key.pem", "public"),
    ):
        with pytest.raises(InvalidInput) as caught:
            write_key_pair(KEY, private, public, overwrite=overwrite)
        assert caught.value.field == field
    assert list(tmp_path.iterdir()) == [folder]
    for path in (nowhere, folder):
        for load in (read_private_key, read_public_key):
            with pytest.raises(InvalidInput, match="must be a file that can be read") as caught:
                load(path)
            assert caught.value.value == str(path)


PEM, PUBLIC_PEM = private_key_pem(KEY), public_key_pem(KEY.public_key())
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
PUBLIC_FAULTS = (
    (b"\xff\xfe", "must be PEM"),
    (PEM, "must be the PEM of a public key.*this is a private key"),
    (PUBLIC_PEM[:40] + PUBLIC_PEM[50:], "must be a complete PEM file"),
    (public_key_pem(X25519PublicKey.from_public_bytes(bytes(32))), "low order"),
    (public_key_pem(X25519PublicKey.from_public_bytes(b"\1" + bytes(31))), "low order"),
)


def test_a_key_that_cannot_be_read_says_why() -> None:
    """Not PEM, the wrong half, a wrong passphrase, damage; no key is ever printed.

    A point of low order gives the same secret to everybody: nothing may be sealed for it.
    """
    for pem, passphrase, problem in PRIVATE_FAULTS:
        with pytest.raises(InvalidInput, match=problem) as caught:
            parse_private_key(pem, passphrase, "some.pem")
        assert (caught.value.field, "some.pem" in str(caught.value)) == ("private key", True)
    for pem, problem in PUBLIC_FAULTS:
        with pytest.raises(InvalidInput, match=problem) as caught:
            parse_public_key(pem, "some.pem")
        assert caught.value.field == "public key"
        assert not [line for line in pem.splitlines()[1:-1] if line.decode() in str(caught.value)]
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
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        with pytest.raises(InvalidInput, match="public key: must be an X25519 key"):
            parse_public_key(public)
