"""Keys are written for their owner, never lost, and read with errors that say what is wrong."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa, x448
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from krand.errors import InvalidInput
from krand.wire.keys import (
    fingerprint,
    generate_private_key,
    parse_private_key,
    parse_public_key,
    private_key_pem,
    public_key_pem,
    read_private_key,
    read_public_key,
    write_key_pair,
)

KEY = generate_private_key()
SECRET = b"correct horse"


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Sets the mask of new files, which is restored afterwards."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def same(a: X25519PrivateKey, b: X25519PrivateKey) -> bool:
    return a.private_bytes_raw() == b.private_bytes_raw()


@pytest.mark.parametrize(
    "passphrase",
    [None, SECRET, "ε".encode(), b"x" * 1023],
    ids=["none", "words", "not ASCII", "longest"],
)
def test_keys_come_back_from_their_files(tmp_path: Path, passphrase: bytes | None) -> None:
    """Both halves are read as they were written, with and without a passphrase."""
    private, public = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    write_key_pair(KEY, private, public, passphrase)
    assert same(read_private_key(private, passphrase), KEY)
    assert read_public_key(public).public_bytes_raw() == KEY.public_key().public_bytes_raw()
    assert sorted(tmp_path.iterdir()) == [private, public]
    first = private.read_bytes().splitlines()[0]
    assert first == (
        b"-----BEGIN PRIVATE KEY-----"
        if passphrase is None
        else b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
    )


def body(pem: bytes) -> bytes:
    return base64.b64decode(b"".join(pem.splitlines()[1:-1]))


def test_an_encrypted_file_does_not_show_the_key() -> None:
    """The key's bytes are not in the file when there is a passphrase."""
    assert KEY.private_bytes_raw() in body(private_key_pem(KEY))
    assert KEY.private_bytes_raw() not in body(private_key_pem(KEY, SECRET))


def test_new_keys_differ() -> None:
    """Every key is drawn anew."""
    assert len({generate_private_key().private_bytes_raw() for _ in range(50)}) == 50


def test_a_fingerprint_is_the_start_of_a_sha256() -> None:
    """Sixteen digits of the SHA-256 of the raw public key, as sha256sum would give them."""
    raw = KEY.public_key().public_bytes_raw()
    assert fingerprint(KEY.public_key()) == hashlib.sha256(raw).hexdigest()[:16]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
@pytest.mark.parametrize(("mask", "public_mode"), [(0o022, 0o644), (0, 0o666), (0o077, 0o600)])
def test_the_private_key_is_its_owners_from_the_first_byte_on(
    tmp_path: Path,
    umask: Callable[[int], int],
    monkeypatch: pytest.MonkeyPatch,
    mask: int,
    public_mode: int,
) -> None:
    """Whatever the mask: while the bytes are written, and when the file has its name."""
    umask(mask)
    created: list[int] = []
    write = os.fdopen

    def watch(handle: int, kind: str) -> object:
        created.append(os.fstat(handle).st_mode & 0o777)
        assert os.fstat(handle).st_size == 0
        return write(handle, kind)

    monkeypatch.setattr(os, "fdopen", watch)
    private, public = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    write_key_pair(KEY, private, public)
    assert created == [0o600, public_mode]
    assert (mode(private), mode(public)) == (0o600, public_mode)


@pytest.mark.parametrize("existing", ["key.pem", "key.pub.pem"])
def test_nothing_is_replaced_by_default(tmp_path: Path, existing: str) -> None:
    """If either file exists nothing is written at all, and the old one stays as it was."""
    (tmp_path / existing).write_bytes(b"precious")
    with pytest.raises(InvalidInput, match=r"must not exist yet.*--force") as caught:
        write_key_pair(KEY, tmp_path / "key.pem", tmp_path / "key.pub.pem")
    assert caught.value.field == ("output" if existing == "key.pem" else "public")
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_bytes() == b"precious"


def test_overwriting_makes_private_files(tmp_path: Path) -> None:
    """A replaced key is the new one, and as private as a new file."""
    private, public = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    for path in (private, public):
        path.write_bytes(b"old")
        path.chmod(0o644)
    write_key_pair(KEY, private, public, overwrite=True)
    assert same(read_private_key(private), KEY)
    assert mode(private) == 0o600
    assert sorted(tmp_path.iterdir()) == [private, public]


@pytest.mark.parametrize("failing", [1, 2])
def test_a_failure_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """A full disk at either file leaves neither of them, nor a temporary one."""
    calls = []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match="no space left") as caught:
        write_key_pair(KEY, tmp_path / "key.pem", tmp_path / "key.pub.pem")
    assert caught.value.field == ("output", "public")[failing - 1]
    assert list(tmp_path.iterdir()) == []


def test_a_failed_overwriting_keeps_the_old_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both new files are complete before the first old one goes."""
    private, public = tmp_path / "key.pem", tmp_path / "key.pub.pem"
    write_key_pair(KEY, private, public)
    before = private.read_bytes(), public.read_bytes()
    calls = []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput):
        write_key_pair(generate_private_key(), private, public, overwrite=True)
    assert (private.read_bytes(), public.read_bytes()) == before
    assert sorted(tmp_path.iterdir()) == [private, public]


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
        (Path(), key, "output"),
        (key, folder / ".." / "key.pem", "public"),
    ):
        with pytest.raises(InvalidInput) as caught:
            write_key_pair(KEY, private, public, overwrite=overwrite)
        assert caught.value.field == field
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("passphrase", [b"", b"x" * 1024], ids=["empty", "too long"])
def test_a_passphrase_has_a_sensible_length(passphrase: bytes) -> None:
    """An empty passphrase protects nothing; a very long one is no passphrase."""
    with pytest.raises(InvalidInput, match="passphrase: must have 1 to 1,023 bytes"):
        private_key_pem(KEY, passphrase)


def other_keys() -> list[tuple[bytes, bytes]]:
    """Private and public PEM of keys that are not X25519."""
    keys = (
        ed25519.Ed25519PrivateKey.generate(),
        x448.X448PrivateKey.generate(),
        ec.generate_private_key(ec.SECP256R1()),
        rsa.generate_private_key(65537, 2048),
    )
    return [
        (
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
            key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        )
        for key in keys
    ]


def test_other_sorts_of_keys_are_named() -> None:
    """Keys for signing, or of other curves, are refused as what they are."""
    for private, public in other_keys():
        with pytest.raises(InvalidInput, match="private key: must be an X25519 key"):
            parse_private_key(private)
        with pytest.raises(InvalidInput, match="public key: must be an X25519 key"):
            parse_public_key(public)


# The cases below are numbered: names made of fresh keys would differ between test processes.
PEM, PUBLIC_PEM = private_key_pem(KEY), public_key_pem(KEY.public_key())
ENCRYPTED = private_key_pem(KEY, SECRET)


@pytest.mark.parametrize(
    ("pem", "passphrase", "message"),
    [
        (b"", None, "must be PEM"),
        (KEY.private_bytes_raw(), None, "must be PEM"),
        (PUBLIC_PEM, None, "must be the PEM of a private key.*this is a public key"),
        (b"-----BEGIN CERTIFICATE-----\n", None, "must be the PEM of a private key"),
        (ENCRYPTED, None, "is encrypted: a passphrase must be given"),
        (ENCRYPTED, b"wrong", "wrong passphrase, or damaged"),
        (ENCRYPTED, b"", "wrong passphrase, or damaged"),
        (PEM, SECRET, "is not encrypted: give no passphrase"),
        (PEM[:60] + PEM[70:], None, "must be a complete PEM file"),
        (PEM.replace(b"END", b"EMD"), None, "must be a complete PEM file"),
    ],
    ids=itertools.count(),
)
def test_a_private_key_that_cannot_be_read_says_why(
    pem: bytes, passphrase: bytes | None, message: str
) -> None:
    """Not PEM, the wrong half, a passphrase missing, wrong or superfluous, damage."""
    with pytest.raises(InvalidInput, match=message) as caught:
        parse_private_key(pem, passphrase, "some.pem")
    assert caught.value.field == "private key"
    assert "some.pem" in str(caught.value)


@pytest.mark.parametrize(
    ("pem", "message"),
    [
        (b"\xff\xfe", "must be PEM"),
        (PEM, "must be the PEM of a public key.*this is a private key"),
        (ENCRYPTED, "must be the PEM of a public key.*this is a private key"),
        (PUBLIC_PEM[:40] + PUBLIC_PEM[50:], "must be a complete PEM file"),
    ],
    ids=itertools.count(),
)
def test_a_public_key_that_cannot_be_read_says_why(pem: bytes, message: str) -> None:
    """Not PEM, the private half by mistake, damage; a private key is never printed."""
    with pytest.raises(InvalidInput, match=message) as caught:
        parse_public_key(pem, "some.pem")
    assert caught.value.field == "public key"
    for line in pem.splitlines()[1:-1]:
        assert line.decode() not in str(caught.value)


@pytest.mark.parametrize("raw", [bytes(32), b"\1" + bytes(31)], ids=["zero", "one"])
def test_a_key_that_everybody_could_open_is_refused(raw: bytes) -> None:
    """A point of low order gives the same secret to all: nothing may be sealed for it."""
    pem = public_key_pem(X25519PublicKey.from_public_bytes(raw))
    with pytest.raises(InvalidInput, match="low order"):
        parse_public_key(pem)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing file and a folder are the user's to mend."""
    for load in (read_private_key, read_public_key):
        for path in (tmp_path / "nowhere.pem", tmp_path):
            with pytest.raises(InvalidInput, match="must be a file that can be read") as caught:
                load(path)
            assert caught.value.value == str(path)
