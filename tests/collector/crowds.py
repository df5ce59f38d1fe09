"""People whose every message is unique, so that a count of two proves a replay."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from collecting import KEY
from krand.batches.chain import Manifest, parse_manifest
from krand.collector.opening import config_of
from krand.collector.sqlite.spool import Spool
from krand.collector.store import SpoolConfig
from krand.promise import Linkage, Policy
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from krand.wire.keys import generate_signing_key
from krand.wire.submissions import SubmissionFormat, Submitted, format_of, submission_bytes
from plans import true_plan

SIGNER = generate_signing_key()
COPIES = 3
_linkages = [Linkage.RECORD]
"""The last one is that of every plan, until its block ends."""


@contextmanager
def crowd_of(linkage: Linkage) -> Iterator[None]:
    """Everything in this block is about a plan of that linkage; without it, of records."""
    _linkages.append(linkage)
    try:
        yield
    finally:
        _linkages.pop()


def linkage_now() -> Linkage:
    """That of every plan here."""
    return _linkages[-1]


def plan_of(crowd: int) -> Plan:
    """A plan of some messages each; its ε is so large that its promise is true."""
    return _plan_of(crowd, linkage_now())


@cache
def _plan_of(crowd: int, linkage: Linkage) -> Plan:
    policy = Policy(epsilon=100.0, minimum_crowd=crowd, delta=1e-6)
    asked, copies = (YesNo(name="a"),), COPIES
    if linkage is Linkage.BIT:
        asked, copies = (YesNo(name="a"), YesNo(name="b")), 1
    survey = Survey(
        id="s",
        policy=policy,
        questions=asked,
        linkage=linkage,
        copies=copies,
    )
    return true_plan(survey, (2**30,) * len(asked)).sealed_for(KEY.public_key())


@cache
def _submission_format(linkage: Linkage) -> SubmissionFormat:
    """How much everybody sends, whatever the crowd."""
    plan = _plan_of(1000, linkage)
    return format_of(plan)


def config_for(crowd: int) -> SpoolConfig:
    """What the spool of such a plan is for."""
    return config_of(plan_of(crowd))


def sealing(crowd: int) -> SpoolConfig:
    """The same for a store that seals a batch whenever a crowd has come, and begins the next."""
    return replace(config_for(crowd), release_every=crowd, closings=0)


def messages_of(number: int) -> list[bytes]:
    """The messages of one person; nobody else has any of them."""
    submission_format = _submission_format(linkage_now())
    content = hashlib.shake_256(b"messages %d" % number).digest(
        submission_format.messages * submission_format.message_length
    )
    starts = range(0, len(content), submission_format.message_length)
    return [content[start : start + submission_format.message_length] for start in starts]


def everybody(numbers: Iterable[int]) -> Counter[bytes]:
    """Every message of these people, once."""
    return Counter(message for number in numbers for message in messages_of(number))


def check_wiped(folder: Path, numbers: Iterable[int]) -> None:
    """No message of these people is anywhere in the spool's files."""
    content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    assert not any(message[:24] in content for message in everybody(numbers))


def person(number: int) -> Submitted:
    """One person's submission as the spool takes it, the same every time."""
    name = hashlib.shake_256(b"id %d" % number).digest(16)
    return Submitted(name, b"".join(messages_of(number)))


def people(numbers: Iterable[int]) -> list[Submitted]:
    """The submissions of many."""
    return [person(number) for number in numbers]


def body_of(number: int) -> bytes:
    """One person's submission as it travels, the same every time."""
    return submission_bytes(1, person(number).id, tuple(messages_of(number)))


def filled(folder: Path, crowd: int, numbers: Iterable[int], group: int = 16) -> Spool:
    """A spool with these people in it, stored in groups; every crowd of them is sealed."""
    return _stored(Spool(folder, sealing(crowd)), numbers, group)


def stored(folder: Path, crowd: int, numbers: Iterable[int]) -> Spool:
    """A spool as `krand serve` has it: one batch, which takes everybody until it is closed."""
    return _stored(Spool(folder, config_for(crowd)), numbers, 16)


def _stored(spool: Spool, numbers: Iterable[int], group: int) -> Spool:
    waiting = people(numbers)
    for start in range(0, len(waiting), group):
        spool.add(waiting[start : start + group])
    return spool


def messages_in(folder: Path) -> list[bytes]:
    """Every message that was released into a folder."""
    files = sorted(folder.glob("batch-*.parquet"))
    return [row for path in files for row in pq.read_table(path)["message"].to_pylist()]


def manifests_in(folder: Path) -> list[Manifest]:
    """What the collector signed, verified."""
    files = sorted(folder.glob("batch-*.manifest.json"))
    return [parse_manifest(path.read_bytes(), SIGNER.public_key()) for path in files]
