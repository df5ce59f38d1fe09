"""Whether a tally is of its plan, adds up, is of a large enough crowd, and from where it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from krand.analysis.actual_promise import actual_promise
from krand.analysis.chain_checks import chains_check
from krand.analysis.checks import (
    Check,
    State,
    check,
    failed,
    first_of,
    not_checked,
    passed,
    policy_check,
)
from krand.analysis.lane_checks import odd_lanes
from krand.analysis.mechanisms import part_of
from krand.analysis.shapes import tally_shape
from krand.analysis.signature_checks import signatures_check
from krand.analysis.tally import Tally
from krand.batches.manifest import Manifest, manifest_in, parse_manifest
from krand.batches.provenance import Provenance, is_random_id
from krand.errors import InvalidInput, KrandError
from krand.survey.limits import check_crowd, crowd_needed
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["check_tally", "manifests_check", "provenance_check", "tally_checks"]

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


def tally_checks(
    plan: Plan,
    tally: Tally,
    key: Ed25519PublicKey | None = None,
    signers: Sequence[Ed25519PublicKey] = (),
) -> Iterator[Check]:
    """Everything that can be checked with the tally, its plan, and the keys of who signed."""
    yield from _quick_checks(plan, tally, key)
    sealed = tally.provenance is Provenance.DEVICES
    yield signatures_check(tally.sha256, tally.signatures, signers, sealed=sealed)
    if _fits(plan, tally):
        yield from _promise_checks(plan, tally)


def _fits(plan: Plan, tally: Tally) -> bool:
    return (tally.linkage, tally.positions) == (plan.survey.linkage, plan.layout.positions)


def _quick_checks(plan: Plan, tally: Tally, key: Ed25519PublicKey | None = None) -> Iterator[Check]:
    """All but the promise for its crowd, which takes a second."""
    other = [] if tally.plan_hash == plan.hash else [f"it is of the plan {tally.plan_hash}"]
    yield check("plan", other, f"the tally is of the plan {plan.hash}")
    fits = _fits(plan, tally)
    wrong = f"{tally.positions:,} positions in {tally.linkage.value} linkage are not the plan's"
    yield check("positions", [] if fits else [wrong], f"{tally.positions:,} positions, as planned")
    rounds = plan.survey.rounds
    out = [] if 1 <= tally.round <= rounds else [f"round {tally.round:,} was not planned"]
    yield check("round", out, f"round {tally.round:,} of {rounds:,} that were planned")
    yield check("crowd", _small_crowd(plan, tally), _crowd(plan, tally))
    yield check("counts", _odd_counts(plan, tally), "all counts add up")
    signed = _signed_check(plan, tally, key)
    yield provenance_check(tally, signed)
    if signed is not None:
        yield signed


def _signed_check(plan: Plan, tally: Tally, key: Ed25519PublicKey | None) -> Check | None:
    """What collectors or mixers signed about the batches, where there are any."""
    if tally.provenance is not Provenance.DEVICES and not tally.manifests:
        return None
    if part_of(plan.mechanism).needs_collector_key:
        return manifests_check(tally, key)
    return chains_check(plan, tally)


def _crowd(plan: Plan, tally: Tally) -> str:
    if crowd_needed(plan) == 1:
        return f"{tally.people:,} people; the promise needs no crowd"
    return f"{tally.people:,} people, as many as planned or more"


def _small_crowd(plan: Plan, tally: Tally) -> Iterator[str]:
    planned = crowd_needed(plan)
    if tally.crowd < planned:
        yield f"{tally.crowd:,} people are fewer than the {planned:,} that were planned"
    if tally.people < tally.crowd * max(1, len(tally.batches)):
        yield f"{tally.people:,} people cannot be {len(tally.batches):,} batches of {tally.crowd:,}"
    if len(set(tally.batches)) != len(tally.batches):
        yield "a batch is counted twice"


def _odd_counts(plan: Plan, tally: Tally) -> Iterator[str]:
    if part_of(plan.mechanism).lanes_needed(plan) or _is_sealed(tally):
        yield from odd_lanes(plan, tally)
    yield from tally_shape(tally.linkage).odd_counts(plan, tally)


def _is_sealed(tally: Tally) -> bool:
    """Whether there were messages; a data holder's responses are none."""
    messages = tally.nulls or tally.rejected or tally.lane_nulls is not None
    return bool(messages) or tally.provenance is Provenance.DEVICES


def _promise_checks(plan: Plan, tally: Tally) -> Iterator[Check]:
    try:
        true = actual_promise(plan, tally)
    except KrandError as error:
        yield failed("policy", str(error))
        return
    yield policy_check(plan, true)


def provenance_check(tally: Tally, signed: Check | None) -> Check:
    """Whether the rest of a file agrees with the provenance that it claims, and who vouches for it.

    `signed` is how the manifests or chains of its batches came out, if they are there.
    """
    name, fault = "provenance", first_of(_odd_provenance(tally))
    if fault:
        return failed(name, fault)
    if tally.provenance is Provenance.TABLE:
        return not_checked(name, HOLDER)
    if tally.provenance is Provenance.SIMULATION:
        return passed(name, SIMULATED)
    if signed is None:
        return not_checked(name, CLAIMED + "Add the tally, which has what the collector signed")
    says = {
        State.PASSED: "from devices: the signatures about every batch are valid",
        State.FAILED: CLAIMED + f"What was signed does not show it: see {signed.name}",
        State.NOT_CHECKED: CLAIMED + "Add --collector-key collector.pub.pem to check who signed",
    }
    return Check(name, signed.state, says[signed.state])


def _odd_provenance(tally: Tally) -> Iterator[str]:
    files = len(tally.batches)
    if tally.provenance is not Provenance.SIMULATION:
        if len(tally.ids) != files or not files:
            yield f"{files:,} files have {len(tally.ids):,} ids"
        elif not all(map(is_random_id, tally.ids)):
            yield "an id is not one that krand creates"
    if len(set(tally.ids)) != len(tally.ids):
        yield "two files have one id: the same people are counted twice"
    if tally.provenance is Provenance.TABLE:
        if tally.rejected or tally.nulls or tally.manifests or tally.lane_nulls is not None:
            yield "there are messages, which a data holder's table does not have"
        if files > 1 and tally.distinct_people is None:
            yield f"nobody declared that {files:,} files are about different people"
    if (tally.provenance is not Provenance.TABLE or files <= 1) and tally.distinct_people:
        yield "different people are declared where there is nothing to declare"


def manifests_check(tally: Tally, key: Ed25519PublicKey | None) -> Check:
    """Whether what a collector signed about the batches is what the tally says."""
    name, fault = "manifests", first_of(_odd_manifests(tally, key))
    if fault:
        return failed(name, fault)
    agree = f"{len(tally.manifests):,} manifests agree with what was counted"
    if key is None:
        hint = "add --collector-key collector.pub.pem"
        return not_checked(name, f"{agree}; who signed them is not checked: {hint}")
    return passed(name, f"{agree}, and are signed with the collector's key")


def _odd_manifests(tally: Tally, key: Ed25519PublicKey | None) -> Iterator[str]:
    try:
        signed = [_manifest(text, key) for text in tally.manifests]
    except InvalidInput as error:
        yield f"a manifest inside {error.rule}, which it is not"
        return
    if sorted(entry.batch_sha256 for entry in signed) != sorted(tally.batches):
        yield "the batches that were counted are not those that a collector signed"
        return
    if sorted(entry.batch_id for entry in signed) != sorted(tally.ids):
        yield "the ids of the batches are not those that a collector signed"
    if any((entry.plan, entry.round) != (tally.plan_hash, tally.round) for entry in signed):
        yield "a collector signed a batch of another plan or round"
    people = [entry.submissions for entry in signed]
    if (sum(people), min(people, default=0)) != (tally.people, tally.crowd):
        yield (
            f"collectors signed for {sum(people):,} people, at least {min(people, default=0):,} in"
            f" a batch; the tally says {tally.people:,} and {tally.crowd:,}"
        )
    messages, counted = sum(entry.messages for entry in signed), _messages(tally)
    if messages != counted:
        yield f"collectors signed for {messages:,} messages, {counted:,} were counted"


def _manifest(text: str, key: Ed25519PublicKey | None) -> Manifest:
    content = text.encode()
    return manifest_in(content)[0] if key is None else parse_manifest(content, key)


def _messages(tally: Tally) -> int:
    kept = tally_shape(tally.linkage).kept(tally)
    return kept + tally.nulls + sum(tally.rejected.values())
