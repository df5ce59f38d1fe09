"""People whose every message is unique, so that a count of two proves a replay."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from collecting import KEY
from krand.client.randomizer import message_format
from krand.collect.spool import Setting, Spool
from krand.privacy.guarantee import Linkage, Policy
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from krand.wire.keys import generate_signing_key
from krand.wire.manifest import Manifest, read_manifest
from krand.wire.submissions import Shape, Submitted, submission_bytes
from plans import true_plan

__all__ = [
    "SIGNER",
    "body_of",
    "filled",
    "manifests_in",
    "messages_in",
    "messages_of",
    "people",
    "person",
    "plan_of",
    "setting_for",
]

SIGNER = generate_signing_key()
MESSAGES = 3


@cache
def plan_of(population: int) -> Plan:
    """A plan of three messages each; its ε is so large that its promise is true."""
    policy = Policy(100.0, population, delta=1e-6)
    survey = Survey("s", policy, (YesNo(name="a"),), linkage=Linkage.RECORD, copies=MESSAGES)
    return true_plan(survey, (2**30,)).sealed_for(KEY.public_key())


LENGTH = message_format(plan_of(1000)).sealed_length


def setting_for(population: int) -> Setting:
    """What the spool of such a plan is for."""
    return Setting(plan_of(population).hash, population, Shape(1, LENGTH, MESSAGES))


def messages_of(number: int) -> list[bytes]:
    """The messages of one person; nobody else has any of them."""
    content = hashlib.shake_256(b"messages %d" % number).digest(MESSAGES * LENGTH)
    return [content[start : start + LENGTH] for start in range(0, len(content), LENGTH)]


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


def filled(folder: Path, population: int, numbers: Iterable[int], group: int = 16) -> Spool:
    """A spool with these people in it, stored in groups."""
    spool = Spool(folder, setting_for(population))
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
    return [read_manifest(path, SIGNER.public_key()) for path in files]
