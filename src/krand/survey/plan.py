"""The plan: a survey with its noise, frozen. Its hash names it from here on.

A plan file is canonical JSON without a line end, so that `sha256sum plan.json` prints the plan's
name. Changing anything makes another plan.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from krand.privacy.coupling import allowed_distance
from krand.privacy.division import Share, can_be_met, divide_noise, guarantee_of
from krand.privacy.guarantee import NOISE_GRID, Guarantee, Linkage, Policy, Precision, Reports
from krand.privacy.nearest import Nearest, cannot_meet, nearest_policies
from krand.privacy.planner import assess, plan_noise, precision
from krand.privacy.volume import Tokens, messages_needed, overflow_bound
from krand.showing import table
from krand.survey.canonical import canonical_json
from krand.survey.document import document_of
from krand.survey.layout import Block, Layout, layout_of
from krand.survey.lying import WorstShift, worst_shifts
from krand.survey.questions import Kind
from krand.survey.record import record_reports
from krand.survey.remembered import is_remembered, remember_here
from krand.survey.shown import PLAN_HEAD, plan_note, plan_rows
from krand.survey.survey import Survey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

__all__ = [
    "FORMAT",
    "Margin",
    "Plan",
    "Promise",
    "make_plan",
    "planned_from",
    "promise_for",
    "verify_promise",
]

FORMAT = "krand-plan-2"

MOST_TIMES = 100
"""A crowd is counted as at most so many times the planned one."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What the survey promises, in numbers that may be printed: proven upper ends."""

    epsilon: float
    delta: float
    eta: float
    local_epsilon: float
    """ε₀: what one report, seen alone, may reveal if shuffler and analyst collude."""
    assurance: str
    method: str
    population: int
    colluding: int
    assumptions: tuple[str, ...]

    @classmethod
    def of(cls, guarantee: Guarantee) -> Promise:
        """The part of a guarantee that a plan carries."""
        return cls(
            guarantee.epsilon,
            guarantee.delta.upper,
            guarantee.eta.upper,
            guarantee.local_epsilon,
            guarantee.assurance.value,
            guarantee.method,
            guarantee.population,
            guarantee.colluding,
            guarantee.assumptions,
        )


@dataclass(frozen=True, slots=True)
class Margin:
    """One question of a group by itself: an answer is a sum over cells, each with its noise."""

    question: str
    cells: int
    """How many cells one answer adds up; the noise of the sum is √cells times that of a cell."""
    precision: Precision


@dataclass(frozen=True)  # without slots: what follows from it is computed once
class Plan:
    """A survey, the noise of each of its blocks, and what that promises.

    >>> from krand.testing import small_plan
    >>> plan = small_plan()
    >>> plan.promise.epsilon, plan.messages, len(plan.hash)
    (2, 4, 64)
    """

    survey: Survey
    numerators: tuple[int, ...]
    """Noise of every block as a/2^32; in record linkage all are alike."""
    messages: int
    """How many messages every submission consists of."""
    overflow: float
    """At most so likely does one person have more tokens, of which some are then dropped."""
    promise: Promise
    precisions: tuple[Precision, ...]
    analyst_key: str | None = None
    """The public key that messages are sealed for, 32 bytes in hexadecimal; None where a data
    holder randomizes a whole table, and nothing is sealed."""

    def sealed_for(self, key: X25519PublicKey) -> Plan:
        """The plan for sealed collection: what devices send, the holder of this key opens.

        >>> from krand import generate_private_key
        >>> from krand.testing import small_plan
        >>> sealed = small_plan().sealed_for(generate_private_key().public_key())
        >>> sealed.hash == small_plan().hash, len(sealed.analyst_key)
        (False, 64)
        """
        sealed = replace(self, analyst_key=key.public_bytes_raw().hex())
        if is_remembered(self.hash):  # no promise depends on the key
            remember_here(sealed.hash)
        return sealed

    @cached_property
    def layout(self) -> Layout:
        return layout_of(self.survey)

    @cached_property
    def margins(self) -> tuple[tuple[Margin, ...], ...]:
        """For every block that is a group: how precise each of its questions alone will be."""
        blocks = zip(self.layout.blocks, self.noises, strict=True)
        return tuple(_margins(self.survey, block, noise) for block, noise in blocks)

    def precision_of(self, question: str) -> Precision:
        """How precise the count of one answer to a question will be, in a group or alone.

        >>> from krand.testing import small_plan
        >>> round(small_plan().precision_of("pet").half_width_95)  # ± people, at 95 %
        7
        """
        place = self.layout.blocks.index(self.layout.block_of(question))
        found = (m.precision for m in self.margins[place] if m.question == question)
        return next(found, self.precisions[place])

    @property
    def noises(self) -> tuple[float, ...]:
        """q of every block, exact in binary floating point."""
        return tuple(numerator / NOISE_GRID for numerator in self.numerators)

    @property
    def shifts(self) -> tuple[WorstShift, ...]:
        """For every block: how far one person who lies as well as possible can move a count."""
        return worst_shifts(self, 1)

    @cached_property
    def bytes(self) -> bytes:
        """The plan file."""
        return canonical_json(self.values())

    @cached_property
    def hash(self) -> str:
        """The plan's name: the SHA-256 of the plan file, in hexadecimal."""
        return hashlib.sha256(self.bytes).hexdigest()

    def _repr_html_(self) -> str:
        title, note = f"Plan of {self.survey.id}", plan_note(self)
        return table(title, PLAN_HEAD, plan_rows(self), note, words=2)

    def values(self) -> dict[str, Any]:
        """Everything as plain data."""
        blocks = zip(
            self.layout.blocks, self.numerators, self.precisions, self.margins, strict=True
        )
        promise = self.promise
        key = {} if self.analyst_key is None else {"analyst_key": self.analyst_key}
        return {
            "format": FORMAT,
            **key,
            "survey": document_of(self.survey),
            "positions": self.layout.positions,
            "blocks": [_block_values(*entry) for entry in blocks],
            "messages": self.messages,
            "overflow": self.overflow,
            "shifts": [asdict(shift) for shift in self.shifts],
            "promise": {
                "epsilon": promise.epsilon,
                "delta": promise.delta,
                "eta": promise.eta,
                "local_epsilon": promise.local_epsilon,
                "assurance": promise.assurance,
                "method": promise.method,
                "population": promise.population,
                "colluding": promise.colluding,
                "assumptions": list(promise.assumptions),
            },
        }


def _margins(survey: Survey, block: Block, noise: float) -> tuple[Margin, ...]:
    """What one answer to each question of a group adds up, and how precise that is."""
    if block.kind is not Kind.TOGETHER:
        return ()
    reports, people = Reports(1, copies=survey.copies), survey.policy.population
    cells = {name: block.cells_of(name) for name in block.question_names}
    return tuple(
        Margin(name, count, precision(reports, noise, people, count))
        for name, count in cells.items()
    )


def _block_values(
    block: Block, numerator: int, known: Precision, margins: tuple[Margin, ...]
) -> dict[str, Any]:
    alone = [{"question": m.question, "cells": m.cells, **asdict(m.precision)} for m in margins]
    return {
        "name": block.name,
        "kind": block.kind.value,
        "questions": list(block.question_names),
        "offset": block.offset,
        "positions": block.positions,
        "changes": block.changes,
        "most_ones": block.most_ones,
        "noise_numerator": numerator,
        "sigma": known.sigma,
        "half_width_95": known.half_width_95,
        "half_width_percent": known.half_width_percent,
        **({"margins": alone} if alone else {}),
    }


def make_plan(survey: Survey) -> Plan:
    """The least noise that keeps the survey's policy, and everything that follows from it.

    >>> from krand import make_plan
    >>> from krand.testing import small_survey
    >>> plan = make_plan(small_survey())
    >>> [round(precision.half_width_95) for precision in plan.precisions]  # ± people, at 95 %
    [6, 7]
    """
    plan = _linked(survey) if survey.linkage is Linkage.RECORD else _bit_by_bit(survey)
    _check_use(plan)
    remember_here(plan.hash)
    return plan


def planned_from(
    survey: Survey,
    numerators: tuple[int, ...],
    promise: Promise,
    analyst_key: str | None = None,
) -> Plan:
    """The plan with this noise: messages and precision follow from it."""
    layout = layout_of(survey)
    population, reports = survey.policy.population, Reports(1, copies=survey.copies)
    noises = [numerator / NOISE_GRID for numerator in numerators]
    messages, overflow = _room(survey, layout, numerators)
    known = tuple(precision(reports, q, population) for q in noises)
    return Plan(survey, numerators, messages, overflow, promise, known, analyst_key)


def _room(survey: Survey, layout: Layout, numerators: tuple[int, ...]) -> tuple[int, float]:
    """How many messages everybody sends, and how likely that is too few for one person.

    Anybody's overflow in any round makes a difference, so all of them share what is allowed.
    """
    if survey.linkage is Linkage.RECORD:
        return survey.copies, 0.0
    tokens = [
        Tokens(block.positions, block.most_ones, numerator)
        for block, numerator in zip(layout.blocks, numerators, strict=True)
    ]
    most = allowed_distance(survey.policy) / (survey.policy.population * survey.rounds)
    messages = messages_needed(tokens, most)
    return messages, overflow_bound(tokens, messages)


def verify_promise(plan: Plan) -> Promise:
    """The promise computed anew for exactly the plan's noise; it must be the plan's own."""
    return promise_for(plan, plan.survey.policy)


def promise_for(plan: Plan, policy: Policy) -> Promise:
    """What exactly the plan's noise promises to a member of another policy's crowd."""
    survey = plan.survey
    if survey.linkage is Linkage.RECORD:
        found = assess(
            record_reports(survey, plan.layout),
            plan.noises[0],
            policy.population,
            policy.epsilon,
            policy.assurance,
            policy.colluding,
        )
        return Promise.of(found)
    counted, shares = _counted(survey, policy), _shares(plan.layout)
    distance = _distance(survey, counted, plan.overflow)
    found = guarantee_of(counted, shares, plan.numerators, survey.rounds, distance)
    return replace(Promise.of(found), population=policy.population)


def _distance(survey: Survey, policy: Policy, overflow: float) -> float:
    """At most so likely does anybody of the crowd overflow in any round."""
    return policy.population * survey.rounds * overflow


def _counted(survey: Survey, policy: Policy) -> Policy:
    """The policy for no more people than its promise needs.

    Whoever comes on top hides the others further, and their overflows are nothing to them: their
    reports could be added by the adversary. So for a far larger crowd than planned, whose overflows
    would add up, the promise for a part of it is given.
    """
    most = MOST_TIMES * survey.policy.population + policy.colluding
    return policy if policy.population <= most else replace(policy, population=most)


def _shares(layout: Layout) -> list[Share]:
    return [Share(block.changes, block.weight) for block in layout.blocks]


def _bit_by_bit(survey: Survey) -> Plan:
    """Every position is its own mechanism; the noise is divided by weights (mathematics §7)."""
    policy, layout = survey.policy, layout_of(survey)

    def distance(numerators: tuple[int, ...]) -> float:
        return _distance(survey, policy, _room(survey, layout, numerators)[1])

    divided = divide_noise(policy, _shares(layout), survey.rounds, distance)
    return planned_from(survey, divided.numerators, Promise.of(divided.guarantee))


def _linked(survey: Survey) -> Plan:
    """Whole records, k copies: one noise for all bits (mathematics §4)."""
    layout = layout_of(survey)
    found = plan_noise(survey.policy, record_reports(survey, layout))
    numerators = (found.noise_numerator,) * len(layout.blocks)
    return planned_from(survey, numerators, Promise.of(found.guarantee))


def _check_use(plan: Plan) -> None:
    """Refuse a survey whose answers would be all noise, and say what would help."""
    population = plan.survey.policy.population
    blocks = zip(plan.layout.blocks, plan.precisions, strict=True)
    drowned = [(b.name, p.half_width_95) for b, p in blocks if 2 * p.half_width_95 >= population]
    if not drowned:
        return
    name, width = max(drowned, key=lambda entry: entry[1])
    raise cannot_meet(
        f"counts of {name} would be ± {width:,.0f} people at 95 % in a crowd of {population:,}:"
        " an estimate could be anything",
        _nearest_surveys(plan, name),
    )


def _nearest_surveys(plan: Plan, drowned: str) -> Nearest:
    """What would help: another crowd or promise for all questions, or fewer questions."""
    policy, rounds, shares = plan.survey.policy, plan.survey.rounds, _shares(plan.layout)
    found = nearest_policies(policy, lambda other: can_be_met(other, shares, rounds))
    names = [block.name for block in plan.layout.blocks]
    alone = shares[names.index(drowned)]
    if len(shares) > 1 and can_be_met(policy, [alone], rounds):
        alone_text = f"fewer questions: {drowned} alone could be asked"
        return replace(found, requests=(*found.requests, alone_text))
    return found
