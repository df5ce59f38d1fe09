"""Other plans for the same survey: lists of mixers are believed if whole, and results name all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from analysis.mixed_surveys import mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import true_counts
from command_line import done, run
from krand.analysis.tally import Tally
from krand.errors import InvalidInput
from krand.partners.documents import PlanEntry, PlanState
from krand.partners.siblings import (
    PlanList,
    keep_lists,
    read_lists,
    siblings_bytes,
    siblings_of,
)
from krand.survey.questions import YesNo
from krand.wire.signed import Signed, sign
from mixed_plans import Party, party_of

OTHER, THIRD = "ab" * 32, "cd" * 32


@dataclass(frozen=True)
class Asked:
    """A plan of three mixers, and what was counted."""

    party: Party
    tally: Tally


@cache
def asked() -> Asked:
    """Made once."""
    party = party_of(mixed_plan_of((YesNo(name="smokes"),), mixers=3, epsilon=4.0))
    counts = true_counts(party.plan, {(("smokes", True),): 9, (): 3})
    (tally,) = mixed_tallies(party.plan, counts, 12, 1, seed=4)
    return Asked(party, tally)


def entry_of(number: int, previous: str = "", **changes: Any) -> PlanEntry:
    plan = asked().party.plan
    first = PlanEntry(
        number=number,
        plan=plan.hash,
        survey=plan.survey.id,
        organiser=plan.mixing.mixers[0].identity,
        epsilon=plan.promise.epsilon,
        delta=plan.promise.delta,
        closes="2027-01-31",
        state=PlanState.SIGNED,
        previous=previous,
    )
    return replace(first, **changes)


def list_of(key: Ed25519PrivateKey, *changes: dict[str, Any]) -> PlanList:
    """The plan itself, and entries that differ from its own."""
    entries: list[Signed[PlanEntry]] = []
    for number, change in enumerate(({}, *changes), 1):
        previous = entries[-1].sha256 if entries else ""
        entries.append(sign(entry_of(number, previous, **change), key))
    mixer = key.public_key().public_bytes_raw().hex()
    return PlanList(mixer=mixer, entries=tuple(entries))


def lists_of(*changes: dict[str, Any]) -> list[PlanList]:
    """Of the two mixers that have a service."""
    return [list_of(key, *changes) for key in asked().party.identities[1:]]


def written(folder: Path, lists: list[PlanList]) -> Path:
    (folder / "siblings.json").write_bytes(siblings_bytes(lists))
    return folder / "siblings.json"


def test_lists_show_every_other_plan_of_the_survey_once(tmp_path: Path) -> None:
    """Whatever its state and whoever asked; not plans for other surveys."""
    erased = {"plan": OTHER, "epsilon": 2.0, "state": PlanState.ERASED}
    other = {"plan": "ef" * 32, "survey": "another"}
    path = written(tmp_path, lists_of({"plan": OTHER, "epsilon": 2.0}, other, erased))
    plan = asked().party.plan
    found = siblings_of(plan, read_lists(path))
    assert found.lists == ("mixer 2", "mixer 3")
    (sibling,) = found.plans
    assert (sibling.plan, sibling.epsilon, sibling.mixers) == (OTHER, 2.0, found.lists)
    assert siblings_of(plan, lists_of()).plans == ()


def without_second(lists: list[PlanList]) -> list[PlanList]:
    first = lists[0]
    return [replace(first, entries=(first.entries[0], *first.entries[2:])), *lists[1:]]


def forged(lists: list[PlanList]) -> list[PlanList]:
    first = lists[0]
    changed = replace(first.entries[1], record=replace(first.entries[1].record, epsilon=0.1))
    return [replace(first, entries=(first.entries[0], changed, first.entries[2]))]


def of_a_stranger(_: list[PlanList]) -> list[PlanList]:
    return [list_of(Ed25519PrivateKey.generate())]


def without_this_plan(_: list[PlanList]) -> list[PlanList]:
    key = asked().party.identities[1]
    entry = sign(entry_of(1, plan=OTHER), key)
    return [PlanList(mixer=key.public_key().public_bytes_raw().hex(), entries=(entry,))]


def contradicting(lists: list[PlanList]) -> list[PlanList]:
    third = asked().party.identities[2]
    return [lists[0], list_of(third, {"plan": OTHER, "epsilon": 3.0})]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (without_second, "entry 2 must follow the one before it"),
        (forged, "entry 2 must be signed by its mixer"),
        (of_a_stranger, "lists of mixers of the plan"),
        (without_this_plan, "must list the plan itself"),
        (contradicting, "must say the same about a plan"),
        (lambda lists: [lists[0], lists[0]], "each mixer's list once"),
    ],
)
def test_a_list_that_was_touched_is_refused(
    change: Callable[[list[PlanList]], list[PlanList]], rule: str
) -> None:
    """Cut, changed, of somebody else, from before the plan, or at odds with another."""
    lists = lists_of({"plan": OTHER, "epsilon": 2.0}, {"plan": THIRD})
    with pytest.raises(InvalidInput, match=rule):
        siblings_of(asked().party.plan, change(lists))


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        '{"format": "krand-siblings-1"}',
        '{"format": "krand-siblings-1", "lists": [{"mixer": "ab"}]}',
        '{"format": "krand-siblings-1", "lists": [{"mixer": 1, "entries": []}]}',
    ],
)
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    """By its format, with what to do."""
    (tmp_path / "s.json").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match="siblings: must be a file of the format"):
        read_lists(tmp_path / "s.json")


def test_results_report_and_verify_name_all_siblings(tmp_path: Path) -> None:
    """An organiser who asks twice cannot keep the nicer results without everybody reading it."""
    plan = asked().party.plan
    plan.save(tmp_path / "plan.json")
    asked().tally.save(tmp_path / "tally.json")
    written(tmp_path, lists_of({"plan": OTHER, "epsilon": 2.0000001}))
    estimate = "estimate tally.json --plan plan.json"
    shown = done(f"{estimate} -o results.json --siblings siblings.json", at=tmp_path).stdout
    assert "One other plan was signed for this survey" in " ".join(shown.split())
    values = json.loads((tmp_path / "results.json").read_bytes())
    assert [each["plan"] for each in values["siblings"]["plans"]] == [OTHER]
    for language, said in (("en", "One other plan was signed"), ("de", "ein weiterer Plan")):
        done(f"report results.json -o report.html --language {language} --force", at=tmp_path)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert said in page
        assert OTHER in page
    verify = "verify results.json tally.json --plan plan.json"
    assert f"{OTHER} (ε = 2.001, " in " ".join(
        done(f"{verify} --siblings siblings.json", at=tmp_path).stdout.split()
    )
    checked = json.loads(done(f"{verify} --json", at=tmp_path).stdout)["files"][0]["checks"]
    assert {c["name"]: c["state"] for c in checked}["siblings"] == "not_checked"
    # Signed since, or left out.
    written(tmp_path, lists_of({"plan": OTHER, "epsilon": 2.0000001}, {"plan": THIRD}))
    later = run(f"{verify} --siblings siblings.json --json", at=tmp_path)
    assert (later.exit_code, f"they do not name the plan {THIRD}" in later.stdout) == (1, True)
    done(f"{estimate} -o silent.json", at=tmp_path)
    assert json.loads((tmp_path / "silent.json").read_bytes())["siblings"] is None
    silent = run("verify silent.json --siblings siblings.json --json", at=tmp_path)
    assert (silent.exit_code, f"they do not name the plan {OTHER}" in silent.stdout) == (1, True)


def test_a_list_that_is_kept_is_only_continued(tmp_path: Path) -> None:
    """A mixer that signs another list later contradicts itself, and the first one stays."""
    plan, path = asked().party.plan, tmp_path / "siblings.json"
    first, longer = lists_of(), lists_of({"plan": OTHER})
    assert keep_lists(path, plan, first).plans == ()
    assert [each.plan for each in keep_lists(path, plan, longer).plans] == [OTHER]
    for other in (first, lists_of({"plan": THIRD})):
        with pytest.raises(InvalidInput, match="must go on where the list that is kept ended"):
            keep_lists(path, plan, other)
    assert read_lists(path) == tuple(longer)
    assert keep_lists(path, plan, longer[1:]).lists == ("mixer 2", "mixer 3")
