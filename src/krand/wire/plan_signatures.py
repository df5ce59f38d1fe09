"""Detached signatures of a plan by its mixers: all of them have the same plan, and checked it.

They are outside of the plan, because they are over its hash. A device that asks for all of them
cannot be given a plan of its own, with mixers that were invented for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from krand.errors import InvalidInput
from krand.files import read_whole
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Sha256, Signature, as_file, typed, values_in
from krand.wire import purposes
from krand.wire.mixers import check_mixers

if TYPE_CHECKING:
    from krand.survey.plan import Mixer, Plan

FORMAT = "krand-plan-signature-1"
HINT = "every party of a plan serves its signatures, as /v1/plans/HASH/signatures"


@dataclass(frozen=True, slots=True)
class PlanSignature:
    """A mixer's signature of a plan; all values in hexadecimal.

    >>> from krand import PlanSignature
    >>> signed = PlanSignature(plan="5a" * 32, mixer="3b" * 32, signature="77" * 64)
    >>> len(signed.signature)
    128
    """

    plan: Sha256
    """The plan's hash."""
    mixer: Sha256
    """The mixer's identity, an Ed25519 public key."""
    signature: Signature


def sign_plan(plan: Plan, key: Ed25519PrivateKey) -> PlanSignature:
    """The signature of one of the plan's mixers. It has to verify the plan's promise first."""
    identity = key.public_key().public_bytes_raw().hex()
    if identity not in {mixer.identity for mixer in check_mixers(plan)}:
        rule = "must be the identity of a mixer of the plan"
        raise InvalidInput("identity", rule, identity, "the plan names other mixers")
    return PlanSignature(plan.hash, identity, key.sign(_signed(plan)).hex())


def check_signatures(plan: Plan, signatures: Iterable[PlanSignature]) -> None:
    """Refuse a plan that not all of its mixers signed; an error names the first that is missing.

    Signatures of other plans and by others are ignored.
    """
    found = [signature for signature in signatures if signature.plan == plan.hash]
    for hop, mixer in enumerate(check_mixers(plan), 1):
        own = [signature for signature in found if signature.mixer == mixer.identity]
        field = f"signature of mixer {hop} ({mixer.name})"
        if not own:
            hint = HINT
            raise InvalidInput(field, "must be given for this plan", None, hint)
        if not all(is_valid(plan, mixer, signature) for signature in own):
            hint = f"it is damaged or forged; {HINT}"
            raise InvalidInput(field, "must be valid for this plan", mixer.identity, hint)


def signature_bytes(signature: PlanSignature) -> bytes:
    """The file of a signature: canonical JSON."""
    return canonical_json(signature_values(signature))


def signature_values(signature: PlanSignature) -> dict[str, str]:
    """The keys of that file; a collector serves a list of them."""
    return {"format": FORMAT, **asdict(signature)}


def read_signatures(path: str | Path) -> tuple[PlanSignature, ...]:
    """The signatures in a file, which are not verified yet: `Client` does that.

    >>> import json
    >>> from pathlib import Path
    >>> from krand import PlanSignature, read_signatures
    >>> from krand.wire.plan_signatures import signature_values
    >>> signed = PlanSignature(plan="5a" * 32, mixer="3b" * 32, signature="77" * 64)
    >>> written = Path("signatures.json").write_text(json.dumps([signature_values(signed)]))
    >>> read_signatures("signatures.json") == (signed,)
    True
    """
    return signatures_in(read_whole("signatures", path))


def parse_signature(content: bytes, source: str = "signature") -> PlanSignature:
    """The signature in these bytes, which is not verified yet."""
    values = values_in(content, "signature", FORMAT, source, HINT)
    with as_file("signature", FORMAT, source, HINT):
        signature: PlanSignature = typed(PlanSignature, values)
        return signature


def signatures_in(content: bytes) -> tuple[PlanSignature, ...]:
    """The signatures that a collector serves beside a plan; none is verified yet."""
    rule = "must be a list of signatures of the plan"
    try:
        listed = json.loads(content)
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        raise InvalidInput("signatures", rule, f"{len(content):,} bytes")
    return tuple(parse_signature(json.dumps(each).encode(), "signatures") for each in listed)


def _signed(plan: Plan) -> bytes:
    return purposes.PLAN + bytes.fromhex(plan.hash)


def is_valid(plan: Plan, mixer: Mixer, signature: PlanSignature) -> bool:
    """Whether this mixer of the plan signed it."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(mixer.identity))
        key.verify(bytes.fromhex(signature.signature), _signed(plan))
    except (InvalidSignature, ValueError):
        return False
    return True
