"""Whether intervals hold the truth as often as they say: statistics × kinds of noise × people.

    case = Case("mixers", 3_000)        # kind of noise, people
    table = Table()
    simulate(case, rounds, seed, table) # every statistic of so many rounds, beside the truth
    table.check()                       # one error rate for everything in the table

Counts are drawn from the plan's own laws (draws.py), estimated through public names, and read
through estimates.py. In every case the same people answer: their answers are chosen, so that each
statistic has a truth. Plans are kept in golden/plans/; `python tests/coverage_table.py` makes them
anew.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import estimates
import krand
import world
from draws import Draws

ERROR_RATE = 1e-6
"""Of a whole run: how likely a right program fails anywhere in the table."""
CHECKS = 2_000
"""More than there are, so that each may fail with ERROR_RATE / CHECKS."""
MISSES = 0.05
"""Of intervals and tests, as they say of themselves."""

COMMON = """
  { name = "first", type = "yes_no" },
  { name = "happy", type = "yes_no" },
  { name = "team", type = "choice", choices = ["red", "blue"] },
  { name = "mood", type = "scale", lowest = 1, highest = 3 },
  { name = "age", type = "number", edges = [0, 10, 20, 40] },
"""
MORE = """
  { name = "second", type = "yes_no" },
  { name = "colour", type = "choice", choices = ["a", "b", "c"] },
  { name = "pets", type = "pick_any", choices = ["cat", "dog", "emu"], at_most = 2 },
  { name = "gate", type = "yes_no", counts = "both" },
  { name = "why", type = "choice", choices = ["x", "z"],
    asked_if = { question = "gate", is = [true] } },
  { name = "town", type = "words", positions = 32, hashes = 2 },
"""


def survey_text(questions: str, people: int, more: str) -> str:
    """A survey file with these questions."""
    asked = f"[{' '.join(questions.split())}]"
    policy = f"{{ epsilon = 10, delta = 1e-2, minimum_crowd = {people} }}"
    weekly = '{ every = "week", starts = 2099-01-05 }'
    head = f'id = "coverage"\nrounds = 4\nquestion = {asked}\npolicy = {policy}\n'
    return f"{head}schedule = {weekly}\n{more}\n"


GROUP = 'together = [{ questions = ["team", "happy"] }]\n'
NOISES = {
    "flips": survey_text(COMMON + MORE, 150, GROUP + 'trust = { noise = "devices" }'),
    "record": survey_text(COMMON, 150, 'linkage = "record"'),
    "copies": survey_text(COMMON, 150, 'linkage = "record"\ncopies = 4'),
    "mixer": survey_text(COMMON + MORE, 2, GROUP + 'trust = { noise = "mixers" }'),
    "mixers": survey_text(COMMON + MORE, 2, GROUP + 'trust = { noise = "mixers", mixers = 3 }'),
}
"""Kinds of noise, each with a survey; whole records have fewer positions."""
AGES = {5: "0 to under 10", 15: "10 to under 20", 30: "20 to under 40"}
MIDDLES = {5: 5.0, 15: 15.0, 30: 30.0}
TOWNS = ("ulm", "graz", "bern", "nobody's town")

PERSONS: tuple[tuple[float, dict[str, Any]], ...] = (
    (
        0.4,
        {"first": True, "mood": 3, "age": 5, "colour": "a", "pets": ["cat", "dog"]}
        | {"gate": True, "why": "x", "town": ["ulm"]},
    ),
    (0.25, {"first": False, "mood": 2, "age": 15, "second": True, "gate": True, "why": "z"}),
    (0.2, {"mood": 1, "age": 30, "colour": "b", "pets": ["dog"], "gate": False, "town": ["graz"]}),
    (0.05, {"first": True, "mood": 3, "gate": True}),
    (0.1, {}),
)
"""What people answer but for team and happy, which depend on each other or on nothing."""
RELATED = {("red", True): 0.4, ("red", False): 0.1, ("blue", True): 0.1, ("blue", False): 0.3}
APART = {(team, happy): 0.225 for team in ("red", "blue") for happy in (True, False)}
"""The others are silent about both."""


class Case(NamedTuple):
    """One column of the table."""

    noise: str
    people: int
    sampled: bool = False
    """Whether the people are drawn anew for every round, and the truth is that of all who could
    have been drawn."""


@dataclass(frozen=True)
class Truth:
    """What people answer, and how many of them."""

    kinds: tuple[Mapping[str, Any], ...]
    people: tuple[float, ...]

    @cached_property
    def all(self) -> float:
        return sum(self.people)

    def count(self, gives: Callable[[Mapping[str, Any]], bool]) -> float:
        return sum(n for kind, n in zip(self.kinds, self.people, strict=True) if gives(kind))

    def gave(self, question: str, label: str) -> float:
        return self.count(lambda kind: label in labels(question, kind))

    def mean(self, question: str, values: Callable[[Any], float]) -> float:
        """Among those who answered."""
        given = [(k[question], n) for k, n in zip(self.kinds, self.people, strict=True)]
        return sum(values(v) * n for v, n in given if v is not None) / sum(
            n for v, n in given if v is not None
        )


def labels(question: str, kind: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers of such a person as results name them."""
    said = kind[question]
    if said is None:
        return ("unanswered",)
    if isinstance(said, bool):
        return ("yes" if said else "no",)
    if question == "age":
        return (AGES[said],)
    return tuple(said) if isinstance(said, list) else (str(said),)


@cache
def plan_of(noise: str) -> krand.Plan:
    return krand.read_plan(world.plan_file(f"coverage-{noise}"))


@cache
def draws_of(noise: str) -> Draws:
    """Every kind of person: what they say of team and happy, beside all else."""
    names = [question.name for question in plan_of(noise).survey.questions]
    groups = [dict(zip(("team", "happy"), pair, strict=True)) for pair in (*RELATED, (None, None))]
    kinds = [person | group for _, person in PERSONS for group in groups]
    return Draws(plan_of(noise), tuple({name: k.get(name) for name in names} for k in kinds))


def chances(related: bool) -> np.ndarray:
    """How frequent each kind of person is."""
    table = RELATED if related else APART
    groups = [*table.values(), 1 - sum(table.values())]
    return np.array([weight * group for weight, _ in PERSONS for group in groups])


class Round(NamedTuple):
    """Results, and what is true."""

    results: krand.Results
    truth: Truth
    tally: krand.Tally


def rounds_of(case: Case, count: int, seed: int) -> Iterator[Round]:
    """So many rounds; each fourth one has other people, so that something changes."""
    draws, random = draws_of(case.noise), np.random.default_rng([seed, *repr(case).encode()])
    linked = case.noise in ("record", "copies")
    options = krand.ResultsOptions(
        joint=(("team", "happy"),) if linked else (),
        candidates={} if linked else {"town": TOWNS},
        sample_of="everybody" if case.sampled else None,
    )
    for place in range(count):
        weights = chances(related=place % 4 != 3 and not case.sampled)
        if case.sampled:
            kinds, true = random.multinomial(case.people, weights), weights
        else:
            ends = np.rint(np.cumsum(weights) * case.people).astype(np.int64)
            kinds = true = np.diff(ends, prepend=0)
        tally = draws.tally(kinds, random, place % 4 + 1)
        results = krand.make_results(draws.plan, tally, options)
        yield Round(results, Truth(draws.answers, tuple(true.tolist())), tally)


class Trial(NamedTuple):
    """One interval or claim; those of one question count together, others are independent."""

    question: str
    held: bool
    seen: estimates.Seen | None = None
    truth: float = 0.0

    @property
    def off(self) -> float | None:
        """The unbiased estimate less the truth, in standard errors."""
        if self.seen is None or self.seen.unbiased is None or not self.seen.error:
            return None
        return (self.seen.unbiased - self.truth) / self.seen.error


def _trial(question: str, seen: estimates.Seen, truth: float) -> Trial:
    return Trial(question, seen.holds(truth), seen, truth)


def _names(results: krand.Results) -> list[str]:
    return [question.name for question in results.questions]


def share(found: Round) -> Iterator[Trial]:
    for name in _names(found.results):
        for label, seen in estimates.shares(found.results, name).items():
            yield _trial(name, seen, found.truth.gave(name, label) / found.truth.all)


def count(found: Round) -> Iterator[Trial]:
    for name in _names(found.results):
        for label, seen in estimates.counts(found.results, name).items():
            yield _trial(name, seen, found.truth.gave(name, label))


def together(found: Round) -> Iterator[Trial]:
    """All answers to a question at once."""
    for name in _names(found.results):
        rows = estimates.counts_together(found.results, name)
        held = all(seen.holds(found.truth.gave(name, label)) for label, seen in rows.items())
        yield Trial(name, held)


def mean(found: Round) -> Iterator[Trial]:
    truth = {
        ("mood", "mean"): found.truth.mean("mood", float),
        ("mood", "top_box"): found.truth.mean("mood", lambda value: value == 3),
        ("mood", "bottom_box"): found.truth.mean("mood", lambda value: value == 1),
        ("age", "mean"): found.truth.mean("age", MIDDLES.__getitem__),
    }
    for (name, statistic), true in truth.items():
        seen = estimates.summaries(found.results, name).get(statistic)
        if seen is not None:
            yield _trial(name, seen, true)


def picks(found: Round) -> Iterator[Trial]:
    if "pets" in _names(found.results):
        items = [found.truth.gave("pets", item) for item in ("cat", "dog", "emu")]
        seen = estimates.summaries(found.results, "pets")["picks"]
        yield _trial("pets", seen, sum(items) / found.truth.all)


def below(found: Round) -> Iterator[Trial]:
    for edge, seen in estimates.below(found.results, "age").items():
        yield _trial("age", seen, found.truth.mean("age", lambda age, e=edge: age < e))


def quantile(found: Round) -> Iterator[Trial]:
    """All quartiles at once; each interval holds the whole range in which the quantile lies."""
    rows = estimates.quantiles(found.results, "age")
    ranges = ((0, 10), (10, 20), (20, 40))
    held = True
    for level, (_, low, high) in rows.items():
        sums = [found.truth.mean("age", lambda age, end=end: age < end) for _, end in ranges]
        least, most = next(r for r, total in zip(ranges, sums, strict=True) if total >= level)
        held = held and low <= least and most <= high
    if rows:
        yield Trial("age", held)


def asked(found: Round) -> Iterator[Trial]:
    if "why" in _names(found.results):
        people = [kind for kind in found.truth.kinds if kind["gate"]]
        whole = found.truth.count(lambda kind: kind in people)
        for label, seen in estimates.asked(found.results, "why").items():
            said = [kind for kind in people if label in labels("why", kind)]
            yield _trial("why", seen, found.truth.count(lambda kind, of=said: kind in of) / whole)


def cell(found: Round) -> Iterator[Trial]:
    for (team, happy), seen in estimates.cells(found.results).items():
        yield _trial("team and happy", seen, _in_cell(found.truth, team, happy))


def _in_cell(truth: Truth, team: str, happy: str) -> float:
    """People with these answers; whole records cannot tell "no" from silence."""

    def gives(kind: Mapping[str, Any]) -> bool:
        (said,) = labels("happy", kind)
        is_so = said != "yes" if happy == "no or unanswered" else said == happy
        return labels("team", kind) == (team,) and is_so

    return truth.count(gives)


def conditional(found: Round) -> Iterator[Trial]:
    teams, said = ("red", "blue"), _said(found)
    for (of, group, label), seen in estimates.given(found.results).items():
        pairs = [(group, s) for s in said] if of == "team" else [(t, group) for t in teams]
        part = (group, label) if of == "team" else (label, group)
        whole = sum(_in_cell(found.truth, *pair) for pair in pairs)
        yield _trial(of, seen, _in_cell(found.truth, *part) / whole)


def _said(found: Round) -> tuple[str, ...]:
    """The answers to happy in the joint table, without silence."""
    names = dict.fromkeys(happy for _, happy in estimates.cells(found.results))
    return tuple(name for name in names if name != "unanswered")


def by_group(found: Round) -> Iterator[Trial]:
    said = _said(found)
    for (one, other, label), seen in estimates.by_group(found.results).items():
        parts = [
            _in_cell(found.truth, team, label) / sum(_in_cell(found.truth, team, s) for s in said)
            for team in (one, other)
        ]
        yield _trial("team and happy", seen._replace(error=None), parts[1] - parts[0])


def words(found: Round) -> Iterator[Trial]:
    if found.results.words:
        for word, row in estimates.words(found.results, "town").items():
            true = found.truth.count(lambda kind, at=word: at in labels("town", kind))
            if row.standard_error is not None:
                yield Trial("town", row.low - 1e-9 <= true <= row.high + 1e-9)


def found_word(found: Round) -> Iterator[Trial]:
    """A word that nobody named is found no more often than promised."""
    if found.results.words:
        yield Trial("town", not estimates.words(found.results, "town")[TOWNS[-1]].found)


def independence(found: Round) -> Iterator[Trial]:
    """Where two questions have nothing to do with each other, a test says so."""
    test = found.results.joint[0].independence
    if found.results.sampling is not None and test is not None:
        yield Trial("team and happy", test.p_value >= MISSES)


def difference(earlier: Round, later: Round) -> Iterator[Trial]:
    """Later less earlier; where both are equal, nothing is called different too often."""
    comparison = krand.compare_results([earlier.results, later.results])
    for name in _names(later.results):
        for label, (seen, p_value) in estimates.changed(comparison, name).items():
            true = [each.truth.gave(name, label) / each.truth.all for each in (earlier, later)]
            yield _trial(name, seen, true[1] - true[0])
            if true[0] == true[1]:
                yield Trial(f"{name} equal", p_value >= MISSES)


def over_rounds(found: Sequence[Round]) -> Iterator[Trial]:
    """The mean of four rounds; and in those that are alike, no change is found too often."""
    trend, alike = krand.make_trend([each.results for each in found]), True
    for line in trend.lines:
        if line.question not in _names(found[0].results):
            continue
        true = [each.truth.gave(line.question, line.answer) for each in found]
        if line.mean is not None:
            seen = estimates.Seen.of(line.mean.share, line.mean.interval)
            yield _trial(line.question, seen, sum(true) / sum(each.truth.all for each in found))
        alike = alike and not (line.changes and max(true) == min(true))
    yield Trial("changes", alike)


OF_ONE = (
    *(share, count, together, mean, picks, below, quantile, asked),
    *(cell, conditional, by_group, words, found_word, independence),
)
OF_A_POPULATION = (share, mean, picks, below, asked, conditional, by_group, independence)
"""Those that can be about people who were not asked."""


@dataclass
class Table:
    """Trials by statistic and case; a check looks at each cell, and at each row as a whole."""

    trials: dict[tuple[str, str], list[tuple[float, float | None, float | None]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, statistic: str, case: Case, trials: Iterable[Trial]) -> None:
        """Trials of one round, or pair of rounds: a number for each question.

        Answers to one question may depend on each other: their mean is missed no more surely than
        each by itself, so the bounds for independent trials hold for means.
        """
        by_question: dict[str, list[Trial]] = defaultdict(list)
        for trial in trials:
            # Who was drawn decides about all questions at once.
            by_question["" if case.sampled else trial.question].append(trial)
        for mine in by_question.values():
            missed = float(np.mean([not trial.held for trial in mine]))
            off = [trial.off for trial in mine if trial.off is not None]
            numbers = (float(np.mean(off)), float(np.mean(np.square(off)))) if off else (None, None)
            for place in (f"{case.noise}, {case.people}", case.noise, "all"):
                self.trials[f"{statistic}{' of a population' * case.sampled}", place].append(
                    (missed, *numbers)
                )

    def check(self) -> None:
        """Fails for what a right program does in one of a million runs."""
        assert 3 * len(self.trials) <= CHECKS, "CHECKS must be larger"
        wrong = [
            f"{statistic}, {place}: {said}"
            for (statistic, place), trials in self.trials.items()
            for said in _complaints(statistic, trials)
        ]
        assert not wrong, "\n".join(wrong)


def _complaints(
    statistic: str, trials: list[tuple[float, float | None, float | None]]
) -> Iterator[str]:
    bound = math.log(CHECKS / ERROR_RATE)
    missed, number = float(np.mean([miss for miss, _, _ in trials])), len(trials)
    if missed > MISSES and number * divergence(missed, MISSES) > bound:
        yield f"{missed:.1%} of {number} missed the truth, of 5 % that may"
    off = [z for _, z, _ in trials if z is not None]
    if not off or "population" in statistic:  # whose errors have a second source
        return
    far = math.sqrt(2 * bound)
    if abs(np.mean(off)) > far / math.sqrt(len(off)) * 1.2:
        yield f"{np.mean(off):+.2f} standard errors off in the mean of {len(off)}"
    squares = float(np.mean([square for _, _, square in trials if square is not None]))
    if abs(squares - 1) > 1.5 * far * math.sqrt(2 / len(off)) + far**2 / len(off):
        yield f"{math.sqrt(squares):.2f} times as far off as the standard errors say"


def divergence(found: float, said: float) -> float:
    """Of Kullback and Leibler: n trials miss so often with at most e^-n times this (Chernoff)."""
    rest = (1 - found) * math.log((1 - found) / (1 - said)) if found < 1 else 0.0
    return found * math.log(found / said) + rest


def simulate(case: Case, rounds: int, seed: int, table: Table) -> None:
    """Every statistic of so many rounds, four in a series."""
    found = list(rounds_of(case, rounds, seed))
    for each in found:
        for statistic in OF_A_POPULATION if case.sampled else OF_ONE:
            table.add(statistic.__name__, case, statistic(each))
    for earlier, later in list(pairwise(found))[::2]:
        table.add("difference", case, difference(earlier, later))
    if not case.sampled:
        for start in range(0, rounds, 4):
            table.add("over_rounds", case, over_rounds(found[start : start + 4]))


if __name__ == "__main__":
    for each in sys.argv[1:] or NOISES:
        made = krand.make_plan(krand.parse_survey(NOISES[each]))
        world.plan_file(f"coverage-{each}").write_bytes(made.bytes)
