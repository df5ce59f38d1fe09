"""Files of any kind: what each is, it says itself; then everything about it is checked.

First each file by itself, with the plan; then all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.analysis import results, tally
from krand.analysis.checks import Check, State, state_of
from krand.analysis.signed_batches import SignedBatch, signed_in_chain
from krand.analysis.tally import read_tally
from krand.analysis.tally_checks import tally_checks
from krand.analysis.verification.chains import chain_file_checks
from krand.analysis.verification.plans import plan_file_checks
from krand.analysis.verification.results import results_checks
from krand.analysis.verification.together import (
    GivenResults,
    GivenTally,
    batch_together,
    results_together,
    tally_together,
)
from krand.batches import chain
from krand.batches.batch import ENDING
from krand.errors import InvalidInput
from krand.files import json_object, read_whole
from krand.survey import plan as plans
from krand.survey.plain_values import said_format
from krand.survey.plan import Plan

if TYPE_CHECKING:
    pass

KINDS = {
    plans.FORMAT: "plan",
    results.FORMAT: "results",
    tally.FORMAT: "tally",
    chain.CHAIN_FORMAT: "chain",
}
ORDER = ("plan", "results", "chain", "tally")
"""Plans first, then results, which have one inside: the others need it."""
RULE = "must be a plan, a tally, results as JSON, or the chain of a batch"


@dataclass(frozen=True, slots=True)
class Verified:
    """A file, and how its checks came out."""

    path: Path
    kind: str
    checks: tuple[Check, ...]

    @property
    def state(self) -> State:
        """Failed if a check did; passed if all did; otherwise something was not checked."""
        return state_of(entry.state for entry in self.checks)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    content: bytes
    values: dict[str, Any]
    kind: str


def verify_files(
    paths: Sequence[str | Path],
    plan: Plan | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Verified, ...]:
    """Check every file, and whether they belong together.

    A plan among the files, or inside results, stands in for `plan` where none is given.

    >>> from krand import verify_files
    >>> from krand.testing import small_plan
    >>> small_plan().save("plan.json")
    >>> (found,) = verify_files(["plan.json"])
    >>> found.kind, found.state.value
    ('plan', 'passed')
    """
    told = progress or (lambda _: None)
    work = _Work(plan)
    files = [_opened(Path(path)) for path in paths]
    for file in sorted(files, key=lambda file: ORDER.index(file.kind)):
        told(file.path.name)
        work.check(file)
    told("all together")
    return tuple(work.verified(file) for file in files)


class _Work:
    """What is known after some of the files."""

    def __init__(self, plan: Plan | None) -> None:
        self.plan = plan
        self.checks: dict[int, tuple[Check, ...]] = {}
        self.results: dict[int, GivenResults] = {}
        self.tallies: dict[int, GivenTally] = {}
        self.batches: dict[int, SignedBatch] = {}

    def verified(self, file: _File) -> Verified:
        """The file with all its checks, after all files were checked by themselves."""
        found = (*self.checks[id(file)], *self._together(id(file)))
        return Verified(file.path, file.kind, found)

    def check(self, file: _File) -> None:
        """Everything that a file shows by itself, and with the plan."""
        found, own = None, id(file)
        if file.kind == "plan":
            plan_found = plan_file_checks(file.values, file.content, file.path, self.plan)
            self.checks[own], found = plan_found.checks, plan_found.plan
        elif file.kind == "results":
            self.checks[own], results = results_checks(file.values, str(file.path), self.plan)
            if results is not None:
                found = results.plan
                self.results[own] = GivenResults(results, str(file.values.get("plan_hash")))
        else:
            self._check_with_plan(file, _needed_plan(file, self.plan))
        self.plan = self.plan or found

    def _check_with_plan(self, file: _File, plan: Plan) -> None:
        own = id(file)
        if file.kind == "chain":
            self.checks[own] = tuple(chain_file_checks(file.content, file.path, plan))
            links = chain.parse_chain(file.content)
            if links:  # a chain without links fails by itself
                self.batches[own] = signed_in_chain(plan, links, file.content.decode())
        else:
            counted = read_tally(file.path)
            self.checks[own] = tuple(tally_checks(plan, counted))
            self.tallies[own] = GivenTally(counted, plan, self.checks[own])

    def _together(self, own: int) -> Iterator[Check]:
        results, tallies = tuple(self.results.values()), tuple(self.tallies.values())
        batches = tuple(self.batches.values())
        if own in self.results:
            yield from results_together(self.results[own], tallies, batches)
        elif own in self.tallies:
            yield from tally_together(self.tallies[own], results)
        elif own in self.batches:
            yield from batch_together(self.batches[own], tallies, results)


def _opened(path: Path) -> _File:
    content = read_whole("files", path)
    if path.name.endswith(ENDING):
        hint = "give the chain of a batch: it names the batch beside it"
        raise InvalidInput("files", RULE, str(path), hint)
    values = json_object("files", content, str(path))
    said = values.get("format")
    kind = KINDS.get(said) if isinstance(said, str) else None
    if kind is None:
        known = f"this krand checks {', '.join(KINDS)}"
        raise InvalidInput("files", RULE, str(path), f"{said_format(values)}; {known}")
    return _File(path, content, values, kind)


def _needed_plan(file: _File, plan: Plan | None) -> Plan:
    if plan is None:
        rule = f"must be given with a {file.kind}, which can only be checked against its plan"
        raise InvalidInput("plan", rule, str(file.path), "add --plan plan.json")
    return plan
