"""Numbers of the pages that compare krand with others and answer questions: where each is from."""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files

from docs.claims import Computed, Given, measured
from krand import ResponseFormat, make_plan, plan_noise
from krand.accounting.baselines import optimized_unary_sigma, rappor_sigma
from krand.accounting.curator import curator
from krand.planning.noise_sources import sealed_bytes
from krand.promise import Z95, Policy
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Question, YesNo
from krand.survey.survey import Survey, Trust
from krand.wire.messages import length_at

POLICY = Policy(epsilon=1.0, minimum_crowd=100_000, delta=1e-6)
ONE = ResponseFormat(1)
CHOICE = ResponseFormat(10, max_set_bits=1)
TWENTY = ResponseFormat(20)
CASES = (ONE, CHOICE, TWENTY)
YES_NO = (YesNo(name="q"),)
TEN = (Choice(name="q", choices=Choices(f"option {n}" for n in range(10))),)
TWENTY_YES_NO = tuple(YesNo(name=f"q{number}") for number in range(20))
AGGREGATORS = 2


def people(sigma: float) -> str:
    return f"{sigma:,.0f}" if sigma >= 100 else f"{sigma:.1f}"


def shown(sigmas: list[float]) -> list[str]:
    return [people(sigma) for sigma in sigmas]


@cache
def mixed(questions: tuple[Question, ...], mixers: int, crowd: int = 100_000) -> Plan:
    trust = Trust(noise=mechanisms.MIXERS, mixers=mixers)
    policy = replace(POLICY, minimum_crowd=crowd)
    return make_plan(Survey(id="one", policy=policy, questions=questions, trust=trust))


def by_mixers(mixers: int) -> Callable[[], list[str]]:
    return lambda: shown(
        [mixed(asked, mixers).blocks[0].precision.sigma for asked in (YES_NO, TEN, TWENTY_YES_NO)]
    )


def beside(row: str, sigma: Callable[[Policy, ResponseFormat], float]) -> Computed:
    """A row of the table of errors, one number for each case."""
    return Computed(
        f"| {row} | {{}} | {{}} | {{}} |", lambda: shown([sigma(POLICY, case) for case in CASES])
    )


def centrally(policy: Policy, responses: ResponseFormat) -> float:
    return curator(policy, responses).sigma


@cache
def flipped_twenty() -> Plan:
    return make_plan(Survey(id="twenty", policy=POLICY, questions=TWENTY_YES_NO))


def sent(plan: Plan, length: int) -> list[str]:
    return [str(plan.messages), f"{plan.messages * length:,}"]


SMALL = replace(POLICY, minimum_crowd=300)

COMPARE = (
    beside("krand, devices", lambda policy, case: plan_noise(policy, case).precision.sigma),
    Computed("| krand, one mixer | {} | {} | {} |", by_mixers(1)),
    Computed("| krand, three mixers | {} | {} | {} |", by_mixers(3)),
    beside("RAPPOR", rappor_sigma),
    beside("OUE", optimized_unary_sigma),
    beside(
        "Prio or DAP, each of two aggregators adds a curator's noise",
        lambda policy, case: math.sqrt(AGGREGATORS) * centrally(policy, case),
    ),
    beside("central DP: a curator", centrally),
    Computed(
        "devices' noise is {} times a curator's",
        lambda: [f"{plan_noise(POLICY, ONE).precision.sigma / centrally(POLICY, ONE):.1f}"],
    ),
    *measured(
        "accuracy.md",
        ("its error is {},", "| OUE, one question a person | nobody | 1,000 | {} |"),
        ("where krand's is {} (", "| krand, bit linkage | shuffler | 1,000 | {} |"),
    ),
    Computed(
        "| krand, devices | {} messages, {} bytes |",
        lambda: sent(flipped_twenty(), length_at(flipped_twenty(), 1)),
    ),
    Computed(
        "| krand, three mixers | {} messages, {} bytes |",
        lambda: sent(mixed(TWENTY_YES_NO, 3), sealed_bytes(3)),
    ),
    Computed(
        "± {} people with three mixers. RAPPOR's margin of error is ± {}.",
        lambda: [
            f"{mixed(YES_NO, 3, 300).blocks[0].precision.half_width_95:.1f}",
            f"{Z95 * rappor_sigma(SMALL, ONE):.0f}",
        ],
    ),
    Given(
        "settings, and what needs no computation",
        (
            "of 100,000 people, ε = 1 and δ = 10⁻⁶",
            "have δ = 0",
            "20 yes/no questions |",
            "for 20 yes/no questions",
            "| plain survey tools | 0 | 0 | 0 |",
            "with 100 times as many people",
            "RAPPOR, OUE | 20 bits",
            "| central DP | 20 bits",
            "| plain survey tools | 20 bits",
            "to 300 people",
            "at version 0.x",
        ),
    ),
)


def margins_of(
    questions: tuple[Question, ...], responses: ResponseFormat
) -> Callable[[], list[str]]:
    """Of devices, one mixer and three, for a small crowd; below ten with a decimal."""

    def row() -> list[str]:
        widths = [
            plan_noise(SMALL, responses).precision.half_width_95,
            *(mixed(questions, mixers, 300).blocks[0].precision.half_width_95 for mixers in (1, 3)),
        ]
        return [f"{width:.1f}" if width < 10 else f"{width:.0f}" for width in widths]

    return row


def afterwards(percent: int, epsilon: float) -> str:
    """How probable something is at most, in per cent, that was so probable before."""
    odds = percent / (100 - percent) * math.exp(epsilon)
    return f"{math.ceil(100 * odds / (1 + odds))}"


def sizes_of(name: str) -> list[str]:
    """Of a script, as it is and compressed, in kB."""
    script = (files("krand.web.form") / "static" / name).read_bytes()
    return [f"{len(data) / 1000:.0f}" for data in (script, gzip.compress(script, mtime=0))]


FAQ = (
    Computed("with at most {} %, whatever else", lambda: [afterwards(25, POLICY.epsilon)]),
    Computed("| one yes/no question | ± {} | ± {} | ± {} |", margins_of(YES_NO, ONE)),
    Computed("| 20 yes/no questions | ± {} | ± {} | ± {} |", margins_of(TWENTY_YES_NO, TWENTY)),
    Computed("has {} kB, {} kB compressed", lambda: sizes_of("krand.js")),
    Computed(
        "to 100,000 people a device sends {} bytes",
        lambda: sent(flipped_twenty(), length_at(flipped_twenty(), 1))[1:],
    ),
    Given(
        "settings, names of laws and of methods",
        (
            "Start with ε = 1, and less",
            "with 25 % probability",
            "a survey with ε = 1 they",
            "What if only 300 people",
            "planned for 300, with ε = 1 and δ = 10⁻⁶, the margins of error (95 %)",
            "| 300 people |",
            "| 20 yes/no questions",
            "For 20 yes/no questions to 100,000",
            "Recital 26",
            "(Article 9)",
            "Article 5(3)",
            "Article 11",
            "X25519",
            "AES-128-GCM",
        ),
    ),
)
