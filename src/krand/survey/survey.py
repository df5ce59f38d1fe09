"""A survey: who is promised what, what is asked, and what will be analysed jointly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput
from krand.promise import MAX_COPIES, MAX_CROWD, MAX_ROUNDS, Linkage, Policy
from krand.showing import Shown, one_line, some
from krand.survey.about import About
from krand.survey.coherence import PEOPLE, matrix_rules, outline, people_rules, survey_rules
from krand.survey.condition_rules import condition_rules, with_named_answers
from krand.survey.mechanisms import DEVICES, Mechanism, mechanism_of
from krand.survey.questions import Question
from krand.survey.rules import (
    MAX_WEIGHT,
    Broken,
    flag_rules,
    id_rules,
    raise_first,
    range_rules,
    whole_rules,
)
from krand.survey.schedule import Schedule, schedule_rules
from krand.survey.shapes import Shape, shape_of
from krand.survey.translations import Translation, translation_rules, worded

MAX_MIXERS = 8


@dataclass(frozen=True, slots=True)
class Together:
    """Questions that will be analysed jointly; by default as precise as its weightiest one.

    >>> from krand import Together
    >>> Together(["smokes", "pet"]).name
    'smokes+pet'
    """

    questions: tuple[str, ...]
    weight: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", tuple(self.questions))
        raise_first(self._rules(), ("together",))

    def _rules(self) -> Iterator[Broken]:
        if len(self.questions) < 2:
            yield Broken(("questions",), "must name at least two questions", self.questions)
        if self.weight is not None:
            yield from range_rules(self.weight, MAX_WEIGHT, ("weight",))

    @property
    def name(self) -> str:
        """No question can be called like this: '+' is not allowed in names."""
        return "+".join(self.questions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Whom people must trust: who adds the noise, and how many mixers pass a batch on.

    >>> from krand import Trust
    >>> Trust(noise="mixers", mixers=2).chain
    2
    """

    noise: Mechanism = DEVICES
    """Who adds it: a value, or its code."""
    mixers: int = 1
    """How many mixers there are; the collector is the first."""
    analyst_runs: tuple[int, ...] = ()
    """The places in the chain of the mixers that the analyst's organisation runs too; 1 is the
    collector. One party in several roles is one party that may be dishonest, not several."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", mechanism_of(self.noise))
        object.__setattr__(self, "analyst_runs", tuple(self.analyst_runs))
        raise_first(self._rules(), ("trust",))

    @property
    def chain(self) -> int:
        """How many mixers add dummies to a batch; 0 where devices alone add the noise."""
        return self.noise.chain(self.mixers)

    @property
    def in_one_hand(self) -> bool:
        """Whether the analyst runs every mixer, and so can look at each person's messages."""
        return len(self.analyst_runs) == self.mixers

    def with_analyst_as_collector(self) -> Trust:
        """The same where the analyst runs the collector, beside the mixers it runs already."""
        return replace(self, analyst_runs=tuple(sorted({1, *self.analyst_runs})))

    def _rules(self) -> Iterator[Broken]:
        yield from whole_rules(self.mixers, 1, MAX_MIXERS, ("mixers",))
        yield from runs_rules(self.analyst_runs, self.mixers)


def runs_rules(places: Sequence[Any], mixers: int) -> Iterator[Broken]:
    """Places of the chain, each once and in its order."""
    known = all(type(place) is int and 1 <= place <= mixers for place in places)
    if not known or sorted(set(places)) != list(places):
        rule = f"must be different places in the chain, from 1 to {mixers}, in ascending order"
        hint = "1 is the collector: analyst_runs = [1]"
        yield Broken(("analyst_runs",), rule, list(places), hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey(Shown):
    """A survey that keeps every rule: another one cannot be constructed.

    >>> from krand import Choice, Policy, Survey, YesNo
    >>> policy = Policy(epsilon=1, delta=1e-4, minimum_crowd=10_000)
    >>> asked = [YesNo(name="smokes"), Choice(name="pet", choices=["cat", "dog", "none"])]
    >>> Survey(id="habits", policy=policy, questions=asked).questions[1].name
    'pet'
    """

    id: str
    policy: Policy
    questions: tuple[Question, ...]
    together: tuple[Together, ...] = ()
    linkage: Linkage = Linkage.BIT
    copies: int = 1
    rounds: int = 1
    trust: Trust = Trust()
    about: About = field(default_factory=About)
    invitations: bool = False
    """Whether only people with an invitation may answer, each once a round."""
    expected: int | None = None
    """How many people the organiser expects in a round: for margins as shares, not for noise."""
    invited: int | None = None
    """How many people are asked to take part: for the rate of participation, not for noise."""
    translations: tuple[Translation, ...] = ()
    """All texts in each of its other languages; by their tags."""
    schedule: Schedule | None = None
    """When each round is open; None where there is one, which the organiser opens and closes."""

    def __repr__(self) -> str:
        asked = some(len(self.questions), "question")
        return one_line(f"Survey {self.id}", asked, repr(self.policy))

    @property
    def title(self) -> str:
        """What people call the survey: its title, or its id where it has none."""
        return self.about.title or self.id

    @property
    def has_conditions(self) -> bool:
        """Whether some questions are not asked of everybody."""
        return any(question.asked_if is not None for question in self.questions)

    @property
    def languages(self) -> tuple[str, ...]:
        """Those in which its texts can be read, its own first."""
        return (self.about.language, *(each.language for each in self.translations))

    def in_language(self, language: str) -> Survey:
        """The survey as if it had been written in another of its languages.

        The same answers, in whichever language, set the same positions.
        """
        if language == self.about.language:
            return replace(self, translations=())
        for texts in self.translations:
            if texts.language == language:
                about, questions = worded(self.about, self.questions, texts)
                return replace(self, about=about, questions=questions, translations=())
        rule = f"must be a language of the survey: {', '.join(self.languages)}"
        raise InvalidInput("language", rule, language)

    @property
    def promised_rounds(self) -> int:
        """How many rounds ε and δ are for, together."""
        return 1 if self.schedule is None else self.schedule.together(self.rounds)

    @property
    def periods(self) -> int:
        """How many times that is promised; more than once where a schedule says so."""
        return 1 if self.schedule is None else self.schedule.periods(self.rounds)

    @property
    def first_round(self) -> int:
        """The first round of this survey: more than 1 where it continues a campaign."""
        return 1 if self.schedule is None else self.schedule.first

    @property
    def shape(self) -> Shape:
        """What one person's response looks like."""
        return shape_of(self.linkage)

    def __post_init__(self) -> None:
        object.__setattr__(self, "linkage", Linkage(self.linkage))
        object.__setattr__(self, "questions", tuple(self.questions))
        object.__setattr__(self, "together", tuple(self.together))
        translations = tuple(sorted(self.translations, key=lambda each: str(each.language)))
        object.__setattr__(self, "translations", translations)
        raise_first(id_rules(self.id), ("id",))
        raise_first(self._rules())
        if self.schedule is not None:
            self._fill_schedule(self.schedule)
        object.__setattr__(self, "questions", with_named_answers(self.questions))

    def _fill_schedule(self, given: Schedule) -> None:
        """The windows of all rounds, and the day on which the last one ends."""
        schedule = given.filled(self.id, self.rounds)
        raise_first(schedule.window_rules(self.rounds), ("schedule",))
        closes = schedule.last_day
        if self.about.closes not in (None, closes):
            rule, hint = "must be left out: the schedule says when rounds close", "remove it"
            raise_first([Broken(("closes",), rule, self.about.closes, hint)])
        object.__setattr__(self, "schedule", schedule)
        object.__setattr__(self, "about", replace(self.about, closes=closes))

    @classmethod
    def from_values(cls, values: Mapping[str, Any], directory: str | Path = ".") -> Survey:
        """The survey of a dictionary with the keys of a survey file, under the same rules.

        All mistakes are in one error, as for a file; `directory` is where lists of choices are
        looked for.

        >>> from krand import Survey
        >>> survey = Survey.from_values(
        ...     {
        ...         "id": "habits",
        ...         "policy": {"epsilon": 1, "delta": 1e-4, "minimum_crowd": 10_000},
        ...         "question": [{"name": "smokes", "type": "yes_no"}],
        ...     }
        ... )
        >>> survey.questions[0].name
        'smokes'
        """
        # Imported by name: devices load this module, and need no reader of survey files.
        reading = import_module("krand.survey.reading")
        survey: Survey = reading.survey_from_values(values, Path(directory))
        return survey

    def _rules(self) -> Iterator[Broken]:
        if not self.questions:
            yield Broken(("question",), "at least one question must be asked", None)
        yield from flag_rules(self.invitations, ("invitations",))
        yield from whole_rules(self.copies, 1, MAX_COPIES, ("copies",))
        yield from whole_rules(self.rounds, 1, MAX_ROUNDS, ("rounds",))
        yield from schedule_rules(self.rounds, self.schedule)
        places = [("question", index) for index in range(len(self.questions))]
        outlines = [outline(*each) for each in zip(self.questions, places, strict=True)]
        groups = [group.questions for group in self.together]
        yield from survey_rules(outlines, groups, self.linkage, self.copies)
        yield from condition_rules(self.questions, places)
        yield from matrix_rules(self.questions, places)
        policy, trust = self.policy, self.trust
        yield from trust.noise.trust_rules(self.linkage, trust.mixers)
        yield from trust.noise.policy_rules(policy.max_local_epsilon)
        people = {key: getattr(self, key) for key in PEOPLE}
        for key, value in people.items():
            if value is not None:
                yield from whole_rules(value, 1, MAX_CROWD, (key,))
        yield from people_rules(people, policy.minimum_crowd)
        yield from translation_rules(self.about, self.questions, self.translations)
