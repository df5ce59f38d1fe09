"""The promise of exactly a plan's noise, and whether it keeps what its survey asks for.

A process computes the promise of a plan once, whatever key its messages are sealed for and whoever
its mixers are: the promise does not depend on them. Nothing is kept on the disk: what somebody else
could write there would prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from krand.accounting.least import Share
from krand.accounting.promises import promise_of_dummies, promise_of_flips, promise_of_record
from krand.accounting.volume import Tokens, overflow_bound, surplus_bound
from krand.errors import InvalidInput, KrandError
from krand.policy import Policy
from krand.promise import AtMost, FreeBits, Linkage, Method, Promise, ResponseFormat
from krand.showing import at_most
from krand.survey.lanes import Lane
from krand.survey.layout import Block, Layout, layout_of
from krand.survey.plan import Plan
from krand.survey.plan_check import check_parts
from krand.survey.rules import HINT
from krand.survey.survey import Survey

MOST_TIMES = 100
"""A larger crowd than this multiple of the planned one is treated as this large."""
_COMPUTED: dict[str, Promise] = {}


def promise_of(plan: Plan) -> Promise:
    """What exactly the plan's noise promises to a member of its survey's crowd, as it is stated.

    >>> from krand import promise_of
    >>> from krand.testing import small_plan
    >>> promise_of(small_plan()).delta <= small_plan().survey.policy.delta
    True
    """
    name = _name(plan)
    if name not in _COMPUTED:
        _COMPUTED[name] = verify_promise(plan).rounded(plan.survey.policy)
    return _COMPUTED[name]


def verify_promise(plan: Plan, policy: Policy | None = None) -> Promise:
    """The promise of exactly the plan's noise, computed anew, in full digits.

    With another policy: what the same noise promises to a member of that one's crowd.
    """
    survey, policy = plan.survey, policy or plan.survey.policy
    shares, rounds = shares_of(survey), survey.promised_rounds
    if plan.laws:
        of_block = {lane.block: plan.law_of(lane) for lane in plan.lanes}
        laws = [of_block[block.name] for block in plan.layout.blocks]
        surplus = rounds * surplus_of(plan)
        return promise_of_dummies(policy, shares, laws, rounds, surplus)
    if survey.linkage is Linkage.RECORD:
        return promise_of_record(policy, record_reports(survey), plan.numerators[0])
    # Additional people hide the others even better, and their overflows do not matter to the
    # others: an adversary could have added their responses. In a crowd far larger than planned the
    # overflows would add up, so the promise is given for a part of it.
    most = MOST_TIMES * survey.policy.minimum_crowd + policy.colluding
    counted = policy.changed(minimum_crowd=min(policy.minimum_crowd, most))
    distance = distance_of(plan, counted.minimum_crowd)
    found = promise_of_flips(counted, shares, plan.numerators, rounds, distance)
    return replace(found, crowd=policy.minimum_crowd)


# --- what a person tells ------------------------------------------------------------------------


def shares_of(survey: Survey) -> tuple[Share, ...]:
    """The blocks as noise is divided among them."""
    return tuple(Share(block.sensitivity, block.weight) for block in layout_of(survey).blocks)


def record_reports(survey: Survey) -> ResponseFormat:
    """All answers of a person as one record.

    Every question may be left unanswered, so a choice is "at most one of C", never "exactly one".
    Bits that can take any value form one block.
    """
    layout = layout_of(survey)
    free = [block for block in layout.blocks if block.most_ones == block.positions]
    sparse = [block for block in layout.blocks if block.most_ones < block.positions]
    structure: list[FreeBits | AtMost] = []
    if free:
        structure.append(FreeBits(sum(block.positions for block in free)))
    structure += [AtMost(block.most_ones, block.positions) for block in sparse]
    return ResponseFormat(
        layout.positions,
        linkage=Linkage.RECORD,
        copies=survey.copies,
        rounds=survey.promised_rounds,
        structure=tuple(structure),
    )


# --- what is run beside what is analysed --------------------------------------------------------


def tokens_of(blocks: Sequence[Block], numerators: Sequence[int]) -> list[Tokens]:
    """What devices send of every block."""
    return [
        Tokens(block.positions, block.most_ones, numerator)
        for block, numerator in zip(blocks, numerators, strict=True)
    ]


def distance_of(plan: Plan, people: int) -> float:
    """A bound on the probability that any of so many people has more tokens in a lane than fit, in
    any round."""
    pairs = zip(tokens_of(plan.layout.blocks, plan.numerators), plan.lanes, strict=True)
    bounds = (Decimal(repr(overflow_bound(tokens, lane.messages))) for tokens, lane in pairs)
    return people * plan.survey.promised_rounds * float(sum(bounds))  # of two digits each: exactly


def surplus_of(plan: Plan) -> float:
    """A bound on the probability that a lane of a batch has more dummies than its padding."""
    padded = [(lane, own_tokens(plan.layout, lane)) for lane in plan.lanes if lane.messages > 1]
    return math.fsum(
        surplus_bound(plan.law_of(lane), lane.positions, lane.padding - own) for lane, own in padded
    )


def own_tokens(layout: Layout, lane: Lane) -> int:
    """By how much one person's answers can change the number of tokens of a lane."""
    (block,) = (block for block in layout.blocks if block.name == lane.block)
    return min(block.sensitivity, lane.positions, lane.messages)


# --- whether it keeps what was asked for --------------------------------------------------------


def check_promise(plan: Plan) -> None:
    """Refuse a plan if exactly its noise does not keep its survey's policy.

    Each process computes that once.
    """
    _check_kept(plan, promise_of)


def recompute_promise(plan: Plan) -> None:
    """The same, always computed: for whoever signs a plan or adds its noise."""
    _check_kept(plan, verify_promise)


def _check_kept(plan: Plan, computed: Callable[[Plan], Promise]) -> None:
    check_parts(plan)
    rule = "must have noise that keeps its survey's policy"
    try:
        promise = computed(plan)
    except KrandError as error:
        raise InvalidInput("plan", rule, plan.hash, f"{error}; {HINT}") from None
    if promise.method is Method.NONE:  # what this program took, by `take_promise`
        return
    for fault in less_than_asked(plan.survey.policy, promise):
        raise InvalidInput("plan", rule, plan.hash, f"{fault}; {HINT}")


def take_promise(plan: Plan, promise: Promise) -> None:
    """Take this for the promise of a plan, until the process ends: only plans for tests do that."""
    _COMPUTED[_name(plan)] = promise


def keeps_policy(policy: Policy, promise: Promise) -> bool:
    """Whether the promise is as good as what was asked for."""
    return not list(less_than_asked(policy, promise))


def less_than_asked(policy: Policy, promise: Promise) -> Iterator[str]:
    """Where a promise is not as good as what was asked for."""
    found = promise.delta if policy.eta is None else promise.eta
    bounds = (
        ("δ" if policy.eta is None else "η", policy.asked, found),
        ("ε₀", policy.max_local_epsilon, promise.local_epsilon),
    )
    for name, asked, found in bounds:
        if asked is not None and not found <= asked:
            given = f"{name} = {at_most(found, 6)}"
            yield f"the survey asked for {name} = {at_most(asked, 6)}, what was given is {given}"


def _name(plan: Plan) -> str:
    return replace(plan, analyst=None, mixers=()).hash
