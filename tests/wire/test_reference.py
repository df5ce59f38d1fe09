"""The reference: it stands alone, is HPKE by the RFC, and gives the numbers that krand gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import world
from krand import ResponseFormat, assess
from krand.accounting.composition import compose, connect_dots
from krand.wire.layers import SUITE
from reference import hpke
from reference.delta import flips_delta
from reference.estimate import (
    count_of_dummies,
    count_of_flips,
    variance_of_dummies,
    variance_of_flips,
)
from reference.vectors import vectors_text
from vectors import FILE, VECTORS

FOLDER = Path(reference.__file__).parent

# RFC 9180, A.1.1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM, base mode.
RFC = {
    name: bytes.fromhex(value)
    for name, value in {
        "info": "4f6465206f6e2061204772656369616e2055726e",
        "ikmE": "7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234",
        "pkEm": "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
        "skEm": "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736",
        "ikmR": "6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037",
        "pkRm": "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
        "skRm": "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
        "shared_secret": "fe0e18c9f024ce43799ae393c7e8fe8fce9d218875e8227b0187c04e7d2ea1fc",
        "key_schedule_context": "00725611c9d98c07c03f60095cd32d400d8347d45ed67097bbad50fc56da742d07"
        "cb6cffde367bb0565ba28bb02c90744a20f5ef37f30523526106f637abb05449",
        "secret": "12fff91991e93b48de37e7daddb52981084bd8aa64289c3788471d9a9712f397",
        "key": "4531685d41d65f03dc48f6b8302c05b0",
        "base_nonce": "56d890e5accaaf011cff4b7d",
        "pt": "4265617574792069732074727574682c20747275746820626561757479",
    }.items()
}
# Sequence number and ciphertext; the additional data is "Count-" and the number.
RFC_CIPHERTEXTS = {
    0: "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
    1: "af2d7e9ac9ae7e270f46ba1f975be53c09f8d875bdc8535458c2494e8a6eab251c03d0c22a56b8ca42c2063b84",
    256: "957f9800542b0b8891badb026d79cc54597cb2d225b54c00c5238c25d0"
    "5c30e3fbeda97d2e0e1aba483a2df9f2",
}


def test_the_reference_makes_the_vectors() -> None:
    """Byte for byte; run `make vectors` after a change."""
    assert vectors_text() == FILE.read_text(encoding="utf-8"), "make vectors gives other vectors"


def imported() -> Iterator[str]:
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                yield from (each.name for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.module or ""


def test_the_reference_stands_alone_and_is_short() -> None:
    """It imports nothing of krand, and is read in an hour; its contents name every file."""
    assert not [name for name in imported() if name.startswith("krand")]
    files = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.py")}
    assert sum(text.count("\n") for text in files.values()) <= 1200
    contents = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert not [name for name in {*files} - {"__init__.py"} if f"`{name}`" not in contents]


def test_its_hpke_is_that_of_the_rfc() -> None:
    """Keys, key schedule and messages of A.1.1; they do not open without their additional data."""
    for material, private, public in (("ikmE", "skEm", "pkEm"), ("ikmR", "skRm", "pkRm")):
        key = hpke.derive_key(RFC[material])
        assert key.private_bytes_raw() == RFC[private]
        assert key.public_key().public_bytes_raw() == RFC[public]
    ephemeral = X25519PrivateKey.from_private_bytes(RFC["skEm"])
    recipient = X25519PrivateKey.from_private_bytes(RFC["skRm"])
    exchanged = ephemeral.exchange(X25519PublicKey.from_public_bytes(RFC["pkRm"]))
    shared = hpke.shared_secret(exchanged, RFC["pkEm"], RFC["pkRm"])
    assert shared == RFC["shared_secret"]
    for name, value in hpke.schedule(shared, RFC["info"]).items():
        assert value == RFC[name], name
    for sequence, ciphertext in RFC_CIPHERTEXTS.items():
        sealed, aad = RFC["pkEm"] + bytes.fromhex(ciphertext), b"Count-%d" % sequence
        assert hpke.open_sealed(sealed, recipient, RFC["info"], aad, sequence) == RFC["pt"]
        assert hpke.open_sealed(sealed, recipient, RFC["info"], b"", sequence) is None


keys = st.binary(min_size=32, max_size=32).map(X25519PrivateKey.from_private_bytes)


@given(plaintext=st.binary(max_size=200), info=st.binary(max_size=100), a=keys, b=keys)
@settings(max_examples=20)
def test_the_library_and_the_reference_open_each_other(
    plaintext: bytes, info: bytes, a: X25519PrivateKey, b: X25519PrivateKey
) -> None:
    """What either seals the other opens, for any keys, info and plaintext."""
    assert SUITE.decrypt(hpke.seal(plaintext, a.public_key(), info, b), a, info) == plaintext
    assert hpke.open_sealed(SUITE.encrypt(plaintext, a.public_key(), info), a, info) == plaintext


@pytest.mark.parametrize("case", VECTORS["delta"]["dummies"], ids=range(6))
def test_delta_of_dummies_is_the_exact_one_rounded_up(case: dict[str, Any]) -> None:
    """Composed, it is never below the sum of fractions, and close to it."""
    half = [int(weight) for weight in case["law"]]
    law = np.array([*half[:0:-1], *half]) / (half[0] + 2 * sum(half[1:]))
    more, fewer = np.append(0.0, law), np.append(law, 0.0)
    step = 1e-3
    nodes = np.arange(round(np.abs(np.diff(np.log(law))).max() / step) + 2)
    profile = [np.maximum(more - np.exp(step * node) * fewer, 0.0).sum() for node in nodes]
    found = np.array(profile) * (1 + 1e-12)
    loss = connect_dots(step, nodes, found, found)
    delta = compose([(loss, case["moves"])], case["epsilon"]).delta(case["epsilon"])
    exact = float(case["delta"])
    assert exact * (1 - 1e-12) <= delta <= exact * 1.02, f"{delta} instead of {exact}"


@pytest.mark.parametrize("case", VECTORS["delta"]["flips"], ids=range(3))
def test_delta_of_flips_is_the_largest_of_the_exact_ones_rounded_up(case: dict[str, Any]) -> None:
    """Whatever the others answer, in the worse direction."""
    others = case["ones"] + case["zeros"]
    q, epsilon = Fraction(case["noise_numerator"], 2**32), Fraction(case["epsilon"])
    promise = assess(ResponseFormat(1), float(q), others + 1, case["epsilon"])
    deltas = [flips_delta(ones, others - ones, q, epsilon) for ones in range(others // 2 + 1)]
    exact = float(max(deltas))
    assert float(case["delta"]) <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= promise.delta <= exact * (1 + 1e-9), f"{promise.delta}, {exact}"


@pytest.mark.parametrize(("name", "counts"), [("copies", 4), ("mixer", 9)])
def test_unbiased_estimates_are_those_of_the_drafts(name: str, counts: int) -> None:
    """Of every answer in the standard surveys: flips are taken out, or the mean of dummies."""
    plan, tally = world.plan(name), world.tally(name)
    kinds = ("yes_no", "choice", "pick_any")
    told = [row for row in world.results(name).to_arrow().to_pylist() if row["kind"] in kinds]
    rows = [row for row in told if row["answer"] != "unanswered"]
    blocks = [block for block in plan.blocks if block.name in {row["question"] for row in rows}]
    positions = [p for b in blocks for p in range(b.offset, b.offset + b.positions)]
    for position, row in zip(positions, rows, strict=True):
        (block,) = (block for block in blocks if block.name == row["question"])
        counted = int(tally.counts[position])
        if plan.laws:
            (lane,) = (lane for lane in plan.lanes if lane.holds(position))
            law = plan.law_of(lane)
            expected = float(count_of_dummies(counted, [law.reach]))
            variance = float(variance_of_dummies([list(law.weights)]))
        else:
            q, copies = Fraction(block.numerator, 2**32), plan.survey.copies
            expected = float(count_of_flips(counted, tally.people, q, copies))
            variance = float(variance_of_flips(tally.people, q, copies))
        assert isclose(row["count"], expected, rel_tol=1e-9), (row["answer"], expected)
        assert isclose(row["standard_error"], variance**0.5, rel_tol=1e-9), row["answer"]
    assert len(rows) == counts
