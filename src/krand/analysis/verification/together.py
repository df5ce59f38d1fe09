"""Whether files that are given together belong together, and what one shows about another.

Results are of a tally if plan, round and batches are the same; then they must come out again when
it is estimated. A chain is of a tally or results that name its batch. A file that belongs
to none of the others fails: somebody may have replaced either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from krand.analysis.checks import Check, check, differences, not_checked
from krand.analysis.results import Results
from krand.analysis.signed_batches import SignedBatch
from krand.analysis.tally import Tally
from krand.analysis.tally_checks import counted_again_check, provenance_check
from krand.analysis.verification.recovering import recovered
from krand.analysis.verification.results import tally_agrees
from krand.batches.provenance import Provenance
from krand.survey.plan import Plan

NO_TALLY = (
    "whether these results come from what was counted: add the tally, krand verify results.json"
    " tally.json"
)


@dataclass(frozen=True, slots=True)
class GivenTally:
    """A tally among the files, and how its own checks came out."""

    tally: Tally
    plan: Plan
    checks: tuple[Check, ...]

    @property
    def signed(self) -> Check | None:
        """How the chains inside came out."""
        return next((e for e in self.checks if e.name == "chains"), None)


@dataclass(frozen=True, slots=True)
class GivenResults:
    """Results among the files, and the hash of the plan that they name."""

    results: Results
    plan_hash: str


def results_together(
    given: GivenResults,
    tallies: Sequence[GivenTally],
    batches: Sequence[SignedBatch],
) -> Iterator[Check]:
    """What a tally and chains show about results."""
    results = given.results
    own = [entry for entry in tallies if not _unlike(given, entry)]
    from_tally = _from_tally(given, tallies, own)
    yield from_tally
    signed = own[0].signed if own and from_tally.holds else None
    yield provenance_check(recovered(results.plan, results).tally, signed)
    sealed = results.provenance is Provenance.DEVICES
    yield counted_again_check(results.tally_sha256, sealed=sealed)
    if batches and not tallies:
        yield _signed_people(results, batches)


def _from_tally(
    given: GivenResults, tallies: Sequence[GivenTally], own: Sequence[GivenTally]
) -> Check:
    if not tallies:
        return not_checked("from_tally", NO_TALLY)
    if not own:
        fault = next(iter(_unlike(given, tallies[0])))
        return check("from_tally", [f"they are of no tally that was given: {fault}"], "")
    agreed = [tally_agrees(given.results, entry.plan, entry.tally) for entry in own]
    return next((entry for entry in agreed if not entry.holds), agreed[0])


def _unlike(given: GivenResults, counted: GivenTally) -> list[str]:
    """Why results are not of a tally."""
    results, tally = given.results, counted.tally
    told: dict[str, Any] = {"plan_hash": given.plan_hash, "round": results.round}
    true: dict[str, Any] = {"plan_hash": tally.plan_hash, "round": tally.round}
    told["batches"], true["batches"] = results.batches, tally.batches
    return list(differences(told, true))


def _signed_people(results: Results, batches: Sequence[SignedBatch]) -> Check:
    """The number of people, where the chains of all batches are given."""
    own = {entry.sha256: entry.people for entry in batches if entry.sha256 in results.batches}
    if len(own) < len(results.batches):
        return not_checked(
            "signed_people",
            f"what was signed about {len(results.batches) - len(own):,} of"
            f" {len(results.batches):,} batches is not given: add their chains",
        )
    signed = {"people": sum(own.values()), "crowd": min(own.values())}
    told = {"people": results.people, "crowd": results.crowd}
    says = f"{results.people:,} people, as many as was signed for"
    return check("signed_people", differences(told, signed), says)


def tally_together(counted: GivenTally, results: Sequence[GivenResults]) -> Iterator[Check]:
    """That some of the results are of this tally, if any are given."""
    if not results:
        return
    others = [_unlike(entry, counted) for entry in results]
    faults = [] if not all(others) else [f"no results that were given are of it: {others[0][0]}"]
    yield check("results", faults, "results of it are among the files")


def batch_together(
    batch: SignedBatch, tallies: Sequence[GivenTally], results: Sequence[GivenResults]
) -> Iterator[Check]:
    """That a tally and results among the files have counted this batch."""
    says = "counted in the {} among the files"
    if tallies:
        faults = [_not_in_tally(batch, entry.tally) for entry in tallies]
        yield check("in_tally", [faults[0]] if all(faults) else [], says.format("tally"))
    if results:
        faults = [_not_in(batch, entry.results, entry.plan_hash) for entry in results]
        yield check("in_results", [faults[0]] if all(faults) else [], says.format("results"))


def _not_in_tally(batch: SignedBatch, tally: Tally) -> str:
    fault = _not_in(batch, tally, tally.plan_hash)
    if fault or batch.sha256 is None or batch.text in tally.chains:
        return fault
    return "what is signed about this batch in the tally is something else"


def _not_in(batch: SignedBatch, counted: Tally | Results, plan_hash: str) -> str:
    """Why a batch is not one of those that were counted; empty if it is."""
    if batch.plan != plan_hash:
        return f"they are of the plan {plan_hash}"
    if counted.provenance is Provenance.TABLE:
        return "they say that a data holder's table was counted, which has no batches"
    if batch.round != counted.round:
        return f"they are of round {counted.round:,}, the batch is of round {batch.round:,}"
    if batch.sha256 is not None and batch.sha256 not in counted.batches:
        return f"the batch {batch.sha256} is not among those that were counted"
    return ""
