"""The public fakes keep the rules of what they stand for."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import steps
from krand import (
    AlreadySubmitted,
    Client,
    CrowdTooSmall,
    InvalidInput,
    Ledger,
    Linkage,
    NotDelivered,
    Plan,
    generate_private_key,
    make_plan,
    make_results,
    parse_survey,
    promise_of,
    tally_batches,
    verify_files,
)
from krand.testing import (
    MIXED_SURVEY,
    SMALL_SURVEY,
    FakeChain,
    FakeCollector,
    UnsafeMemoryLedger,
    simulated_people,
    simulated_table,
    small_plan,
    small_survey,
    unsafe_exact_plan,
    unsafe_simulated_tally,
)

KEY = generate_private_key()
ANSWERS = {"smokes": True, "pet": "dog"}
EXACT = steps.named(unsafe_exact_plan(small_survey()), KEY)
SEALED = steps.named(small_plan(), KEY)


def client_for(plan: Plan, collector: FakeCollector, ledger: Ledger | None = None) -> Client:
    return steps.device(plan, ledger, transport=collector)


def answered(plan: Plan, people: list[dict[str, Any]]) -> FakeChain:
    """A collector to which all of them have sent."""
    chain = FakeChain(plan)
    for answers in people:
        chain.client().submit(answers)
    return chain


def counts(plan: Plan, tally: Any) -> dict[str, int]:
    """How many have which pet."""
    return {row.label: round(row.count) for row in make_results(plan, tally).questions[1].rows}


def test_the_small_plan_is_that_of_the_small_survey() -> None:
    """It was planned, not made up: the noise is the least that keeps the policy."""
    planned = make_plan(parse_survey(SMALL_SURVEY))
    assert [block.noise for block in small_plan().blocks] == [b.noise for b in planned.blocks]
    assert small_plan().survey == small_survey() == planned.survey
    assert promise_of(small_plan()).delta <= small_survey().policy.delta


def test_an_exact_plan_counts_exactly_and_claims_to_hide_nobody(tmp_path: Path) -> None:
    """Through client, collector, tally and estimate; from a file nobody takes it."""
    people = simulated_people(small_survey(), 100, seed=3)
    chain = answered(unsafe_exact_plan(small_survey()), people)
    batch = chain.release(tmp_path / "out")
    tally = tally_batches(chain.plan, [batch], chain.key)
    assert (tally.people, dict(tally.rejected)) == (100, {})
    assert counts(chain.plan, tally) == {
        pet: sum(answers.get("pet") == pet for answers in people) for pet in ("cat", "dog", "none")
    }
    (link,) = json.loads(batch.with_suffix(".chain.json").read_bytes())["links"]
    assert {lane["dummies"] for lane in link["lanes"]} == {0}, "devices alone add the noise"
    assert promise_of(chain.plan).delta == 1
    chain.plan.save(tmp_path / "plan.json")
    (file,) = verify_files([tmp_path / "plan.json"])
    assert {entry.name for entry in file.checks if not entry.holds} == {"policy"}
    with pytest.raises(InvalidInput, match="410 must not be closed"):
        chain.client().submit(ANSWERS)


def test_nothing_is_released_below_the_crowd(tmp_path: Path) -> None:
    """One person is missing: an error, and no file."""
    chain = answered(small_plan(), simulated_people(SEALED.survey, 99, seed=1))
    with pytest.raises(CrowdTooSmall):
        chain.release(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_retry_counts_once_and_what_is_no_submission_is_refused() -> None:
    """Another plan, another round, too short, too long: each with its rule, and nobody counted."""

    class Watched(FakeCollector):
        def post(self, url: str, body: bytes) -> Any:
            seen.append((url, body))
            return super().post(url, body)

    seen: list[tuple[str, bytes]] = []
    client_for(SEALED, Watched(SEALED)).submit(ANSWERS)
    ((here, body),) = seen
    collector = FakeCollector(SEALED)
    wrong = [
        (here.replace(SEALED.hash, "ab" * 32), body),
        (here, body[:1] + (2).to_bytes(2, "big") + body[3:]),
        (here, body[:10]),
        (here, body + b"x"),
    ]
    replies = [collector.post(url, content) for url, content in wrong]
    assert [reply.status for reply in replies] == [404, 400, 413, 413]
    assert [reply.rule for reply in replies] == collector.refused
    assert len(set(collector.refused)) == 4
    assert collector.people == 0
    assert [collector.post(here, body).status for _ in range(2)] == [202, 202]
    assert (collector.people, collector.repeated) == (1, 1)
    sent = sorted(message for _, message in collector.messages())
    assert all(message in body for message in sent)
    with pytest.raises(InvalidInput, match="must be accepted by the collector"):
        client_for(EXACT, collector).submit(ANSWERS)


def test_failures_come_in_order_and_the_same_bytes_again() -> None:
    """Two in trouble, the third time stored; waits grow, and no time passes.

    Whoever gives up sends the same later.
    """
    collector = FakeCollector(SEALED)
    client = client_for(SEALED, collector)
    kept = client.prepare(ANSWERS)
    collector.fail_next(*[503] * 8)
    with pytest.raises(NotDelivered):
        client.submit(ANSWERS)
    assert len(collector.waited) == 7
    collector.fail_next(OSError("no network"), 503)
    client.submit({"pet": "cat"})
    assert sorted(message for _, message in collector.messages()) == sorted(kept.messages)
    first, second = collector.waited[7:]
    assert 0.5 <= first < 1.5
    assert 1.0 <= second < 3.0


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_the_ledger_in_memory_remembers_like_the_one_on_disk(kind: str, tmp_path: Path) -> None:
    """One submission for a round, also for many at once; none after it arrived."""
    ledger = Ledger(tmp_path / "ledger") if kind == "file" else UnsafeMemoryLedger()
    client = steps.device(SEALED, ledger)
    with ThreadPoolExecutor(4) as threads:
        made = set(threads.map(lambda _: client.prepare(ANSWERS), range(12)))
    assert len(made) == 1
    assert client.prepare({}) in made
    (entry,) = ledger.entries()
    assert (entry.plan_hash, entry.round, entry.acknowledged) == (SEALED.hash, 1, False)
    client.acknowledge(1)
    with pytest.raises(AlreadySubmitted):
        client.prepare(ANSWERS)
    assert ledger.entries()[0].acknowledged
    assert (ledger.spent().epsilon, ledger.spent().surveys) == (SEALED.survey.policy.epsilon, 1)


@pytest.mark.parametrize("mixers", [1, 3])
def test_answers_arrive_with_the_dummies_of_all_mixers(mixers: int, tmp_path: Path) -> None:
    """Many more dogs than noise could bring, as many mixers, and nobody after it is closed."""
    survey = parse_survey(MIXED_SURVEY.replace("mixers = 2", f"mixers = {mixers}"))
    chain, people = FakeChain(make_plan(survey)), 60
    for _ in range(people):
        chain.client().submit(ANSWERS)
    batch = chain.release(tmp_path / "out")
    tally = tally_batches(chain.plan, [batch], chain.key)
    assert (tally.people, dict(tally.rejected)) == (people, {})
    links = json.loads(batch.with_suffix(".chain.json").read_bytes())
    assert len(links["links"]) == mixers
    found = make_results(chain.plan, tally).questions
    for row in (found[0].rows[0], *found[1].rows):
        true = people if row.label in ("yes", "dog") else 0
        assert abs(row.count - true) <= 7 * row.standard_error, row.label
        assert row.standard_error > 0.5, "there is no noise"
    with pytest.raises(InvalidInput, match="410 must not be closed"):
        chain.client().submit(ANSWERS)


def test_each_mixer_has_its_place_and_draws_anew(tmp_path: Path) -> None:
    """Two outputs of one input differ, as a mixer's would: so it must never give two."""
    chain = FakeChain(make_plan(parse_survey(MIXED_SURVEY.replace("mixers = 2", "mixers = 3"))))
    chain.client().submit({"pet": "dog"})
    batch = chain.collect(tmp_path / "collected")
    first, again = (chain.mix(batch, 2, tmp_path / out).read_bytes() for out in "ab")
    assert first != again
    with pytest.raises(InvalidInput, match="chain: must have 2 links"):
        chain.mix(batch, 3, tmp_path / "c")


KINDS = """
[[question]]
name = "age"
type = "number"
edges = [0, 18, 99]

[[question]]
name = "likes"
type = "pick_any"
choices = ["cat", "dog"]

[[question]]
name = "tags"
type = "words"
positions = 64
hashes = 1
"""


def test_simulated_people_are_the_same_for_the_same_seed() -> None:
    """They answer all kinds of questions by their rules, alone or as a table."""
    survey = parse_survey(SMALL_SURVEY + KINDS)
    people = simulated_people(survey, 50, seed=7)
    assert people == simulated_people(survey, 50, seed=7)
    assert people != simulated_people(survey, 50, seed=8)
    assert {name for answers in people for name in answers} >= {"smokes", "age", "likes", "tags"}
    answered(unsafe_exact_plan(survey), people[:10])
    table = simulated_table(survey, 50, seed=7).to_pylist()
    assert [{k: v for k, v in row.items() if v is not None} for row in table] == people


def test_simulated_tallies_have_the_noise_of_the_plan() -> None:
    """Over many seeds estimates have the true mean, and σ as planned; results say what they are."""
    plan, people = small_plan(), simulated_table(small_survey(), 100, seed=1)
    true = unsafe_simulated_tally(unsafe_exact_plan(small_survey()), people, seed=1).counts
    assert true[0] == people["smokes"].to_pylist().count(True)
    tallies = [unsafe_simulated_tally(plan, people, seed) for seed in range(200)]
    assert tallies[1].same_as(unsafe_simulated_tally(plan, people, 1))
    assert not tallies[1].same_as(tallies[2])
    assert make_results(plan, tallies[1]).provenance.value == "simulation"
    noises = np.repeat([block.noise for block in plan.blocks], [1, 3])
    estimates = (np.array([t.counts for t in tallies]) - 100 * noises) / (1 - 2 * noises)
    sigmas = np.sqrt(100 * noises * (1 - noises)) / (1 - 2 * noises)
    assert np.abs(estimates.mean(axis=0) - true).max() < (5 * sigmas / 200**0.5).max()
    assert estimates.std(axis=0) == pytest.approx(sigmas, rel=0.25)


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (simulated_table(small_survey(), 99, seed=1), {}, "planned crowd of 100"),
        (simulated_table(small_survey(), 100, seed=1), {"round_number": 2}, "round"),
        (pa.table({"pet": ["yak"] * 100}), {}, "pet"),
    ],
)
def test_a_simulated_tally_needs_what_a_real_one_needs(
    table: pa.Table, options: dict[str, int], said: str
) -> None:
    """The crowd, a round of the plan, valid answers."""
    with pytest.raises(InvalidInput, match=re.escape(said)):
        unsafe_simulated_tally(small_plan(), table, seed=1, **options)
    records = unsafe_exact_plan(small_survey().changed(linkage=Linkage.RECORD))
    with pytest.raises(InvalidInput, match="bit linkage"):
        unsafe_simulated_tally(records, simulated_table(small_survey(), 100, seed=1), seed=1)
