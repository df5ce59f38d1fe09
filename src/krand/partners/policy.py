"""Whose plans a mixer signs, and within which limits: a table of its operator.

A signature lends the mixer's name to a promise, so whoever signs for everybody must say how weak a
promise may be: without all limits that policy is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from krand.errors import InvalidInput
from krand.mistakes import Broken
from krand.models import Model, wrong
from krand.partners.identity import IDENTITY
from krand.planning.promises import recompute_promise
from krand.promise import MAX_ROUNDS
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.plan_file import read_plan
from krand.survey.survey import MAX_MIXERS, Survey

LARGEST_COUNT = 10**12
ORGANISATION = "must be a link, or its part after the #, of 64 digits"
SHOWN = "krand mix accept shows the links of those who ask"
ASK_OPERATOR = "ask the mixer's operator, whose policy says so"


class Accept(StrEnum):
    """Whose requests are accepted without asking the operator."""

    ASK = "ask"
    """Nobody's: every request waits for `krand mix accept`."""
    LISTED = "listed"
    EVERYBODY = "everybody"


def _identities(named: Any) -> Any:
    """What follows the # of each link."""
    if not isinstance(named, (list, tuple)) or not all(isinstance(text, str) for text in named):
        return named
    found = tuple(text.strip().rpartition("#")[2] for text in named)
    broken = [
        Broken((place,), ORGANISATION, named[place], SHOWN)
        for place, identity in enumerate(found)
        if not IDENTITY.fullmatch(identity)
    ]
    if broken:
        raise wrong(broken)
    return found


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
        BeforeValidator(_identities),
        Field(strict=False, examples=[["https://organiser.example#" + "ab" * 32]]),
    ] = ()
    """Their links, or identities."""
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

    def accepts(self, identity: str) -> bool | None:
        """What becomes of a request of this identity; None if the operator decides."""
        if self.accept is Accept.ASK:
            return None
        return self.accept is Accept.EVERYBODY or identity in self.organisations


def check_plan_promise(path: Path) -> dict[str, str]:
    """Compute the promise of a plan's own noise, in a process that has no keys.

    The answer is the rule that the plan breaks, empty if it keeps its promise.
    """
    try:
        recompute_promise(read_plan(path))
    except InvalidInput as error:
        return {"rule": f"{error.field}: {error.rule}"}
    return {"rule": ""}


def _at_most(field: str, value: float, most: float | None) -> None:
    if most is not None and not value <= most:
        raise InvalidInput(field, f"must be at most {most:,}", value, ASK_OPERATOR)
