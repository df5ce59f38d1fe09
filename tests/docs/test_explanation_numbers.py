"""Every number on the pages that explain: computed here, read in a benchmark's results, or given.

A number that is wrong fails with what the page prints and what krand computes. A number without a
source fails too: say where it comes from, in the list of its page.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from docs.claims import (
    SUPERSCRIPTS,
    Computed,
    Given,
    Measured,
    found,
    measured,
    numbers_left,
    power,
    prose,
    up,
)
from docs.comparing_numbers import COMPARE, FAQ
from docs.mixing_numbers import MIXED_METHOD, MIXED_PROOFS, MIXED_RELATED_WORK, MIXED_THREATS
from docs.pages import ROOT, without_fences
from krand import (
    Assessment,
    Linkage,
    NoisePlan,
    Policy,
    ResponseFormat,
    assess,
    make_plan,
    plan_noise,
)
from krand.accounting import bits, coupling, inversion
from krand.accounting.baselines import rappor_noise, rappor_sigma
from krand.accounting.calibration import SEARCHED
from krand.accounting.channel import noise_of_local_epsilon
from krand.accounting.coupling import allowed_distance
from krand.accounting.curator import curator
from krand.planning.mechanisms.devices import MOST_TIMES
from krand.promise import BOUND_DIGITS, NOISE_GRID, PRECISION_DIGITS, Z95
from krand.showing import rounded_up
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.survey import Survey
from krand.wire.messages import length_at
from krand.wording.promises import REAL, SLIGHT, WEAK, protection

FOLDER = ROOT / "docs" / "explanation"
TWENTY = ResponseFormat(20)


def policy(crowd: int = 100_000, **more: float) -> Policy:
    return Policy(epsilon=1.0, minimum_crowd=crowd, delta=1e-6, **more)


@cache
def planned(responses: ResponseFormat = TWENTY, crowd: int = 100_000, **more: float) -> NoisePlan:
    return plan_noise(policy(crowd, **more), responses)


@cache
def with_helpers(helpers: int) -> Assessment:
    return assess(TWENTY, planned().noise, 100_000, 1.0, colluding=helpers)


@cache
def one_choice(options: int) -> Plan:
    """One question with a long list, to a million people."""
    asked = Choice(name="which", choices=Choices(f"option {n}" for n in range(options)))
    return make_plan(Survey(id="one", policy=policy(1_000_000), questions=(asked,)))


def ten(value: float) -> str:
    """10⁷."""
    return f"10{str(round(math.log10(value))).translate(SUPERSCRIPTS)}"


def sure(local_epsilon: float, decimals: int) -> str:
    """How sure somebody may be, in per cent, to whom two answers seemed equally likely."""
    share = Decimal(repr(100 / (1 + math.exp(-local_epsilon))))
    return str(share.quantize(Decimal(1).scaleb(-decimals), ROUND_CEILING))


def beside_curator(counts: int) -> Callable[[], list[str]]:
    def row() -> list[str]:
        ours, theirs = (
            planned(ResponseFormat(counts)).precision.sigma,
            curator(policy(), ResponseFormat(counts)),
        )
        return [f"{ours:.2f}", f"{theirs.sigma:.2f}", f"{ours / theirs.sigma:.2f}"]

    return row


def capped(cap: int) -> Callable[[], list[str]]:
    def row() -> list[str]:
        plan = planned(max_local_epsilon=float(cap))
        worth = {"only weak protection": "weak", "no protection": "none"}
        assert f"| {worth[protection(plan.promise.local_epsilon)]} |" in _row(cap)
        return [f"{plan.precision.sigma:,.0f}"]

    return row


def _row(cap: int) -> str:
    text = prose(FOLDER / "threat-model.md")
    start = text.index(f"`max_local_epsilon = {cap}`")
    return text[start : text.index("| |", start) + 1]


def worst_of_two_people() -> Fraction:
    """δ of two people with two bits each, q = 2/5 and λ = 2, over all answers and outcomes."""
    q, answers = Fraction(2, 5), list(product((0, 1), repeat=2))

    def chance(answer: tuple[int, ...], report: tuple[int, ...]) -> Fraction:
        return math.prod((1 - q if a == r else q) for a, r in zip(answer, report, strict=True))

    def seen(one: tuple[int, ...], other: tuple[int, ...]) -> Counter[tuple[object, ...]]:
        law: Counter[tuple[object, ...]] = Counter()
        for mine, yours in product(answers, repeat=2):
            law[tuple(sorted((mine, yours)))] += chance(one, mine) * chance(other, yours)
        return law

    def delta(one: tuple[int, ...], instead: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
        left, right = seen(one, other), seen(instead, other)
        return sum((max(Fraction(0), left[s] - 2 * right[s]) for s in left), Fraction(0))

    return max(delta(one, instead, other) for one, instead, other in product(answers, repeat=3))


def cell_errors() -> list[float]:
    """Of a joint table from whole records, one copy and sixteen: the benchmark's results."""
    text = prose(ROOT / "benchmarks" / "accuracy.md")
    return [
        float(found(text, f"error of a cell…| krand, record linkage, k = {k} | {{}} |")[0])
        for k in (1, 16)
    ]


def declared_pair() -> float:
    """The same where the pair was declared."""
    text = prose(ROOT / "benchmarks" / "accuracy.md")
    return float(found(text, "| krand, bit linkage, the pair declared | {} |")[0])


def largest_step() -> float:
    """By how much σ, which is ∝ 1/(1-2q) near ½, grows at most from one noise to the next."""
    apart = 2 ** (SEARCHED.digits - 1)
    return 1 / (apart - 1)


def lost(buckets: int) -> str:
    """The share of a large crowd that the widest bucket gives away, in per cent."""
    crowd = 10_000_000
    widest = max(high - low for low, high in bits.bucket_edges(crowd, buckets))
    return up(100 * widest / crowd, 1 if widest < crowd / 100 else 2)


def largest_noise_of_small_bias() -> Fraction:
    """The largest q with N·P/(p-q) ≤ δ/SHARE for every ε, given N·P·(1+e^ε) ≤ δ/SHARE.

    The bias is at most δ/SHARE/((1+e^ε)(1-2q)), which is largest where ε is near 0 and 1+e^ε near
    2. So q is where 1-2q is 1/2.
    """
    share = (
        allowed_distance(Policy(epsilon=1e-12, minimum_crowd=2, delta=0.5)) * coupling.SHARE / 0.5
    )
    return (1 - Fraction(share).limit_denominator(1000)) / 2


METHOD = (
    Computed(
        "an ε of 1 for a single bit needs {} % of all answers flipped, and 20 bits need {} %",
        lambda: [f"{100 * noise_of_local_epsilon(1.0, d):.{n}f}" for d, n in ((1, 0), (20, 2))],
    ),
    Computed(
        "| each response protects itself (RAPPOR), N = 100,000 | {} | {} |",
        lambda: [
            f"{rappor_noise(policy(), TWENTY):.4f}",
            f"{Z95 * rappor_sigma(policy(), TWENTY):,.0f}",
        ],
    ),
    Computed(
        "| krand, N = 100,000 | {} | {} |",
        lambda: [f"{planned().noise:.6f}", f"{planned().precision.half_width_95:.0f}"],
    ),
    Computed(
        "| krand, N = 10,000,000 | {} | {} |",
        lambda: [
            f"{planned(crowd=10**7).noise:.7f}",
            f"{planned(crowd=10**7).precision.half_width_95:.0f}",
        ],
        slow=True,
    ),
    Computed(
        "| a trusted curator who sees all answers | – | {} |",
        lambda: [f"{Z95 * curator(policy(), TWENTY).sigma:.0f}"],
    ),
    Given(
        "a definition, or an example that is none of krand's results",
        (
            "sets some of them to 1",
            "position that is now 1",
            "a list of 100,000 home pages",
            "people have a 1",
            "p = 1-q",
            '"± 18 people"',
            "The answers of the other N-1 people",
            "| 20 bits, ε = 1, δ = 10⁻⁶ | noise q | margin of error (95 %), people |",
            "q shrinks as 1/N",
        ),
    ),
)

FORTY = "| N = 10⁷, q = 2.09e-05, t = 40, ε = 2 | 3.8998e-07 |"
FILE = "| tokens, 40 positions, sorted as in files;"
NAIVE = "| naive numpy, in cache-sized chunks | numpy only |"

NUMBERS = (
    *(
        Measured(
            f"| {method} | {trust} | {{}} |",
            "accuracy.md",
            f"| {name} | {'shuffler' if trust == 'collector' else trust} | {runs} | {{}} |",
        )
        for method, name, trust, runs in (
            ("krand, bit linkage", "krand, bit linkage", "collector", "1,000"),
            ("Gaussian noise, divided alike", "trusted curator, noise divided", "curator", "1,000"),
            (
                "krand, whole records, 16 copies",
                "krand, record linkage, k = 16",
                "collector",
                "200",
            ),
            ("krand, whole records, 1 copy", "krand, record linkage, k = 1", "collector", "200"),
            (
                "optimized unary encoding, one question per person",
                "OUE, one question a person",
                "nobody",
                "1,000",
            ),
            ("RAPPOR", "RAPPOR/SUE, ε/t for each bit", "nobody", "1,000"),
        )
    ),
    Computed(
        "for one yes/no question is {} times smaller than krand's, for one choice {} times",
        lambda: [beside_curator(counts)()[2] for counts in (1, 2)],
    ),
    *measured(
        "words.md",
        (
            "of the words that {} people or more had named krand found {} %, with {} % of its",
            "for the limit of {} people that the plan told…| words at or above the limit found |"
            " ≥ 95 % | {} %…| false discoveries | ≤ 5 % | {} % ±",
        ),
        ("RAPPOR with its own decoding {} %.", "| RAPPOR, its own decoding |…|…| {} % |"),
    ),
    *measured(
        "privacy.md",
        ("σ is {} with one copy", "| record, k = 1, certified, δ = 1e-6 |…| {} |"),
        ("and {} with 1,024.", "| record, k = 1024, certified, δ = 1e-6 |…| {} |"),
        ("In bit linkage it is {}.", "| bit, k = 1, certified, δ = 1e-6 |…| {} |"),
        ("| {} ms | dp-accounting, same accuracy", f"{FORTY} krand |…|…| {{}} ms |"),
        ("same accuracy: {} times as long", f"{FORTY} dp-accounting, two laws |…|…|…| {{}} |"),
        ("with krand's profile: {} times", f"{FORTY} dp-accounting, dots by hand |…|…|…| {{}} |"),
    ),
    Measured(
        "| the smallest noise, N = 10⁷, 40 bits | {} s |",
        "privacy.md",
        "| bit, k = 1, certified, δ = 1e-6 |…|…| {} ms |",
        1e-3,
    ),
    *measured(
        "randomizer.md",
        ("q = 2·10⁻⁵ | {} G/s |", "| krand, numpy only | AES-256-CTR | {} G |"),
        ("G/s | {} times naive numpy | ", f"{NAIVE} {{}} |"),
        ("q = 0.351 | {} G/s |", "| krand, numpy only | AES-256-CTR |…|…|…| {} G |"),
        ("{} times naive numpy, which is not secure", f"{NAIVE}…|…|…| {{}} |"),
        (
            "ten million people | {} s, {} MB |",
            "| bit, 40 positions, 10,000,000 people | {} s |…| {} MB |",
        ),
    ),
    *measured(
        "collector.md",
        ("durably, one core | {}/s |", "| krand serve, every one on the disk | {} |"),
        ("{}/s by the bare framework", "| bare framework, nothing stored | {} |"),
    ),
    *measured(
        "analyzer.md",
        ("opening sealed messages, one core | {}/s |", "| one process | {} | 1 |"),
        ("{} times that on two", "| two processes |…| {} |"),
        ("tokens of a file | {} s |", f"{FILE} krand, numpy only | {{}} |"),
        ("DuckDB {} s,", f"{FILE} DuckDB | {{}} |"),
        ("Polars {} s |", f"{FILE} Polars | {{}} |"),
    ),
    Given(
        "settings of the benchmarks",
        (
            "(Neoverse-N1, aarch64)",
            "The example survey, 40 positions, ε = 1, δ = 10⁻⁶, 100,000 people",
            "a million people, 10,000 candidates",
            "Whole records of 40 bits, ten million people, ε = 2, δ = 10⁻⁶",
            "N = 10⁷, 40 bits",
            "δ of 40 bits composed",
            "counting 10⁸ tokens",
        ),
    ),
)

PROOFS = (
    Computed("bracketed by moving the limit by ±{}κ", lambda: [f"{inversion.MARGIN:g}"]),
    Computed("{} buckets over 0…N/2 cover everything", lambda: [str(bits.BUCKETS)]),
    Computed("at the price of {} % of the crowd", lambda: [lost(bits.BUCKETS)]),
    Computed("({}, the fewest,", lambda: [str(bits.FEWEST_BUCKETS)]),
    Computed("at the price of {} %), and up to", lambda: [lost(bits.FEWEST_BUCKETS)]),
    Computed("up to N = {} every m has a bucket", lambda: [str(bits.FINEST)]),
    Computed("Counts with a variance Npq above {} would", lambda: [ten(bits.WIDEST)]),
    Computed("from a variance of {} on by", lambda: [f"2·{ten(bits.WIDEST)}"]),
    Computed("with {} binary digits", lambda: [str(SEARCHED.digits)]),
    Computed("This costs at most {} % of σ", lambda: [f"{rounded_up(100 * largest_step(), 2)}"]),
    Given("what the test perturbs", ("that are off by 10⁻¹²",)),
    Computed(
        "(δ, η, ε₀) with {} digits and its margins of error with {}, all",
        lambda: [str(BOUND_DIGITS), str(PRECISION_DIGITS)],
    ),
    Computed("the largest number of {} digits", lambda: [str(BOUND_DIGITS)]),
    Computed(
        "where exact enumeration gives {}/{}",
        lambda: list(map(str, worst_of_two_people().as_integer_ratio())),
    ),
    Computed("A δ policy allows τ ≤ δ/({}·(1+e^ε))", lambda: [str(coupling.SHARE)]),
    Computed("P is at most δ/({}·N·rounds·(1+e^ε))", lambda: [str(coupling.SHARE)]),
    Computed("is tried up to ε' = {}·ε", lambda: [f"{coupling.NEAREST:g}"]),
    Computed(
        "η policy allows τ ≤ η·(1-e^(-{}ε))/({}·(1+e^ε))",
        lambda: [f"{1 - coupling.NEAREST:.2f}", str(coupling.SHARE)],
    ),
    Computed("which adds at most η/{} to every term", lambda: [str(coupling.SHARE)]),
    Computed(
        "a crowd of more than {} times the planned one is counted as {} times",
        lambda: [str(MOST_TIMES), str(MOST_TIMES)],
    ),
    Computed(
        "For q ≤ {}/{} that is less than a thousandth of δ",
        lambda: list(map(str, largest_noise_of_small_bias().as_integer_ratio())),
    ),
    Computed("the smallest q = i/2^{} whose", lambda: [str(NOISE_GRID.bit_length() - 1)]),
    Given(
        "computed in tests/accounting/test_amplification.py", ("q = 2/5 and λ = 2 it gives 4/625",)
    ),
    Given(
        "the range of tests/accounting and of benchmarks/privacy.md",
        ("a δ of 1e-20 has", "as one of 1e-3, for N from 2 to 10⁹ and L up to 1000"),
    ),
    Given(
        "formulas and notation",
        (
            "p = 1-q, λ",
            "N-1",
            "i+1",
            "(1-γ)",
            "cited as 000–004",
            "mass γ < 1; outside it the score is 0",
            "average *is* (1)",
            "order makes (1) larger",
            "c ∈ {ρ, 1}",
            "(ρ-1)",
            "K(0) ≤ ω",
            "f ∈ {ρ, 1/ρ} with E f = 1.",
            "g = f-1",
            "0 ≤ α-β",
            "for 2m ≤ C",
            "E[f_1|f_2] is linear in f_2 with a slope of modulus at most 1,",
            "Computing (1)",
            "density at 0,",
            "m ≠ 0. All terms are ≥ 0,",
            "S < 0",
            "0…N/2",
            "/(1-e^(ε'-ε))",
            "With v = r - m + 1 > μ",
            "P = 0 where v > z",
            "δ ≤ δ° + (1+e^ε)·N·rounds·P",
            "δ ≥ δ° - (1+e^ε)·τ",
        ),
    ),
)

RELATED_WORK = (
    *measured(
        "accuracy.md",
        (
            "counts are off by {} of 100,000 people",
            "| RAPPOR/SUE, ε/t for each bit | nobody | 1,000 | {} |",
        ),
        ("where krand's are off by {} (", "| krand, bit linkage | shuffler | 1,000 | {} |"),
    ),
    Computed(
        "grow slowly with the list: {} for 915 options, {} for 20,000",
        lambda: [str(one_choice(options).messages) for options in (915, 20_000)],
    ),
    Computed(
        "sealed messages of {} bytes",
        lambda: [str(length_at(one_choice(915), 1))],
    ),
    Computed("| 1: one yes/no question | {} | {} | geometric | {} |", beside_curator(1)),
    Computed("| 2: one choice | {} | {} | geometric | {} |", beside_curator(2)),
    Computed("| 4 | {} | {} | geometric | {} |", beside_curator(4), slow=True),
    Computed("| 8 | {} | {} | geometric | {} |", beside_curator(8), slow=True),
    Computed("| 16 | {} | {} | Gaussian | {} |", beside_curator(16)),
    Computed("| 40 | {} | {} | Gaussian | {} |", beside_curator(40), slow=True),
    Given("the row of 16 in the table above it", ("can change some 16 positions or more",)),
    Given(
        "what others prove, and settings",
        (
            "| 1, by proof |",
            "| anything | 1 |",
            "√N: at ε = 1 the",
            "√(1/N)",
            "q ~ 1/N",
            "with 100,000 people, ε = 1 and δ = 10⁻⁶",
            "(a million people, ε = 1, δ = 10⁻⁶)",
        ),
    ),
)

THREAT_MODEL = (
    Computed("With devices' noise q = {}.", lambda: [f"{planned().noise:.6f}"]),
    Computed(
        "| devices, one collector | {} | δ = {} | – | no protection (ε₀ = {}) |",
        lambda: [
            f"{planned().precision.sigma:.1f}",
            power(with_helpers(50_000).delta.upper),
            up(planned().promise.local_epsilon, 3),
        ],
    ),
    Computed("| none | {} |", lambda: [power(with_helpers(0).delta.upper)]),
    Computed("| 1,000 | {} |", lambda: [power(with_helpers(1_000).delta.upper)]),
    Computed("| 10,000 | {} |", lambda: [power(with_helpers(10_000).delta.upper)]),
    Computed("| 50,000 | {} |", lambda: [power(with_helpers(50_000).delta.upper)]),
    Computed("| 90,000 | {} |", lambda: [up(with_helpers(90_000).delta.upper, 2)]),
    Computed(
        "σ = {} instead of {}.",
        lambda: [
            f"{planned(colluding=1_000).precision.sigma:.2f}",
            f"{planned().precision.sigma:.2f}",
        ],
        slow=True,
    ),
    Computed("does not protect it (ε₀ = {})", lambda: [up(planned().promise.local_epsilon, 3)]),
    Computed(
        "| bit linkage | {} | {} | none |",
        lambda: [f"{planned().precision.sigma:.1f}", up(planned().promise.local_epsilon, 3)],
    ),
    Computed("`max_local_epsilon = 20` | {} |", capped(20), slow=True),
    Computed("`max_local_epsilon = 8` | {} |", capped(8), slow=True),
    Computed("`max_local_epsilon = 3` | {} |", capped(3), slow=True),
    Computed(
        "| record linkage, one copy | {} | {} | none |",
        lambda: [
            f"{planned(ResponseFormat(20, linkage=Linkage.RECORD)).precision.sigma:.0f}",
            up(planned(ResponseFormat(20, linkage=Linkage.RECORD)).promise.local_epsilon, 3),
        ],
    ),
    Computed("With an ε₀ of {} a response", lambda: [up(planned().promise.local_epsilon, 3)]),
    Computed(
        "krand calls ε₀ up to {} real protection (an attacker who considered two sets of answers"
        " equally likely is at most {} % sure afterwards), up to {} weak ({} %), up to {} hardly"
        " any ({} %)",
        lambda: [
            *(f"{REAL:g}", sure(REAL, 1)),
            *(f"{WEAK:g}", sure(WEAK, 1)),
            *(f"{SLIGHT:g}", sure(SLIGHT, 2)),
        ],
    ),
    Given(
        "settings and names",
        (
            "a survey of 20 yes/no questions, 100,000 people, ε = 1 and δ = 10⁻⁶",
            "colluding participants among 100,000 | δ at ε = 1,",
            "A thousand of 100,000 cost",
            "X25519 and AES-128-GCM",
            "99,999 made-up people",
            "voids the 95 % of the intervals",
            "20 | none |",
            "8 | none |",
            "3 | weak |",
        ),
    ),
    Given(
        "what a collector does, tested in tests/collector and tests/attacks",
        (
            "Above 64 MB",
            "a pool of at least 32 people",
            "a guess among 32 people",
            "among fewer than 32 people",
            "file up to 1 MB",
            "file from 1 to 64 MB",
            "file above 1 MB",
            "while 32 or more submit",
            "in groups of 32 people or more",
            "it linked 60 of 60",
            "in steps of at least 32 people",
            "at least 32 of them",
            "at least 32 codes in each run",
            "if fewer than 32 people were mailed apart",
            "with probability at most 1/32",
            "over the whole batch it is at most 10/32",
        ),
    ),
    Given("tests/accounting/test_small_crowds.py, as make long runs it", ("20,000 small crowds",)),
)

READ_ME = Policy(epsilon=2.0, minimum_crowd=10_000_000, delta=1e-6)
ELSEWHERE = (
    (
        "docs/index.md",
        Computed(
            "every total is accurate to ± {} people (ε = 2, δ = 10⁻⁶). RAPPOR, which trusts nobody,"
            " gives ± {}. A curator who sees all raw answers gives ± {} as well.",
            lambda: [
                f"{plan_noise(READ_ME, ResponseFormat(40)).precision.half_width_95:.0f}",
                f"{Z95 * rappor_sigma(READ_ME, ResponseFormat(40)):,.0f}",
                f"{Z95 * curator(READ_ME, ResponseFormat(40)).sigma:.0f}",
            ],
        ),
    ),
    (
        "README.md",
        Computed(
            "would give ± {} for the same ε; a trusted curator who sees all raw answers, ± {} as",
            lambda: [
                f"{Z95 * rappor_sigma(READ_ME, ResponseFormat(40)):,.0f}",
                f"{Z95 * curator(READ_ME, ResponseFormat(40)).sigma:.0f}",
            ],
        ),
    ),
    (
        "README.md",
        Computed(
            "one yes/no question has {} times, one choice {} times a curator's noise",
            lambda: [f"{float(beside_curator(counts)()[2]):.1f}" for counts in (1, 2)],
        ),
    ),
    (
        "docs/howto/choose-a-promise.md",
        Computed(
            "one yes/no is {} times, one choice {} times as noisy as a curator's",
            lambda: [f"{float(beside_curator(counts)()[2]):.1f}" for counts in (1, 2)],
        ),
    ),
    (
        "docs/howto/choose-a-promise.md",
        Computed(
            "Up to {} it is real protection, up to {} weak, up to {} hardly any, above none",
            lambda: [f"{limit:g}" for limit in (REAL, WEAK, SLIGHT)],
        ),
    ),
    (
        "docs/howto/link-whole-records.md",
        Computed(
            "that is {} times as precise as one copy of whole records, and {} times as 16 copies",
            lambda: [f"{cells / declared_pair():.0f}" for cells in cell_errors()],
        ),
    ),
)
"""Sentences of other pages that say the same."""

CLAIMS = {
    "compare.md": COMPARE,
    "faq.md": FAQ,
    "method.md": (*METHOD, *MIXED_METHOD),
    "numbers.md": NUMBERS,
    "proofs.md": (*PROOFS, *MIXED_PROOFS),
    "related-work.md": (*RELATED_WORK, *MIXED_RELATED_WORK),
    "threat-model.md": (*THREAT_MODEL, *MIXED_THREATS),
}
FAULTS = "reliability.md"
"""Counts of broken collectors, made by hand with the commands that the page names."""


def _each(kind: type[Computed] | type[Measured]) -> list[object]:
    return [
        pytest.param(
            page,
            claim,
            id=f"{page}: {claim.text[:60]}",
            marks=[pytest.mark.check] if getattr(claim, "slow", False) else [],
        )
        for page, claims in CLAIMS.items()
        for claim in claims
        if isinstance(claim, kind)
    ]


def test_every_page_has_its_list() -> None:
    """A new page that explains something says where its numbers come from."""
    assert {page.name for page in FOLDER.glob("*.md")} == {*CLAIMS, FAULTS}


@pytest.mark.parametrize("page", CLAIMS)
def test_every_number_has_a_source(page: str) -> None:
    """Nothing is left when all that is computed, measured or given is taken away."""
    assert numbers_left(FOLDER / page, CLAIMS[page]) == []


@pytest.mark.check
@pytest.mark.parametrize(("page", "claim"), _each(Computed))
def test_computed_numbers_are_those_of_the_page(page: str, claim: Computed) -> None:
    """krand computes them anew."""
    assert found(prose(FOLDER / page), claim.text) == tuple(claim.values())


@pytest.mark.parametrize(("page", "claim"), ELSEWHERE)
def test_other_pages_say_the_same(page: str, claim: Computed) -> None:
    """README and guides repeat some of these numbers."""
    assert found(prose(ROOT / page), claim.text) == tuple(claim.values())


@pytest.mark.parametrize(("page", "claim"), _each(Measured))
def test_measured_numbers_are_those_of_the_results(page: str, claim: Measured) -> None:
    """The benchmark's own file says so, to the digits that the page prints."""
    shown = found(prose(FOLDER / page), claim.text)
    results = found(prose(ROOT / "benchmarks" / claim.file), claim.source)
    for printed, result in zip(shown, results, strict=True):
        value = float(result.replace(",", "")) * claim.unit
        decimals = len(printed.partition(".")[2])
        assert f"{value:,.{decimals}f}" == printed


def test_counts_of_broken_collectors_add_up() -> None:
    """What came of the faults is as many as there were faults, row by row."""
    rows = [line.strip("| ").split(" | ") for _, line in without_fences(FOLDER / FAULTS)]
    damage = [[int(cell.replace(",", "")) for cell in row[1:5]] for row in rows if _is_counts(row)]
    assert len(damage) == 12
    for often, named, harmless, wrong in damage:
        assert (named + harmless, wrong) == (often, 0)
    text, outcomes = prose(FOLDER / FAULTS), "no file {}, batch alone {}, both files {};"
    for faults in ("200, of which {} hit before it ended | ", "near the end | {} | "):
        often, *came = map(int, found(text, faults + outcomes))
        assert sum(came) == often


def _is_counts(row: list[str]) -> bool:
    return len(row) == 6 and all(cell.replace(",", "").isdigit() for cell in row[1:5])
