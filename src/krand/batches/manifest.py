"""The manifest of a released batch: the number of people, signed by the collector.

Estimates and promise depend on the number of people, which the messages do not reveal. Therefore
the collector signs it, with the plan, the id of the batch and the hash of its file.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from krand.batches.provenance import RandomId
from krand.errors import InvalidInput
from krand.files import read_whole
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Count, Sha256, Signature, as_file, typed, values_in

FORMAT = "krand-manifest-2"
HINT = "a collector of this version of krand writes it"
PURPOSE = b"krand manifest"
"""Signed before the content, so that a signature cannot be mistaken for one of another kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the collector vouches for."""

    plan: Sha256
    round: Count
    submissions: Count
    """Distinct submissions, each by one person."""
    messages: Count
    batch_sha256: Sha256
    """The hash of the batch file; it identifies the batch from here on."""
    batch_id: RandomId
    """Random, drawn when the batch began: it reveals a second release from a copied spool."""


def manifest_bytes(manifest: Manifest, key: Ed25519PrivateKey) -> bytes:
    """The manifest file: canonical JSON with the signature inside."""
    content = _content(manifest)
    signature = key.sign(PURPOSE + canonical_json(content))
    return canonical_json({**content, "signature": signature.hex()})


def read_manifest(path: str | Path, key: Ed25519PublicKey) -> Manifest:
    """The manifest in a file, if this collector signed it."""
    return parse_manifest(read_whole("manifest", path), key, str(path))


def parse_manifest(content: bytes, key: Ed25519PublicKey, source: str = "manifest") -> Manifest:
    """The manifest in these bytes; an error says what is wrong with it."""
    manifest, signature = manifest_in(content, source)
    try:
        key.verify(signature, PURPOSE + canonical_json(_content(manifest)))
    except InvalidSignature:
        rule = "must be signed by the collector and unchanged"
        raise InvalidInput("manifest", rule, source, "is this the right collector's key?") from None
    return manifest


def manifest_in(content: bytes, source: str = "manifest") -> tuple[Manifest, bytes]:
    """The content of these bytes, and the signature, which is not verified yet."""
    values = values_in(content, "manifest", FORMAT, source, HINT)
    with as_file("manifest", FORMAT, source, HINT):
        signature = typed(Signature, values.pop("signature", None))
        return typed(Manifest, values), bytes.fromhex(signature)


def _content(manifest: Manifest) -> dict[str, Any]:
    return {"format": FORMAT, **asdict(manifest)}
