"""Invitations as a collector knows them: keyed digests of the ids that it takes, and no code.

    {"format": "krand-invitations-1", "plan": …, "key": …, "rounds": [[digest, …], …]}

The digests of a round are sorted, so their order does not tell whose they are. A code that was used
is remembered as any submission is: by its id among the seen ones of the store. Nothing else is
kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from krand.errors import InvalidInput
from krand.files import json_object, read_whole
from krand.survey.limits import check_round
from krand.wire.invitations import invited_id

if TYPE_CHECKING:
    from krand.survey.plan import Plan

__all__ = [
    "FORMAT",
    "KEY_BYTES",
    "MOST_INVITATIONS",
    "Invitations",
    "check_invitations",
    "digest_of",
    "digests_of",
    "read_invitations",
    "write_invitations",
]

FORMAT = "krand-invitations-1"
RULE = f"must be a file of the format {FORMAT}"
HINT = "krand invite writes it beside the links"
KEY_BYTES = 32
DIGEST_BYTES = 16
MOST_INVITATIONS = 10_000_000
"""Codes times rounds."""
DIGEST = re.compile(f"[0-9a-f]{{{2 * DIGEST_BYTES}}}")


@dataclass(frozen=True, slots=True)
class Invitations:
    """The invitations of one plan and round."""

    key: bytes = field(repr=False)
    digests: frozenset[bytes] = field(repr=False)

    def admit(self, name: bytes) -> bool:
        """Whether a submission with this id was invited."""
        return digest_of(name, self.key) in self.digests


def digest_of(name: bytes, key: bytes) -> bytes:
    """The keyed digest of a submission's id."""
    return hashlib.blake2b(name, digest_size=DIGEST_BYTES, key=key).digest()


def digests_of(plan: Plan, round_number: int, codes: Iterable[bytes], key: bytes) -> list[bytes]:
    """The digests of all codes in a round, sorted."""
    return sorted(digest_of(invited_id(plan.hash, round_number, code), key) for code in codes)


def write_invitations(
    stream: BinaryIO,
    plan: Plan,
    codes: Sequence[bytes],
    key: bytes,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Write the collector's file, one round after the other."""
    head = f'{{"format":"{FORMAT}","key":"{key.hex()}","plan":"{plan.hash}","rounds":['
    stream.write(head.encode())
    for number in range(1, plan.survey.rounds + 1):
        digests = digests_of(plan, number, codes, key)
        listed = ",".join(f'"{digest.hex()}"' for digest in digests)
        stream.write(f"{',' if number > 1 else ''}[{listed}]".encode())
        progress(len(codes))
    stream.write(b"]}\n")


def read_invitations(path: Path, plan: Plan, round_number: int) -> Invitations:
    """The invitations of a plan and round in a file, which must be exactly as it is written."""
    check_round(plan, round_number)
    values = json_object("invitations", read_whole("invitations", path), str(path), RULE)
    if values.pop("format", None) != FORMAT or values.keys() != {"key", "plan", "rounds"}:
        raise InvalidInput("invitations", RULE, str(path), HINT)
    if values["plan"] != plan.hash:
        rule, hint = f"must be those of the plan {plan.hash}", f"in {path}; {HINT}"
        raise InvalidInput("invitations.plan", rule, values["plan"], hint)
    key, rounds = values["key"], values["rounds"]
    if not isinstance(key, str) or not re.fullmatch(f"[0-9a-f]{{{2 * KEY_BYTES}}}", key):
        rule = f"must be {2 * KEY_BYTES} hexadecimal digits"  # it is a secret, and not repeated
        raise InvalidInput("invitations.key", rule, type(key).__name__, f"in {path}; {HINT}")
    if not isinstance(rounds, list) or len(rounds) != plan.survey.rounds:
        rule = f"must have a list for each round, {plan.survey.rounds}"
        raise InvalidInput("invitations.rounds", rule, type(rounds).__name__, HINT)
    digests = frozenset(_digests(rounds[round_number - 1], path))
    return Invitations(bytes.fromhex(key), digests)


def _digests(listed: Any, path: Path) -> Iterator[bytes]:
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_INVITATIONS:
        rule = f"must have 1 to {MOST_INVITATIONS:,} digests in each round"
        raise InvalidInput("invitations.rounds", rule, type(listed).__name__, f"in {path}; {HINT}")
    before = ""
    for text in listed:
        if not isinstance(text, str) or not DIGEST.fullmatch(text) or text <= before:
            rule = f"must be different digests of {2 * DIGEST_BYTES} hexadecimal digits, sorted"
            raise InvalidInput("invitations.rounds", rule, str(text)[:40], f"in {path}; {HINT}")
        before = text
        yield bytes.fromhex(text)


def check_invitations(plan: Plan, path: Path | None, round_number: int) -> Invitations | None:
    """The invitations in a file: needed where the survey asks for them, and nowhere else."""
    if plan.survey.invitations and path is None:
        rule = "must be given, because the survey has invitations = true"
        hint = "name the file that krand invite wrote: --invitations invitations.json"
        raise InvalidInput("invitations", rule, None, hint)
    if path is None:
        return None
    if not plan.survey.invitations:
        rule = "must be given only for a survey with invitations = true"
        hint = "leave it out, or set it in the survey and make the plan again"
        raise InvalidInput("invitations", rule, str(path), hint)
    return read_invitations(path, plan, round_number)
