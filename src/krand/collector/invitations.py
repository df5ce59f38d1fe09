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
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from krand.errors import InvalidInput
from krand.files import read_whole
from krand.survey.limits import check_round
from krand.survey.plain_values import Digits, as_file, typed, values_in
from krand.wire.invitations import invited_id

if TYPE_CHECKING:
    from krand.survey.plan import Plan

FORMAT = "krand-invitations-1"
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
    values = values_in(read_whole("invitations", path), "invitations", FORMAT, str(path), HINT)
    with as_file("invitations", FORMAT, str(path), HINT):
        found: _File = typed(_File, values)
    if found.plan != plan.hash:
        rule, hint = f"must be those of the plan {plan.hash}", f"in {path}; {HINT}"
        raise InvalidInput("invitations.plan", rule, found.plan, hint)
    if len(found.rounds) != plan.survey.rounds:
        rule = f"must have a list for each round, {plan.survey.rounds}"
        raise InvalidInput("invitations.rounds", rule, len(found.rounds), HINT)
    digests = frozenset(_digests(found.rounds[round_number - 1], path))
    return Invitations(bytes.fromhex(found.key), digests)


@dataclass(frozen=True, slots=True)
class _File:
    """The fields of the file; of its rounds only one is looked at."""

    key: Annotated[str, Digits(2 * KEY_BYTES)] = field(repr=False)
    plan: str
    rounds: tuple[Any, ...] = field(repr=False)


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
