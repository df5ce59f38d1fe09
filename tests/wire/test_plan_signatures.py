"""A plan is taken only with all of its mixers, each there once, and each of them signed it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand.errors import InvalidInput
from krand.survey.plan import Mixer, Mixing, Plan
from krand.testing import small_plan
from krand.wire.mixers import check_mixers, opening_key_of
from krand.wire.plan_signatures import (
    PlanSignature,
    check_signatures,
    parse_signature,
    read_signature,
    sign_plan,
    signature_bytes,
)
from mixed_plans import party_for, survey_for, unproven_plan

CHAIN = party_for(survey_for(3))
PLAN, SIGNATURES = CHAIN.plan, CHAIN.signatures
assert PLAN.mixing is not None
COLLECTOR, SECOND, THIRD = MIXERS = PLAN.mixing.mixers


def test_all_mixers_signed() -> None:
    """In any order, and with signatures of other plans and parties among them."""
    check_signatures(PLAN, SIGNATURES)
    others = party_for(survey_for(2)).signatures
    check_signatures(PLAN, iter((*others, *SIGNATURES[::-1])))


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_signature_is_named(missing: int) -> None:
    """The collector is a mixer too."""
    given = SIGNATURES[:missing] + SIGNATURES[missing + 1 :]
    name = rf"signature of mixer {missing + 1} \(mixer {missing + 1}\): must be given"
    with pytest.raises(InvalidInput, match=name):
        check_signatures(PLAN, given)


def test_what_is_signed_is_what_the_document_says() -> None:
    """Ed25519 over "krand plan", a zero byte and the 32 bytes of the hash."""
    raw = bytes.fromhex(SIGNATURES[0].signature)
    signed = b"krand plan\0" + bytes.fromhex(PLAN.hash)
    CHAIN.identities[0].public_key().verify(raw, signed)


def test_a_signature_of_another_plan_does_not_count() -> None:
    """Neither as it is, nor with the name of this plan put in."""
    other = replace(PLAN, overflow=0.5)
    foreign = sign_plan(other, CHAIN.identities[1])
    with pytest.raises(InvalidInput, match=r"signature of mixer 2 .*: must be given"):
        check_signatures(PLAN, (SIGNATURES[0], foreign, SIGNATURES[2]))
    renamed = replace(foreign, plan=PLAN.hash)
    with pytest.raises(InvalidInput, match=r"signature of mixer 2 .*: must be valid"):
        check_signatures(PLAN, (SIGNATURES[0], renamed, SIGNATURES[2]))


@pytest.mark.parametrize(
    "forged",
    [
        replace(SIGNATURES[1], mixer=THIRD.identity),
        replace(SIGNATURES[2], signature=SIGNATURES[2].signature[:-2] + "ff"),
        replace(SIGNATURES[2], signature=""),
        PlanSignature(PLAN.hash, THIRD.identity, CHAIN.identities[2].sign(b"krand plan\0").hex()),
        PlanSignature(
            PLAN.hash, THIRD.identity, CHAIN.identities[2].sign(bytes.fromhex(PLAN.hash)).hex()
        ),
    ],
    ids=["another's", "changed", "empty", "no hash", "no purpose"],
)
def test_a_forged_signature_is_refused(forged: PlanSignature) -> None:
    """Also beside the right one, which it may be meant to replace."""
    with pytest.raises(InvalidInput, match=r"signature of mixer 3 .*: must be valid"):
        check_signatures(PLAN, (*SIGNATURES[:2], forged))
    with pytest.raises(InvalidInput, match=r"signature of mixer 3 .*: must be valid"):
        check_signatures(PLAN, (*SIGNATURES, forged))


def test_only_mixers_of_the_plan_sign_it() -> None:
    """A stranger's signature would say nothing."""
    with pytest.raises(InvalidInput, match="identity: must be the identity of a mixer"):
        sign_plan(PLAN, Ed25519PrivateKey.generate())


def with_mixers(*mixers: Mixer) -> Plan:
    return PLAN.mixed_by(mixers)


INCOMPLETE: dict[str, tuple[Callable[[], Plan], str]] = {
    "none": (lambda: unproven_plan(survey_for(3)), "mixers: must be 3"),
    "two of three": (lambda: with_mixers(COLLECTOR, SECOND), "mixers: must be 3"),
    "a fourth": (lambda: with_mixers(*MIXERS, replace(THIRD, identity="ab" * 32)), "must be 3"),
    "a collector with keys": (
        lambda: with_mixers(replace(COLLECTOR, keys=("ab" * 32,) * 2), SECOND, THIRD),
        r"mixer 1 \(mixer 1\): must have no keys",
    ),
    "no keys": (
        lambda: with_mixers(COLLECTOR, SECOND, replace(THIRD, keys=())),
        r"mixer 3 \(mixer 3\): must have one key for each round, 2",
    ),
    "a key missing": (
        lambda: with_mixers(COLLECTOR, SECOND, replace(THIRD, keys=THIRD.keys[:1])),
        r"mixer 3 \(mixer 3\): must have one key for each round, 2",
    ),
    "one party twice": (
        lambda: with_mixers(COLLECTOR, SECOND, replace(THIRD, identity=SECOND.identity)),
        "mixers.identity: must all be different",
    ),
    "one key for two mixers": (
        lambda: with_mixers(COLLECTOR, SECOND, replace(THIRD, keys=SECOND.keys)),
        "mixers.keys: must all be different",
    ),
    "one key for two rounds": (
        lambda: with_mixers(COLLECTOR, SECOND, replace(THIRD, keys=THIRD.keys[:1] * 2)),
        "mixers.keys: must all be different",
    ),
    "the analyst's key": (
        lambda: replace(PLAN, analyst_key=THIRD.keys[1]),
        "mixers.keys: must all be different",
    ),
    "noise of devices": (small_plan, "plan: must be a plan in which mixers add the noise"),
    "no laws": (lambda: replace(PLAN, mixing=Mixing()), "plan: must be a plan in which mixers"),
}


@pytest.mark.parametrize("case", INCOMPLETE)
def test_a_plan_without_all_its_mixers_is_refused(case: str) -> None:
    """Who has nobody to ask for a signature would otherwise have all of them."""
    make, rule = INCOMPLETE[case]
    plan = make()
    with pytest.raises(InvalidInput, match=rule):
        check_mixers(plan)
    with pytest.raises(InvalidInput, match=rule):
        check_signatures(plan, SIGNATURES)
    with pytest.raises(InvalidInput, match=rule):
        sign_plan(plan, CHAIN.identities[0])


def test_keys_are_those_of_hop_and_round() -> None:
    """Mixer 2 and 3, round 1 and 2; the collector and the analyst are not among them."""
    for hop in (2, 3):
        for round_number in (1, 2):
            found = opening_key_of(PLAN, hop, round_number)
            assert found == CHAIN.key_of(hop, round_number).public_key()
    for hop in (0, 1, 4):
        with pytest.raises(InvalidInput, match="hop: must be from 2 to 3"):
            opening_key_of(PLAN, hop, 1)
    with pytest.raises(InvalidInput, match="round: must be from 1 to 2"):
        opening_key_of(PLAN, 2, 3)


def test_a_key_that_anybody_can_open_with_is_refused() -> None:
    """A point of low order makes the same secret for everybody."""
    weak = with_mixers(COLLECTOR, replace(SECOND, keys=("00" * 32, SECOND.keys[1])), THIRD)
    with pytest.raises(InvalidInput, match=r"mixer 2 \(mixer 2\): must not be a point of low"):
        opening_key_of(weak, 2, 1)
    assert opening_key_of(weak, 2, 2)


def test_a_file_brings_the_signature_back(tmp_path: Path) -> None:
    """Canonical JSON of the format's four keys."""
    path = tmp_path / "signature.json"
    path.write_bytes(signature_bytes(SIGNATURES[0]))
    assert read_signature(path) == SIGNATURES[0]
    assert json.loads(path.read_bytes()) == {
        "format": "krand-plan-signature-1",
        "plan": PLAN.hash,
        "mixer": COLLECTOR.identity,
        "signature": SIGNATURES[0].signature,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "krand-plan-signature-2"},
        {"format": None},
        {"plan": PLAN.hash[:-1]},
        {"plan": PLAN.hash.upper() + "\n"},
        {"mixer": 5},
        {"signature": "00" * 63},
        {"signature": None},
        {"more": 1},
    ],
)
def test_another_file_is_refused(changes: dict[str, object]) -> None:
    """Another version, a value of another length or type, anything more."""
    values = {**json.loads(signature_bytes(SIGNATURES[0])), **changes}
    with pytest.raises(InvalidInput, match=r"^signature"):
        parse_signature(json.dumps(values).encode())
    with pytest.raises(InvalidInput, match=r"^signature"):
        parse_signature(b"{}")
