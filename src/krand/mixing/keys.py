"""A mixer's keys: its identity, an opening key for every round, and what it tells others.

The identity (Ed25519) signs plans and batches. The opening keys (X25519), one for each round, are
listed in the plan. A round's key is erased with the last batch that the plan
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

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.errors import InvalidInput
from krand.files import json_object, read_whole, whole
from krand.promise import MAX_ROUNDS
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import as_file, typed, values_in
from krand.survey.plan import Mixer, Plan
from krand.wire.keys import sealing_key
from krand.wire.mixers import check_mixers

FORMAT = "krand-mixer-1"
HINT = "krand mix keygen writes it"
LONGEST_NAME = 100
NAME = f"1 to {LONGEST_NAME} printable characters, without spaces around them"


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
    opening: Mapping[int, X25519PrivateKey]
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
        return canonical_json({"identity": identity, "opening": opening})

    @classmethod
    def from_bytes(cls, content: bytes) -> MixerKeys:
        """What `to_bytes` wrote."""
        values = json_object("store", content, "keys")
        opening = {
            int(number): X25519PrivateKey.from_private_bytes(bytes.fromhex(key))
            for number, key in values["opening"].items()
        }
        identity = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(values["identity"]))
        return cls(identity, MappingProxyType(dict(sorted(opening.items()))))

    def described(self, name: str) -> Mixer:
        """What the plan says about this mixer."""
        keys = tuple(key.public_key().public_bytes_raw().hex() for _, key in self._in_order())
        return Mixer(name=name, identity=self.identity_hex, keys=keys)

    def _in_order(self) -> list[tuple[int, X25519PrivateKey]]:
        return sorted(self.opening.items())


def generate_mixer_keys(rounds: int, identity: Ed25519PrivateKey | None = None) -> MixerKeys:
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
    opening = {number: X25519PrivateKey.generate() for number in range(1, rounds + 1)}
    return MixerKeys(identity or Ed25519PrivateKey.generate(), MappingProxyType(opening))


def descriptor_bytes(mixer: Mixer) -> bytes:
    """The public file of a mixer, which goes into a plan."""
    check_name(mixer.name)
    return canonical_json(
        {
            "format": FORMAT,
            "name": mixer.name,
            "identity": mixer.identity,
            "keys": list(mixer.keys),
        }
    )


def read_descriptor(path: str | Path) -> Mixer:
    """The mixer that a public file describes."""
    return parse_descriptor(read_whole("mixer", path), str(path))


def parse_descriptor(content: bytes, source: str = "descriptor") -> Mixer:
    """The mixer in these bytes."""
    values = values_in(content, "mixer", FORMAT, source, HINT)
    with as_file("mixer", FORMAT, source, HINT):
        mixer: Mixer = typed(Mixer, values)
    check_name(mixer.name)
    if len(mixer.keys) > MAX_ROUNDS:
        rule = f"must be a list of at most {MAX_ROUNDS:,} keys"
        raise InvalidInput("mixer.keys", rule, len(mixer.keys), HINT)
    for key in mixer.keys:
        sealing_key(bytes.fromhex(key), "mixer.keys", source)
    return mixer


def is_name(name: str) -> bool:
    """Whether a party may be called that, everywhere: in its service, in plans and in messages."""
    return name.isprintable() and name == name.strip() and 1 <= len(name) <= LONGEST_NAME


def check_name(name: str, field: str = "mixer.name") -> None:
    """Refuse a name that no plan could have."""
    if not is_name(name):
        raise InvalidInput(field, f"must be {NAME}", name, "give it a shorter or plainer name")
