"""The public fakes keep the rules of what they stand for."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from krand import (
    Client,
    Ledger,
    Plan,
    generate_private_key,
    generate_signing_key,
    make_plan,
    make_results,
    tally_batches,
)
from krand.batches.provenance import Provenance
from krand.client.ledger import AlreadySubmitted
from krand.client.sending import NotDelivered
from krand.errors import InvalidInput
from krand.promise import Linkage, Method, Policy
from krand.survey.encoding import encode
from krand.survey.plan_check import CrowdTooSmall
from krand.survey.plan_file import parse_plan
from krand.survey.questions import Number, PickAny, Words, YesNo
from krand.survey.survey import Survey
from krand.testing import (
    FakeCollector,
    UnsafeMemoryLedger,
    simulated_people,
    simulated_table,
    small_plan,
    small_survey,
    unsafe_exact_plan,
    unsafe_simulated_tally,
)
from krand.wire.submissions import submission_bytes
from plans import numerators_of

KEY = generate_private_key()
ANSWERS = {"smokes": True, "pet": "dog"}


def client_for(plan: Plan, collector: FakeCollector, ledger: Ledger | None = None) -> Client:
    kept = UnsafeMemoryLedger() if ledger is None else ledger
    return Client(plan, kept, transport=collector, expected_hash=plan.hash)


def sealed_plan() -> Plan:
    return small_plan().sealed_for(KEY.public_key())


def exact_plan(survey: Survey) -> Plan:
    return unsafe_exact_plan(survey).sealed_for(KEY.public_key())


@pytest.fixture(autouse=True)
def no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits in these tests; threads that other tests have left may."""
    sleep = time.sleep

    def asleep(seconds: float) -> None:
        if threading.current_thread() is threading.main_thread():
            pytest.fail("slept")
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", asleep)


def test_the_small_plan_is_that_of_the_small_survey() -> None:
    """It was planned, not made up: the noise is the least that keeps the policy."""
    planned = make_plan(small_survey())
    assert numerators_of(small_plan()) == numerators_of(planned)
    assert small_plan().survey == small_survey()
    assert small_plan().promise.delta <= small_survey().policy.delta
    assert small_plan() is small_plan()


@pytest.mark.check
@pytest.mark.parametrize("linkage", list(Linkage))
def test_an_exact_plan_gives_exact_counts(linkage: Linkage, tmp_path: Path) -> None:
    """Through client, collector, tally and estimate: everybody's answer arrives once."""
    policy = Policy(epsilon=1.0, minimum_crowd=40, delta=1e-4)
    plan = exact_plan(
        Survey(
            id="habits",
            policy=policy,
            questions=small_survey().questions,
            linkage=linkage,
            copies=1,
        )
    )
    people = simulated_people(plan.survey, 40, seed=3)
    collector = FakeCollector(plan)
    for answers in people:
        client_for(plan, collector).submit(collector.url, answers)
    batch = collector.release(tmp_path / "out")
    tally = tally_batches(plan, [batch], KEY, collector.public_key)
    assert (tally.people, dict(tally.rejected)) == (40, {})
    counts = {row.label: round(row.count) for row in make_results(plan, tally).questions[1].rows}
    assert counts == {
        pet: sum(answers.get("pet") == pet for answers in people) for pet in ("cat", "dog", "none")
    }


def test_an_exact_plan_does_not_claim_to_hide_anybody() -> None:
    """δ is 1 and the method says what it is; from a file nobody takes it."""
    plan = unsafe_exact_plan(small_survey())
    assert plan.promise.delta == 1
    assert plan.promise.method is Method.NONE
    with pytest.raises(InvalidInput, match="must promise what its survey asks for"):
        parse_plan(plan.bytes)


def test_people_are_the_same_for_the_same_seed_and_answer_by_the_rules() -> None:
    """All sorts of questions; what they say can be encoded, alone or as a table."""
    policy = Policy(epsilon=1.0, minimum_crowd=100, delta=1e-4)
    questions = (
        *small_survey().questions,
        YesNo(name="car"),
        Number(name="age", edges=(0.0, 18.0, 99.0)),
        PickAny(name="likes", choices=small_survey().questions[1].choices, at_most=2),
        Words(name="tags", size=64, hashes=1, at_most=2),
    )
    survey = Survey(id="everything", policy=policy, questions=questions)
    people = simulated_people(survey, 50, seed=7)
    assert people == simulated_people(survey, 50, seed=7)
    assert people != simulated_people(survey, 50, seed=8)
    layout = unsafe_exact_plan(survey).layout
    assert sum(len(encode(layout, answers)) for answers in people) > 100
    table = simulated_table(survey, 50, seed=7).to_pylist()
    assert [{k: v for k, v in row.items() if v is not None} for row in table] == people


def test_a_retry_counts_once() -> None:
    """The same bytes twice are one person."""
    collector = FakeCollector(sealed_plan())
    made = client_for(sealed_plan(), collector).prepare(ANSWERS)
    body = submission_bytes(1, made.id, made.messages)
    for _ in range(2):
        assert (
            collector.post(f"{collector.url}/v1/{sealed_plan().hash}/submissions", body).status
            == 202
        )
    assert (collector.people, collector.repeated) == (1, 1)
    assert sorted(message for _, message in collector.messages()) == sorted(made.messages)


def test_what_is_no_submission_of_the_plan_is_refused() -> None:
    """Another plan, another round, too short, too long: each with its rule, and nobody counted."""
    plan, collector = sealed_plan(), FakeCollector(sealed_plan())
    made = client_for(plan, collector).prepare(ANSWERS)
    here = f"{collector.url}/v1/{plan.hash}/submissions"
    body = submission_bytes(1, made.id, made.messages)
    replies = [
        collector.post(here.replace(plan.hash, "ab" * 32), body),
        collector.post(here, submission_bytes(2, made.id, made.messages)),
        collector.post(here, body[:10]),
        collector.post(here, body + b"x"),
    ]
    assert [reply.status for reply in replies] == [404, 422, 422, 422]
    assert len(set(collector.refused)) == 4
    assert [reply.rule for reply in replies] == collector.refused
    assert collector.people == 0


def test_a_client_of_another_plan_is_told() -> None:
    """As by a real collector: an error that names the submission."""
    collector = FakeCollector(sealed_plan())
    other = exact_plan(small_survey())
    with pytest.raises(InvalidInput, match="must be accepted by the collector"):
        client_for(other, collector).submit(collector.url, ANSWERS)


def test_failures_come_in_order_and_the_same_bytes_again() -> None:
    """Two in trouble, the third time stored; the waits grow, and no time passes."""
    seen: list[bytes] = []

    class Watched(FakeCollector):
        def post(self, url: str, body: bytes) -> object:  # type: ignore[override]
            seen.append(body)
            return super().post(url, body)

    collector = Watched(sealed_plan())
    collector.fail_next(OSError("no network"), 503)
    client_for(sealed_plan(), collector).submit(collector.url, ANSWERS)
    assert len(seen) == 3
    assert len(set(seen)) == 1
    assert collector.people == 1
    first, second = collector.waited
    assert 0.5 <= first < 1.5
    assert 1.0 <= second < 3.0


def test_a_device_that_gave_up_sends_the_same_later() -> None:
    """NotDelivered after eight attempts; the ledger keeps the submission."""
    collector = FakeCollector(sealed_plan())
    client = client_for(sealed_plan(), collector)
    collector.fail_next(*[503] * 8)
    with pytest.raises(NotDelivered):
        client.submit(collector.url, ANSWERS)
    kept = client.prepare(ANSWERS)
    client.submit(collector.url, {"pet": "cat"})
    assert sorted(message for _, message in collector.messages()) == sorted(kept.messages)


def test_nothing_is_released_below_the_crowd(tmp_path: Path) -> None:
    """One person is missing: an error, and no file."""
    plan, collector = sealed_plan(), FakeCollector(sealed_plan())
    for answers in simulated_people(plan.survey, 99, seed=1):
        client_for(plan, collector).submit(collector.url, answers)
    with pytest.raises(CrowdTooSmall):
        collector.release(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def released_batch(folder: Path) -> tuple[Plan, FakeCollector, Path]:
    """Of a hundred people."""
    plan = exact_plan(small_survey())
    collector = FakeCollector(plan)
    for answers in simulated_people(plan.survey, 100, seed=1):
        client_for(plan, collector).submit(collector.url, answers)
    return plan, collector, collector.release(folder)


def test_a_batch_is_signed_by_its_own_collector(tmp_path: Path) -> None:
    """Another key does not verify its manifest."""
    plan, collector, batch = released_batch(tmp_path)
    with pytest.raises(InvalidInput, match="signed"):
        tally_batches(plan, [batch], KEY, generate_signing_key().public_key())
    with pytest.raises(InvalidInput, match="must not be given twice"):
        tally_batches(plan, [batch, batch], KEY, collector.public_key)
    with pytest.raises(InvalidInput, match="at least one"):
        tally_batches(plan, [], KEY, collector.public_key)


def test_a_manifest_may_lie_elsewhere(tmp_path: Path) -> None:
    """Its path is given; a number of paths that is not that of the batches is refused."""
    plan, collector, batch = released_batch(tmp_path)
    moved = batch.with_suffix(".manifest.json").rename(tmp_path / "elsewhere.json")
    key = collector.public_key
    assert tally_batches(plan, [batch], KEY, key, manifests=[str(moved)]).people == 100
    with pytest.raises(InvalidInput, match="once for each batch"):
        tally_batches(plan, [batch], KEY, collector_key=key, manifests=[moved, moved])


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_the_ledger_in_memory_remembers_like_the_one_on_disk(kind: str, tmp_path: Path) -> None:
    """One submission for a round, the identical one when asked again, none after it arrived."""
    ledger = Ledger(tmp_path / "ledger") if kind == "file" else UnsafeMemoryLedger()
    plan = sealed_plan()
    client = Client(plan, ledger, expected_hash=plan.hash)
    made = client.prepare(ANSWERS)
    assert client.prepare({}) == made
    (entry,) = ledger.entries()
    assert (entry.plan_hash, entry.round, entry.acknowledged) == (plan.hash, 1, False)
    client.acknowledge()
    with pytest.raises(AlreadySubmitted):
        client.prepare(ANSWERS)
    assert ledger.entries()[0].acknowledged
    assert (ledger.spent().epsilon, ledger.spent().surveys) == (plan.promise.epsilon, 1)
    with pytest.raises(InvalidInput, match="round"):
        client.prepare(ANSWERS, 2)


def test_the_ledger_in_memory_is_safe_between_threads() -> None:
    """Many ask at once, and all get the one submission."""
    client = Client(sealed_plan(), UnsafeMemoryLedger(), expected_hash=sealed_plan().hash)
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: client.prepare(ANSWERS), range(32)))
    assert len(set(made)) == 1


def test_a_simulated_tally_is_the_same_for_the_same_seed() -> None:
    """And another one for another seed; results say that nobody was asked."""
    plan = small_plan()
    people = simulated_table(plan.survey, 100, seed=1)
    first, again, other = (unsafe_simulated_tally(plan, people, seed) for seed in (1, 1, 2))
    assert first.same_as(again)
    assert not first.same_as(other)
    assert make_results(plan, first).provenance is Provenance.SIMULATION


def test_simulated_tallies_have_the_noise_of_the_plan() -> None:
    """Over many seeds the unbiased counts have the true mean, and σ as planned."""
    plan = small_plan()
    people = simulated_table(plan.survey, 100, seed=1)
    exact = unsafe_exact_plan(small_survey())
    true = unsafe_simulated_tally(exact, people, seed=1).counts
    assert true.tolist() == [people["smokes"].to_pylist().count(True)] + [
        people["pet"].to_pylist().count(pet) for pet in ("cat", "dog", "none")
    ]
    counts = np.array([unsafe_simulated_tally(plan, people, seed).counts for seed in range(400)])
    noises = np.concatenate([np.full(b.positions, b.noise) for b in plan.blocks])
    estimates = (counts - 100 * noises) / (1 - 2 * noises)
    sigmas = np.repeat(
        [b.precision.sigma for b in plan.blocks], [b.positions for b in plan.layout.blocks]
    )
    assert np.all(np.abs(estimates.mean(axis=0) - true) < 5 * sigmas / 20)
    assert estimates.std(axis=0) == pytest.approx(sigmas, rel=0.2)


def test_a_simulated_tally_needs_what_a_real_one_needs() -> None:
    """The crowd, a round of the plan, valid answers, and noise of devices on single bits."""
    plan = small_plan()
    with pytest.raises(InvalidInput, match="planned crowd of 100"):
        unsafe_simulated_tally(plan, simulated_table(plan.survey, 99, seed=1), seed=1)
    with pytest.raises(InvalidInput, match="round"):
        unsafe_simulated_tally(plan, simulated_table(plan.survey, 100, seed=1), 1, round_number=2)
    with pytest.raises(InvalidInput, match="pet"):
        unsafe_simulated_tally(plan, pa.table({"pet": ["yak"] * 100}), seed=1)
    record = unsafe_exact_plan(replace(small_survey(), linkage=Linkage.RECORD))
    with pytest.raises(InvalidInput, match="bit linkage"):
        unsafe_simulated_tally(record, simulated_table(plan.survey, 100, seed=1), seed=1)
