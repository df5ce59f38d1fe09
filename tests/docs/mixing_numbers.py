"""Numbers of the pages that explain which are about mixers' noise: where each comes from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

from docs.claims import Computed, Given, power
from docs.comparing_numbers import TWENTY_YES_NO
from docs.comparing_numbers import mixed as mixed_plan
from krand import ResponseFormat, make_plan, plan_noise
from krand.accounting.curator import curator
from krand.accounting.division import Share
from krand.accounting.dummy_division import LARGEST_REACH, DividedDummies, divide_dummies
from krand.planning.coalitions import Coalition, Remains, coalitions_of
from krand.planning.noise_sources import sealed_bytes
from krand.promise import DUMMY_GRID, Policy
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.survey import Trust


@cache
def mixed(changes: int, epsilon: float = 1.0, delta: float = 1e-6) -> DividedDummies:
    """One mixer's dummies for so many positions that one person can change."""
    policy = Policy(epsilon=epsilon, delta=delta, minimum_crowd=2)
    return divide_dummies(policy, [Share(changes)])


@cache
def curators(changes: int, epsilon: float) -> str:
    policy = Policy(epsilon=epsilon, delta=1e-6, minimum_crowd=100_000)
    return f"{curator(policy, ResponseFormat(changes)).sigma:.2f}"


def mixed_choice(options: int, crowd: int) -> Plan:
    """One question with a long list, and one mixer."""
    asked = Choice(name="which", choices=Choices(f"option {n}" for n in range(options)))
    return mixed_plan((asked,), 1, crowd)


def reach(plan: Plan) -> int:
    return plan.mixing.laws[0].reach


def at_the_ends() -> list[str]:
    """R, R, R, then the parts of δ that plans use, if practically all of it is at the ends."""
    found = [mixed(changes) for changes in (1, 2, 4)]
    for changes, divided in zip((1, 2, 4), found, strict=True):
        ends = -math.expm1(changes * math.log1p(-divided.laws[0].half[-1] / DUMMY_GRID))
        assert math.isclose(ends, divided.promise.delta, rel_tol=0.01)
    used = [f"{100 * divided.promise.delta / 1e-6:.0f}" for divided in found]
    return [*(str(divided.laws[0].reach) for divided in found), *used]


QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
"""Of 0, 1 and 2 dummies."""


def draws() -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Dummies of two positions, with their probability."""
    for numbers in product(range(3), repeat=2):
        yield numbers, math.prod((QUARTERS[z] for z in numbers), start=Fraction(1))


def shown(answer: Sequence[int], padding: int) -> dict[object, Fraction]:
    """The law of tokens and nulls of one person with two messages, mixed."""
    law: dict[object, Fraction] = {}
    for numbers, chance in draws():
        tokens = tuple(own + z for own, z in zip(answer, numbers, strict=True))
        nulls = 2 - sum(answer) + max(0, padding - sum(numbers))
        law[tokens, nulls] = law.get((tokens, nulls), Fraction(0)) + chance
    return law


def worst(padding: int) -> Fraction:
    """δ at λ = 2 over all pairs of answers."""
    laws = [shown(answer, padding) for answer in product((0, 1), repeat=2)]
    none = Fraction(0)
    return max(
        sum((max(none, p - 2 * other.get(seen, none)) for seen, p in law.items()), none)
        for law, other in product(laws, repeat=2)
    )


def padded_too_little() -> list[str]:
    """δ°, the padding, P[ΣZ > B] and δ, all in sixteenths; the proven bound holds, the other not.

    With a padding of 4, the most that two positions can have, there is never a surplus.
    """

    def surplus(most: int) -> Fraction:
        return sum((chance for numbers, chance in draws() if sum(numbers) > most), Fraction(0))

    ideal, padding = worst(4), 3
    real, naive = worst(padding), surplus(padding)
    assert ideal + naive < real <= ideal + surplus(padding - 2)
    sixteenths = [str(16 * value) for value in (ideal, naive, real, ideal, naive)]
    return [sixteenths[0], str(padding), *sixteenths[1:]]


MIXED_PROOFS = (
    Given(
        "noise over rounds: computed in test_correlated_noise.py and test_trends.py",
        (
            "with u_t in {-1, 0, 1}",
            "exceeds 1 is (tr √G)²/T",
            "| answers change | 12 rounds | 52 rounds |",
            "| never | 0.289 | 0.139 | | at most once | 0.734 | 0.482 | | at most twice | 0.864 |",
            "| in any week | 1 | 1 |",
            "errs by 8 people where a count of the last of 52 rounds errs by 30, if the truth"
            " drifts by 3 people a week",
        ),
    ),
    Computed("that add up to exactly 2^{}.", lambda: [str(DUMMY_GRID.bit_length() - 1)]),
    Computed("A mixer compares {} random bits", lambda: [str(DUMMY_GRID.bit_length() - 1)]),
    Computed(
        "one yes/no question (R = {}), one choice (R = {}) and t = 4 (R = {}) uses {} %, {} % and"
        " {} % of a δ of 10⁻⁶",
        at_the_ends,
    ),
    Computed(
        "Without a limit δ° = {}/16. With B = {} there is a surplus with probability {}/16, but"
        " enumeration of all answers and outcomes gives δ = {}/16, more than {}/16 + {}/16.",
        padded_too_little,
    ),
    Given(
        "formulas and notation of mixers' noise",
        (
            "on 0, 1, …, 2R. Its weights w_0, …, w_2R are whole numbers of at least 1",
            "each by +1 or by -1",
            "(Z, Z+1)",
            "(Z+1, Z)",
            "b+1+Z",
            "x ↦ 2R + 2b + 1 - x",
            "b+1+(2R-Z)",
            "The outcome x = 0 cannot come from Z+1",
            "1-(1-w_0/2^63)^t",
            "w_(x-1)",
            "at ε = 1 the plan for one",
            "and t = 4",
            "a change moves two, and t = 2",
            "adds 2R dummies: Z tokens and 2R-Z nulls",
            "n+2R",
            "the weights 1/4, 1/2, 1/4 and λ = 2.",
            "by ±1 each",
        ),
    ),
)


def mixer_row(changes: int) -> Callable[[], list[str]]:
    """Shape, R and σ of one mixer beside a curator and devices; then for ε = 2."""

    def row() -> list[str]:
        policy = Policy(epsilon=1.0, delta=1e-6, minimum_crowd=100_000)
        devices = plan_noise(policy, ResponseFormat(changes)).precision.sigma
        one, two = mixed(changes), mixed(changes, 2.0)
        return [
            *(f"{one.shape:.1f}", str(one.laws[0].reach), f"{one.sigmas[0]:.2f}"),
            *(curators(changes, 1.0), f"{devices:.2f}"),
            *(f"{two.sigmas[0]:.2f}", curators(changes, 2.0)),
        ]

    return row


def cost_of_choices() -> list[str]:
    """Dummies for 915 options and a million; a device's messages for 915."""
    few = mixed_choice(915, 1_000_000)
    assert few.messages == 1
    many = (1_000_000 + 1) * reach(few)  # the law does not depend on the list
    asked = replace(few.survey, trust=Trust())
    return [f"{few.expected_dummies:,.0f}", f"{many:,}", str(make_plan(asked).messages)]


MIXED_METHOD: tuple[Computed | Given, ...] = (
    *(
        Computed(
            f"| {changes} | {{}} | {{}} | {{}} | {{}} | {{}} | {{}} | {{}} |",
            mixer_row(changes),
            slow=changes in (4, 8, 40),
        )
        for changes in (1, 2, 4, 8, 16, 40)
    ),
    Computed(
        "915 options costs each mixer {} dummies, whatever the number of people; a choice among a"
        " million, {}. Each person sends one message for a choice, instead of {} with",
        cost_of_choices,
    ),
    Computed(
        "A message has {} bytes more for every mixer",
        lambda: [str(sealed_bytes(2) - sealed_bytes(1))],
    ),
    Computed("would need an R above {}, or a δ below", lambda: [f"{LARGEST_REACH:,}"]),
    Given(
        "formulas and settings of mixers' noise",
        (
            "a δ below 2^-63 for each position",
            "whole multiples of 2^-63",
            "a = 1 is geometric noise, a = 2 is Gaussian",
            "At δ = 10⁻⁶: | positions that one person can change | a, ε = 1 | R | σ, one mixer |"
            " σ, curator | σ, devices, 100,000 people | σ, one mixer, ε = 2 | σ, curator, ε = 2 |",
            "three mixers have √3 times",
            "2R for a position that has messages of its own",
            "A choice among 915 options",
            "devices' noise for 915 options",
        ),
    ),
)


@cache
def census() -> Plan:
    """The published example of the augmented shuffle model."""
    return mixed_choice(915, 602_156)


@cache
def fe1() -> DividedDummies:
    """FE1's published example: a law does not depend on the length of the list."""
    return mixed(2, delta=1e-10)


MIXED_RELATED_WORK: tuple[Computed | Given, ...] = (
    Computed("| δ | 9·10⁻⁷ | {} |", lambda: [power(census().promise.delta)]),
    Computed("| σ of a count | 2.80 | {} |", lambda: [f"{census().blocks[0].precision.sigma:.2f}"]),
    Computed("| messages a person | 1 | {} |", lambda: [str(census().messages)]),
    Computed("| dummies for each option | 25 | {} |", lambda: [str(reach(census()))]),
    Computed("krand's σ grows to √h·{}.", lambda: [f"{census().blocks[0].precision.sigma:.2f}"]),
    Computed(
        "| messages a person | 9.5 | 1.06 | {} |",
        lambda: [str(mixed_choice(915, 100_000).messages)],
    ),
    Computed("| σ of a count, about | 12 | 41 | {} |", lambda: [f"{fe1().sigmas[0]:.2f}"]),
    Computed("mean, R | – | – | {} |", lambda: [str(fe1().laws[0].reach)]),
    Computed(
        "| dummies, for each person | – | – | {} |",
        lambda: [f"{fe1().laws[0].reach * (65_536 + 1) / 100_000:.1f}"],
    ),
    Computed(
        "each mixer adds {} messages for each of theirs",
        lambda: [f"{fe1().laws[0].reach * (65_536 + 1) / 100_000:.1f}"],
    ),
    Computed(
        "54 bytes, and {} more for every mixer",
        lambda: [str(sealed_bytes(2) - sealed_bytes(1))],
    ),
    Given(
        "what others have published",
        (
            "arXiv 2504.07362",
            "arXiv 2509.02004",
            "| a choice among 915 options, 602,156 people, ε = 1 |",
            "| a choice among 65,536 options, 100,000 people, ε = 1, δ = 10⁻¹⁰ |",
            "| δ | 9·10⁻⁷ |",
            "| σ of a count | 2.80 |",
            "| dummies for each option | 25 |",
            "| messages a person | 9.5 | 1.06 |",
            "| σ of a count, about | 12 | 41 |",
            "| messages a person | 1 |",
            "**FE1**",
            "| FE1 | FE1, fewer messages |",
            "longer lists FE1 costs",
        ),
    ),
    Given(
        "bounds of lies",
        (
            "| what was declared | 1 in most questions |",
            "| one question | 1 |",
            "bounded by 1 in most questions",
        ),
    ),
    Computed("sealed messages of {} bytes, and", lambda: [str(sealed_bytes(1))]),
)


def coalition_row(mixers: int, *coalitions: Coalition) -> Callable[[], list[str]]:
    """σ, and the δ that is left with these coalitions: the promised one, whoever colludes."""

    def row() -> list[str]:
        plan = mixed_plan(TWENTY_YES_NO, mixers)  # the example of the threat model
        left = {one.coalition: one for one in coalitions_of(plan)}
        for coalition in coalitions:
            delta = left[coalition].delta
            assert 0.999e-6 < delta <= 1e-6
        assert left[Coalition.ALL_MIXERS].remains is Remains.NOTHING
        return [f"{plan.blocks[0].precision.sigma:.1f}", *("10⁻⁶" for _ in coalitions)]

    return row


MIXED_THREATS: tuple[Computed | Given, ...] = (
    Given(
        "what an attacker finds in tests/attacks/test_averaging.py",
        (
            "answers the same is asked 52 times",
            "sees all 52 counts guesses right in 55 of 100 cases (at ε = 1, one mixer; the promise"
            " allows 74)",
            "each plan promised ε = 1 anew, 52 of them would tell the answer in more than 99 of 100"
            " cases",
        ),
    ),
    Computed(
        "| one mixer, the collector | {} | δ = {} | – | no protection |",
        coalition_row(1, Coalition.PEOPLE),
    ),
    Computed(
        "| three mixers | {} | δ = {} | δ = {} | no protection |",
        coalition_row(3, Coalition.PEOPLE, Coalition.OTHER_MIXERS),
    ),
    Given(
        "names and numbers of rules",
        (
            "(X25519, AES-128-GCM)",
            *(f"| {rule}. **" for rule in range(1, 10)),
            "12 people are promised the same as 100,000",
            "each option of a short list | 1 |",
            "| all | 1/(p-q), with any number of copies |",
            "lowers a count by 1, or by 1/(p-q)",
        ),
    ),
)
