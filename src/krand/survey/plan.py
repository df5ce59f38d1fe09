"""The plan: a survey with its noise, frozen. Its hash names it from here on.

A plan holds decisions: what is asked and promised, the noise as whole numbers, the parties with
their keys, and the messages of a submission. What follows from them is computed by whoever shows or
checks it: here the precision of counts, which is a closed formula, in `krand.planning.promises` the
promise of exactly this noise.

A plan file is canonical JSON without a line end, so that `sha256sum plan.json` prints the plan's
name. Changing anything makes another plan. Plans are made by `krand.planning`; a device only reads
one, for which no mathematics is needed.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from krand.files import write_new
from krand.promise import NOISE_GRID, Z95, DummyLaw, Precision
from krand.showing import Shown, at_most, one_line, some, total
from krand.survey.canonical import canonical_json
from krand.survey.lanes import Lane
from krand.survey.layout import Block, Layout, layout_of
from krand.survey.plain_values import Sha256, plain
from krand.survey.questions import Kind
from krand.survey.schedule import Charge
from krand.survey.survey import SMALLEST_CROWD, Survey

FORMAT = "krand-plan-1"


@dataclass(frozen=True, slots=True)
class Margin:
    """One question of a group by itself: an answer is a sum over cells, each with its noise."""

    question: str
    cells: int
    """How many cells one answer adds up; the noise of the sum is √cells times that of a cell."""
    precision: Precision


@dataclass(frozen=True, slots=True)
class WorstShift:
    """The most people by which any one count of a block could be too high, or too low."""

    name: str
    too_high: float
    too_low: float


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


def _planned_block(
    block: Block, variance: float, people: int, shift: WorstShift, numerator: int = 0, room: int = 0
) -> PlannedBlock:
    """A block with what follows for its counts, each of this variance, among so many people."""
    cells = {name: block.cells_of(name) for name in block.question_names}
    grouped = cells if block.kind is Kind.TOGETHER else {}
    return PlannedBlock(
        block=block,
        numerator=numerator,
        precision=_precision(variance, people),
        shift=shift,
        room=room,
        margins=tuple(Margin(q, n, _precision(n * variance, people)) for q, n in grouped.items()),
    )


def _precision(variance: float, people: int) -> Precision:
    sigma = math.sqrt(variance)
    half = Z95 * sigma
    return Precision(sigma, half, 100 * half / people)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixer:
    """A party that mixes: its name, and the keys by which others know it and seal for it.

    >>> from krand import Mixer
    >>> Mixer(name="town", identity="5a" * 32, url="https://town.example").keys
    ()
    """

    name: str
    identity: Sha256
    """The Ed25519 public key that signs its batches and the plan, 32 bytes in hexadecimal."""
    url: str = ""
    """Where it serves the survey's page, and its batches to the next party. A single mixer may have
    none: people send to the address that they were given."""
    keys: tuple[Sha256, ...] = ()
    """Public keys that a layer is sealed for, one for each round; the collector, which is the first
    mixer, has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyst:
    """Who counts: the key that messages are sealed for, and the identity that fetches the batch.

    >>> from krand import Analyst, generate_private_key
    >>> key = generate_private_key().public_key().public_bytes_raw().hex()
    >>> len(Analyst(key=key, identity="5b" * 32).key)
    64
    """

    key: Sha256
    """An X25519 public key, 32 bytes in hexadecimal."""
    identity: Sha256
    """An Ed25519 public key. It is a mixer's own where the survey's `analyst_runs` names it."""


@dataclass(frozen=True, kw_only=True)  # without slots: what follows from it is computed once
class Plan(Shown):
    """A survey, whose policy is the promise, with the noise that keeps it.

    >>> from krand.testing import small_plan
    >>> plan = small_plan()
    >>> plan.survey.policy.epsilon, plan.messages, len(plan.hash)
    (2.0, 4, 64)
    """

    survey: Survey
    lanes: tuple[Lane, ...]
    """Which messages of a submission are about what, and the dummies that mixers add there."""
    numerators: tuple[int, ...] = ()
    """Noise of devices for every question or group, as a/2^32; none where mixers add the noise."""
    laws: tuple[DummyLaw, ...] = ()
    """Different laws of numbers of dummies, each once; none where devices add the noise."""
    analyst: Analyst | None = None
    """Who counts; None in a plan without parties."""
    mixers: tuple[Mixer, ...] = ()
    """In the order of the chain, the collector first; none in a plan for tables, simulations and
    looking, which nobody sends to."""

    def __repr__(self) -> str:
        asked = some(len(self.survey.questions), "question")
        policy = self.survey.policy
        slack = "δ" if policy.eta is None else "η"
        kept = f"ε = {at_most(policy.epsilon)}, {slack} ≤ {at_most(policy.asked)}"
        crowd = f"{policy.minimum_crowd:,} people"
        return one_line(f"Plan of {self.survey.id}", asked, kept, crowd, f"{self.hash[:16]}…")

    def with_parties(self, mixers: tuple[Mixer, ...], analyst: Analyst) -> Plan:
        """The plan that people send to: of these mixers, the collector first, for this analyst.

        All mixers have to sign it, also where devices add the noise.

        >>> from krand import Analyst, Mixer, generate_private_key
        >>> from krand.testing import small_plan
        >>> collector = Mixer(name="town", identity="5a" * 32)
        >>> key = generate_private_key().public_key().public_bytes_raw().hex()
        >>> analyst = Analyst(key=key, identity="5b" * 32)
        >>> named = small_plan().with_parties((collector,), analyst)
        >>> named.hash == small_plan().hash, named.mixers[0].name
        (False, 'town')
        """
        return replace(self, mixers=mixers, analyst=analyst)

    def in_language(self, language: str) -> Plan:
        """The same plan, under its own hash, for answers in another of the survey's languages."""
        made = replace(self, survey=self.survey.in_language(language))
        made.__dict__["bytes"] = self.bytes
        return made

    @property
    def page_url(self) -> str:
        """Where people answer it: at the second mixer where there is one, whose noise and page are
        then enough; otherwise at the collector. Empty where the plan does not say.

        >>> from krand import make_plan, parse_survey
        >>> from krand.testing import MIXED_SURVEY, FakeChain
        >>> chain = FakeChain(make_plan(parse_survey(MIXED_SURVEY)))
        >>> chain.plan.page_url == f"{chain.plan.mixers[1].url}/{chain.plan.hash}/"
        True
        """
        url = self.mixers[min(1, len(self.mixers) - 1)].url if self.mixers else ""
        return url and f"{url}/{self.hash}/"

    @property
    def messages(self) -> int:
        """How many messages every submission consists of."""
        return sum(lane.messages for lane in self.lanes)

    @property
    def token_lanes(self) -> tuple[Lane, ...]:
        """The lanes whose messages are single positions: all, or none where records travel."""
        return tuple(lane for lane in self.lanes if not lane.records)

    @property
    def response_bytes(self) -> int:
        """The size of a response that is not sealed: of a token, or of a record."""
        return 4 if self.token_lanes else (self.layout.positions + 7) // 8

    @property
    def crowd_needed(self) -> int:
        """How many people the promise needs: one where mixers add the noise."""
        return 1 if self.laws else self.survey.policy.minimum_crowd

    @property
    def smallest_batch(self) -> int:
        """How many people a batch of a collector must have: with fewer it is never released.

        With noise of mixers it is `minimum_crowd`, where the survey gives one above the least of 2.
        """
        asked = self.survey.policy.minimum_crowd
        return 1 if self.laws and asked == SMALLEST_CROWD else asked

    @property
    def other_parties(self) -> tuple[tuple[int, ...], ...]:
        """Which places of the chain each party beside the analyst has: of one name, it is one."""
        trust, parties = self.survey.trust, dict[object, tuple[int, ...]]()
        names = dict(enumerate((mixer.name for mixer in self.mixers), 1))
        for place in range(1, trust.mixers + 1):
            if place not in trust.analyst_runs:
                name = names.get(place, place)
                parties[name] = (*parties.get(name, ()), place)
        return tuple(parties.values())

    def charge(self, round_number: int) -> Charge | None:
        """What a device pays for the period of a round; None without a schedule."""
        survey, policy, schedule = self.survey, self.survey.policy, self.survey.schedule
        if schedule is None:
            return None
        _, first, last = schedule.period_of(round_number, survey.rounds)
        return Charge(
            campaign=schedule.campaign,
            first=first,
            last=last,
            epsilon=policy.epsilon,
            delta=policy.asked,
            most_epsilon=total([policy.epsilon] * survey.periods),
            most_delta=total([policy.asked] * survey.periods),
        )

    @cached_property
    def layout(self) -> Layout:
        """Which position belongs to what."""
        return layout_of(self.survey)

    @cached_property
    def blocks(self) -> tuple[PlannedBlock, ...]:
        """Every question or group, with its noise and its precision in the planned crowd."""
        return self.blocks_for(self.survey.policy.minimum_crowd)

    def blocks_for(self, people: int) -> tuple[PlannedBlock, ...]:
        """The same with so many people: flips of devices add up, dummies stay as many."""
        layout = self.layout
        if self.laws:
            return tuple(self._with_dummies(block, people) for block in layout.blocks)
        single = not any(lane.records for lane in self.lanes)
        rooms = [lane.messages for lane in self.lanes] if single else [0] * len(layout.blocks)
        parts = zip(layout.blocks, self.numerators, rooms, strict=True)
        return tuple(_flipped_block(self.survey, *part, people) for part in parts)

    def _with_dummies(self, block: Block, people: int) -> PlannedBlock:
        lane = next(lane for lane in self.lanes if lane.block == block.name)
        variance = self.survey.trust.mixers * self.law_of(lane).variance
        # A dishonest person fills all messages of a lane with one token, or with none.
        shift = WorstShift(block.name, float(lane.messages), 1.0)
        return _planned_block(block, variance, people, shift)

    @property
    def local_epsilon(self) -> float:
        """ε₀: what one response, seen alone, may reveal if collector and analyst collude; infinite
        where devices add no noise."""
        if self.laws:
            return math.inf
        rounds, copies = self.survey.promised_rounds, self.survey.copies
        pairs = zip(self.layout.blocks, self.numerators, strict=True)
        # ln(p/q) = ln(1 + (p-q)/q), which loses nothing near 1/2
        each = (b.sensitivity * math.log1p((NOISE_GRID - 2 * a) / a) for b, a in pairs)
        return rounds * copies * math.fsum(each)

    def law_of(self, lane: Lane) -> DummyLaw:
        """How many dummies a mixer adds to each position of a lane."""
        assert lane.law is not None
        return self.laws[lane.law]

    @property
    def expected_dummies(self) -> int:
        """How many dummies one mixer adds to one batch, on average; 0 with devices' noise."""
        total = 0
        for lane in self.lanes if self.laws else ():
            mean = self.law_of(lane).mean
            if lane.is_single:
                total += 2 * mean
            elif lane.has_noisy_nulls:
                total += (lane.positions + 1) * mean
            else:  # which is more than their mean
                total += lane.padding
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
        """Everything as plain data; weights are text, because they are too large for numbers of
        JSON."""
        laws = [[str(weight) for weight in law.half] for law in self.laws]
        noise = {"laws": laws} if laws else {"numerators": list(self.numerators)}
        return {
            "format": FORMAT,
            **({} if self.analyst is None else {"analyst": plain(self.analyst)}),
            "survey": self.survey.values(),
            **noise,
            "mixers": plain(self.mixers),
            "lanes": [lane.values() for lane in self.lanes],
        }


def _flipped_block(
    survey: Survey, block: Block, numerator: int, room: int, people: int
) -> PlannedBlock:
    """A block whose bits devices flip, and how far one dishonest person can change a count of it.

    A submission has a fixed number of messages, and their content is sealed.

    * Bit linkage: a device can put the same token into all messages of the token's lane. Nobody can
      detect this, because after the shuffle the messages of one submission look like any others. In
      a lane with room for r messages, somebody can thus add up to r tokens to one position. By
      sending nothing they remove at most one.
    * Record linkage: a device sends k vectors, each with one bit at every position, so it changes a
      count by at most k in either direction: one person's worth, at all positions at once. Whole
      records, which have no room, count as one message for each position.

    One more or one less changes the estimate by 1/(p-q) people, for each copy. The shift is
    relative to what the same people would have sent honestly, in the worst case: it bounds every
    outcome of the flips. It applies to one position. A number that is computed from several counts,
    such as "unanswered", changes by the sum of their shifts.
    """
    q = numerator / NOISE_GRID
    scale = 1 - 2 * q
    variance = people * q * (1 - q) / survey.copies / scale**2
    shift = WorstShift(block.name, max(1, room) / scale, 1 / scale)
    return _planned_block(block, variance, people, shift, numerator, room)
