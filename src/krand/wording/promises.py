"""A promise in words: plans and results carry numbers and codes, people read these.

A sentence can be corrected or translated without changing any file or any plan's hash. What depends
on who adds the noise is in `krand.wording.mechanisms`.

If collector and analyst collude, they see each response by itself, and ε₀ bounds what it reveals:
if two sets of answers were equally likely before, one of them can become at most e^ε₀ times as
likely as the other. Where mixers add noise, one of them must follow the rules; otherwise only the
noise of devices is left, if they add any.

On devices nobody but the person saw an answer. A data holder saw all answers, so the promise covers
only those who see the responses and the results. In a simulation there are no people to protect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from krand.promise import Assumption, Method
from krand.showing import SUPERSCRIPT, total
from krand.wording.number_format import NumberFormat
from krand.wording.plan_texts import PLANS
from krand.wording.texts import SPOKEN, Texts

if TYPE_CHECKING:
    from krand.planning.coalitions import Remainder
    from krand.policy import Policy
    from krand.promise import Promise
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey

LARGEST = 700.0
"""Of a larger ε, e^ε is given as a power of ten: floating point ends there."""
TRIES = (100, 1_000, 10_000, 100_000, 1_000_000)
"""Numbers of guesses that are told; a chance still closer to 1 protects nobody."""
REAL, WEAK, SLIGHT = 1.0, 3.0, 7.0
"""Up to these values of ε₀ the noise of one device alone protects well, weakly, hardly at all: an
attacker who starts at even odds becomes at most 73.2 %, 95.3 % or 99.91 % certain. Above the last
value there is no protection."""


def limit_of(policy: Policy, known: Policy | Promise | Remainder) -> tuple[str, float]:
    """What a survey limits beside ε: δ or η, and its value in the survey or in a promise."""
    if policy.delta is not None:
        return "δ", known.delta or 0.0
    return "η", known.eta or 0.0


def promise_symbols(
    epsilon: float, limit: tuple[str, float], numbers: NumberFormat | None = None
) -> str:
    """ε = 1, δ = 10⁻⁶: the limit has one digit."""
    numbers = numbers or SPOKEN.numbers
    name, value = limit
    return f"ε = {numbers.at_most(epsilon)}, {name} = {numbers.at_most(value, 1)}"


def promise(policy: Policy) -> str:
    """The promise as a sentence."""
    said = PLANS.promise_eta if policy.delta is None else PLANS.promise_delta
    _, limit = limit_of(policy, policy)
    return said.format(factor=factor(policy.epsilon), limit=SPOKEN.numbers.at_most(limit))


def factor(epsilon: float, name: str = "ε", texts: Texts = SPOKEN) -> str:
    """2.72 (ε = 1): e^ε, rounded up."""
    numbers = texts.numbers
    ratio = factor_number(epsilon, numbers)
    return texts.phrases.factor.format(ratio=ratio, name=name, epsilon=numbers.at_most(epsilon))


def factor_number(epsilon: float, numbers: NumberFormat) -> str:
    """e^ε, rounded up."""
    if LARGEST < epsilon < math.inf:
        return f"10{str(math.ceil(epsilon / math.log(10))).translate(SUPERSCRIPT)}"
    return numbers.at_most(math.exp(epsilon), 3)


def slack_of(plan: Plan, promise: Policy | Promise) -> str:
    """δ or η, whichever the survey asks for."""
    policy = plan.survey.policy
    said = PLANS.slack_eta if policy.delta is None else PLANS.slack_delta
    return said.format(limit=SPOKEN.numbers.at_most(limit_of(policy, promise)[1]))


def method_text(method: Method, texts: Texts = SPOKEN) -> str:
    """The argument behind a promise's bounds."""
    return texts.proofs.methods[method]


def assumption_text(
    assumption: Assumption, promise: Promise, texts: Texts = SPOKEN, *, in_one_hand: bool = False
) -> str:
    """One thing that a promise rests on, with the promise's own numbers.

    `in_one_hand`: the analyst runs every mixer, so that the promise is about readers alone.
    """
    own, whole = texts.proofs, texts.numbers.whole
    colluding = promise.colluding
    if in_one_hand and assumption in texts.parties.hand_assumptions:
        return texts.parties.hand_assumptions[assumption]
    text = own.assumptions[assumption].format(honest=whole(promise.crowd - colluding))
    if assumption is Assumption.HONEST_CROWD and colluding:
        return own.colluders.format(crowd=text, colluding=whole(colluding))
    return text


def assumption_texts(
    promise: Promise, texts: Texts = SPOKEN, *, in_one_hand: bool = False
) -> tuple[str, ...]:
    """Everything that a promise rests on."""
    return tuple(
        assumption_text(each, promise, texts, in_one_hand=in_one_hand)
        for each in promise.assumptions
    )


def right_guess(epsilon: float, delta: float) -> float:
    """The largest probability of a right guess between two equally likely sets of answers.

    For all events E, P(E) ≤ e^ε·Q(E) + δ and the other way round, so the total variation is at most
    (e^ε - 1 + 2δ)/(e^ε + 1), and a guess is right with half of one plus that: (e^ε + δ)/(e^ε + 1).

    >>> right_guess(0.0, 0.0), round(right_guess(1.0, 1e-6), 4)
    (0.5, 0.7311)
    """
    shrunk = math.exp(-epsilon)
    return min(1.0, (1.0 + delta * shrunk) / (1.0 + shrunk))


def right_in(epsilon: float, delta: float) -> tuple[int, int] | None:
    """How often a guess is right at most, rounded up to whole times in 100, or in more if need be.

    None if the noise hides nothing.

    >>> right_in(1.0, 1e-6), right_in(7.0, 1e-6), right_in(40.0, 0.0)
    ((74, 100), (9991, 10000), None)
    """
    right = right_guess(epsilon, delta)
    for tries in TRIES:
        if math.ceil(right * tries) < tries:
            return math.ceil(right * tries), tries
    return None


def guess_sentence(
    epsilon: float, delta: float, rounds: str = "", *, in_one_hand: bool = False
) -> str:
    """How often a guess is right, in whole times.

    `rounds` says of which ones, as `in_rounds` does. `in_one_hand`: the analyst runs every mixer,
    and need not guess; others may have to.

    >>> guess_sentence(1.0, 1e-6).partition(" is ")[2]
    'right at most 74 times in 100; tossing a coin, 50 times.'
    """
    found = right_in(epsilon, delta)
    if found is None:
        return PLANS.guess_always.format(rounds=rounds)
    right, tries = found
    return PLANS.guess.format(
        results=PLANS.only_results if in_one_hand else PLANS.results,
        rounds=rounds,
        right=SPOKEN.numbers.whole(right),
        of=SPOKEN.numbers.whole(tries),
        half=SPOKEN.numbers.whole(tries // 2),
    )


def in_rounds(
    survey: Survey,
    promise: Policy | Promise,
    together: str = "",
    period: str = "",
    numbers: NumberFormat | None = None,
) -> str:
    """In all rounds together, or in those of a period, with the total of all; empty for one."""
    numbers = numbers or SPOKEN.numbers
    together, period = together or PLANS.rounds, period or PLANS.period
    rounds, every = (numbers.whole(each) for each in (survey.promised_rounds, survey.rounds))
    if survey.periods == 1:
        return "" if survey.rounds == 1 else together.format(rounds=every)
    name, limit = limit_of(survey.policy, promise)
    most = max(limit, survey.policy.delta or survey.policy.eta or 0)  # other plans may be at it
    epsilon, sum_of_limits = (total([each] * survey.periods) for each in (promise.epsilon, most))
    said = promise_symbols(epsilon, (name, sum_of_limits), numbers)
    return period.format(rounds=rounds, all=every, total=said)


def protection(local_epsilon: float, texts: Texts = SPOKEN) -> str:
    """How much protection ε₀ gives; "remains" follows it, except after "no protection"."""
    if local_epsilon <= REAL:
        return texts.collusion.real
    if local_epsilon <= WEAK:
        return texts.collusion.weak
    if local_epsilon <= SLIGHT:
        return texts.collusion.slight
    return texts.collusion.none


def what_remains(local_epsilon: float, texts: Texts = SPOKEN) -> str:
    """There is no protection; only weak protection remains."""
    known = texts.collusion.there_is if local_epsilon > SLIGHT else texts.collusion.remains
    return known.format(protection=protection(local_epsilon, texts))


def if_they_collude(local_epsilon: float) -> str:
    """If collector and analyst collude, there is no protection (ε₀ = 431)."""
    return PLANS.if_they_collude.format(
        said=what_remains(local_epsilon), epsilon=SPOKEN.numbers.at_most(local_epsilon)
    )


def if_mixers_collude(mixers: int, texts: Texts = SPOKEN) -> str:
    """The promise holds as long as one of so many mixers follows the rules."""
    return texts.collusion.mixers.of(mixers).format(number=texts.numbers.whole(mixers))


def declared(different_people: bool, files: int, texts: Texts = SPOKEN) -> Iterator[str]:
    """That the analyst declared that the files are about different people, if so."""
    if different_people:
        yield texts.provenance.declared.format(files=texts.numbers.whole(files))
