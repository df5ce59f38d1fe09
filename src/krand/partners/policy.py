"""Whose plans a mixer's service signs, and within which limits: a TOML file of its operator.

A signature lends the mixer's name to a promise, so whoever signs for everybody must say how weak a
promise may be: without all limits that policy is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from krand.errors import InvalidInput
from krand.mistakes import Broken
from krand.models import Model, wrong
from krand.partners.identity import DIGITS, WORDS, fingerprint
from krand.promise import MAX_ROUNDS
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.reading import TomlFile, read_toml
from krand.survey.survey import MAX_MIXERS, Survey

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


def _plain_names(named: Any) -> Any:
    """Words with one space between them, digits with none."""
    if not isinstance(named, (list, tuple)) or not all(isinstance(text, str) for text in named):
        return named
    plain = []
    for text in named:
        words = text.lower().split()
        joined = "".join(words)
        plain.append(joined if re.fullmatch("[0-9a-f]*", joined) else " ".join(words))
    broken = [
        Broken((place,), ORGANISATION, named[place], SHOWN)
        for place, text in enumerate(plain)
        if not NAMED.fullmatch(text)
    ]
    if broken:
        raise wrong(broken)
    return tuple(plain)


class Limits(Model):
    """The weakest promise and the largest survey that are accepted; None for no limit."""

    largest_epsilon: Annotated[float | None, Field(gt=0, le=100, examples=[2.0])] = None
    largest_delta: Annotated[float | None, Field(gt=0, lt=1, examples=[1e-6])] = None
    fewest_mixers: Annotated[int | None, Field(ge=1, le=MAX_MIXERS, examples=[3])] = None
    most_positions: Annotated[int | None, Field(ge=1, le=LARGEST_COUNT, examples=[10_000])] = None
    most_rounds: Annotated[int | None, Field(ge=1, le=MAX_ROUNDS, examples=[12])] = None
    most_messages: Annotated[int | None, Field(ge=1, le=LARGEST_COUNT, examples=[10_000_000])] = (
        None
    )
    """In one batch."""
    latest_closing: Annotated[int | None, Field(ge=1, le=10_000, examples=[90])] = None
    """How many days from today the last day of a survey may be."""

    def check_survey(self, survey: Survey, today: date) -> None:
        """Refuse a survey that no plan could bring within the limits."""
        _at_most("epsilon", survey.policy.epsilon, self.largest_epsilon)
        _at_most("rounds", survey.rounds, self.most_rounds)
        _at_most("positions", layout_of(survey).positions, self.most_positions)
        if self.fewest_mixers is not None and survey.trust.mixers < self.fewest_mixers:
            rule = f"must be at least {self.fewest_mixers}"
            raise InvalidInput("trust.mixers", rule, survey.trust.mixers, ASK_OPERATOR)
        self._check_closing(survey.closes, today)

    def check_plan(self, plan: Plan, today: date) -> None:
        """Refuse a plan outside of the limits."""
        self.check_survey(plan.survey, today)
        _at_most("delta", plan.survey.policy.asked, self.largest_delta)
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


class AcceptPolicy(Model):
    """Whose requests are accepted, and within which limits; by default the operator is asked."""

    accept: Annotated[Accept, Field(strict=False, examples=["ask"])] = Accept.ASK
    organisations: Annotated[
        tuple[str, ...],
        BeforeValidator(_plain_names),
        Field(strict=False, examples=[["ab" * 32]]),
    ] = ()
    """Identities and fingerprints, each as one text without capitals."""
    limits: Limits = Limits()

    def _rules(self) -> Iterator[Broken]:
        named = self.organisations
        if self.accept is Accept.LISTED and not named:
            rule = 'must be given with accept = "listed"'
            yield Broken(("organisations",), rule, None, SHOWN)
        if self.accept is not Accept.LISTED and named:
            hint = 'write accept = "listed", or leave organisations out'
            rule = 'must be left out, unless accept = "listed"'
            yield Broken(("organisations",), rule, list(named), hint)
        if self.accept is Accept.EVERYBODY:
            rule = 'must be given with accept = "everybody"'
            hint = "otherwise your signature vouches for any promise that a stranger writes"
            missing = [name for name, limit in self.limits if limit is None]
            yield from (Broken(("limits", name), rule, None, hint) for name in missing)

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
    return file.read(PolicyFile)


class PolicyFile(AcceptPolicy):
    """A file says whose requests it accepts."""

    accept: Annotated[Accept, Field(strict=False, examples=["ask"])]


def _at_most(field: str, value: float, most: float | None) -> None:
    if most is not None and not value <= most:
        raise InvalidInput(field, f"must be at most {most:,}", value, ASK_OPERATOR)
