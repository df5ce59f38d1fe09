"""Manifests: signed, bound to one batch, and refused if anything is changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from krand.batches.chain import Manifest, manifest_bytes, parse_manifest
from krand.errors import InvalidInput
from krand.wire.keys import (
    generate_private_key,
    generate_signing_key,
    read_signing_key,
    read_verifying_key,
    write_key_pair,
)

KEY = generate_signing_key()
MANIFEST = Manifest(
    plan="ab" * 32,
    round=1,
    submissions=100_000,
    messages=1_800_000,
    batch_sha256="cd" * 32,
    batch_id="ef" * 16,
)


def test_what_is_signed_is_read() -> None:
    """The same values come back, and the same manifest is always the same bytes."""
    content = manifest_bytes(MANIFEST, KEY)
    assert content == manifest_bytes(MANIFEST, KEY)
    assert parse_manifest(content, KEY.public_key()) == MANIFEST


def test_every_changed_byte_is_noticed() -> None:
    """Whatever is changed, it is no manifest of this collector any more."""
    content = manifest_bytes(MANIFEST, KEY)
    for place in range(len(content)):
        for change in (1, 4):
            broken = bytearray(content)
            broken[place] ^= change
            with pytest.raises(InvalidInput, match="manifest"):
                parse_manifest(bytes(broken), KEY.public_key())


@pytest.mark.parametrize(
    "change",
    [{"submissions": 99_999}, {"plan": "ff" * 32}, {"round": 2}, {"batch_sha256": "ab" * 32}],
)
def test_other_values_need_another_signature(change: dict[str, object]) -> None:
    """A signature of one manifest is none of another."""
    values = json.loads(manifest_bytes(MANIFEST, KEY))
    forged = json.dumps({**values, **change}).encode()
    with pytest.raises(InvalidInput, match="signed by the collector"):
        parse_manifest(forged, KEY.public_key())


def test_another_collector_is_noticed() -> None:
    """Who signs matters, not that somebody did."""
    with pytest.raises(InvalidInput, match="right collector"):
        parse_manifest(manifest_bytes(MANIFEST, generate_signing_key()), KEY.public_key())


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b"null", b'{"signature": 5}', b"\xff", b'{"signature": "zz"}'],
)
def test_other_files_are_named(content: bytes) -> None:
    """No traceback for any content."""
    with pytest.raises(InvalidInput, match="krand-manifest-1"):
        parse_manifest(content, KEY.public_key())


def test_numbers_are_whole_and_not_negative() -> None:
    """Even a signed manifest must make sense."""
    for wrong in (-1, True, 2.5, "7"):
        content = manifest_bytes(replace(MANIFEST, submissions=wrong), KEY)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="krand-manifest-1"):
            parse_manifest(content, KEY.public_key())


def test_collectors_keys_come_back_and_are_not_mixed_up(tmp_path: Path) -> None:
    """A signing key is read as one; an analyzer's key is refused in its place."""
    write_key_pair(KEY, tmp_path / "c.pem", tmp_path / "c.pub.pem", b"secret")
    assert read_signing_key(tmp_path / "c.pem", b"secret").sign(b"x") == KEY.sign(b"x")
    read_verifying_key(tmp_path / "c.pub.pem").verify(KEY.sign(b"x"), b"x")
    write_key_pair(generate_private_key(), tmp_path / "a.pem", tmp_path / "a.pub.pem")
    with pytest.raises(InvalidInput, match=r"Ed25519.*--signing"):
        read_signing_key(tmp_path / "a.pem")
    with pytest.raises(InvalidInput, match="Ed25519"):
        read_verifying_key(tmp_path / "a.pub.pem")
