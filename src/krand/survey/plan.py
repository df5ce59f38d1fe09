"""The plan: a survey with its noise, frozen. Its hash names it from here on.

A plan file is canonical JSON without a line end, so that `sha256sum plan.json` prints the plan's
name. Changing anything makes another plan. Plans are made by `krand.planning`; a device only reads
one, for which no mathematics is needed.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.files import write_new
from krand.promise import (
    BOUND_DIGITS,
    NOISE_GRID,
    PRECISION_DIGITS,
    DummyLaw,
    Precision,
    Promise,
)
from krand.showing import Shown, at_most, one_line, rounded_up, some, total
from krand.survey.canonical import canonical_json
from krand.survey.document import document_of
from krand.survey.lanes import Lane, lanes_of
from krand.survey.layout import Block, Layout
from krand.survey.mechanisms import Mechanism
from krand.survey.plain_values import Amount, Count, Sha256, plain
from krand.survey.schedule import Charge
from krand.survey.survey import Survey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

FORMAT = "krand-plan-1"


@dataclass(frozen=True, slots=True)
class Margin:
    """One question of a group by itself: an answer is a sum over cells, each with its noise."""

    question: str
    cells: int
    """How many cells one answer adds up; the noise of the sum is √cells times that of a cell."""
    precision: Precision

    def rounded(self) -> Margin:
        return replace(self, precision=_rounded(self.precision))


@dataclass(frozen=True, slots=True)
class WorstShift:
    """The most people by which any one count of a block could be too high, or too low."""

    name: str
    too_high: Amount
    too_low: Amount

    def rounded(self) -> WorstShift:
        high, low = (rounded_up(each, PRECISION_DIGITS) for each in (self.too_high, self.too_low))
        return replace(self, too_high=high, too_low=low)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBlock:
    """A block of the survey with its noise, and what follows from that for its counts."""

    block: Block
    numerator: int
    """Noise of devices as a/2^32; 0 where they add none, and alike for all bits of a record."""
    precision: Precision
    """How precise every count will be."""
    shift: WorstShift
    """How far one person who lies as well as possible can move a count."""
    room: int = 0
    """How many messages there are, where devices flip single bits; otherwise 0."""
    margins: tuple[Margin, ...] = ()
    """Of a group: how precise each of its questions alone will be."""

    @property
    def name(self) -> str:
        return self.block.name

    @property
    def offset(self) -> int:
        return self.block.offset

    @property
    def positions(self) -> int:
        return self.block.positions

    @property
    def noise(self) -> float:
        """q, exact in binary floating point."""
        return self.numerator / NOISE_GRID

    def precision_of(self, question: str) -> Precision:
        """How precise the count of one answer to a question of the block will be."""
        found = (m.precision for m in self.margins if m.question == question)
        return next(found, self.precision)

    def rounded(self) -> PlannedBlock:
        return replace(
            self,
            precision=_rounded(self.precision),
            shift=self.shift.rounded(),
            margins=tuple(margin.rounded() for margin in self.margins),
        )

    def values(self) -> dict[str, Any]:
        """Plain data; the shift stands in a list of its own."""
        block = self.block
        alone = [
            {"question": m.question, "cells": m.cells, **plain(m.precision)} for m in self.margins
        ]
        return {
            "name": block.name,
            "kind": block.kind.value,
            "questions": list(block.question_names),
            "offset": block.offset,
            "positions": block.positions,
            "sensitivity": block.sensitivity,
            "most_ones": block.most_ones,
            "noise_numerator": self.numerator,
            **plain(self.precision),
            **({"margins": alone} if alone else {}),
            **({"messages": self.room} if self.room else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixer:
    """A party that mixes: its name, and the keys by which others know it and seal for it."""

    name: str
    identity: Sha256
    """The Ed25519 public key that signs its batches and the plan, 32 bytes in hexadecimal."""
    keys: tuple[Sha256, ...] = ()
    """Public keys that a layer is sealed for, one for each round; the collector, which is the first
    mixer, has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixing:
    """What mixers add to a batch, and who they are."""

    laws: tuple[DummyLaw, ...] = ()
    """Different laws of numbers of dummies, each once."""
    lane_laws: tuple[Count, ...] = ()
    """For every lane: which of the laws its positions have."""
    paddings: tuple[Count, ...] = ()
    """For every lane of several messages: how many dummies there are in all; 0 for other lanes."""
    surplus: Amount = 0.0
    """The probability that one batch has more dummies than that is at most this; part of δ."""
    mixers: tuple[Mixer, ...] = ()
    """In the order of the chain, the collector first; none in a plan that is not yet theirs."""

    def values(self) -> dict[str, Any]:
        """Plain data; weights are text, because they are too large for numbers of JSON."""
        laws = [[str(weight) for weight in law.half] for law in self.laws]
        return {**plain(replace(self, laws=())), "laws": laws}


@dataclass(frozen=True, kw_only=True)  # without slots: what follows from it is computed once
class Plan(Shown):
    """A survey, the noise of each of its blocks, and what that promises.

    >>> from krand.testing import small_plan
    >>> plan = small_plan()
    >>> plan.promise.epsilon, plan.messages, len(plan.hash)
    (2, 4, 64)
    """

    survey: Survey
    blocks: tuple[PlannedBlock, ...]
    """Every question or group, with its noise and its precision."""
    messages: int
    """How many messages every submission consists of."""
    overflow: float
    """A bound on the probability that one person has more tokens in a lane than fit."""
    promise: Promise
    analyst_key: str | None = None
    """The public key that messages are sealed for, in hexadecimal, as long as the survey's seal
    asks for; None where a data holder randomizes a whole table, and nothing is sealed."""
    mixing: Mixing = Mixing()
    """The dummies of mixers; none where devices alone add noise."""

    def __repr__(self) -> str:
        asked = some(len(self.survey.questions), "question")
        promise = self.promise
        kept = f"ε = {at_most(promise.epsilon)}, δ ≤ {at_most(promise.delta)}"
        crowd = f"{promise.crowd:,} people"
        return one_line(f"Plan of {self.survey.id}", asked, kept, crowd, f"{self.hash[:16]}…")

    def rounded(self) -> Plan:
        """The plan as it is written: every computed number is rounded up to a few digits.

        The digits that are left are the same on every processor and with every version of the
        mathematics, so that the same survey has the same plan, and the same hash, everywhere.
        """
        surplus = rounded_up(self.mixing.surplus, BOUND_DIGITS)
        return replace(
            self,
            overflow=rounded_up(self.overflow, BOUND_DIGITS),
            promise=self.promise.rounded(self.survey.policy),
            blocks=tuple(block.rounded() for block in self.blocks),
            mixing=replace(self.mixing, surplus=surplus),
        )

    def sealed_for(self, key: X25519PublicKey) -> Plan:
        """The plan for sealed collection: what devices send, the holder of this key opens.

        >>> from krand import generate_private_key
        >>> from krand.testing import small_plan
        >>> sealed = small_plan().sealed_for(generate_private_key().public_key())
        >>> sealed.hash == small_plan().hash, len(sealed.analyst_key)
        (False, 64)
        """
        return replace(self, analyst_key=key.public_bytes_raw().hex())

    def mixed_by(self, mixers: tuple[Mixer, ...]) -> Plan:
        """The plan with the mixers that promise to add its dummies, the collector first."""
        self.mechanism.check_mixers(self)
        return replace(self, mixing=replace(self.mixing, mixers=mixers))

    def in_language(self, language: str) -> Plan:
        """The same plan, under its own hash, for answers in another of the survey's languages."""
        survey = self.survey.in_language(language)
        asked = {question.name: question for question in survey.questions}
        blocks = [
            replace(each.block, questions=tuple(asked[q] for q in each.block.question_names))
            for each in self.blocks
        ]
        pairs = zip(self.blocks, blocks, strict=True)
        made = replace(
            self, survey=survey, blocks=tuple(replace(each, block=block) for each, block in pairs)
        )
        made.__dict__["bytes"] = self.bytes
        return made

    @property
    def mechanism(self) -> Mechanism:
        """Who adds the noise."""
        return self.survey.trust.noise

    @property
    def other_parties(self) -> tuple[tuple[int, ...], ...]:
        """Which places of the chain each party beside the analyst has: of one name, it is one."""
        trust, parties = self.survey.trust, dict[object, tuple[int, ...]]()
        names = dict(enumerate((mixer.name for mixer in self.mixing.mixers), 1))
        for place in range(1, trust.mixers + 1):
            if place not in trust.analyst_runs:
                name = names.get(place, place)
                parties[name] = (*parties.get(name, ()), place)
        return tuple(parties.values())

    def charge(self, round_number: int) -> Charge | None:
        """What a device pays for the period of a round; None without a schedule.

        The total is of what the survey asks for: another plan of it may come closer to that δ.
        """
        survey, promise, schedule = self.survey, self.promise, self.survey.schedule
        if schedule is None:
            return None
        _, first, last = schedule.period_of(round_number, survey.rounds)
        return Charge(
            campaign=schedule.campaign,
            first=first,
            last=last,
            epsilon=promise.epsilon,
            delta=promise.delta,
            most_epsilon=total([promise.epsilon] * survey.periods),
            most_delta=total([survey.policy.delta or promise.delta] * survey.periods),
        )

    @cached_property
    def layout(self) -> Layout:
        """Which position belongs to what."""
        blocks = tuple(each.block for each in self.blocks)
        return Layout(self.survey.id, blocks, self.survey.questions)

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """Which messages of a submission are about what."""
        return lanes_of(self.survey, self.layout, [each.room for each in self.blocks])

    def law_of(self, lane: Lane) -> DummyLaw:
        """How many dummies a mixer adds to each position of a lane."""
        return self.mixing.laws[self.mixing.lane_laws[lane.number]]

    @property
    def expected_dummies(self) -> int:
        """How many dummies one mixer adds to one batch, on average; 0 with devices' noise."""
        total = 0
        for lane, padding in zip(self.lanes, self.mixing.paddings, strict=False):
            mean = self.law_of(lane).mean
            if lane.is_single:
                total += 2 * mean
            elif lane.has_noisy_nulls:
                total += (lane.positions + 1) * mean
            else:  # which is more than their mean
                total += padding
        return total

    def precision_of(self, question: str) -> Precision:
        """How precise the count of one answer to a question will be, in a group or alone.

        >>> from krand.testing import small_plan
        >>> round(small_plan().precision_of("pet").half_width_95)  # ± people, at 95 %
        7
        """
        return self.block_of(question).precision_of(question)

    def block_of(self, question: str) -> PlannedBlock:
        """The block that a question is estimated from.

        Of several groups it is the one in which the question alone is most precise, the first of
        equals. That is known from the plan, before anybody answers: the choice depends on no
        answer, so that estimates stay unbiased and intervals keep their confidence.

        >>> from krand.testing import small_plan
        >>> small_plan().block_of("pet").positions
        3
        """
        blocks = (self._planned[block.name] for block in self.layout.blocks_of(question))
        return min(blocks, key=lambda each: each.precision_of(question).sigma)

    @cached_property
    def _planned(self) -> dict[str, PlannedBlock]:
        return {block.name: block for block in self.blocks}

    @cached_property
    def bytes(self) -> bytes:
        """The plan file."""
        return canonical_json(self.values())

    @cached_property
    def hash(self) -> str:
        """The plan's name: the SHA-256 of the plan file, in hexadecimal."""
        return hashlib.sha256(self.bytes).hexdigest()

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the plan file, whose SHA-256 is the plan's name; another plan is there to stay.

        >>> import hashlib
        >>> from krand.testing import small_plan
        >>> small_plan().save("plan.json")
        >>> hashlib.sha256(open("plan.json", "rb").read()).hexdigest() == small_plan().hash
        True
        """
        write_new("output", Path(path), self.bytes.decode(), overwrite=overwrite)

    def values(self) -> dict[str, Any]:
        """Everything as plain data."""
        key = {} if self.analyst_key is None else {"analyst_key": self.analyst_key}
        return {
            "format": FORMAT,
            **key,
            "survey": document_of(self.survey),
            "positions": self.layout.positions,
            "blocks": [each.values() for each in self.blocks],
            "messages": self.messages,
            "overflow": self.overflow,
            "shifts": [plain(each.shift) for each in self.blocks],
            "promise": plain(self.promise),
            **({"mixing": self.mixing.values()} if self.mechanism.has_dummies else {}),
        }


def _rounded(known: Precision) -> Precision:
    return Precision(*(rounded_up(each, PRECISION_DIGITS) for each in astuple(known)))
