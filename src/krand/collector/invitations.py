"""Invitations as a collector knows them: keyed digests of the ids that it takes, and no code.

    {"format": "krand-invitations-1", "handed_out": …, "mailed": …, "plan": …, "key": …,
     "rounds": [[digest, …], …]}

The digests of a round are sorted, so their order does not tell whose they are. There may be more of
them than people: codes that were drawn for a message which was never sent are lost. A code that was
used is remembered as any submission is: by its id among the seen ones of the store. Nothing else is
kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from krand.errors import InvalidInput, KrandError
from krand.files import read_whole
from krand.randomness.generator import secure_random
from krand.survey.plain_values import Count, as_file, digits, typed, values_in
from krand.survey.plan_check import check_round
from krand.wire.invitations import invited_id

if TYPE_CHECKING:
    from krand.survey.plan import Plan

FORMAT = "krand-invitations-1"
HINT = "krand invite writes it beside the plan"
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
    invited: int
    """How many people have a code."""

    def admit(self, name: bytes) -> bool:
        """Whether a submission with this id was invited."""
        return digest_of(name, self.key) in self.digests


def digest_of(name: bytes, key: bytes) -> bytes:
    """The keyed digest of a submission's id."""
    return hashlib.blake2b(name, digest_size=DIGEST_BYTES, key=key).digest()


def digests_of(plan: Plan, round_number: int, codes: Iterable[bytes], key: bytes) -> list[bytes]:
    """The digests of all codes in a round, sorted."""
    return sorted(digest_of(invited_id(plan.hash, round_number, code), key) for code in codes)


@dataclass(frozen=True, slots=True)
class AllRounds:
    """The invitations of one plan in all its rounds."""

    key: bytes = field(repr=False)
    digests: tuple[frozenset[bytes], ...] = field(repr=False)
    """Of each round; nothing before the first codes are drawn."""
    handed_out: int = 0
    """How many people have a link that was written into a file."""
    mailed: int = 0
    """How many people were mailed one."""

    def check_count(self, plan: Plan, more: int) -> None:
        """Refuse to have more codes than a collector takes."""
        count = (more + (len(self.digests[0]) if self.digests else 0)) * plan.survey.rounds
        if count > MOST_INVITATIONS:
            rule = f"must be at most {MOST_INVITATIONS:,}, counted for each round"
            raise InvalidInput("count", rule, count)


def no_invitations() -> AllRounds:
    """Before any code is drawn; with a new key."""
    return AllRounds(secure_random().bytes(KEY_BYTES), ())


def write_invitations(
    stream: BinaryIO,
    plan: Plan,
    codes: Sequence[bytes],
    earlier: AllRounds,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Write the collector's file, one round after the other.

    Codes of earlier digests stay valid; nobody can tell these from the new ones. How many people
    have a code, with the new ones, is said as `earlier` says it.
    """
    people = f'"handed_out":{earlier.handed_out},"mailed":{earlier.mailed}'
    values = f'{people},"key":"{earlier.key.hex()}","plan":"{plan.hash}"'
    stream.write(f'{{"format":"{FORMAT}",{values},"rounds":['.encode())
    for number in range(1, plan.survey.rounds + 1):
        digests = digests_of(plan, number, codes, earlier.key)
        if earlier.digests:
            digests = sorted({*digests, *earlier.digests[number - 1]})
        listed = ",".join(f'"{digest.hex()}"' for digest in digests)
        stream.write(f"{',' if number > 1 else ''}[{listed}]".encode())
        progress(len(codes))
    stream.write(b"]}\n")


def read_invitations(path: Path, plan: Plan, round_number: int) -> Invitations:
    """The invitations of a plan and round in a file, which must be exactly as it is written."""
    check_round(plan, round_number)
    found = _read(path, plan)
    digests = frozenset(_digests(found.rounds[round_number - 1], path))
    return Invitations(bytes.fromhex(found.key), digests, found.handed_out + found.mailed)


def read_all_rounds(path: Path, plan: Plan) -> AllRounds:
    """The same of all rounds."""
    found = _read(path, plan)
    digests = tuple(frozenset(_digests(listed, path)) for listed in found.rounds)
    return AllRounds(bytes.fromhex(found.key), digests, found.handed_out, found.mailed)


def _read(path: Path, plan: Plan) -> _File:
    content = read_whole("invitations", path)
    values = values_in(content, "invitations", FORMAT, str(path), HINT)
    with as_file("invitations", FORMAT, str(path), HINT):
        found: _File = typed(_File, values)
    if found.plan != plan.hash:
        rule, hint = f"must be those of the plan {plan.hash}", f"in {path}; {HINT}"
        raise InvalidInput("invitations.plan", rule, found.plan, hint)
    if len(found.rounds) != plan.survey.rounds:
        rule = f"must have a list for each round, {plan.survey.rounds}"
        raise InvalidInput("invitations.rounds", rule, len(found.rounds), HINT)
    return found


@dataclass(frozen=True, slots=True)
class _File:
    """The fields of the file; a round is looked at where it is needed."""

    handed_out: Count
    mailed: Count
    key: Annotated[str, digits(2 * KEY_BYTES)] = field(repr=False)
    plan: str
    rounds: tuple[Any, ...] = field(repr=False)


def _digests(listed: Any, path: Path) -> Iterator[bytes]:
    if not isinstance(listed, list) or len(listed) > MOST_INVITATIONS:
        rule = f"must have at most {MOST_INVITATIONS:,} digests in each round"
        raise InvalidInput("invitations.rounds", rule, type(listed).__name__, f"in {path}; {HINT}")
    before = ""
    for text in listed:
        if not isinstance(text, str) or not DIGEST.fullmatch(text) or text <= before:
            rule = f"must be different digests of {2 * DIGEST_BYTES} hexadecimal digits, sorted"
            raise InvalidInput("invitations.rounds", rule, str(text)[:40], f"in {path}; {HINT}")
        before = text
        yield bytes.fromhex(text)


class Followed:
    """The invitations in a file, to which others may be added while a collector runs. As long as
    there is none, nobody is invited."""

    def __init__(self, path: Path, plan: Plan, round_number: int) -> None:
        self._path, self._of, self._stamp = path, (plan, round_number), _stamp(path)
        self._now = None if self._stamp is None else read_invitations(path, *self._of)

    def admit(self, name: bytes) -> bool:
        """Whether it was invited; whoever is unknown may have been added since."""
        if self._now is not None and self._now.admit(name):
            return True
        stamp = _stamp(self._path)
        if stamp is None or stamp == self._stamp:
            return False
        with suppress(KrandError):  # nobody is turned away because of another file
            self._now = read_invitations(self._path, *self._of)
        self._stamp = stamp
        return self._now is not None and self._now.admit(name)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
