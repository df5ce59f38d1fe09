"""Files of any kind: what each is, it says itself; then everything about it is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.analysis import results_file, tally
from krand.analysis.checks import Check
from krand.analysis.plain_values import said_format
from krand.analysis.results import Results
from krand.analysis.tally import Tally
from krand.analysis.tally_checks import tally_checks
from krand.analysis.tally_file import read_tally
from krand.analysis.verification.manifests import chain_file_checks, manifest_checks
from krand.analysis.verification.plans import plan_file_checks
from krand.analysis.verification.results import results_checks, tally_agrees
from krand.batches import chain, manifest
from krand.errors import InvalidInput
from krand.files import json_object, read_whole
from krand.survey import plan as plans
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["KINDS", "Verified", "verify_files"]

KINDS = {
    plans.FORMAT: "plan",
    plans.OLD_FORMAT: "plan",
    results_file.FORMAT: "results",
    tally.FORMAT: "tally",
    manifest.FORMAT: "manifest",
    chain.CHAIN_FORMAT: "chain",
}
ORDER = ("plan", "results", "manifest", "chain", "tally")
"""Plans first, because the others may need one; tallies last: results are compared with them."""
RULE = "must be a plan, a tally, results as JSON, or the manifest or chain of a batch"


@dataclass(frozen=True, slots=True)
class Verified:
    """A file, and how its checks came out."""

    path: Path
    kind: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether every check does."""
        return all(entry.holds for entry in self.checks)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    content: bytes
    values: dict[str, Any]
    kind: str


def verify_files(
    paths: Sequence[Path],
    plan: Plan | None = None,
    key: Ed25519PublicKey | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Verified, ...]:
    """Check every file, and results against a tally of the same batches where both are given.

    A plan among the files, or inside results, stands in for `plan` where none is given.
    """
    told = progress or (lambda _: None)
    work = _Work(plan, key)
    files = [_opened(path) for path in paths]
    for file in sorted(files, key=lambda file: ORDER.index(file.kind)):
        told(file.path.name)
        work.check(file)
    return tuple(work.verified(file) for file in files)


class _Work:
    """What is known after some of the files."""

    def __init__(self, plan: Plan | None, key: Ed25519PublicKey | None) -> None:
        self.given, self.plan, self.key = plan, plan, key
        self.checks: dict[int, tuple[Check, ...]] = {}
        self.results: list[tuple[_File, Results]] = []

    def verified(self, file: _File) -> Verified:
        return Verified(file.path, file.kind, self.checks[id(file)])

    def check(self, file: _File) -> None:
        found = None
        if file.kind == "plan":
            plan_found = plan_file_checks(file.values, file.content, file.path, self.given)
            checks, found = plan_found.checks, plan_found.plan
        elif file.kind == "results":
            checks, results = results_checks(file.values, str(file.path), self.plan)
            if results is not None:
                self.results.append((file, results))
                found = results.plan
        elif file.kind == "manifest":
            plan, key = _needed_plan(file, self.plan), _needed_key(file, self.key)
            checks = tuple(manifest_checks(file.content, file.path, plan, key))
        elif file.kind == "chain":
            plan = _needed_plan(file, self.plan)
            checks = tuple(chain_file_checks(file.content, file.path, plan))
        else:
            plan, tally = _needed_plan(file, self.plan), read_tally(file.path)
            checks = tuple(tally_checks(plan, tally, self.key))
            self._compare(plan, tally)
        self.checks[id(file)] = checks
        self.plan = self.plan or found

    def _compare(self, plan: Plan, tally: Tally) -> None:
        """Results of the same batches must come out again."""
        for file, results in self.results:
            said = file.values.get("plan_hash"), results.round, results.batches
            if said == (tally.plan_hash, tally.round, tally.batches):
                self.checks[id(file)] += (tally_agrees(results, plan, tally),)


def _opened(path: Path) -> _File:
    content = read_whole("files", path)
    if content.startswith(b"PAR1"):
        hint = "give the manifest or the chain of a batch: it names the batch beside it"
        raise InvalidInput("files", RULE, str(path), hint)
    values = json_object("files", content, str(path))
    said = values.get("format")
    kind = KINDS.get(said) if isinstance(said, str) else None
    if kind is None:
        known = f"this krand checks {', '.join(KINDS)}"
        hint = results_file.AGAIN if results_file.is_earlier(values) else known
        raise InvalidInput("files", RULE, str(path), f"{said_format(values)}; {hint}")
    return _File(path, content, values, kind)


def _needed_plan(file: _File, plan: Plan | None) -> Plan:
    if plan is None:
        rule = f"must be given with a {file.kind}, which can only be checked against its plan"
        raise InvalidInput("plan", rule, str(file.path), "add --plan plan.json")
    return plan


def _needed_key(file: _File, key: Ed25519PublicKey | None) -> Ed25519PublicKey:
    if key is None:
        rule = "must be given with a manifest, which is worth what its signature is worth"
        hint = "add --collector-key collector.pub.pem"
        raise InvalidInput("collector_key", rule, str(file.path), hint)
    return key
