"""Devices flip bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from krand.wording.phrases import at_most, number, reasons_text, whole
from krand.wording.plan_texts import PLANS
from krand.wording.promises import (
    SLIGHT,
    factor,
    if_they_collude,
    in_rounds,
    limit_of,
    slack_of,
    what_remains,
)
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    from krand.analysis.results import Results
    from krand.promise import Promise
    from krand.survey.plan import Plan, PlannedBlock


class DevicesWords:
    """The promise needs a crowd, and a collector that keeps secrets."""

    columns = PLANS.survey_columns
    """Of the table of a survey: question, type, positions, noise."""
    division = PLANS.division
    """How the noise is divided among questions."""

    @property
    def option(self) -> str:
        """What a form calls it."""
        return PLANS.option_devices

    def promise(self, plan: Plan) -> str:
        """What the survey promises to each participant."""
        policy = plan.survey.policy
        return PLANS.promise.format(
            crowd=whole(policy.minimum_crowd),
            rounds=in_rounds(plan.survey, policy),
            factor=factor(policy.epsilon),
            slack=slack_of(plan, policy),
            how_known=PLANS.how_known,
            helpers=_helpers(policy.colluding),
            if_they_collude=if_they_collude(plan.local_epsilon),
        )

    def to_readers(self, plan: Plan) -> tuple[str, str]:
        """Where the organiser runs every mixer: when the promise to readers holds, and with whom
        others may collude, as the end of the sentence."""
        told = plan.survey.policy.colluding
        helpers = PLANS.reader_helpers.of(told).format(number=whole(told)) if told else ""
        return PLANS.if_crowd.format(crowd=whole(plan.survey.policy.minimum_crowd)), helpers

    def amount(self, plan: Plan, block: PlannedBlock) -> str:
        """The noise of a block in the table of a survey."""
        return number(block.noise)

    def margins(self, expected: str) -> str:
        """How margins depend on the number of people who are expected."""
        return PLANS.margins_of_devices.format(people=expected)

    def source(self, mixers: int) -> str:
        """Who adds the noise: 3 mixers."""
        return PLANS.by_devices

    def trusted(self, mixers: int) -> str:
        """Who must be trusted, in few words."""
        return PLANS.trusted.of(1)

    def rests_on(self, mixers: int) -> str:
        """Whom the promise rests on."""
        return PLANS.rests_on_crowd

    def crowd(self, plan: Plan) -> tuple[int, str, str]:
        """How many people must come: the number, as it is shown, and what it means."""
        crowd = plan.crowd_needed
        return crowd, whole(crowd), PLANS.not_before

    def badge(self, mixers: int, texts: Texts) -> str:
        """Who added the noise."""
        return texts.devices.badge

    def how_noisy(self, texts: Texts) -> str:
        """The same as a sentence."""
        return texts.provenance.how_noisy["devices"]

    def relies_on(self, results: Results, texts: Texts) -> str:
        """Whom the promise relies on."""
        return texts.devices.relies_on.format(crowd=texts.numbers.whole(results.crowd))

    def relies_on_organiser(self, results: Results, texts: Texts) -> str:
        """The same where the organiser runs every mixer."""
        crowd = texts.numbers.whole(results.crowd)
        return texts.devices.relies_on_organiser.format(crowd=crowd)

    def colluding(self, results: Results, texts: Texts) -> str:
        """How many participants may help the analyst."""
        own, whole, told = texts.devices, texts.numbers.whole, results.promise.colluding
        if not told:
            return own.nobody_colludes
        refused = sum(results.rejected.values())
        if refused and not results.plan.survey.policy.colluding:
            return own.as_if_refused.of(refused).format(number=whole(refused))
        many = told - refused
        beside = own.beside.format(number=whole(refused)) if refused else ""
        return own.even_if.of(many).format(number=whole(many), beside=beside)

    def collusion(self, results: Results) -> str:
        """What remains if those who handle messages work with the analyst."""
        return f"{if_they_collude(results.promise.local_epsilon)}."

    def collusion_terms(self, results: Results, texts: Texts) -> Iterator[tuple[str, str]]:
        """The same at length: what each sentence is about, and the sentence."""
        own, local = texts.devices, results.promise.local_epsilon
        remains = what_remains(local, texts)
        if local > SLIGHT:
            remains = own.collusion_plain.format(remains=remains)
        ratio = texts.numbers.spaced(factor(local, "ε₀", texts))
        yield own.collusion, own.collusion_text.format(remains=remains, factor=ratio)

    def coalitions_lead(self, texts: Texts) -> str:
        """What the table of coalitions shows."""
        return texts.devices.coalitions_lead

    def noise(self, results: Results, texts: Texts) -> str:
        """How often bits were flipped, or how many dummies were added."""
        own, shown = texts.devices, texts.numbers.number
        noises = sorted({block.noise for block in results.plan.blocks})
        if len(noises) == 1:
            return own.one_noise[results.provenance].format(noise=shown(noises[0]))
        least, most = shown(noises[0]), shown(noises[-1])
        return own.noises[results.provenance].format(least=least, most=most)

    def blocks(self, results: Results, texts: Texts) -> tuple[str, str, list[float]]:
        """The noise of all blocks: a caption, the name of the number, and the numbers."""
        own = texts.devices
        return own.blocks_caption, own.blocks_noise, [block.noise for block in results.plan.blocks]

    def signed(self, texts: Texts) -> tuple[str, str]:
        """What was signed when messages were collected, and the command that checks it."""
        return texts.devices.signed, "krand verify round-1-1.chain.json --plan plan.json"

    def refused(
        self,
        plan: Plan,
        promise: Promise,
        rejected: Mapping[str, int],
        shown: Callable[[float], str] = at_most,
        texts: Texts = SPOKEN,
    ) -> str:
        """How many the plan allowed for, and δ now."""
        many, policy, whole = sum(rejected.values()), plan.survey.policy, texts.numbers.whole
        (name, now), (_, asked) = limit_of(policy, promise), limit_of(policy, policy)
        return texts.phrases.refused.of(many).format(
            number=whole(many),
            reasons=reasons_text(rejected, texts),
            senders=_senders(many, plan.messages, texts),
            planned=_such_people(policy.colluding, texts),
            colluding=whole(promise.colluding),
            crowd=whole(promise.crowd),
            name=name,
            now=shown(now),
            asked=shown(asked),
        )


def _helpers(colluding: int) -> str:
    """How many may collude; empty if nobody may."""
    if not colluding:
        return ""
    return PLANS.helpers.of(colluding).format(number=whole(colluding))


def _senders(many: int, each: int, texts: Texts) -> str:
    """Who may have sent this many messages, if each person sends `each`."""
    own, whole = texts.phrases, texts.numbers.whole
    least = -(-many // each)
    if many == 1:
        return own.sender
    known = own.senders if least == many else own.senders_between
    return known.format(least=whole(least), most=whole(many))


def _such_people(count: int, texts: Texts) -> str:
    own = texts.phrases
    if not count:
        return own.no_such_people
    return own.such_people.of(count).format(number=texts.numbers.whole(count))
