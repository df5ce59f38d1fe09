"""The sentences that several rooms show, in English, grouped by what they are about.

Another language is another `Texts`: all of its groups with sentences of its own, in which the names
in braces stay. How to add one: docs/developing/add-a-language.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from krand.batches.provenance import Provenance
from krand.promise import Assumption, Method
from krand.wording.number_format import NumberFormat

__all__ = [
    "ENGLISH",
    "AboutTexts",
    "BothTexts",
    "CoalitionTexts",
    "CollusionTexts",
    "DevicesTexts",
    "GuaranteeTexts",
    "MixersTexts",
    "PhraseTexts",
    "Plural",
    "ProvenanceTexts",
    "RecordsTexts",
    "SummaryTexts",
    "Texts",
    "TokensTexts",
    "table",
]

Code = TypeVar("Code")


@dataclass(frozen=True, slots=True)
class Plural:
    """A text for one and a text for any other number."""

    one: str
    other: str

    def of(self, number: float) -> str:
        """The text for this number."""
        return self.one if number == 1 else self.other


def table(entries: Mapping[Code, str]) -> Mapping[Code, str]:
    """A field of texts by their codes; frozen as all texts are."""
    return field(default_factory=lambda: MappingProxyType(dict(entries)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteeTexts:
    """What stands behind a guarantee."""

    methods: Mapping[Method, str] = table(
        {
            Method.EXACT_BITS: "worst crowd for each bit, all bits composed",
            Method.BLANKET_BITS: "privacy blanket of each bit, all bits composed: the crowd is too"
            " large for the exact law",
            Method.UNIFORM_BITS: "exact law of each bit in a crowd that answers alike, all bits"
            " composed",
            Method.PRIVACY_BLANKET: "privacy blanket of the record, all copies composed",
            Method.UNIFORM_RECORDS: "exact law of the record in the worst crowd that answers"
            " alike, all copies composed",
            Method.DUMMIES: "exact law of one honest mixer's dummies, all positions composed",
            Method.FLIPS_AND_DUMMIES: "worst crowd for each bit with the dummies of all mixers, all"
            " bits composed",
            Method.LOCAL_NOISE: "the noise of each device alone: the collector need not be trusted",
            Method.NONE: "none: this plan is for tests, and hides nobody",
        }
    )
    converted: str = "{method}; η follows from δ"
    assumptions: Mapping[Assumption, str] = table(
        {
            Assumption.HONEST_CROWD: "at least {honest} honest people respond in the same batch",
            Assumption.COLLECTOR_KEEPS_SECRETS: "the collector removes identity, order and time,"
            " and does not work with the analyst",
            Assumption.DATA_HOLDER_KEEPS_SECRETS: "the data holder, who saw all answers, hands on"
            " nothing but the noisy responses, and randomized everybody's answers once",
            Assumption.ONE_HONEST_MIXER: "at least one of the plan's mixers follows the rules; all"
            " others, and all other people, may work with the analyst",
            Assumption.SEALS_HOLD: "nobody opens a sealed message (HPKE) without its key",
            Assumption.PARTICIPATION_VISIBLE: "a person's answers are hidden; that the person took"
            " part is not",
            Assumption.OUTLIER_IS_WORST: "attacks other than that on an outlier rest on a"
            " conjecture of the first papers on this method",
            Assumption.LIMITED_ANSWERS: "no true answer sets more bits than its question allows",
        }
    )
    colluders: str = "{crowd} ({colluding} more may work with the analyst)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceTexts:
    """Where answers became noisy, by the codes of `Provenance` and `DistinctPeople`."""

    how_noisy: Mapping[str, str] = table(
        {
            "devices": "Each device added noise before it sent anything.",
            "table": "A data holder had all answers in a table, could see them, and added"
            " noise before passing them on.",
            "simulation": "Nobody was asked: the people and their answers are simulated.",
        }
    )
    declared: Mapping[str, str] = table(
        {
            "data_holder": "The data holder declared that the {files} files are about different"
            " people, in the files. If somebody is in two of them, more was revealed than the"
            " guarantee says.",
            "analyst": "The analyst who counted them declared that the {files} files are about"
            " different people; nothing in the files says so. If somebody is in two of them, more"
            " was revealed than the guarantee says.",
        }
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CollusionTexts:
    """The protection that is left if collector and analyst collude."""

    real: str = "real protection"
    weak: str = "only weak protection"
    slight: str = "hardly any protection"
    none: str = "no protection"
    remains: str = "{protection} remains"
    there_is: str = "there is {protection}"
    flips_void: str = (
        "Fewer people took part in a batch than the {crowd} that the noise of devices was planned"
        " for, so that noise alone promises nothing; the promise of the mixers holds all the same"
    )
    flips_kept: str = (
        "The noise of devices alone promises ε = {epsilon}, {slack} to this crowd, even if no mixer"
        " adds dummies, unless collector and analyst collude"
    )
    if_no_mixer: Plural = Plural(
        "The promise holds as long as the collector, the only mixer, follows the rules, whatever"
        " everybody else does. If the collector works with the analyst, {said} (ε₀ = {epsilon})",
        "The promise holds as long as one of the {number} mixers follows the rules, whatever"
        " everybody else does. If all of them work with the analyst, {said} (ε₀ = {epsilon})",
    )
    mixers: Plural = Plural(
        "The promise holds as long as the collector, the only mixer, follows the rules, whatever"
        " everybody else does. If the collector works with the analyst, there is no protection",
        "The promise holds as long as one of the {number} mixers follows the rules, whatever"
        " everybody else does. If all of them work with the analyst, there is no protection",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutTexts:
    """Who asks, how to reach them, and the last day on which answers are taken."""

    survey: str = "Survey"
    organiser: str = "Organiser"
    contact: str = "Contact"
    closes: str = "Last day for answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoalitionTexts:
    """What remains for a person when others work together, by the codes of `Coalition`."""

    held: str = "the analyst alone: {holders}"
    one_of: str = "{first} or {last}"
    all_of: str = "{first} and {last}"
    holders: Plural = Plural(
        "According to its signature, {holders} counted the messages, which takes the analyst's key:"
        " this is the analyst of this table.",
        "According to their signatures, {holders} counted the messages, which takes the analyst's"
        " key. Each of them is the analyst of this table: it is enough that one of them works with"
        " others.",
    )
    people: Plural = Plural(
        "the analyst and 1 of {crowd} people", "the analyst and {number} of {crowd} people"
    )
    with_one_mixer: Mapping[str, str] = table(
        {
            "analyst": "the analyst alone",
            "all-but-one-mixer": "the analyst and all other people, but not the collector",
            "all-mixers": "the analyst and the collector",
            "everybody": "everybody but the person's own device",
            "page-host": "whoever serves the web form, for people who use it",
        }
    )
    with_several_mixers: Mapping[str, str] = table(
        {
            "analyst": "the analyst alone",
            "other-mixers": "the analyst and {number} of {mixers} mixers",
            "all-but-one-mixer": "the analyst, all other people and {number} of {mixers} mixers",
            "all-mixers": "the analyst and all {mixers} mixers",
            "everybody": "everybody but the person's own device",
            "page-host": "whoever serves the web form, for people who use it",
        }
    )
    delta: str = "ε = {epsilon}, δ = {delta}"
    eta: str = "ε = {epsilon}, η = {eta}"
    together: str = "{remains}, by flips and dummies together"
    local: str = "{protection} (ε₀ = {epsilon})"
    nothing: str = "no protection"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTexts:
    """A question in one number, by the codes of `Statistic`."""

    names: Mapping[str, str] = table(
        {"mean": "mean", "top_box": "top box", "bottom_box": "bottom box"}
    )
    box: str = "{name}, {answers}"
    two: str = "{first} and {last}"
    several: str = "{first} to {last}"
    value: str = "{name} {value} ({low} to {high})"
    share: str = "{name}: {value} ({low} to {high}) of those who answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseTexts:
    """Numbers and promises."""

    evenly: str = (
        "estimates assume that values are spread evenly within each range; intervals do not"
    )
    open_both: str = "the mean cannot be estimated: the lowest and top ranges are open-ended"
    open_above: str = (
        "the mean cannot be estimated: the top range is open-ended; the mean is at least {bound}"
    )
    open_below: str = (
        "the mean cannot be estimated: the lowest range is open-ended; the mean is at most {bound}"
    )
    refused: Plural = Plural(
        "{number} message was refused ({reasons}) and not counted. {senders} may not help to hide"
        " anybody. The promise allowed for {planned}; in the worst case there are now {colluding}"
        " among {crowd}, so {name} is {now}. The survey promised {asked}.",
        "{number} messages were refused ({reasons}) and not counted. {senders} may not help to"
        " hide anybody. The promise allowed for {planned}; in the worst case there are now"
        " {colluding} among {crowd}, so {name} is {now}. The survey promised {asked}.",
    )
    refused_mixed: Plural = Plural(
        "{number} message was refused ({reasons}) and not counted. The promise does not depend on"
        " it.",
        "{number} messages were refused ({reasons}) and not counted. The promise does not depend"
        " on them.",
    )
    reason: str = "{number} {why}"
    reasons: Mapping[str, str] = table(
        {
            "wrong_length": "wrong length",
            "not_sealed_for_this_key_or_plan": "not sealed for this key or plan",
            "unknown_version": "unknown version",
            "unknown_kind": "unknown kind",
            "position_out_of_range": "position out of range",
            "outside_its_lane": "outside its lane",
            "padding_not_zero": "padding not zero",
            "repeated": "repeated",
        }
    )
    sender: str = "Whoever sent it"
    senders: str = "The {most} people who sent them"
    senders_between: str = "The {least} to {most} people who sent them"
    no_such_people: str = "no such people"
    such_people: Plural = Plural("{number} such person", "{number} such people")
    factor: str = "{ratio} ({name} = {epsilon})"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesTexts:
    """Devices flip bits."""

    badge: str = "Noise added on every device"
    relies_on: str = (
        "It needs a crowd, here of {crowd} people, and a collector that does not work with the"
        " analyst."
    )
    people_needed: str = "at least {crowd} were needed"
    nobody_colludes: str = "The promise assumes that no participant helps the analyst."
    as_if_refused: Plural = Plural(
        "The promise is computed as if the refused message came from another participant who added"
        " no noise. It assumes that nobody else helps the analyst.",
        "The promise is computed as if each of {number} refused messages came from another"
        " participant who added no noise. It assumes that nobody else helps the analyst.",
    )
    even_if: Plural = Plural(
        "The promise holds even if {number} participant tells the analyst everything they know,"
        " their own answers and their noise{beside}.",
        "The promise holds even if {number} of the participants tell the analyst everything they"
        " know, their own answers and their noise{beside}.",
    )
    beside: str = ", and {number} more sent the messages that were refused"
    collusion: str = "If collector and analyst collude"
    collusion_text: str = (
        "Then {remains}. They can look at each person's messages separately, where only the noise"
        " of that person's device remains: the odds of one set of answers against another can"
        " change by a factor of up to {factor}. The promise above relies on the collector keeping"
        " its word."
    )
    collusion_plain: str = (
        "{remains}: together, the two may see a person's answers plainly in that person's messages"
    )
    coalitions_lead: str = (
        "The promise protects against the analyst. Participants who show the analyst what they"
        " sent make it weaker. If the collector works with the analyst, or everybody else does,"
        " only the noise of your own device is left."
    )
    one_noise: Mapping[Provenance, str] = table(
        {
            Provenance.DEVICES: "Each bit was flipped with probability q = {noise} before it was"
            " sent.",
            Provenance.TABLE: "Each bit was flipped with probability q = {noise} before it was"
            " handed on.",
            Provenance.SIMULATION: "Each bit was flipped with probability q = {noise}.",
        }
    )
    noises: Mapping[Provenance, str] = table(
        {
            Provenance.DEVICES: "Each bit was flipped before it was sent, with a probability from"
            " q = {least} to {most}, depending on the question.",
            Provenance.TABLE: "Each bit was flipped before it was handed on, with a probability"
            " from q = {least} to {most}, depending on the question.",
            Provenance.SIMULATION: "Each bit was flipped, with a probability from q = {least} to"
            " {most}, depending on the question.",
        }
    )
    blocks_caption: str = "How often a bit of each question is flipped"
    blocks_noise: str = "Noise q"
    signed: str = (
        "No file can show that the collector counted honestly. The collector signs what it counted,"
        " and {command} checks the signature."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MixersTexts:
    """Mixers add dummies."""

    badge: Plural = Plural("Noise added by the collector", "Noise added by {number} mixers")
    how_noisy: str = "Mixers added dummy messages, which hide every answer in the counts."
    relies_on: Plural = Plural(
        "It holds however few people take part, as long as the collector follows the rules.",
        "It holds however few people take part, as long as one of the {number} mixers follows the"
        " rules.",
    )
    any_crowd: str = "the promise needs no crowd"
    anybody_colludes: str = (
        "The promise holds even if all other participants tell the analyst everything they know."
    )
    collusion: str = "If mixers and analyst collude"
    coalitions_lead: str = (
        "Whoever else works with the analyst, the promise holds as long as one mixer follows the"
        " rules; the collector is the first mixer. If all mixers work with the analyst, nothing"
        " protects you."
    )
    no_flips: str = "Devices added no noise."
    dummies: Plural = Plural(
        "{flips} The collector, the only mixer, added up to {most} dummy messages"
        " to each position, at random and sealed like everybody's. The analyst subtracts how many"
        " there are on average.",
        "{flips} Each of {number} mixers added up to {most} dummy messages to each"
        " position, at random and sealed like everybody's. The analyst subtracts how many there"
        " are on average.",
    )
    blocks_caption: str = "Standard deviation of the noise in each count, in people"
    blocks_noise: str = "Noise σ"
    signed: str = (
        "No file can show that the collector counted people honestly, or that mixers drew their"
        " noise as planned. Each of them signs how many messages came and left, and {command}"
        " checks these signatures; the keys of all mixers are in the plan."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BothTexts:
    """Devices flip bits, and mixers add dummies."""

    badge: Plural = Plural(
        "Noise added on every device and by the collector",
        "Noise added on every device and by {number} mixers",
    )
    how_noisy: str = "Each device added noise, and mixers added dummy messages."
    coalitions_lead: str = (
        "Whoever else works with the analyst, the promise holds as long as one mixer follows the"
        " rules; the collector is the first mixer. If all mixers work with the analyst, only the"
        " noise of your own device is left."
    )
    flips: str = "What the noise of devices adds"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensTexts:
    """Every position that is reported travels by itself."""

    messages: Plural = Plural(
        "Each position that a device reports as yes was sent by itself in a sealed message; a"
        " position is a yes or no about one answer. Every person sent {number} message, which may"
        " be empty, and everybody's messages were shuffled together. Nobody can tell afterwards"
        " which messages came from the same person, so questions can be seen together only where"
        " that was planned before anybody answered.",
        "Each position that a device reports as yes was sent by itself in a sealed message; a"
        " position is a yes or no about one answer. Every person sent {number} messages, of which"
        " some may be empty, and everybody's messages were shuffled together. Nobody can tell"
        " afterwards which messages came from the same person, so questions can be seen together"
        " only where that was planned before anybody answered.",
    )
    messages_simulation: Plural = Plural(
        "The people are simulated. In a survey, each position that a device reports as yes is sent"
        " by itself in a sealed message; a position is a yes or no about one answer. Every person"
        " sends {number} message, which may be empty, and everybody's messages are shuffled"
        " together. Nobody can tell afterwards which messages came from the same person, so"
        " questions can be seen together only where that was planned before anybody answered.",
        "The people are simulated. In a survey, each position that a device reports as yes is sent"
        " by itself in a sealed message; a position is a yes or no about one answer. Every person"
        " sends {number} messages, of which some may be empty, and everybody's messages are"
        " shuffled together. Nobody can tell afterwards which messages came from the same person,"
        " so questions can be seen together only where that was planned before anybody answered.",
    )
    bits_of_a_table: str = (
        "The data holder saw all answers. It flipped bits of everybody's answers at random and"
        " handed on how often each position, a yes or no about one answer, came out as yes. Nobody"
        " can tell afterwards which of these came from the same person, so questions can be seen"
        " together only where that was planned before anybody answered."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsTexts:
    """All bits of a person travel together."""

    copies: Plural = Plural("one noisy copy", "{number} copies, each with its own noise,")
    records: Mapping[Provenance, str] = table(
        {
            Provenance.DEVICES: "Every person sent {copies} of the whole record of {bits} bits."
            " Everybody's records were shuffled.",
            Provenance.TABLE: "The data holder saw all answers. For every person it handed on"
            " {copies} of the whole record of {bits} bits, in random order.",
            Provenance.SIMULATION: "The people are simulated. Each of them has {copies} of the"
            " whole record of {bits} bits, in random order.",
        }
    )
    whole: str = (
        "All answers of a person stay together in one record, so any questions can be seen"
        " together. This needs more noise."
    )
    averaged: str = "The average of the copies has less noise than one copy."


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All sentences of this room in one language, and how that language writes numbers."""

    numbers: NumberFormat
    guarantees: GuaranteeTexts
    provenance: ProvenanceTexts
    collusion: CollusionTexts
    about: AboutTexts
    coalitions: CoalitionTexts
    summaries: SummaryTexts
    phrases: PhraseTexts
    devices: DevicesTexts
    mixers: MixersTexts
    both: BothTexts
    tokens: TokensTexts
    records: RecordsTexts


ENGLISH = Texts(
    numbers=NumberFormat(),
    guarantees=GuaranteeTexts(),
    provenance=ProvenanceTexts(),
    collusion=CollusionTexts(),
    about=AboutTexts(),
    coalitions=CoalitionTexts(),
    summaries=SummaryTexts(),
    phrases=PhraseTexts(),
    devices=DevicesTexts(),
    mixers=MixersTexts(),
    both=BothTexts(),
    tokens=TokensTexts(),
    records=RecordsTexts(),
)
