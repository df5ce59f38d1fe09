"""Makes tests/vectors.json: `python -m reference.vectors`. Every run gives the same bytes.

Keys, ephemeral keys and random bytes are derived from public words: they protect nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from reference import delta, estimate, message, mixer
from reference.channel import (
    Lane,
    Payload,
    Words,
    packed,
    payloads_of,
    reported_positions,
)
from reference.hpke import SUITE, seal
from reference.message import ANALYST, LAYER_BYTES, Refused

WARNING = "keys for tests only: they are public and protect nothing"
INPUTS = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
CHAINS = {1: 1, 2: 2, 3: 0x0102}
"""Chains of so many mixers, each with its round."""


def digest(words: str) -> bytes:
    """32 bytes that everybody can derive."""
    return hashlib.sha256(f"krand test vectors, {words}".encode()).digest()


def opening_key(hop: int, round_number: int) -> X25519PrivateKey:
    """What opens the layer of a hop; the analyst has one key for all rounds."""
    word = "analyst" if hop == ANALYST else f"mixer {hop}, round {round_number}"
    return X25519PrivateKey.from_private_bytes(digest(f"key: {word}"))


def identity(hop: int) -> Ed25519PrivateKey:
    """What a mixer signs with."""
    return Ed25519PrivateKey.from_private_bytes(digest(f"identity: mixer {hop}"))


def public(key: X25519PrivateKey | Ed25519PrivateKey) -> str:
    """The public half in hexadecimal."""
    return key.public_key().public_bytes_raw().hex()


def ephemeral(words: str, place: int = 0) -> X25519PrivateKey:
    """What a device draws anew for each layer of each message."""
    return X25519PrivateKey.from_private_bytes(digest(f"ephemeral: {words}, {place}"))


# Messages

PLAN_HASH, OTHER_PLAN = digest("plan: mixed"), digest("plan: another")
YES_NO = Lane(number=0, offset=0, positions=1, messages=1)
CHOICE = Lane(number=1, offset=1, positions=5, messages=1)
LIST = Lane(number=2, offset=6, positions=60, messages=3)
LAST = Lane(number=70_000, offset=66, positions=10**7 - 66, messages=1)
ONE, EIGHT, FORTY, THOUSAND = (
    Lane(number=number, offset=0, positions=size, messages=2, records=True)
    for number, size in ((101, 1), (108, 8), (140, 40), (1101, 1001))
)
LANES = (YES_NO, CHOICE, LIST, LAST, ONE, EIGHT, FORTY, THOUSAND)
PAYLOADS: tuple[tuple[Lane, Payload], ...] = (
    *((YES_NO, 0), (YES_NO, None), (CHOICE, 1), (CHOICE, 5), (CHOICE, None)),
    *((LIST, 6), (LIST, 65), (LIST, None), (LAST, 0x010203), (LAST, 10**7 - 1)),
    *((ONE, packed(set(), 1)), (ONE, packed({0}, 1)), (EIGHT, packed({0, 1, 6}, 8))),
    *((FORTY, packed({0, 7, 8, 17, 39}, 40)), (FORTY, packed(set(range(40)), 40))),
    (THOUSAND, packed({3, 500, 999, 1000}, 1001)),
)
MALFORMED = (
    ("a byte too short", CHOICE, "0101000000"),
    ("a byte too long", CHOICE, "01010000000100"),
    ("version 0", CHOICE, "000100000001"),
    ("version 2", CHOICE, "020100000001"),
    ("a vector", CHOICE, "010200000001"),
    ("kind 255", CHOICE, "01ff00000000"),
    ("position before the lane", CHOICE, "010100000000"),
    ("position after the lane", CHOICE, "010100000006"),
    ("little-endian position", CHOICE, "010101000000"),
    ("largest number", LAST, "0101ffffffff"),
    ("null with a mark", CHOICE, "010000000001"),
    ("null with a mark in front", CHOICE, "010080000000"),
    ("record a byte too long", EIGHT, "0102c200"),
    ("a token among records", FORTY, "01010000000005"),
    ("a null among records", FORTY, "01000000000000"),
    ("lowest padding bit", ONE, "010201"),
    ("highest padding bit", ONE, "0102c0"),
)
"""Name, lane and plaintext; each is sealed unchanged, for the analyst."""


def described(lane: Lane, payload: Payload) -> dict[str, Any]:
    """A payload for people: a record by its positions that are 1."""
    if payload is None:
        return {"kind": "null"}
    if isinstance(payload, int):
        return {"kind": "token", "position": payload}
    bits = range(lane.positions)
    return {"kind": "vector", "ones": [j for j in bits if payload[j // 8] >> 7 - j % 8 & 1]}


def sealed_layers(
    name: str, mixers: int, round_number: int, lane: Lane, plaintext: bytes
) -> list[dict[str, Any]]:
    """All layers of a message as they arrive, the outermost first."""
    hops = message.hops_from(mixers, 1)[::-1]
    infos = [message.layer_info(hop, PLAN_HASH, round_number, lane.number) for hop in hops]
    layers = [
        (opening_key(hop, round_number).public_key(), info, ephemeral(name, place))
        for place, (hop, info) in enumerate(zip(hops, infos, strict=True))
    ]
    made = message.seal_layers(plaintext, layers)
    return [
        {"hop": hop, "info": info.hex(), "sealed": sealed.hex()}
        for hop, info, sealed in zip(hops, infos, made, strict=True)
    ][::-1]


def accepted() -> Iterator[dict[str, Any]]:
    """Every payload through every chain."""
    for mixers, round_number in CHAINS.items():
        for place, (lane, payload) in enumerate(PAYLOADS):
            plaintext = message.plaintext_of(payload)
            assert message.read_plaintext(lane, plaintext) == payload
            name = f"accepted, {mixers}, {place}"
            yield {
                "mixers": mixers,
                "round": round_number,
                "lane": lane.number,
                "payload": described(lane, payload),
                "plaintext": plaintext.hex(),
                "layers": sealed_layers(name, mixers, round_number, lane, plaintext),
            }


def rejected() -> Iterator[dict[str, Any]]:
    """Messages that arrive at mixer 2 of 3, or at the analyst, and are not taken."""
    for name, lane, plaintext in MALFORMED:
        info = message.layer_info(ANALYST, PLAN_HASH, 1, lane.number)
        yield refusal(name, ANALYST, lane, sealed_for(ANALYST, name, info, plaintext), plaintext)
    for hop in (2, ANALYST):
        inside = "010100000001" if hop == ANALYST else "00" * (6 + 2 * LAYER_BYTES)
        right = message.layer_info(hop, PLAN_HASH, 1, CHOICE.number)
        for name, info in (
            ("another lane", message.layer_info(hop, PLAN_HASH, 1, YES_NO.number)),
            ("another round", message.layer_info(hop, PLAN_HASH, 2, CHOICE.number)),
            ("another hop", message.layer_info(3, PLAN_HASH, 1, CHOICE.number)),
            ("another plan", message.layer_info(hop, OTHER_PLAN, 1, CHOICE.number)),
            ("version 2 in info", right.replace(b"message\x01", b"message\x02")),
            ("another purpose in info", right.replace(b"krand message", b"krand another")),
            ("no info", b""),
        ):
            where = f"{name}, at hop {hop}"
            yield refusal(where, hop, CHOICE, sealed_for(hop, where, info, inside))
    layers = sealed_layers("damaged", 3, 1, CHOICE, message.plaintext_of(1))
    whole = bytes.fromhex(layers[0]["sealed"])
    for name, sealed in (
        ("last byte missing", whole[:-1]),
        ("a layer too few", whole[LAYER_BYTES:]),
        ("first bit changed", changed(whole, 0)),
        ("the bit that X25519 ignores", changed(whole, 31, 0x80)),
        ("encapsulated key of low order", bytes(32) + whole[32:]),
        ("all zeros", bytes(len(whole))),
        ("inner layer changed", changed(whole, 40)),
        ("last bit changed", changed(whole, -1)),
    ):
        yield refusal(name, 2, CHOICE, sealed)


def sealed_for(hop: int, name: str, info: bytes, plaintext: str) -> bytes:
    """A plaintext under any info, for the key of a hop in round 1."""
    recipient = opening_key(hop, 1).public_key()
    return seal(bytes.fromhex(plaintext), recipient, info, ephemeral(f"rejected, {name}"))


def changed(content: bytes, place: int, mask: int = 1) -> bytes:
    """The same with some bits of one byte the other way round."""
    other = bytearray(content)
    other[place] ^= mask
    return bytes(other)


def refusal(
    name: str, hop: int, lane: Lane, sealed: bytes, plaintext: str | None = None
) -> dict[str, Any]:
    """A message and why it is refused; the reference must refuse it."""
    info = message.layer_info(hop, PLAN_HASH, 1, lane.number)
    try:
        wanted = message.length_at(lane, 3, hop)
        opened = message.open_layer(sealed, wanted, opening_key(hop, 1), info)
        message.read_plaintext(lane, opened)
        raise AssertionError(f"{name} is not refused")
    except Refused as error:
        reason = error.reason
    return {
        "name": name,
        "mixers": 3,
        "hop": hop,
        "round": 1,
        "lane": lane.number,
        "plaintext": plaintext,
        "sealed": sealed.hex(),
        "rejection": reason,
    }


def submissions() -> dict[str, Any]:
    """Bodies of two messages of four bytes in round 258, right and wrong."""
    number, length, count = 0x0102, 4, 2
    name = digest("submission")[: message.ID_BYTES]
    right = message.submission(number, name, [b"1234", b"5678"])
    bodies = {
        "right": right,
        "empty": b"",
        "a byte less than a header": right[: message.HEAD_BYTES - 1],
        "version 2": b"\2" + right[1:],
        "version 0": b"\0" + right[1:],
        "another round": right[:2] + b"\1" + right[3:],
        "a round with its bytes exchanged": right[:1] + b"\2\1" + right[3:],
        "no messages": right[: message.HEAD_BYTES],
        "a byte missing": right[:-1],
        "a byte more": right + b"\0",
        "a message more": right + b"9abc",
    }
    found = []
    for title, body in bodies.items():
        try:
            reason = None
            assert message.read_submission(body, number, length, count) == (name, right[19:])
        except Refused as error:
            reason = error.reason
        found.append({"name": title, "body": body.hex(), "rejection": reason})
    return {"round": number, "message_length": length, "messages": count, "bodies": found}


def invitations() -> list[dict[str, Any]]:
    """Codes and the ids they give in two rounds; null where it is no code."""
    right = message.code_text(digest("invitation")[: message.CODE_BYTES])
    wrong = ("", right[:-1], right + "A", right + "==", right[:-1] + "+", right[:-1] + "B")
    wrong += (right[:-1] + "ä", "#" + right[:-1], right[:-1] + "\n", " " + right[:-1])
    zero = message.code_text(bytes(message.CODE_BYTES))
    found: list[dict[str, Any]] = []
    for text in (right, zero, *wrong):
        try:
            code = message.read_code(text)
        except Refused:
            found.append({"code": text, "ids": None})
            continue
        ids = [message.invited_id(PLAN_HASH, number, code).hex() for number in (1, 0x0102)]
        found.append({"code": text, "ids": ids})
    return found


# A mixer's step

HALF_LAW = [2**62, 2**60, 2**60]


def mixing() -> dict[str, Any]:
    """What arrives at mixer 2 of 3 for one lane: three messages stay, four do not."""
    came = [
        bytes.fromhex(sealed_layers(name, 3, 1, lane, message.plaintext_of(payload))[0]["sealed"])
        for name, lane, payload in (
            *(("first", CHOICE, 2), ("second", CHOICE, None), ("third", CHOICE, 5)),
            ("of another lane", LIST, 6),
        )
    ]
    came += [changed(came[1], -1), came[0], changed(came[2], 100)]
    came = [came[place] for place in (0, 3, 1, 4, 5, 6, 2)]
    info = message.layer_info(2, PLAN_HASH, 1, CHOICE.number)
    content = b"".join(digest(f"mixing, {place}") for place in range(40))
    step = mixer.mix_lane(CHOICE, came, opening_key(2, 1), info, [], Words(content))
    return {
        "hop": 2,
        "round": 1,
        "lane": CHOICE.number,
        "came": [each.hex() for each in came],
        "passed": [each.hex() for each in step.passed],
        "repeats": step.repeats,
        "refused": step.refused,
        "law": [str(weight) for weight in HALF_LAW],
        "dummies": [dummies(lane, 40, content) for lane in (YES_NO, CHOICE, LIST)],
    }


def dummies(lane: Lane, padding: int, content: bytes) -> dict[str, Any]:
    """How many dummies say what, from given random bytes."""
    words = Words(content)
    made = mixer.dummies_of(lane, HALF_LAW, padding, words)
    inside = range(lane.offset, lane.offset + lane.positions)
    return {
        "lane": lane.number,
        "randomness": content[: words.used].hex(),
        "padding": padding if lane.messages > 1 else 0,
        "tokens": [made.count(position) for position in inside],
        "nulls": made.count(None),
    }


# Promise and estimates


def law(shape: int, ratio: Fraction, reach: int) -> list[int]:
    """Weights of R, R+1, …, 2R that fall as ratio^(x^shape) and add up, on both sides, to 2^63."""
    masses = [ratio ** (x**shape) for x in range(reach + 1)]
    total = 2 * sum(masses) - 1
    above = [max(1, int(mass / total * 2**63)) for mass in masses[1:]]
    return [2**63 - 2 * sum(above), *above]


def deltas() -> dict[str, Any]:
    """δ of lanes: of dummies for laws and numbers of moves, of flips among other people."""
    exponential, normal = law(1, Fraction(36788, 10**5), 14), law(2, Fraction(9, 10), 16)
    lanes = ((exponential, 1, "1"), (exponential, 2, "1"), (exponential, 2, "1.5"))
    lanes += ((exponential, 1, "0.5"), (normal, 1, "1"), (normal, 2, "2"))
    crowds = ((0, 99, 2**30, "1"), (50, 49, 2**30, "1"), (50, 49, 2**29, "0.5"))
    found: dict[str, Any] = {"dummies": [], "flips": []}
    for half, moves, epsilon in lanes:
        exact = delta.dummies_delta(mixer.full_law(half), moves, Fraction(epsilon))
        told = {"law": list(map(str, half)), "moves": moves, "epsilon": float(epsilon)}
        found["dummies"].append({**told, "delta": delta.decimal_up(exact)})
    for ones, zeros, numerator, epsilon in crowds:
        exact = delta.flips_delta(ones, zeros, Fraction(numerator, 2**32), Fraction(epsilon))
        told = {"ones": ones, "zeros": zeros, "noise_numerator": numerator}
        found["flips"].append({**told, "epsilon": float(epsilon), "delta": delta.decimal_up(exact)})
    return found


def estimates() -> dict[str, Any]:
    """Counts and their variances from what was reported, as fractions."""
    found, numerator, people = list[dict[str, Any]](), 2**29, 1000
    q, weights = Fraction(numerator, 2**32), mixer.full_law(HALF_LAW)
    for reported, copies in ((0, 1), (125, 1), (300, 1), (1000, 1), (0, 4), (1203, 4)):
        found.append(
            {
                "people": people,
                "copies": copies,
                "reported": reported,
                "noise_numerator": numerator,
                "count": str(estimate.count_of_flips(reported, people, q, copies)),
                "variance": str(estimate.variance_of_flips(people, q, copies)),
            }
        )
    dummies = {
        "law": list(map(str, HALF_LAW)),
        "mixers": 3,
        "tokens": 17,
        "count": estimate.count_of_dummies(17, [len(HALF_LAW) - 1] * 3),
        "variance": str(estimate.variance_of_dummies([weights] * 3)),
    }
    return {"flips": found, "dummies": dummies}


# Devices


def case_values(case: dict[str, Any]) -> dict[str, Any]:
    """One person's answers from beginning to end."""
    text = INPUTS["plans"][case["plan"]]
    plan, number, truth = json.loads(text), case["round"], set(case["true_positions"])
    name = hashlib.sha256(text.encode()).digest()
    content = b"".join(word.to_bytes(4, "big") for word in case["first_words"])
    content += b"".join(digest(f"randomness: {case['name']}, {n}") for n in range(200))
    words = Words(content)
    made = payloads_of(plan, truth, words)
    code = case["invitation"]
    if code is None:
        own = words.bytes(message.ID_BYTES)
    else:
        own = message.invited_id(name, number, message.read_code(code))
    mixers = plan["survey"]["trust"]["mixers"]
    hops = message.hops_from(mixers, 1)[::-1]
    lengths = [message.length_at(lane, mixers, 1) for lane, _ in made]
    is_record = plan["survey"]["linkage"] == "record"
    return {
        "name": case["name"],
        "plan": text,
        "hash": name.hex(),
        "signatures": signatures_of(plan, name),
        "keys": list(keys_of(plan, hops)),
        "round": number,
        "answers": case["answers"],
        "invitation": code,
        "randomness": content[: words.used].hex(),
        "true_positions": case["true_positions"],
        "reported_positions": None
        if is_record
        else reported_positions(plan, truth, Words(content)),
        "messages": [
            {
                "lane": lane.number,
                "plaintext": message.plaintext_of(payload).hex(),
                "infos": [message.layer_info(hop, name, number, lane.number).hex() for hop in hops],
            }
            for lane, payload in made
        ],
        "id": own.hex(),
        "submission_length": message.HEAD_BYTES + sum(lengths),
    }


def signatures_of(plan: dict[str, Any], name: bytes) -> list[dict[str, str]]:
    """Of all mixers that the plan names."""
    found = []
    for hop, party in enumerate(plan["mixers"], 1):
        assert party["identity"] == public(identity(hop))
        found.append(signature_by(identity(hop), name, name))
    return found


def signature_by(key: Ed25519PrivateKey, name: bytes, signed: bytes) -> dict[str, str]:
    """A plan's signature; `signed` is the plan that was signed, `name` the one that is told."""
    return {
        "format": "krand-plan-signature-1",
        "plan": name.hex(),
        "mixer": public(key),
        "signature": key.sign(message.plan_message(signed)).hex(),
    }


def keys_of(plan: dict[str, Any], hops: list[int]) -> Iterator[dict[str, Any]]:
    """What opens the layers, the innermost first; they are those that the plan names."""
    for hop in hops:
        rounds = [None] if hop == ANALYST else range(1, plan["survey"]["rounds"] + 1)
        for number in rounds:
            key = opening_key(hop, number or 1)
            if hop == ANALYST:
                assert plan["analyst"]["key"] == public(key)
            else:
                assert plan["mixers"][hop - 1]["keys"][number - 1] == public(key)
            yield {"hop": hop, "round": number, "private_key": key.private_bytes_raw().hex()}


def sealed_of(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All layers of the case's first message, the innermost first: each is what the next seals."""
    keys = [key for key in case["keys"] if key["round"] in (None, case["round"])]
    first = case["messages"][0]
    inside = bytes.fromhex(first["plaintext"])
    for place, (key, info) in enumerate(zip(keys, first["infos"], strict=True)):
        drawn, name = ephemeral(case["name"], place), bytes.fromhex(info)
        recipient = X25519PrivateKey.from_private_bytes(bytes.fromhex(key["private_key"]))
        sealed = seal(inside, recipient.public_key(), name, drawn)
        yield {
            "case": case["name"],
            "message": 0,
            "hop": key["hop"],
            "ephemeral_private_key": drawn.private_bytes_raw().hex(),
            "recipient_public_key": public(recipient),
            "info": info,
            "plaintext": inside.hex(),
            "sealed": sealed.hex(),
        }
        inside = sealed


def signature_lists(cases: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Signatures that come with a plan: all mixers must have signed it, and nobody lied."""
    case, other = cases["three mixers, third round"], cases["two mixers, second round"]
    good, name, foreign = case["signatures"], bytes.fromhex(case["hash"]), other["signatures"]
    stranger = signature_by(identity(9), name, name)
    renamed = signature_by(identity(2), name, bytes.fromhex(other["hash"]))
    bare = {**good[1], "signature": identity(2).sign(name).hex()}
    for title, given, valid in (
        ("all", good, True),
        ("in another order, beside others", [*foreign, stranger, *good[::-1]], True),
        ("none", [], False),
        ("without the collector's", good[1:], False),
        ("without the last one's", good[:-1], False),
        ("of another plan", foreign + good[2:], False),
        ("of another plan, renamed", [good[0], renamed, good[2]], False),
        ("a stranger's instead", [good[0], stranger, good[2]], False),
        ("without its purpose", [good[0], bare, good[2]], False),
        ("a forged one beside the true one", [*good, {**good[2], "signature": "00" * 64}], False),
        ("an empty one", [*good[:2], {**good[2], "signature": ""}], False),
        ("another mixer's", [good[0], {**good[2], "mixer": good[1]["mixer"]}, good[2]], False),
    ):
        yield {"name": title, "case": case["name"], "signatures": given, "valid": valid}


def wrong_plans(cases: dict[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Plans in which `old` became `new`; no device takes them, whatever their hash."""
    for case, name, old, new in INPUTS["wrong_plans"]:
        assert cases[case]["plan"].count(old) == 1, (name, cases[case]["plan"].count(old))
        yield {"name": name, "case": case, "old": old, "new": new}


def make_vectors() -> dict[str, Any]:
    """The whole file."""
    made = [case_values(case) for case in INPUTS["cases"]]
    cases = {case["name"]: case for case in made}
    hops = [(hop, number) for hop in (2, 3) for number in CHAINS.values()]
    return {
        "format": "krand vectors",
        "version": 1,
        "warning": WARNING,
        "suite": SUITE,
        "plan_hash": PLAN_HASH.hex(),
        "keys": [
            {
                "hop": hop,
                "round": number,
                "private_key": opening_key(hop, number or 1).private_bytes_raw().hex(),
                "public_key": public(opening_key(hop, number or 1)),
            }
            for hop, number in [(ANALYST, None), *hops]
        ],
        "lanes": [
            {**vars(lane), "plaintext_length": message.plaintext_length(lane)} for lane in LANES
        ],
        "layers": [
            {"mixers": mixers, "hop": hop, "layers": len(message.hops_from(mixers, hop))}
            for mixers in CHAINS
            for hop in (*range(1, mixers + 1), ANALYST)
        ],
        "accepted": list(accepted()),
        "rejected": list(rejected()),
        "submissions": submissions(),
        "invitations": invitations(),
        "mixing": mixing(),
        "delta": deltas(),
        "estimates": estimates(),
        "cases": made,
        "refused": INPUTS["refused"],
        "worded": INPUTS["worded"],
        "sealed": [layer for name in INPUTS["sealed"] for layer in sealed_of(cases[name])],
        "signatures": list(signature_lists(cases)),
        "wrong_plans": list(wrong_plans(cases)),
    }


def vectors_text() -> str:
    """The file as it is published: ASCII, so that every character of an answer can be seen."""
    return json.dumps(make_vectors(), indent=1) + "\n"


if __name__ == "__main__":
    print(vectors_text(), end="")
