"""Devices flip bits, and mixers add dummies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.wording.mechanisms.devices import DevicesWords, helpers
from krand.wording.mechanisms.mixers import MixersWords, all_mixers
from krand.wording.mechanisms.words import Card, slack_of
from krand.wording.phrases import at_most, whole
from krand.wording.plan_texts import PLANS
from krand.wording.promises import what_flips_promise, what_remains
from krand.wording.texts import Texts

if TYPE_CHECKING:
    from krand.analysis.results import Results
    from krand.planning.noise_sources import SourceOption
    from krand.survey.plan import Plan, PlannedBlock


@dataclass(frozen=True)
class BothWords(MixersWords):
    """The sentences of mixers, and what the noise of devices adds."""

    flips: DevicesWords
    columns = PLANS.both_columns
    division = f"{PLANS.division} {PLANS.division_of_dummies}"

    @property
    def option(self) -> str:
        return PLANS.option_both

    def promise(self, plan: Plan) -> str:
        return f"{self.promise_of_mixers(plan)} {_promise_of_flips(plan)}"

    def amount(self, plan: Plan, block: PlannedBlock) -> str:
        noise, dummies = self.flips.amount(plan, block), super().amount(plan, block)
        return PLANS.both_amount.format(noise=noise, dummies=dummies)

    def margins(self, expected: str) -> str:
        return self.flips.margins(expected)

    def source(self, mixers: int) -> str:
        return PLANS.by_both.of(mixers).format(number=mixers)

    def rests_on(self, mixers: int, honest: int) -> str:
        one, crowd = super().rests_on(mixers, honest), self.flips.rests_on(mixers, honest)
        return one if mixers == 1 else PLANS.rests_on_either.format(one=one, other=crowd)

    def instead(self, option: SourceOption) -> str:
        return ""

    def crowd(self, plan: Plan) -> Card:
        card = self.flips.crowd(plan)
        return Card(card.value, card.shown, PLANS.crowd_of_both)

    def needed(self, plan: Plan, expected: int) -> Card:
        card = self.flips.needed(plan, expected)
        return Card(card.value, card.shown, PLANS.needed_by_both)

    def badge(self, mixers: int, texts: Texts) -> str:
        return texts.both.badge.of(mixers).format(number=texts.numbers.whole(mixers))

    def how_noisy(self, texts: Texts) -> str:
        return texts.both.how_noisy

    def collusion_terms(self, results: Results, texts: Texts) -> Iterator[tuple[str, str]]:
        yield from super().collusion_terms(results, texts)
        flips = what_flips_promise(results.plan, results.flips, texts)
        yield texts.both.flips, f"{flips}."

    def coalitions_lead(self, texts: Texts) -> str:
        return texts.both.coalitions_lead

    def noise(self, results: Results, texts: Texts) -> str:
        return self.dummies(results, self.flips.noise(results, texts), texts)


def _promise_of_flips(plan: Plan) -> str:
    """What the noise of devices alone promises."""
    flips = plan.flips
    assert flips is not None  # a plan of both has it
    return PLANS.promise_of_flips.format(
        crowd=whole(flips.crowd),
        slack=slack_of(plan, flips),
        helpers=helpers(flips.colluding),
        all_mixers=all_mixers(plan),
        remains=what_remains(flips.local_epsilon),
        epsilon=at_most(flips.local_epsilon),
    )
