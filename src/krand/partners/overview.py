"""What a mixer's service tells everybody about itself: the content of its page.

It has no number that people can change: how many came, and when, is nobody's business here. A round
is open, mixed or closed, as the signed lists say too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from krand.partners.identity import fingerprint
from krand.partners.records import SERVED, PairingRecord, Records, Refusal, RoundState
from krand.partners.service_folder import ServiceFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSurvey:
    """A survey whose plan this mixer signed."""

    survey: str
    plan: str
    organiser: str
    """What the organiser calls itself."""
    organiser_words: str
    """The fingerprint of the identity that asked."""
    epsilon: float
    delta: float
    hop: int
    mixers: int
    closes: date
    erased_by: date
    """The day on which keys that are left are erased."""
    state: str
    rounds: tuple[RoundState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that the page shows."""

    name: str
    identity: str
    words: str
    digits: str
    surveys: tuple[ShownSurvey, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def overview_of(folder: ServiceFolder, records: Records) -> Overview:
    """The page of this service, as it is now."""
    own = folder.identity.public
    return Overview(
        name=folder.name,
        identity=own,
        words=fingerprint(own).words,
        digits=fingerprint(own).digits,
        surveys=tuple(_shown(folder, records, each) for each in records.in_stage(*SERVED)),
        refusals=records.refusals,
    )


def _shown(folder: ServiceFolder, records: Records, pairing: PairingRecord) -> ShownSurvey:
    plan, states = folder.plan(pairing), records.rounds(pairing)
    about = plan.survey.about
    assert about.closes is not None
    assert about.keys_until is not None
    return ShownSurvey(
        survey=pairing.survey_id,
        plan=plan.hash,
        organiser=pairing.name,
        organiser_words=fingerprint(pairing.organiser).words,
        epsilon=plan.promise.epsilon,
        delta=plan.promise.delta,
        hop=pairing.hop,
        mixers=plan.survey.trust.mixers,
        closes=about.closes,
        erased_by=about.keys_until,
        state=pairing.stage.value,
        rounds=tuple(
            states.get(number, RoundState.OPEN)
            for number in range(plan.survey.first_round, plan.survey.last_round + 1)
        ),
    )
