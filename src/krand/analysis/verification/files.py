"""Files of any kind: what each is, it says itself; then everything about it is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.analysis import results_file as release_file
from krand.analysis import tally
from krand.analysis.published_file import said_format
from krand.analysis.tally import Tally
from krand.analysis.tally_file import read_tally
from krand.analysis.verification.checks import Check
from krand.analysis.verification.manifests import manifest_checks
from krand.analysis.verification.plans import plan_file_checks
from krand.analysis.verification.releases import release_checks, tally_agrees
from krand.analysis.verification.tallies import tally_checks
from krand.batches import manifest
from krand.errors import InvalidInput
from krand.files import json_object, read_whole
from krand.survey import plan as plans
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

__all__ = ["KINDS", "Verified", "verify_files"]

KINDS = {
    plans.FORMAT: "plan",
    release_file.FORMAT: "release",
    tally.FORMAT: "tally",
    manifest.FORMAT: "manifest",
}
ORDER = ("plan", "release", "manifest", "tally")
"""Plans first, because the others may need one; tallies last, because releases are held to them."""
RULE = "must be a plan, a tally, a release as JSON, or the manifest of a batch"


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
    """Check every file, and a release against a tally of the same batches where both are given.

    A plan among the files, or inside a release, stands in for `plan` where none is given.
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
        self.releases: list[_File] = []

    def verified(self, file: _File) -> Verified:
        return Verified(file.path, file.kind, self.checks[id(file)])

    def check(self, file: _File) -> None:
        found = None
        if file.kind == "plan":
            plan_found = plan_file_checks(file.values, file.content, file.path, self.given)
            checks, found = plan_found.checks, plan_found.plan
        elif file.kind == "release":
            source = str(file.path)
            checks, found = release_checks(file.values, source, self.plan)
            self.releases.append(file)
        elif file.kind == "manifest":
            plan, key = _needed_plan(file, self.plan), _needed_key(file, self.key)
            checks = tuple(manifest_checks(file.values, file.content, file.path, plan, key))
        else:
            plan, tally = _needed_plan(file, self.plan), read_tally(file.path)
            checks = tuple(tally_checks(plan, tally, self.key))
            self._compare(plan, tally)
        self.checks[id(file)] = checks
        self.plan = self.plan or found

    def _compare(self, plan: Plan, tally: Tally) -> None:
        """Releases of the same batches must come out again."""
        for file in self.releases:
            said = file.values["plan_hash"], file.values["round"], file.values["batches"]
            if said == (tally.plan_hash, tally.round, list(tally.batches)):
                agrees = tally_agrees(file.values, str(file.path), plan, tally)
                self.checks[id(file)] += (agrees,)


def _opened(path: Path) -> _File:
    content = read_whole("files", path)
    if content.startswith(b"PAR1"):
        hint = "give the manifest of a batch: it names the batch beside it"
        raise InvalidInput("files", RULE, str(path), hint)
    values = json_object("files", content, str(path))
    said = values.get("format")
    kind = KINDS.get(said) if isinstance(said, str) else None
    if kind is None:
        hint = f"{said_format(values)}; this krand checks {', '.join(KINDS)}"
        raise InvalidInput("files", RULE, str(path), hint)
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
