"""A mixer's keys: its identity, an opening key for every round, and what it tells others.

The identity (Ed25519) signs plans and batches. The opening keys, one for each round, are for the
survey's seal and listed in the plan. A round's key is erased with the last batch that the plan
allows, or when the round is closed: otherwise a key that leaks later would undo the mix for whoever
recorded the traffic. The first mixer is the collector, which removes no layer and has no opening
keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand.errors import InvalidInput
from krand.files import json_object, read_whole, whole
from krand.promise import MAX_ROUNDS
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import as_file, typed
from krand.survey.plan import Mixer, Plan
from krand.survey.plan_file import check_keys
from krand.survey.seals import Seal
from krand.wire.mixers import check_mixers
from krand.wire.suites import OpeningKey, generate_key, opening_key, seal_of, sealing_key

FORMAT = "krand-mixer-1"
SEAL_FORMAT = "krand-mixer-2"
"""The same with `seal`: what the keys are for, unless it is X25519."""
FORMATS = f"{FORMAT} or {SEAL_FORMAT}"
RULE = f"must be a file of the format {FORMATS}"
HINT = "krand mix keygen writes it"
LONGEST_NAME = 100


class EraseReason(StrEnum):
    """Why the opening key of a round was erased."""

    MIXED = "mixed"
    """The last batch that the plan allows was mixed."""
    CLOSED = "closed"
    """The round was closed before that."""
    DATE = "date"
    """The plan's date came before that."""
    UNUSED = "unused"
    """No plan was signed with the keys."""


@dataclass(frozen=True, slots=True, repr=False)
class MixerKeys:
    """The private keys of a mixer."""

    identity: Ed25519PrivateKey
    opening: Mapping[int, OpeningKey]
    """By round; one whose key was erased has none."""

    @property
    def identity_hex(self) -> str:
        """The public identity, as plans name it."""
        return self.identity.public_key().public_bytes_raw().hex()

    def without(self, *rounds: int) -> MixerKeys:
        """The keys after those of these rounds were erased."""
        left = {number: key for number, key in self.opening.items() if number not in rounds}
        return replace(self, opening=MappingProxyType(left))

    def hop_in(self, plan: Plan) -> int:
        """The mixer's place in the chain of a plan that names it."""
        for hop, mixer in enumerate(check_mixers(plan), 1):
            if mixer.identity == self.identity_hex:
                self._check_opening(hop, mixer)
                return hop
        rule = "must be the identity of a mixer of the plan"
        hint = "the plan names other mixers: is this the right store?"
        raise InvalidInput("identity", rule, self.identity_hex, hint)

    def _check_opening(self, hop: int, mixer: Mixer) -> None:
        """The keys that are left must be those of the plan."""
        for round_number, key in self.opening.items():
            told = mixer.keys[round_number - 1 : round_number]
            if told != (key.public_key().public_bytes_raw().hex(),):
                rule = f"must be the plan's key of mixer {hop} for round {round_number}"
                hint = "the plan was made from another descriptor of this mixer"
                raise InvalidInput("opening key", rule, told, hint)

    def to_bytes(self) -> bytes:
        """All private keys, for the store alone."""
        opening = {str(number): key.private_bytes_raw().hex() for number, key in self._in_order()}
        identity = self.identity.private_bytes_raw().hex()
        seal = next(map(seal_of, self.opening.values()), Seal.X25519)
        kind = {} if seal is Seal.X25519 else {"seal": seal.value}
        return canonical_json({"identity": identity, "opening": opening, **kind})

    @classmethod
    def from_bytes(cls, content: bytes) -> MixerKeys:
        """What `to_bytes` wrote."""
        values = json_object("store", content, "keys")
        seal = Seal(values.get("seal", Seal.X25519))
        opening = {
            int(number): opening_key(seal, bytes.fromhex(key))
            for number, key in values["opening"].items()
        }
        identity = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(values["identity"]))
        return cls(identity, MappingProxyType(dict(sorted(opening.items()))))

    def described(self, name: str) -> Mixer:
        """What the plan says about this mixer."""
        keys = tuple(key.public_key().public_bytes_raw().hex() for _, key in self._in_order())
        return Mixer(name=name, identity=self.identity_hex, keys=keys)

    def _in_order(self) -> list[tuple[int, OpeningKey]]:
        return sorted(self.opening.items())


def generate_mixer_keys(
    rounds: int, seal: Seal = Seal.X25519, identity: Ed25519PrivateKey | None = None
) -> MixerKeys:
    """New keys for so many rounds; none of them opens anything for the collector, 0 rounds.

    A plan lists all keys, and no survey has more than MAX_ROUNDS rounds. A service gives its own
    identity; otherwise the store has one of its own.
    """
    try:
        whole("rounds", rounds, 0, MAX_ROUNDS)
    except ValueError:
        rule = f"must be a whole number from 0 to {MAX_ROUNDS:,}"
        hint = "as many as the survey has; 0 for the collector, which opens nothing"
        raise InvalidInput("rounds", rule, rounds, hint) from None
    opening = {number: generate_key(seal) for number in range(1, rounds + 1)}
    return MixerKeys(identity or Ed25519PrivateKey.generate(), MappingProxyType(opening))


def descriptor_bytes(mixer: Mixer) -> bytes:
    """The public file of a mixer, which goes into a plan."""
    _check_name(mixer.name)
    kind = {"format": FORMAT}
    if any(len(key) == 2 * Seal.MLKEM768_X25519.wire.key_bytes for key in mixer.keys):
        kind = {"format": SEAL_FORMAT, "seal": Seal.MLKEM768_X25519.value}
    values = {**kind, "name": mixer.name, "identity": mixer.identity}
    return canonical_json({**values, "keys": list(mixer.keys)})


def read_descriptor(path: str | Path) -> Mixer:
    """The mixer that a public file describes."""
    return parse_descriptor(read_whole("mixer", path), str(path))


def parse_descriptor(content: bytes, source: str = "descriptor") -> Mixer:
    """The mixer in these bytes."""
    values = json_object("mixer", content, source, RULE)
    seal = _seal_in(values)
    if seal is None:
        raise InvalidInput("mixer", RULE, source, HINT)
    with as_file("mixer", FORMATS, source, HINT):
        mixer: Mixer = typed(Mixer, values)
        check_keys(mixer, seal)
    _check_name(mixer.name)
    if len(mixer.keys) > MAX_ROUNDS:
        rule = f"must be a list of at most {MAX_ROUNDS:,} keys"
        raise InvalidInput("mixer.keys", rule, len(mixer.keys), HINT)
    for key in mixer.keys:
        sealing_key(seal, bytes.fromhex(key), "mixer.keys", source)
    return mixer


def _seal_in(values: dict[str, Any]) -> Seal | None:
    """What the keys of a description are for, taken out with the format; None for another one."""
    form = values.pop("format", None)
    if form == FORMAT:
        return Seal.X25519
    named = form == SEAL_FORMAT and values.pop("seal", None) == Seal.MLKEM768_X25519
    return Seal.MLKEM768_X25519 if named else None


def _check_name(name: Any) -> None:
    known = isinstance(name, str) and name.isprintable() and name == name.strip()
    if not known or not 1 <= len(name) <= LONGEST_NAME:
        rule = f"must be a text of 1 to {LONGEST_NAME} printable characters"
        raise InvalidInput("mixer.name", rule, name)
