"""Whose plans a mixer's service signs, and within which limits: a TOML file of its operator.

A signature lends the mixer's name to a promise, so whoever signs for everybody must say how weak a
promise may be: without all limits that policy is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from krand.errors import InvalidInput
from krand.partners.identity import DIGITS, WORDS, fingerprint
from krand.promise import MAX_ROUNDS
from krand.survey.complaints import check_table, unknown_key
from krand.survey.layout import layout_of
from krand.survey.models import ABSENT, Table
from krand.survey.plan import Plan
from krand.survey.rules import Broken
from krand.survey.survey import MAX_MIXERS, Survey
from krand.survey.toml_file import TomlFile, read_toml

LARGEST_COUNT = 10**12
IDENTITY_DIGITS = 64
NAMED = re.compile(
    rf"[0-9a-f]{{{IDENTITY_DIGITS}}}|[0-9a-f]{{{DIGITS}}}|([a-z]+ ){{{WORDS - 1}}}[a-z]+"
)
ORGANISATION = (
    f"must be an identity of {IDENTITY_DIGITS} digits, or its fingerprint in words or digits"
)
SHOWN = "krand mix accept shows them, and the organiser reads them out"
ASK_OPERATOR = "ask the mixer's operator, whose policy says so"


class Accept(StrEnum):
    """Whose requests are accepted without asking the operator."""

    ASK = "ask"
    """Nobody's: every request waits for `krand mix accept`."""
    LISTED = "listed"
    EVERYBODY = "everybody"


class Decision(StrEnum):
    """What a policy says about a request."""

    ACCEPTED = "accepted"
    WAITING = "waiting"
    """The operator decides."""
    REFUSED = "refused"


class LimitsTable(Table):
    """What the mixer lends its name to."""

    largest_epsilon: Annotated[float, Field(gt=0, le=100, examples=[2.0])] = ABSENT
    largest_delta: Annotated[float, Field(gt=0, lt=1, examples=[1e-6])] = ABSENT
    fewest_mixers: Annotated[int, Field(ge=1, le=MAX_MIXERS, examples=[3])] = ABSENT
    most_positions: Annotated[int, Field(ge=1, le=LARGEST_COUNT, examples=[10_000])] = ABSENT
    most_rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS, examples=[12])] = ABSENT
    most_messages: Annotated[int, Field(ge=1, le=LARGEST_COUNT, examples=[10_000_000])] = ABSENT
    latest_closing: Annotated[int, Field(ge=1, le=10_000, examples=[90])] = ABSENT


class PolicyTable(Table):
    """Whose plans are signed."""

    accept: Annotated[Literal["ask", "listed", "everybody"], Field(examples=["ask"])]
    organisations: Annotated[list[str], Field(examples=[["ab" * 32]])] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The weakest promise and the largest survey that are accepted; None for no limit."""

    largest_epsilon: float | None = None
    largest_delta: float | None = None
    fewest_mixers: int | None = None
    most_positions: int | None = None
    most_rounds: int | None = None
    most_messages: int | None = None
    """In one batch."""
    latest_closing: int | None = None
    """How many days from today the last day of a survey may be."""

    def check_survey(self, survey: Survey, today: date) -> None:
        """Refuse a survey that no plan could bring within the limits."""
        _at_most("epsilon", survey.policy.epsilon, self.largest_epsilon)
        _at_most("rounds", survey.rounds, self.most_rounds)
        _at_most("positions", layout_of(survey).positions, self.most_positions)
        if self.fewest_mixers is not None and survey.trust.mixers < self.fewest_mixers:
            rule = f"must be at least {self.fewest_mixers}"
            raise InvalidInput("trust.mixers", rule, survey.trust.mixers, ASK_OPERATOR)
        self._check_closing(survey.about.closes, today)

    def check_plan(self, plan: Plan, today: date) -> None:
        """Refuse a plan outside of the limits."""
        self.check_survey(plan.survey, today)
        _at_most("epsilon", plan.promise.epsilon, self.largest_epsilon)
        _at_most("delta", plan.promise.delta, self.largest_delta)
        self.check_messages(plan.messages + plan.expected_dummies)

    def check_messages(self, messages: int) -> None:
        """Refuse a batch that is too large."""
        _at_most("messages", messages, self.most_messages)

    def _check_closing(self, closes: date | None, today: date) -> None:
        if closes is None:
            hint = "write closes = 2027-01-31 in the survey: keys are erased a month later"
            raise InvalidInput("closes", "must be given", None, hint)
        if closes < today:
            hint = "make the survey with a later day"
            raise InvalidInput("closes", "must not have passed", closes.isoformat(), hint)
        if self.latest_closing is not None:
            latest = today + timedelta(days=self.latest_closing)
            if closes > latest:
                rule = f"must be {latest.isoformat()} or earlier"
                raise InvalidInput("closes", rule, closes.isoformat(), ASK_OPERATOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptPolicy:
    """Whose requests are accepted, and within which limits; by default the operator is asked."""

    accept: Accept = Accept.ASK
    organisations: frozenset[str] = frozenset()
    """Identities and fingerprints, each as one text without capitals."""
    limits: Limits = Limits()

    def decision(self, identity: str) -> Decision:
        """What becomes of a request of this identity."""
        if self.accept is Accept.ASK:
            return Decision.WAITING
        if self.accept is Accept.EVERYBODY or self.lists(identity):
            return Decision.ACCEPTED
        return Decision.REFUSED

    def lists(self, identity: str) -> bool:
        """Whether the operator has named this identity."""
        shown = fingerprint(identity)
        names = {identity, shown.words, shown.digits.replace(" ", "")}
        return not names.isdisjoint(self.organisations)


def read_policy(path: Path) -> AcceptPolicy:
    """The policy in a file; SurveyErrors has every mistake of the file."""
    return policy_in(read_toml("policy", path))


def policy_in(file: TomlFile) -> AcceptPolicy:
    """The policy that a TOML text describes."""
    document = dict(file.document)
    raw_limits = document.pop("limits", {})
    known = [*PolicyTable.model_fields, "limits"]
    unknown = [key for key in document if key not in known]
    broken = [unknown_key(key, document.pop(key), known) for key in unknown]
    found, wrong = check_table(PolicyTable, document)
    limits, wrong_limits = check_table(LimitsTable, raw_limits)
    broken += [*wrong, *(entry.under(("limits",)) for entry in wrong_limits)]
    named = found.get("organisations", [])
    texts = [_plain_name(text) for text in named]
    is_wrong = "organisations" in document and "organisations" not in found
    broken += _named_rules(found.get("accept"), named, texts, is_wrong)
    if found.get("accept") == Accept.EVERYBODY and isinstance(raw_limits, dict):
        broken += _missing_limits(raw_limits)
    if broken:
        raise file.errors(broken)
    return AcceptPolicy(
        accept=Accept(found["accept"]), organisations=frozenset(texts), limits=Limits(**limits)
    )


def _named_rules(
    accept: object, named: list[str], texts: list[str], is_wrong: bool
) -> Iterator[Broken]:
    if accept == Accept.LISTED and not named and not is_wrong:
        yield Broken(("organisations",), 'must be given with accept = "listed"', None, SHOWN)
    if accept in (Accept.ASK, Accept.EVERYBODY) and named:
        hint = 'write accept = "listed", or leave organisations out'
        rule = 'must be left out, unless accept = "listed"'
        yield Broken(("organisations",), rule, named, hint)
    for place, (text, said) in enumerate(zip(texts, named, strict=True)):
        if not NAMED.fullmatch(text):
            yield Broken(("organisations", place), ORGANISATION, said, SHOWN)


def _missing_limits(given: dict[str, object]) -> Iterator[Broken]:
    for field in fields(Limits):
        if field.name not in given:
            rule = 'must be given with accept = "everybody"'
            hint = "otherwise your signature vouches for any promise that a stranger writes"
            yield Broken(("limits", field.name), rule, None, hint)


def _plain_name(text: str) -> str:
    """Words with one space between them, digits with none."""
    words = text.lower().split()
    joined = "".join(words)
    return joined if re.fullmatch("[0-9a-f]*", joined) else " ".join(words)


def _at_most(field: str, value: float, most: float | None) -> None:
    if most is not None and not value <= most:
        raise InvalidInput(field, f"must be at most {most:,}", value, ASK_OPERATOR)
