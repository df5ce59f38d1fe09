"""Receipts: the collector signs that it took a submission of a plan and round.

A receipt is the same for everybody, so it cannot be found again in any batch. It proves that the
collector acknowledged somebody's submission of this plan and round, and not whose.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from krand.wire import purposes
from krand.wire.layers import check_plan_hash


def receipt_message(plan_hash: str, round_number: int) -> bytes:
    """What is signed: purpose, plan, round; of fixed length."""
    plan = bytes.fromhex(plan_hash)
    check_plan_hash(plan)
    return purposes.RECEIPT + plan + round_number.to_bytes(2, "big")


def sign_receipt(key: Ed25519PrivateKey, plan_hash: str, round_number: int) -> str:
    """The receipt of a plan and round, in hexadecimal."""
    return key.sign(receipt_message(plan_hash, round_number)).hex()


def check_receipt(key: Ed25519PublicKey, receipt: str, plan_hash: str, round_number: int) -> bool:
    """Whether the holder of this key signed the receipt."""
    try:
        key.verify(bytes.fromhex(receipt), receipt_message(plan_hash, round_number))
    except (InvalidSignature, ValueError):
        return False
    return True
