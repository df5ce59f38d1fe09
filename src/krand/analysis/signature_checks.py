"""Whether a tally is signed by those who are said to have counted it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from krand.analysis.checks import Check, failed, first_of, not_checked, passed
from krand.analysis.tally_signatures import TallySignature
from krand.wire.keys import fingerprint

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["signatures_check"]


def signatures_check(
    sha256: str | None,
    signatures: Sequence[TallySignature],
    keys: Sequence[Ed25519PublicKey],
    *,
    sealed: bool,
) -> Check:
    """Whether those whose keys are given counted the tally of this hash, and nobody else signed."""
    name = "signatures"
    fault = first_of(_faults(sha256, signatures, keys))
    if fault:
        return failed(name, fault)
    if not signatures:
        who = "a holder of the analyst's private key" if sealed else "whoever has the responses"
        return not_checked(
            name, f"nobody signed the counts; only {who} can count again: krand recount"
        )
    known = {key.public_bytes_raw().hex() for key in keys}
    said = ", ".join(entry.shown for entry in signatures)
    if not {entry.key for entry in signatures} <= known:
        needed = "add --signer-key for each of them, to check whose keys these are"
        return not_checked(name, f"the counts are signed by {said}; {needed}")
    return passed(name, f"the counts are signed by {said}, with the keys that were given")


def _faults(
    sha256: str | None, signatures: Sequence[TallySignature], keys: Sequence[Ed25519PublicKey]
) -> Iterator[str]:
    for entry in signatures:
        if sha256 is None or not entry.is_valid(sha256):
            yield f"{entry.shown} did not sign this tally: it or the signature was changed"
    signed = {entry.key for entry in signatures}
    if len(signed) != len(signatures):
        yield "one key signed twice"
    for key in keys:
        if key.public_bytes_raw().hex() not in signed:
            yield f"the holder of the key {fingerprint(key)}, which was given, did not sign it"
