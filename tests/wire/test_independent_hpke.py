"""A second HPKE, written here from RFC 9180, is held to the RFC; the library's is held to it.

The library takes no additional data for a message, which the RFC's own vectors all have. So the
code below must first reproduce those vectors, and then agree with the library both ways.
"""

from __future__ import annotations

import hmac
import json
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.wire.layers import SUITE, LaneOpener, LayerSealer
from krand.wire.messages import Token
from mixed_plans import party_for, survey_for
from seals import open_layer

KEM_SUITE = b"KEM" + bytes.fromhex("0020")
HPKE_SUITE = b"HPKE" + bytes.fromhex("0020 0001 0001")

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
    2: "498dfcabd92e8acedc281e85af1cb4e3e31c7dc394a1ca20e173cb72516491588d96a19ad4a683518973dcc180",
    4: "583bd32bc67a5994bb8ceaca813d369bca7b2a42408cddef5e22f880b631215a09fc0012bc69fccaa251c0246d",
    255: "7175db9717964058640a3a11fb9007941a5d1757fda1a6935c805c21af"
    "32505bf106deefec4a49ac38d71c9e0a",
    256: "957f9800542b0b8891badb026d79cc54597cb2d225b54c00c5238c25d0"
    "5c30e3fbeda97d2e0e1aba483a2df9f2",
}


def extract(suite: bytes, salt: bytes, label: bytes, secret: bytes) -> bytes:
    """LabeledExtract (RFC 9180, 4; RFC 5869, 2.2)."""
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + secret, "sha256")


def expand(suite: bytes, key: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """LabeledExpand (RFC 9180, 4; RFC 5869, 2.3)."""
    labeled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    block, output, count = b"", b"", 0
    while len(output) < length:
        count += 1
        block = hmac.digest(key, block + labeled + bytes((count,)), "sha256")
        output += block
    return output[:length]


def derive_key(material: bytes) -> X25519PrivateKey:
    """DeriveKeyPair (7.1.3)."""
    prk = extract(KEM_SUITE, b"", b"dkp_prk", material)
    return X25519PrivateKey.from_private_bytes(expand(KEM_SUITE, prk, b"sk", b"", 32))


def shared_secret(exchanged: bytes, encapsulated: bytes, recipient: bytes) -> bytes:
    """ExtractAndExpand (4.1)."""
    prk = extract(KEM_SUITE, b"", b"eae_prk", exchanged)
    return expand(KEM_SUITE, prk, b"shared_secret", encapsulated + recipient, 32)


def schedule(shared: bytes, info: bytes) -> dict[str, bytes]:
    """KeySchedule in base mode (5.1)."""
    context = b"\0" + extract(HPKE_SUITE, b"", b"psk_id_hash", b"")
    context += extract(HPKE_SUITE, b"", b"info_hash", info)
    secret = extract(HPKE_SUITE, shared, b"secret", b"")
    key = expand(HPKE_SUITE, secret, b"key", context, 16)
    nonce = expand(HPKE_SUITE, secret, b"base_nonce", context, 12)
    return {"key_schedule_context": context, "secret": secret, "key": key, "base_nonce": nonce}


def nonce_of(base: bytes, sequence: int) -> bytes:
    """ComputeNonce (5.2)."""
    return bytes(a ^ b for a, b in zip(base, sequence.to_bytes(12, "big"), strict=True))


def seal(
    plaintext: bytes, recipient: X25519PublicKey, info: bytes, ephemeral: X25519PrivateKey
) -> bytes:
    """enc || ct without additional data (6.1), with a chosen ephemeral key."""
    encapsulated = ephemeral.public_key().public_bytes_raw()
    exchanged = ephemeral.exchange(recipient)
    keys = schedule(shared_secret(exchanged, encapsulated, recipient.public_bytes_raw()), info)
    return encapsulated + AESGCM(keys["key"]).encrypt(keys["base_nonce"], plaintext, b"")


def open_sealed(
    sealed: bytes, recipient: X25519PrivateKey, info: bytes, aad: bytes = b"", sequence: int = 0
) -> bytes:
    """The plaintext of enc || ct."""
    encapsulated, ciphertext = sealed[:32], sealed[32:]
    exchanged = recipient.exchange(X25519PublicKey.from_public_bytes(encapsulated))
    public = recipient.public_key().public_bytes_raw()
    keys = schedule(shared_secret(exchanged, encapsulated, public), info)
    nonce = nonce_of(keys["base_nonce"], sequence)
    return AESGCM(keys["key"]).decrypt(nonce, ciphertext, aad)


def test_the_second_hpke_derives_the_keys_of_the_rfc() -> None:
    """Both key pairs follow from their input material."""
    for material, private, public in (("ikmE", "skEm", "pkEm"), ("ikmR", "skRm", "pkRm")):
        key = derive_key(RFC[material])
        assert key.private_bytes_raw() == RFC[private]
        assert key.public_key().public_bytes_raw() == RFC[public]


def test_the_second_hpke_has_the_key_schedule_of_the_rfc() -> None:
    """Shared secret, context, secret, key and nonce are those of A.1.1."""
    ephemeral = X25519PrivateKey.from_private_bytes(RFC["skEm"])
    exchanged = ephemeral.exchange(X25519PublicKey.from_public_bytes(RFC["pkRm"]))
    shared = shared_secret(exchanged, RFC["pkEm"], RFC["pkRm"])
    assert shared == RFC["shared_secret"]
    for name, value in schedule(shared, RFC["info"]).items():
        assert value == RFC[name], name


@pytest.mark.parametrize("sequence", RFC_CIPHERTEXTS)
def test_the_second_hpke_opens_the_messages_of_the_rfc(sequence: int) -> None:
    """All six ciphertexts open with their additional data, and not without."""
    recipient = X25519PrivateKey.from_private_bytes(RFC["skRm"])
    sealed = RFC["pkEm"] + bytes.fromhex(RFC_CIPHERTEXTS[sequence])
    aad = b"Count-%d" % sequence
    assert open_sealed(sealed, recipient, RFC["info"], aad, sequence) == RFC["pt"]
    with pytest.raises(InvalidTag):
        open_sealed(sealed, recipient, RFC["info"], b"", sequence)


def test_the_library_opens_what_the_keys_of_the_rfc_seal() -> None:
    """With the RFC's recipient, ephemeral key and info, but no additional data."""
    recipient = X25519PrivateKey.from_private_bytes(RFC["skRm"])
    ephemeral = X25519PrivateKey.from_private_bytes(RFC["skEm"])
    sealed = seal(RFC["pt"], recipient.public_key(), RFC["info"], ephemeral)
    assert sealed[:32] == RFC["pkEm"]
    assert SUITE.decrypt(sealed, recipient, RFC["info"]) == RFC["pt"]


keys = st.binary(min_size=32, max_size=32).map(X25519PrivateKey.from_private_bytes)


@given(plaintext=st.binary(max_size=200), info=st.binary(max_size=100), a=keys, b=keys)
@settings(max_examples=50)
def test_the_library_and_the_second_hpke_open_each_other(
    plaintext: bytes, info: bytes, a: X25519PrivateKey, b: X25519PrivateKey
) -> None:
    """What either seals the other opens, for any keys, info and plaintext."""
    assert SUITE.decrypt(seal(plaintext, a.public_key(), info, b), a, info) == plaintext
    assert open_sealed(SUITE.encrypt(plaintext, a.public_key(), info), a, info) == plaintext


def info_of(hop: int, plan_hash: str, round_number: int, lane: int) -> bytes:
    """What a layer is bound to, read off the document once more."""
    where = f"{round_number:04x}{lane:08x}"
    return b"krand message" + bytes.fromhex(f"01{hop:02x}{plan_hash}{where}")


def test_the_second_hpke_opens_the_layers_of_the_test_vectors() -> None:
    """Chains of one, two and three mixers, down to the plaintext, with infos of its own."""
    file = Path(__file__).parent / "vectors.json"
    vectors = json.loads(file.read_text(encoding="utf-8"))
    keys = {
        (key["hop"], key["round"]): X25519PrivateKey.from_private_bytes(
            bytes.fromhex(key["private_key"])
        )
        for key in vectors["keys"]
    }
    assert {case["mixers"] for case in vectors["accepted"]} == {1, 2, 3}
    for case in vectors["accepted"]:
        sealed = bytes.fromhex(case["layers"][0]["sealed"])
        for hop in (*range(2, case["mixers"] + 1), 0):
            info = info_of(hop, vectors["plan_hash"], case["round"], case["lane"])
            sealed = open_sealed(sealed, keys[hop, case["round"] if hop else None], info)
        assert sealed.hex() == case["plaintext"]


@pytest.mark.parametrize("mixers", [1, 2, 3])
def test_layers_of_the_second_hpke_and_of_krand_are_the_same(mixers: int) -> None:
    """What a device seals the second one opens, hop by hop, and the other way round."""
    chain = party_for(survey_for(mixers))
    plan, lane = chain.plan, chain.plan.lanes[2]
    hops = (*range(2, mixers + 1), 0)
    plaintext = bytes.fromhex("0101") + (11).to_bytes(4, "big")
    infos = {hop: info_of(hop, plan.hash, 2, lane.number) for hop in hops}
    sealed = LayerSealer(plan, 2).seal(lane, Token(11))
    for hop in hops:
        sealed = open_sealed(sealed, chain.key_of(hop, 2), infos[hop])
    assert sealed == plaintext
    for hop in reversed(hops):
        public = chain.key_of(hop, 2).public_key()
        sealed = seal(sealed, public, infos[hop], X25519PrivateKey.generate())
    for hop in hops[:-1]:
        sealed = open_layer(chain.key_of(hop, 2), plan, 2, hop, lane.number, sealed)
    assert LaneOpener(chain.analyst, plan, 2).open(lane, sealed) == Token(11)
