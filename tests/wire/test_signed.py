"""What is signed: no signature can be taken for another; a plan is signed by all its mixers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand import InvalidInput, Plan, read_signatures
from krand.testing import small_plan
from krand.wire import purposes
from krand.wire.mixers import check_mixers, opening_key_of
from krand.wire.plan_signatures import (
    check_signatures,
    parse_signature,
    sign_plan,
    signature_bytes,
)
from krand.wire.signed import parse_signed, sign
from vectors import CASES, keys_of, plan_of, signatures_in

KEY = Ed25519PrivateKey.generate()
CASE = CASES["three mixers, third round"]
PLAN, SIGNATURES = plan_of(CASE), signatures_in(CASE["signatures"])
COLLECTOR, SECOND, THIRD = MIXERS = PLAN.mixers


def mixed_by(mixers: tuple[Any, ...]) -> Plan:
    return replace(PLAN, mixers=mixers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apples:
    form: ClassVar[str] = "krand-apples-1"
    purpose: ClassVar[bytes] = b"apples\0"

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pears:
    form: ClassVar[str] = "krand-apples-1"
    purpose: ClassVar[bytes] = b"pears\0"

    count: int


def test_no_purpose_begins_another() -> None:
    """Otherwise the rest of one could be chosen so that it reads like the other."""
    stated = {value for value in vars(purposes).values() if isinstance(value, bytes)}
    assert set(purposes.ALL) == stated
    begun = [pair for pair in permutations(purposes.ALL, 2) if pair[1].startswith(pair[0])]
    assert begun == []


def test_a_signature_is_for_its_key_purpose_and_content_alone() -> None:
    """Even if everything that can be seen is the same."""
    signed = sign(Apples(count=3), KEY)
    found = parse_signed(Apples, signed.content, "apples")
    assert (found, found.sha256) == (signed, signed.sha256)
    assert found.is_by(KEY.public_key())
    assert found.is_by(KEY.public_key().public_bytes_raw().hex())
    assert not found.is_by(Ed25519PrivateKey.generate().public_key())
    assert not found.is_by("no key")
    changed = signed.content.replace(b'"count":3', b'"count":4')
    assert not parse_signed(Apples, changed, "fruit").is_by(KEY.public_key())
    assert not parse_signed(Pears, signed.content, "fruit").is_by(KEY.public_key())
    for content in (b"", b"[]", b'{"count":3}', signed.content.replace(b"apples-1", b"apples-2")):
        with pytest.raises(InvalidInput, match="apples: must be a file of the format krand-apples"):
            parse_signed(Apples, content, "apples")


def test_only_mixers_of_the_plan_sign_it() -> None:
    """A stranger's signature would say nothing."""
    with pytest.raises(InvalidInput, match="identity: must be the identity of a mixer"):
        sign_plan(PLAN, KEY)


# The vectors have others, in which one byte of a plan is wrong.
INCOMPLETE: dict[str, tuple[Callable[[], Plan], str]] = {
    "nobody": (lambda: mixed_by(()), "mixers: must be 3"),
    "a fourth": (lambda: mixed_by((*MIXERS, THIRD)), "mixers: must be 3"),
    "no keys": (
        lambda: mixed_by((*MIXERS[:2], replace(THIRD, keys=()))),
        r"mixer 3 \(mixer 3\): must have one key for each round, 3",
    ),
    "one key for two mixers": (
        lambda: mixed_by((*MIXERS[:2], replace(THIRD, keys=SECOND.keys))),
        "mixers.keys: must all be different",
    ),
    "one party twice": (
        lambda: mixed_by((*MIXERS[:2], replace(THIRD, identity=SECOND.identity))),
        "mixers.identity: must all be different",
    ),
    "one address twice": (
        lambda: mixed_by((*MIXERS[:2], replace(THIRD, url=f"{SECOND.url}/town"))),
        "mixers.url: must all be different",
    ),
    "an analyst who mixes, which nobody is told": (
        lambda: replace(PLAN, analyst=replace(PLAN.analyst, identity=SECOND.identity)),
        "analyst.identity: must not be a mixer's",
    ),
    "noise of devices": (small_plan, "mixers: must be 1"),
}


@pytest.mark.parametrize("case", INCOMPLETE)
def test_a_plan_without_all_its_mixers_is_refused(case: str) -> None:
    """Who has nobody to ask for a signature would otherwise have all of them."""
    make, rule = INCOMPLETE[case]
    plan = make()
    for use in (
        lambda: check_mixers(plan),
        lambda: check_signatures(plan, SIGNATURES),
        lambda: sign_plan(plan, KEY),
    ):
        with pytest.raises(InvalidInput, match=rule):
            use()


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("https://mixer.example", True),
        ("https://mixer.example:8443/town/krand", True),
        ("https://[::1]:8443", True),
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("", False),
        ("http://mixer.example", False),
        ("http://127.0.0.1.example", False),
        ("https://mixer.example/", False),
        ("https://mixer.example:443", False),
        ("https://mixer.example:4430", True),
        ("https://MIXER.example", False),
        ("https://user@mixer.example", False),
        ("https://mixer.example?x", False),
        ("https://mixer.example;script-src", False),
        ("https://mixer.example 'unsafe-inline'", False),
        ("https://mixer.example\n", False),
        ("https://" + 300 * "a", False),
    ],
)
def test_an_address_is_written_in_one_way(url: str, fits: bool) -> None:
    """It stands in the page's policy: one that could say more is refused. One mixer needs none."""
    plan = mixed_by((*MIXERS[:2], replace(THIRD, url=url)))
    if fits:
        assert check_mixers(plan) == plan.mixers
    else:
        with pytest.raises(InvalidInput, match=r"mixer 3 \(mixer 3\): must have an address"):
            check_mixers(plan)
    alone = plan_of(CASES["every kind"])
    assert check_mixers(alone)[0].url == ""


def test_opening_keys_are_those_of_hop_and_round() -> None:
    """Mixers 2 and 3 have one for each round; a point of low order would open for everybody."""
    known = dict(zip((3, 2), keys_of(CASE)[1:], strict=True))
    for hop, key in known.items():
        assert opening_key_of(PLAN, hop, 3) == key.public_key()
        assert opening_key_of(PLAN, hop, 2) != key.public_key()
    for hop in (0, 1, 4):
        with pytest.raises(InvalidInput, match="hop: must be from 2 to 3"):
            opening_key_of(PLAN, hop, 1)
    with pytest.raises(InvalidInput, match="round: must be from 1 to 3"):
        opening_key_of(PLAN, 2, 4)
    weak = mixed_by((COLLECTOR, replace(SECOND, keys=("00" * 32, *SECOND.keys[1:])), THIRD))
    with pytest.raises(InvalidInput, match=r"mixer 2 \(mixer 2\): must not be a point of low"):
        opening_key_of(weak, 2, 1)


def test_a_file_brings_the_signature_back_and_no_other_file_does(tmp_path: Path) -> None:
    """Canonical JSON of the format's four keys."""
    path = tmp_path / "signatures.json"
    values = json.loads(signature_bytes(SIGNATURES[0]))
    path.write_text(json.dumps([values, *CASE["signatures"][1:]]))
    assert read_signatures(path) == tuple(SIGNATURES)
    assert values == CASE["signatures"][0]
    for changes in (
        *({"format": "krand-plan-signature-2"}, {"plan": PLAN.hash[:-1]}, {"mixer": 5}),
        *({"plan": PLAN.hash.upper() + "\n"}, {"signature": "00" * 63}, {"more": 1}),
    ):
        with pytest.raises(InvalidInput, match=r"^signature"):
            parse_signature(json.dumps({**values, **changes}).encode())
