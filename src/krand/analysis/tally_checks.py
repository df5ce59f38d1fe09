"""Whether a tally is of its plan, adds up, is of a large enough crowd, and from where it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from krand.analysis.actual_promise import actual_promise
from krand.analysis.checks import (
    Check,
    State,
    check,
    failed,
    first_of,
    not_checked,
    passed,
    policy_check,
    round_check,
)
from krand.analysis.shapes import tally_shape
from krand.analysis.signed_batches import SignedBatch, lost_in, signed_in_chain
from krand.analysis.tally import Tally
from krand.batches.chain import complete_chain, dummies_allowed, parse_chain
from krand.batches.provenance import Provenance, is_random_id
from krand.errors import InvalidInput, KrandError
from krand.showing import some
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.survey.plan_check import check_crowd

HOLDER = (
    "it says: from a data holder's table. No file can show that its holder randomized it as planned"
)
SIMULATED = "from a simulation: nobody was asked"
CLAIMED = "it says: from devices, through a collector. "


def check_tally(plan: Plan, tally: Tally) -> None:
    """Refuse a tally that is of another plan, of a crowd too small, or does not add up."""
    if tally.plan_hash != plan.hash:
        rule = f"must be of the plan {plan.hash}"
        hint = "the tally belongs to another plan: give it with its own"
        raise InvalidInput("tally", rule, tally.plan_hash, hint)
    check_crowd(plan, tally.crowd)
    for entry in _quick_checks(plan, tally):
        if entry.state is State.FAILED:
            rule = f"must pass every check of krand verify; it fails {entry.name!r}"
            raise InvalidInput("tally", rule, entry.says, "count again: krand tally")


def tally_checks(plan: Plan, tally: Tally) -> Iterator[Check]:
    """Everything that can be checked with the tally and its plan."""
    yield from _quick_checks(plan, tally)
    sealed = tally.provenance is Provenance.DEVICES
    yield counted_again_check(tally.sha256, sealed=sealed)
    if not _fits(plan, tally):
        return
    try:
        yield policy_check(plan, actual_promise(plan, tally))
    except KrandError as error:
        yield failed("policy", str(error))


def _fits(plan: Plan, tally: Tally) -> bool:
    return (tally.linkage, tally.positions) == (plan.survey.linkage, plan.layout.positions)


def _quick_checks(plan: Plan, tally: Tally) -> Iterator[Check]:
    """All but the promise for its crowd, which takes a second."""
    other = [] if tally.plan_hash == plan.hash else [f"it is of the plan {tally.plan_hash}"]
    yield check("plan", other, f"the tally is of the plan {plan.hash}")
    fits = _fits(plan, tally)
    wrong = f"{tally.positions:,} positions in {tally.linkage.value} linkage are not the plan's"
    yield check("positions", [] if fits else [wrong], f"{tally.positions:,} positions, as planned")
    yield round_check(plan, tally.round)
    yield crowd_check(plan, tally)
    yield check("counts", _odd_counts(plan, tally), "all counts add up")
    signed = _signed_check(plan, tally)
    yield provenance_check(tally, signed)
    if signed is not None:
        yield signed


def _signed_check(plan: Plan, tally: Tally) -> Check | None:
    """What mixers signed about the batch, where people sent one."""
    if tally.provenance is not Provenance.DEVICES and not tally.chains:
        return None
    says = f"what was counted agrees with {some(len(tally.chains), 'chain')} of signed links"
    return check("chains", _odd_chains(plan, tally), says)


def crowd_check(plan: Plan, tally: Tally) -> Check:
    """Whether the smallest batch has as many people as the promise needs."""
    says = f"{tally.people:,} people; the promise needs no crowd"
    if not plan.laws:
        says = (
            f"{tally.people:,} people, nobody in a batch of fewer than {tally.crowd:,}, which is"
            " as many as planned"
        )
    return check("crowd", _small_crowd(plan, tally), says)


def _small_crowd(plan: Plan, tally: Tally) -> Iterator[str]:
    planned = plan.crowd_needed
    if tally.crowd < planned:
        yield f"{tally.crowd:,} people are fewer than the {planned:,} that were planned"
    if tally.people < tally.crowd * max(1, len(tally.batches)):
        batches = f"{max(1, len(tally.batches)):,} batches of at least {tally.crowd:,}"
        yield f"{tally.people:,} people cannot be {batches}"
    if len(set(tally.batches)) != len(tally.batches):
        yield "a batch is counted twice"


def _odd_counts(plan: Plan, tally: Tally) -> Iterator[str]:
    # Without messages, as in a data holder's responses, there are no lanes.
    messages = bool(tally.nulls or tally.rejected) or tally.lane_nulls is not None
    if plan.survey.trust.chain or messages or tally.provenance is Provenance.DEVICES:
        yield from odd_lanes(plan, tally)
    yield from tally_shape(tally.linkage).odd_counts(plan, tally)


def provenance_check(tally: Tally, signed: Check | None) -> Check:
    """Whether the rest of a file agrees with the provenance that it claims, and who vouches for it.

    `signed` is how the chains of its batches came out, if they are there.
    """
    name, fault = "provenance", first_of(_odd_provenance(tally))
    if fault:
        return failed(name, fault)
    if tally.provenance is Provenance.TABLE:
        return not_checked(name, HOLDER)
    if tally.provenance is Provenance.SIMULATION:
        return passed(name, SIMULATED)
    if signed is None:
        return not_checked(name, CLAIMED + "Add the tally, which has what the mixers signed")
    if signed.state is State.PASSED:
        return passed(name, "from devices: all mixers of the plan have signed the batch")
    return failed(name, CLAIMED + f"What was signed does not show it: see {signed.name}")


def _odd_provenance(tally: Tally) -> Iterator[str]:
    files = len(tally.batches)
    if tally.provenance is not Provenance.SIMULATION:
        runs = files if tally.provenance is Provenance.TABLE else 0
        if len(tally.ids) != runs or not files:
            yield f"{files:,} files have {len(tally.ids):,} ids"
        elif not all(map(is_random_id, tally.ids)):
            yield "an id is not one that krand creates"
    if len(set(tally.ids)) != len(tally.ids):
        yield "two files have one id: the same people are counted twice"
    if tally.provenance is Provenance.TABLE:
        if tally.rejected or tally.nulls or tally.chains or tally.lane_nulls is not None:
            yield "there are messages, which a data holder's table does not have"
        if files > 1 and not tally.different_people:
            yield f"nobody declared that {files:,} files are about different people"
    if (tally.provenance is not Provenance.TABLE or files <= 1) and tally.different_people:
        yield "different people are declared where there is nothing to declare"


def _odd_chains(plan: Plan, tally: Tally) -> Iterator[str]:
    """Of batches whose chain must have the signatures of all mixers that the plan names."""
    signed, lost = [], Counter[str]()
    try:
        for text in tally.chains:
            links = parse_chain(text.encode())
            complete_chain(plan, links)
            signed.append(signed_in_chain(plan, links, text))
            lost += lost_in(links)
    except InvalidInput as error:
        yield f"a chain {error.rule}, which it is not"
        return
    if any(tally.rejected.get(why, 0) < count for why, count in lost.items()):
        yield "mixers refused messages that the tally does not mention"
    yield from _odd_signed(tally, signed, lost.total())


def _odd_signed(tally: Tally, signed: Sequence[SignedBatch], lost: int) -> Iterator[str]:
    """Where a tally differs from what was signed about its batches, some messages lost before."""
    if sorted(batch.sha256 or "" for batch in signed) != sorted(tally.batches):
        yield "the batches that were counted are not those that mixers signed"
        return
    if any((batch.plan, batch.round) != (tally.plan_hash, tally.round) for batch in signed):
        yield "mixers signed a batch of another plan or round"
    people = [batch.people for batch in signed]
    if (sum(people), min(people, default=0)) != (tally.people, tally.crowd):
        yield (
            f"mixers signed for {sum(people):,} people, at least {min(people, default=0):,} in"
            f" a batch; the tally says {tally.people:,} and {tally.crowd:,}"
        )
    kept = tally_shape(tally.linkage).kept(tally) + tally.nulls + sum(tally.rejected.values())
    messages, counted = sum(batch.messages for batch in signed), kept - lost
    if messages != counted:
        yield f"mixers signed for {messages:,} messages, {counted:,} were counted"


def lane_messages(plan: Plan, lane: Lane, people: int, mixes: int) -> tuple[int, int]:
    """The least and the most messages of a lane, of so many people and draws of dummies.

    Everybody sends the same messages in each lane, and how many dummies there can be is known from
    the plan. Devices' batches have none. With the draws of h mixers:

    * One position, one message: exactly 2R dummies for each draw.
    * One message over several positions: 0 to 2R for each position and draw, and for empty ones.
    * Several messages: what the padding says. Rarely there are more dummies than that, and they are
      sent all the same.

    Messages that were refused may be missing anywhere. They are those that the analyst could not
    read, and those that mixers refused or found repeated.
    """
    sent = people * lane.messages
    least, most = dummies_allowed(plan, lane) if mixes else (0, 0)
    return sent + mixes * least, sent + mixes * most


def odd_lanes(plan: Plan, tally: Tally) -> Iterator[str]:
    """What cannot be in a tally of sealed batches."""
    nulls, batches = tally.lane_nulls, len(tally.batches)
    if nulls is None or len(nulls) != len(plan.lanes):
        yield f"empty messages are not counted in {len(plan.lanes):,} lanes"
        return
    if int(nulls.sum()) != tally.nulls:
        yield f"{int(nulls.sum()):,} empty messages in lanes are not {tally.nulls:,} in all"
    if batches != 1:
        yield f"{batches:,} batches are not the one that a round has"
        return
    lanes = plan.token_lanes
    if lanes:
        yield from _odd_numbers(plan, tally, plan.survey.trust.chain)


def _odd_numbers(plan: Plan, tally: Tally, mixes: int) -> Iterator[str]:
    assert tally.lane_nulls is not None
    refused = sum(tally.rejected.values())
    missing = spare = 0
    for lane, nulls in zip(plan.lanes, tally.lane_nulls.tolist(), strict=True):
        tokens = tally.counts[lane.offset : lane.offset + lane.positions]
        found = int(tokens.sum()) + nulls
        least, most = lane_messages(plan, lane, tally.people, mixes)
        if not least - refused <= found <= most:
            yield f"{_named(lane)}: {found:,} messages are not {_range(least, most)}"
        missing, spare = missing + max(0, least - found), spare + most - found
        dummies = 2 * plan.law_of(lane).reach * mixes if mixes else 0
        each = tally.people * lane.messages + dummies
        if int(np.max(tokens)) > each:
            yield f"{_named(lane)}: an answer has more than {each:,} messages, which is impossible"
    if not missing <= refused <= spare:
        yield f"{refused:,} messages were refused, but at least {missing:,} are missing"


def _named(lane: Lane) -> str:
    return lane.block or f"lane {lane.number}"


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def counted_again_check(sha256: str, *, sealed: bool) -> Check:
    """Counts are in no signature: those who open messages have to be believed, or count too."""
    who = "a holder of the analyst's private key" if sealed else "whoever has the responses"
    same = f"gets the tally {sha256} if all numbers are the same"
    return not_checked("counted_again", f"only {who} can count again, and {same}")
