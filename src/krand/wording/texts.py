"""What several rooms say, by what it is about: the names of the sentences.

The English sentences are in `texts_en.toml`, those of other languages in the catalogs of
`krand.languages`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeVar, cast

from krand.batches.provenance import Provenance
from krand.languages.catalogs import spoken
from krand.languages.cldr import plural_form
from krand.languages.speaking import Spoken
from krand.promise import Assumption, Method
from krand.survey.plain_values import typed
from krand.wording.number_format import NumberFormat

T = TypeVar("T")

ENGLISH_FILE = "texts_en.toml"


@dataclass(frozen=True, slots=True)
class Plural:
    """A text in the plural forms of its language, by CLDR's names of them."""

    language: str
    forms: Mapping[str, str]

    def of(self, number: float) -> str:
        """The text for this number."""
        return self.forms[plural_form(self.language, number)]


def read_texts(
    kind: type[T], package: str, name: str = ENGLISH_FILE, room: str = "", language: str = "en"
) -> T:
    """The texts in an English file of a package, or in the catalog of another language.

    Every field is given there, and nothing else. `room` is the catalog's name of the file.
    """
    content = files(package).joinpath(name).read_text(encoding="utf-8")
    found: T = typed(kind, spoken(tomllib.loads(content), room, language))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofTexts:
    """What stands behind a promise."""

    methods: Mapping[Method, str]
    assumptions: Mapping[Assumption, str]
    colluders: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceTexts:
    """Where noise was added to answers, by the codes of `Provenance`."""

    how_noisy: Mapping[str, str]
    declared: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CollusionTexts:
    """The protection that is left if collector and analyst collude."""

    real: str
    weak: str
    slight: str
    none: str
    remains: str
    there_is: str
    mixers: Plural


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutTexts:
    """Who asks, how to reach them, and the last day on which answers are taken."""

    survey: str
    organiser: str
    contact: str
    closes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CoalitionTexts:
    """What remains for a person when others work together, by the codes of `Coalition`."""

    all_of: str
    people: Plural
    with_one_mixer: Mapping[str, str]
    with_several_mixers: Mapping[str, str]
    local: str
    nothing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartiesTexts:
    """One party in several roles: coalitions by their codes, and what the promise is about."""

    collector: str
    mixer: str
    runs: str
    readers: str
    readers_and_people: Plural
    with_one_party: Mapping[str, str]
    with_several_parties: Mapping[str, str]
    also_runs: str
    relies_on: Plural
    collusion: Plural
    hand: Plural
    reads: str
    sees: str
    one_hand: str
    hand_assumptions: Mapping[Assumption, str]
    hand_lead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTexts:
    """A question in one number, by the codes of `Statistic`."""

    names: Mapping[str, str]
    box: str
    two: str
    several: str
    value: str
    share: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTexts:
    """Questions with a condition, by the codes of `Base`."""

    condition: str
    answer: str
    either: str
    heading: Mapping[str, str]
    people: Mapping[str, str]
    withheld: Mapping[str, str]
    unknown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseTexts:
    """Numbers and promises."""

    evenly: str
    open_both: str
    open_above: str
    open_below: str
    refused: Plural
    refused_mixed: Plural
    reason: str
    reasons: Mapping[str, str]
    sender: str
    senders: str
    senders_between: str
    no_such_people: str
    such_people: Plural
    factor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesTexts:
    """Devices flip bits."""

    badge: str
    relies_on: str
    relies_on_organiser: str
    nobody_colludes: str
    as_if_refused: Plural
    even_if: Plural
    beside: str
    collusion: str
    collusion_text: str
    collusion_plain: str
    coalitions_lead: str
    one_noise: Mapping[Provenance, str]
    noises: Mapping[Provenance, str]
    blocks_caption: str
    blocks_noise: str
    signed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MixersTexts:
    """Mixers add dummies."""

    badge: Plural
    how_noisy: str
    relies_on: Plural
    relies_on_organiser: str
    anybody_colludes: str
    collusion: str
    coalitions_lead: str
    no_flips: str
    dummies: Plural
    blocks_caption: str
    blocks_noise: str
    signed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokensTexts:
    """Every position that is reported travels by itself."""

    messages: Plural
    messages_simulation: Plural
    bits_of_a_table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsTexts:
    """All bits of a person travel together."""

    copies: Plural
    records: Mapping[Provenance, str]
    whole: str
    averaged: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All sentences of this room in one language, and how that language writes numbers."""

    numbers: NumberFormat
    proofs: ProofTexts
    provenance: ProvenanceTexts
    collusion: CollusionTexts
    about: AboutTexts
    coalitions: CoalitionTexts
    parties: PartiesTexts
    summaries: SummaryTexts
    asked: AskedTexts
    phrases: PhraseTexts
    devices: DevicesTexts
    mixers: MixersTexts
    tokens: TokensTexts
    records: RecordsTexts


@cache
def texts_in(language: str) -> Texts:
    """The sentences in a language that has all of them."""
    return read_texts(Texts, "krand.wording", room="wording", language=language)


ENGLISH = texts_in("en")
SPOKEN = cast(Texts, Spoken(texts_in))
"""Those of the language that is spoken now: English, unless a page has chosen another one."""
