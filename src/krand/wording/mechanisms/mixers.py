"""Mixers add dummies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from krand.analysis.mechanisms import part_of
from krand.wording.parties import also_runs, counts_parties, if_parties_collude
from krand.wording.phrases import at_most, reasons_text, whole
from krand.wording.plan_texts import PLANS
from krand.wording.promises import factor, if_mixers_collude, in_rounds, slack_of
from krand.wording.texts import SPOKEN, Plural, Texts

if TYPE_CHECKING:
    from krand.analysis.results import Results
    from krand.promise import Promise
    from krand.survey.plan import Plan, PlannedBlock


class MixersWords:
    """The promise needs one honest mixer, and no crowd: what `DevicesWords` says, for mixers."""

    columns = PLANS.mixed_columns
    division = PLANS.division_of_mixers

    @property
    def option(self) -> str:
        return PLANS.option_mixers

    def promise(self, plan: Plan) -> str:
        policy = plan.survey.policy
        said = PLANS.promise_of_mixers.format(
            one_mixer=_of_mixers(plan, PLANS.one_mixer, PLANS.one_party),
            rounds=in_rounds(plan.survey, policy),
            factor=factor(policy.epsilon),
            slack=slack_of(plan, policy),
            how_known=PLANS.how_known,
            however_few=PLANS.however_few,
        )
        all_mixers = _of_mixers(plan, PLANS.all_mixers, PLANS.all_parties)
        nobody = PLANS.no_honest_mixer.format(all_mixers=all_mixers)
        return f"{also_runs(plan)} {said}{nobody}".strip()

    def to_readers(self, plan: Plan) -> tuple[str, str]:
        return PLANS.if_noise, f" {PLANS.however_few}"

    def amount(self, plan: Plan, block: PlannedBlock) -> str:
        """How many dummies a mixer adds to a position of the block's last lane, on average."""
        *_, lane = (lane for lane in plan.lanes if lane.block == block.name)
        return whole(plan.law_of(lane).mean)

    def margins(self, expected: str) -> str:
        return PLANS.margins_of_mixers.format(people=expected)

    def source(self, mixers: int) -> str:
        return PLANS.by_mixers.of(mixers).format(number=mixers)

    def trusted(self, mixers: int) -> str:
        return PLANS.trusted.of(mixers).format(number=mixers)

    def rests_on(self, mixers: int) -> str:
        return PLANS.rests_on_mixers.of(mixers)

    def crowd(self, plan: Plan) -> tuple[int, str, str]:
        crowd = plan.survey.policy.minimum_crowd
        released = PLANS.not_below.format(crowd=whole(crowd)) if crowd > 2 else ""
        return 1, PLANS.none, PLANS.any_number + released

    def badge(self, mixers: int, texts: Texts) -> str:
        return texts.mixers.badge.of(mixers).format(number=texts.numbers.whole(mixers))

    def how_noisy(self, texts: Texts) -> str:
        return texts.mixers.how_noisy

    def relies_on(self, results: Results, texts: Texts) -> str:
        plan = results.plan
        said = _of_mixers(plan, texts.mixers.relies_on, texts.parties.relies_on)
        return f"{also_runs(plan, texts)} {said}".strip()

    def relies_on_organiser(self, results: Results, texts: Texts) -> str:
        return texts.mixers.relies_on_organiser

    def colluding(self, results: Results, texts: Texts) -> str:
        return texts.mixers.anybody_colludes

    def collusion(self, results: Results) -> str:
        return " ".join(said for _, said in self.collusion_terms(results, SPOKEN))

    def collusion_terms(self, results: Results, texts: Texts) -> Iterator[tuple[str, str]]:
        plan = results.plan
        said = if_mixers_collude(plan.survey.trust.mixers, texts)
        if counts_parties(plan):
            said = if_parties_collude(plan, texts)
        yield texts.mixers.collusion, f"{said}."

    def coalitions_lead(self, texts: Texts) -> str:
        return texts.mixers.coalitions_lead

    def noise(self, results: Results, texts: Texts) -> str:
        whole, mixers = texts.numbers.whole, results.plan.survey.trust.mixers
        most = whole(2 * max(law.reach for law in results.plan.laws))
        said = texts.mixers.dummies.of(mixers)
        return said.format(flips=texts.mixers.no_flips, number=whole(mixers), most=most)

    def blocks(self, results: Results, texts: Texts) -> tuple[str, str, list[float]]:
        plan, people, own = results.plan, results.people, texts.mixers
        part = part_of(plan.survey.trust.noise)
        laws = [part.law(plan, block, people, people) for block in plan.blocks]
        return own.blocks_caption, own.blocks_noise, [law.sigma for law in laws]

    def signed(self, texts: Texts) -> tuple[str, str]:
        return texts.mixers.signed, "krand verify batch.chain.json --plan plan.json"

    def refused(
        self,
        plan: Plan,
        promise: Promise,
        rejected: Mapping[str, int],
        shown: Callable[[float], str] = at_most,
        texts: Texts = SPOKEN,
    ) -> str:
        """The promise does not depend on them."""
        many = sum(rejected.values())
        reasons = reasons_text(rejected, texts)
        said = texts.phrases.refused_mixed.of(many)
        return said.format(number=texts.numbers.whole(many), reasons=reasons)


def _of_mixers(plan: Plan, mixers: Plural, parties: Plural) -> str:
    """A text with the number of mixers; of parties beside the analyst, if some have more roles."""
    if counts_parties(plan):
        mixers, number = parties, len(plan.other_parties)
    else:
        number = plan.survey.trust.mixers
    return mixers.of(number).format(number=number)
