"""Every field of every file is damaged, and whole files tell consistent lies: what catches them."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import krand
import steps
import world
from command_line import done, refused, run
from forge import STRUCTURE, Damage, canonical, damages, row_of, toml, verdict
from golden import Golden

Values = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """Real files of one round, and what they are verified with."""

    paths: dict[str, Path]
    """By kind; a batch lies beside its chain."""
    plan: krand.Plan

    def verify(self, kind: str, instead: Path) -> tuple[Any, ...]:
        """All files together, one of them replaced."""
        return krand.verify_files(list({**self.paths, kind: instead}.values()), self.plan)

    def alone(self, kind: str, path: Path) -> tuple[Any, ...]:
        """A file with nothing but its plan."""
        return krand.verify_files([path], None if kind == "plan" else self.plan)

    def values(self, kind: str) -> Values:
        """Of a file, to be changed at will."""
        found: Values = json.loads(self.paths[kind].read_bytes())
        return found


@cache
def devices() -> Files:
    """Noise of devices, through a collector."""
    study = steps.example("tiny")
    return Files(_of(study.at) | {"chain": _chain_of(study)}, study.plan)


@cache
def mixers() -> Files:
    """Noise of three mixers."""
    study = steps.example("trio")
    return Files(_of(study.at) | {"chain": _chain_of(study)}, study.plan)


def _chain_of(study: steps.Study) -> Path:
    return study.batch().with_suffix(".chain.json")


@cache
def records() -> Files:
    """Whole records of a data holder's table."""

    def make(at: Path) -> None:
        shutil.copy(world.plan_file("copies"), at / "plan.json")
        steps.counted(at, world.responses("copies"), at / "plan.json", "--joint smokes,pet")
        (at / "tally.json").rename(at / "tally-of-results.json")

    return Files(_of(world.once("forged-copies", make)), world.plan("copies"))


@cache
def simulated() -> Files:
    """Every kind of question, a group and words; counts of a simulation."""
    at = world.once("forged-mixers", partial(world.files, "mixers"))
    return Files(_of(at, tally="tally.json"), world.plan("mixers"))


def _of(at: Path, tally: str = "tally-of-results.json") -> dict[str, Path]:
    return {"plan": at / "plan.json", "tally": at / tally, "results": at / "results.json"}


WORLDS = {"devices": devices, "mixers": mixers, "records": records, "simulated": simulated}
WALKS = [
    *((name, "plan", 20) for name in WORLDS),
    *((name, "tally", 3) for name in WORLDS if name != "simulated"),
    *((name, "results", one_in) for name, one_in in zip(WORLDS, (20, 20, 30, 60), strict=True)),
    ("devices", "chain", 2),
    ("mixers", "chain", 3),
]
"""Whose file, of what kind, and which part of the damages is tried with little effort."""


@pytest.mark.parametrize(("name", "kind", "one_in"), WALKS)
def test_every_field_of_every_file_is_in_the_table(
    name: str, kind: str, one_in: int, tmp_path: Path
) -> None:
    """A change is caught by a check that the reference names, or it says that none can."""
    found, wrong = WORLDS[name](), []
    others = [other() for other in WORLDS.values() if other is not WORLDS[name]]
    other = next((each.values(kind) for each in others if kind in each.paths), None)
    forged = beside(found.paths[kind], tmp_path)
    tried = 0
    for damage in damages(found.values(kind), other, one_in):
        if kind == "results" and damage.field.startswith("plan."):
            continue  # walked as a plan
        if name == "simulated" and damage.field == "ids":
            continue  # nobody was asked, so there is no provenance to check
        tried += 1
        forged.write_bytes(canonical(damage.values))
        wrong += mistakes(found, kind, damage, forged)
    assert tried > 10
    assert not wrong, "\n".join(wrong)


def mistakes(found: Files, kind: str, damage: Damage, forged: Path) -> list[str]:
    """What the table does not say."""
    row = row_of(kind, damage.field)
    structure = damage.how in STRUCTURE
    caught, why = verdict(lambda: found.alone(kind, forged))
    told = []
    if not (caught or {"–"}) & (row.alone | (caught if structure else set())):
        told.append(f"{damage}: alone {sorted(caught)} instead of {sorted(row.alone)}; {why:.200}")
    if structure and "refused" in caught and not damage.is_named_in(why):
        told.append(f"{damage}: refused without a name: {why:.200}")
    if not structure:
        caught, why = verdict(lambda: found.verify(kind, forged))
        if not (caught or {"–"}) & row.together:
            told.append(f"{damage}: together {sorted(caught)} instead of {sorted(row.together)}")
    return told


def beside(path: Path, folder: Path) -> Path:
    """Where to write a forged file: with the same batch beside it."""
    stem = path.name.partition(".")[0]
    batch = path.with_name(f"{stem}.batch")
    if batch.exists():
        shutil.copy(batch, folder)
    return folder / path.name


# --- files that `krand verify` does not read ---------------------------------------------------

UNSEEN = {
    "responses": ("run*", "provenance changed", "people changed"),
    "invitations": ("handed_out*", "mailed*", "key changed", "rounds*"),
    "site": ("*changed", "*dropped", "*range"),
}
"""Changes that give another file of the kind, and who made the file is the only one who knows."""


@pytest.mark.parametrize("kind", ["signature", "responses", "invitations", "site"])
def test_every_field_of_other_files_is_held_to(kind: str, tmp_path: Path) -> None:
    """Dropped, added, of another type, out of range or changed: refused, with its name."""
    whole, use = USES[kind](tmp_path)
    use(whole)
    wrong = []
    for damage in damages(whole):
        if kind == "site" and damage.how == "type" and damage.now == "None":
            continue  # which TOML cannot say
        try:
            use(damage.values)
        except krand.KrandError as error:
            structural = damage.how in ("type", "added", "dropped")
            if structural and not damage.is_named_in(str(error)):
                wrong.append(f"{damage}: refused without a name: {error!s:.200}")
            continue
        if not any(
            fnmatchcase(f"{damage.field} {damage.how}", each) for each in UNSEEN.get(kind, ())
        ):
            wrong.append(f"{damage}: taken")
    assert not wrong, "\n".join(wrong)


Use = tuple[Values, Callable[[Values], object]]


def _signature(at: Path) -> Use:
    study = steps.example("trio")
    path = at / "signatures.json"
    first, *others = json.loads((study.at / "signatures.json").read_bytes())

    def use(values: Values) -> None:
        path.write_bytes(canonical([values, *others]))
        study.client(signatures=krand.read_signatures(path))

    return first, use


def _responses(at: Path) -> Use:
    plan, table = world.plan("tiny"), pq.read_table(world.responses("tiny"))

    def use(values: Values) -> None:
        pq.write_table(_about(table, values), at / "responses.parquet")
        krand.tally_responses(plan, [at / "responses.parquet"])

    about: Values = json.loads(table.schema.metadata[b"krand"])
    return about, use


def _about(table: pa.Table, values: Values) -> pa.Table:
    return table.replace_schema_metadata({b"krand": json.dumps(values).encode()})


def _invitations(at: Path) -> Use:
    values = json.loads(steps.example("tiny").plan.bytes)
    values["survey"]["invitations"] = True
    (at / "plan.json").write_bytes(canonical(values))
    done("invite plan.json --count 14 --url https://form.example/ -o links.csv", at=at)
    path = at / "invitations.json"

    def use(values: Values) -> None:
        """Whoever invites more people reads them, too."""
        path.write_bytes(canonical(values))
        (at / "more.csv").unlink(missing_ok=True)
        more = "invite plan.json --count 1 --url https://form.example/ -o more.csv --json"
        result = run(more, at=at)
        if result.exit_code:
            error = json.loads(result.stdout)["error"]
            raise krand.InvalidInput(error["field"], error["rule"], None, error["hint"])

    return json.loads(path.read_bytes()), use


def _site(at: Path) -> Use:
    whole: Values = {
        "name": "The works council",
        "folder": "council",
        "listen": "127.0.0.1:0",
        "address": "https://survey.example",
        "behind_proxy": True,
        "console": "127.0.0.1:0",
        "roles": ["collector", "mixer"],
        "surveys": [],
        "origins": ["https://form.example"],
        "addresses": {"ab" * 32: "http://10.0.0.2:8080"},
        "policy": {"accept": "ask"},
    }

    def use(values: Values) -> None:
        """No survey is named, so nothing else can be missing."""
        (at / "site.toml").write_text(toml(values), encoding="utf-8")
        result = run("run site.toml --check --json", at=at)
        assert result.exit_code in (0, 2), result.output
        if result.exit_code:
            error = json.loads(result.stdout)["error"]
            raise krand.InvalidInput("site.toml", error["message"], None)

    return whole, use


USES = {
    "signature": _signature,
    "responses": _responses,
    "invitations": _invitations,
    "site": _site,
}
"""What each file says, and what uses it."""


# --- lies that are consistent ------------------------------------------------------------------


def failed(found: tuple[Any, ...]) -> set[str]:
    """The checks that fail, of all files."""
    return {e.name for file in found for e in file.checks if e.state.value == "failed"}


def states(found: tuple[Any, ...], path: Path) -> dict[str, str]:
    """How the checks of a file came out."""
    (file,) = (file for file in found if file.path == path)
    return {entry.name: entry.state.value for entry in file.checks}


def written(path: Path, values: Values) -> Path:
    path.write_bytes(canonical(values))
    return path


@pytest.mark.parametrize("name", [*WORLDS, "kinds", "branches", "weeks"])
def test_what_krand_wrote_holds(name: str) -> None:
    """Plan, tally, results and what was signed: nothing fails, alone or together."""
    if name in WORLDS:
        found = WORLDS[name]()
        assert not failed(krand.verify_files(list(found.paths.values()), found.plan))
        for kind, path in found.paths.items():
            assert not failed(found.alone(kind, path)), path
    else:
        (plan,) = krand.verify_files([world.plan_file(name)])
        assert plan.state.value == "passed"


@pytest.mark.parametrize("name", ["tiny", "mixer", "copies"])
def test_less_noise_and_all_that_follows_from_it(name: str, tmp_path: Path) -> None:
    """A plan for twice the ε, with the survey itself."""
    true = json.loads(world.plan_file(name).read_bytes())
    policy = true["survey"]["policy"]
    text = world.survey_file(name).read_text(encoding="utf-8")
    asked = re.sub(r"epsilon = \S+", f"epsilon = {policy['epsilon'] * 2}", text)
    less = json.loads(krand.make_plan(krand.parse_survey(asked)).bytes)
    less["survey"] = true["survey"]
    found = failed(krand.verify_files([written(tmp_path / "plan.json", less)]))
    assert found == {"policy"}
    (tmp_path / "a.csv").write_text("fair\nyes\n", encoding="utf-8")
    error = refused("randomize a.csv -o r.parquet --plan plan.json", at=tmp_path)
    assert "policy" in error["message"] or name == "mixer", error


CLAIMS: list[tuple[str, str, Callable[[Values], object]]] = [
    ("plan", "policy", lambda v: v["survey"]["policy"].update(delta=1e-9)),
    ("plan", "policy", lambda v: v["survey"]["policy"].update(epsilon=1)),
    ("plan", "policy", lambda v: v["numerators"].insert(0, v["numerators"].pop(0) * 9 // 10)),
    ("plan", "noise", lambda v: v["numerators"].pop()),
    ("plan", "noise", lambda v: v["lanes"][0].update(positions=7)),
    ("plan", "noise", lambda v: v["lanes"][0].update(positions=True)),
    ("plan", "noise", lambda v: v["lanes"].pop()),
    ("plan", "nothing_else", lambda v: v.update(more=1)),
    ("plan", "nothing_else", lambda v: v["lanes"][0].update(more=1)),
    ("results", "promise", lambda v: v["promise"]["assumptions"].pop()),
    ("results", "promise", lambda v: v["promise"].update(delta=v["promise"]["delta"] / 10)),
    ("results", "promise", lambda v: v.update(rejected={"wrong_length": 9})),
    ("results", "kept", lambda v: v.update(kept=False)),
    ("results", "crowd", lambda v: v.update(crowd=v["crowd"] // 2)),
    ("results", "coalitions", lambda v: v["coalitions"].pop()),
    ("results", "coalitions", lambda v: v["coalitions"][-1].update(remains="promise")),
    ("results", "coalitions", lambda v: v["coalitions"][0].update(delta=1e-30)),
    ("tally", "crowd", lambda v: v.update(crowd=5)),
    ("tally", "counts", lambda v: v.update(responses=v["responses"] + 1)),
    ("tally", "chains", lambda v: v.update(people=v["people"] + 1)),
    ("tally", "chains", lambda v: v.update(chains=v["chains"] * 2)),
    ("tally", "chains", lambda v: v.update(chains=[])),
    ("tally", "provenance", lambda v: v.update(ids=["ab" * 16])),
]


@pytest.mark.parametrize(("kind", "expected", "edit"), CLAIMS)
def test_what_is_claimed_is_caught_by_its_own_check(
    kind: str, expected: str, edit: Callable[[Values], object], tmp_path: Path
) -> None:
    """With nothing but the plan beside."""
    found = devices()
    values = found.values(kind)
    edit(values)
    path = written(tmp_path / f"{kind}.json", values)
    assert expected in failed(found.alone(kind, path))


def test_a_plan_with_another_line_end_has_another_name(tmp_path: Path) -> None:
    """Every byte counts; and the plan that was given is the one that must be found."""
    content = world.plan_file("tiny").read_bytes()
    (tmp_path / "plan.json").write_bytes(content + b"\n")
    assert failed(krand.verify_files([tmp_path / "plan.json"])) == {"canonical"}
    with pytest.raises(krand.InvalidInput, match="unchanged"):
        krand.read_plan(tmp_path / "plan.json")
    given = krand.verify_files([world.plan_file("mixer")], world.plan("tiny"))
    assert failed(given) == {"same_plan"}


def test_results_with_less_noise_inside(tmp_path: Path) -> None:
    """The hash is that of the plan inside, so only what follows from the noise gives it away."""
    found = records()
    values = found.values("results")
    values["plan"]["numerators"] = [each * 9 // 10 for each in values["plan"]["numerators"]]
    values["plan_hash"] = hashlib.sha256(canonical(values["plan"])).hexdigest()
    caught = failed(krand.verify_files([written(tmp_path / "results.json", values)]))
    assert {"plan.policy", "promise", "policy", "standard_errors"} <= caught
    assert "plan_hash" not in caught


@pytest.mark.parametrize("name", ["devices", "mixers", "records"])
def test_twice_as_many_people_everywhere(name: str, tmp_path: Path) -> None:
    """The crowd looks larger; errors and shares are those of the true one."""
    found = WORLDS[name]()
    values = found.values("results")
    values |= {key: values[key] * 2 for key in ("people", "crowd")}
    for question in values["questions"]:
        question["people"] = values["people"]
    path = written(tmp_path / "results.json", values)
    assert {"shares", "intervals"} & failed(found.alone("results", path))
    assert "from_tally" in failed(found.verify("results", path))


def moved(tally: krand.Tally, people: int = 2) -> krand.Tally:
    """So many people moved from one answer of a question to another: every sum is the same."""
    counts = tally.counts.copy()
    counts[1:3] += -people, people
    return replace(tally, counts=counts)


@pytest.mark.parametrize("change", [{}, {"batches": ["cd" * 32]}, {"round": 2}])
@pytest.mark.parametrize("name", ["devices", "mixers"])
def test_results_of_moved_counts_beside_the_true_tally(
    name: str, change: Values, tmp_path: Path
) -> None:
    """Whatever else is written into them: they are of no tally that was given, or of another."""
    found = WORLDS[name]()
    forged = krand.make_results(found.plan, moved(krand.read_tally(found.paths["tally"])))
    forged.save(tmp_path / "results.json")
    path = written(tmp_path / "forged.json", read(tmp_path / "results.json") | change)
    try:
        assert states(found.verify("results", path), path)["from_tally"] == "failed"
    except krand.InvalidInput:
        assert change == {"round": 2}, "a plan of one round has no other"


def read(path: Path) -> Values:
    values: Values = json.loads(path.read_bytes())
    return values


def test_only_who_counts_again_catches_counts_that_were_moved(tmp_path: Path) -> None:
    """Tally and results agree, and nothing fails; it is said that nobody has counted again."""
    found = mixers()
    forged = moved(krand.read_tally(found.paths["tally"]))
    forged.save(tmp_path / "tally.json")
    krand.make_results(found.plan, forged).save(tmp_path / "results.json")
    given = krand.verify_files([tmp_path / "tally.json", tmp_path / "results.json"], found.plan)
    for file in given:
        missing = [entry.name for entry in file.checks if entry.state.value != "passed"]
        assert missing == ["counted_again"]
        assert file.state.value == "not_checked"
    study = steps.example("trio")
    again = krand.tally_batches(found.plan, [study.batch()], study.key)
    assert again.sha256 == krand.read_tally(found.paths["tally"]).sha256 != forged.sha256


def test_files_of_another_survey_fail_wherever_they_are() -> None:
    """A tally beside other results, a batch that was not counted, another plan."""
    mixed, table = mixers(), records()
    plans = krand.verify_files([mixed.paths["plan"], table.paths["plan"]])
    assert [file.state.value for file in plans] == ["passed", "failed"]
    for kind, name in (("tally", "results"), ("results", "from_tally"), ("plan", "same_plan")):
        path = table.paths[kind]
        assert states(mixed.verify(kind, path), path)[name] == "failed"
    chain = mixed.paths["chain"]
    given = krand.verify_files([chain, table.paths["tally"], table.paths["results"]], mixed.plan)
    found = states(given, chain)
    assert (found["in_tally"], found["in_results"]) == ("failed", "failed")


@pytest.mark.parametrize("name", ["devices", "mixers"])
def test_the_people_of_results_are_those_that_were_signed(name: str, tmp_path: Path) -> None:
    """Without the tally, what was signed about all batches shows the number of people."""
    found = WORLDS[name]()
    signed, true = found.paths["chain"], found.paths["results"]
    assert states(krand.verify_files([signed, true], found.plan), true)["signed_people"] == "passed"
    values = found.values("results")
    more = written(tmp_path / "results.json", values | {"people": values["people"] + 1})
    given = krand.verify_files([signed, more], found.plan)
    assert states(given, more)["signed_people"] == "failed"


def signed_link(study: steps.Study, hop: int, values: Values, **change: Any) -> Values:
    """By the reference: Ed25519 over a purpose and the canonical JSON without the signature."""
    told = {name: each for name, each in values.items() if name != "signature"} | change
    signature = study.identity(hop).sign(b"krand link\0" + canonical(told)).hex()
    return told | {"signature": signature}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, set()),
        ({"plan": "0" * 64}, {"chain"}),
        ({"round": 2}, {"chain"}),
        ({"people": 11}, {"chain"}),
        ({"output": "0" * 64}, {"batch_hash"}),
    ],
)
def test_a_collector_that_signs_nonsense(
    change: Values, expected: set[str], tmp_path: Path
) -> None:
    """The signature holds; what it is for does not."""
    found, study = devices(), steps.example("tiny", tmp_path / "study")
    path = beside(found.paths["chain"], tmp_path)
    (link,) = found.values("chain")["links"]
    links = [signed_link(study, 1, link, **change)]
    written(path, {"format": "krand-chain-1", "links": links})
    assert failed(krand.verify_files([path], found.plan)) == expected


def test_one_byte_of_a_batch(tmp_path: Path) -> None:
    """By its hash alone: a message looks like any other. Where it was cut, by its size too."""
    found = devices()
    path = beside(found.paths["chain"], tmp_path)
    shutil.copy(found.paths["chain"], path)
    batch = path.with_name(path.name.replace(".chain.json", ".batch"))
    content = bytearray(batch.read_bytes())
    content[100] ^= 1
    for damaged, expected in (
        (content, {"batch_hash"}),
        (content[:50], {"batch_hash", "batch_size"}),
    ):
        batch.write_bytes(damaged)
        assert failed(krand.verify_files([path], found.plan)) == expected
        with pytest.raises(krand.KrandError):
            krand.tally_batches(found.plan, [batch], steps.example("tiny").key)
    batch.unlink()
    assert failed(krand.verify_files([path], found.plan)) == {"batch_hash"}


def test_devices_that_never_were(tmp_path: Path) -> None:
    """A table said to be a batch of devices, signed by somebody who is not in the plan."""
    found = devices()
    stranger = steps.example("mixer", tmp_path / "stranger")
    (link,) = json.loads(json.loads(found.paths["tally"].read_bytes())["chains"][0])["links"]
    chain = {"format": "krand-chain-1", "links": [signed_link(stranger, 1, link)]}
    tally = found.values("tally") | {"chains": [canonical(chain).decode()]}
    path = written(tmp_path / "tally.json", tally)
    given = krand.verify_files([path, found.paths["results"]], found.plan)
    told = states(given, path)
    assert (told["provenance"], told["chains"]) == ("failed", "failed")


def test_messages_that_nobody_sent(tmp_path: Path) -> None:
    """Everybody sends as many as the plan says; one more or less belongs to nobody."""
    found = devices()
    for more in (1, -1):
        values = found.values("tally")
        values["nulls"] += more
        values["lane_nulls"][0] += more
        path = written(tmp_path / "tally.json", values)
        assert "counts" in failed(found.alone("tally", path))


@pytest.mark.parametrize("part", ["counts", "table", "histogram"])
def test_counts_of_records_must_agree(part: str, tmp_path: Path) -> None:
    """Bits, vectors and the histogram are three views of the same responses."""
    found = records()
    values = found.values("tally")
    values[part][1] += 1
    path = written(tmp_path / "tally.json", values)
    assert failed(found.alone("tally", path)) == {"counts"}
    with pytest.raises(krand.KrandError):
        krand.make_results(found.plan, krand.read_tally(path))


def test_tables_are_those_of_the_same_people(tmp_path: Path) -> None:
    """One that was asked for and is gone, and one with two cells exchanged."""
    found = records()
    values = found.values("results")
    cells = values["joint"][0]["table"]["counts"][0]
    assert failed(found.alone("results", written(tmp_path / "r.json", values))) == set()
    cells[0], cells[1] = cells[1], cells[0]
    path = written(tmp_path / "results.json", values)
    assert "joint_tables" in failed(found.alone("results", path))
    grouped = simulated().values("results")
    grouped["joint"].clear()
    path = written(tmp_path / "grouped.json", grouped)
    assert failed(simulated().alone("results", path)) == {"counts", "joint_tables"}


@pytest.mark.parametrize("name", ["simulated", "records"])
def test_all_intervals_have_one_confidence(name: str, tmp_path: Path) -> None:
    """Intervals of few people are alike for many confidences: only the others tell."""
    found = WORLDS[name]()
    for part in ("questions", "words", "joint"):
        values = found.values("results")
        if values[part]:
            first = values[part][0]
            first.get("table", first)["confidence"] = 0.97
            path = written(tmp_path / "results.json", values)
            assert "questions" in failed(found.alone("results", path)), part


def test_a_broken_promise_that_is_told_honestly_fails_by_its_policy(tmp_path: Path) -> None:
    """Many messages were refused, and the results say themselves that the promise is not kept."""
    plan, tally = world.plan("kinds"), world.tally("kinds")
    empty = [
        tally.people * lane.messages
        - tally.counts[lane.offset : lane.offset + lane.positions].sum()
        for lane in plan.lanes
    ]
    empty[0] -= 15_000
    refused_ones = {"nulls": int(sum(empty)), "rejected": {"wrong_length": 15_000}}
    results = krand.make_results(plan, replace(tally, lane_nulls=np.array(empty), **refused_ones))
    assert not results.kept
    results.save(tmp_path / "results.json")
    assert failed(krand.verify_files([tmp_path / "results.json"])) == {"policy"}


# --- the command -------------------------------------------------------------------------------


def test_the_command_says_what_was_checked(tmp_path: Path, golden: Golden) -> None:
    """Every check with a sentence; what failed by its exit code; nothing with --quiet."""
    world.files("mixer", tmp_path)
    files = "plan.json tally.json results.json"
    golden("verify/mixer", done("verify", files, at=tmp_path).stdout)
    assert done("verify", files, "--quiet", at=tmp_path).output == ""
    assert run("verify", files, "--strict", at=tmp_path).exit_code == 5
    written(tmp_path / "results.json", read(tmp_path / "results.json") | {"crowd": 2})
    result = run("verify", files, "--json", at=tmp_path)
    assert result.exit_code == 1, result.output
    found = json.loads(result.stdout)
    assert [file["state"] for file in found["files"]] == ["passed", "not_checked", "failed"]
    text = run("verify", files, at=tmp_path)
    assert text.exit_code == 1
    assert "✗ failed" in text.stdout


FORMATS = ("plan", "tally", "results", "chain")


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"format": []}', b"PAR1", b"[" * 10**5, b'{"format": "krand-plan-6"}']
    + [b'{"format": "krand-%s-1"}' % form.encode() for form in FORMATS]
    + [b'{"format": "krand-%s-2"}' % form.encode() for form in FORMATS],
    ids=repr,
)
def test_files_of_no_kind_are_refused(content: bytes, tmp_path: Path) -> None:
    """Also those that say what they are and are not; a tally without its plan is not checked."""
    (tmp_path / "x.json").write_bytes(content)
    found = refused("verify x.json --plan", world.plan_file("tiny"), at=tmp_path)
    assert found["field"] in ("files", *FORMATS)
    if b"-2" in content:
        assert "krand-results-1" in found["message"]
    assert refused("verify absent.json", at=tmp_path)["field"] == "files"
    assert refused("verify", devices().paths["tally"], at=tmp_path)["field"] == "plan"
