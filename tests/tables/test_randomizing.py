"""A whole table at once: the same law as on devices, no order, no partial file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from krand.batches.responses import header_of, response_batches
from krand.client.randomizer import reported_positions
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.promise import Linkage, Policy
from krand.randomness.generator import secure_random
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.plan_check import CrowdTooSmall
from krand.survey.questions import Choice, PickAny, YesNo
from krand.survey.survey import Survey, Trust
from krand.tables import answers as reading
from krand.tables import randomizing as batch
from krand.tables.answers import answers_in, open_answers
from krand.tables.randomizing import BadRows, Randomized, add_reported_counts, randomize
from tables.rows import encode_lists

ALPHA = 1e-6
POLICY = Policy(epsilon=1.0, delta=1e-3, minimum_crowd=150)
QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="engine", choices=Choices(["a", "b", "c"])),
    PickAny(name="pets", choices=Choices(["cat", "dog", "emu"]), at_most=2),
)
PERSON: dict[str, object] = {"smokes": True, "engine": "b", "pets": ["cat", "emu"]}


def plan_for(linkage: Linkage, copies: int = 1, policy: Policy = POLICY) -> Plan:
    """Few people, hence much noise: its law shows quickly."""
    return make_plan(
        Survey(id="habits", policy=policy, questions=QUESTIONS, linkage=linkage, copies=copies)
    )


@pytest.fixture(scope="module")
def apart() -> Plan:
    return plan_for(Linkage.BIT)


@pytest.fixture(scope="module")
def linked() -> Plan:
    return plan_for(Linkage.RECORD, copies=3)


def table_of(people: list[dict[str, object]]) -> pa.Table:
    names = [question.name for question in QUESTIONS]
    return pa.table({name: [person.get(name) for person in people] for name in names})


def made(plan: Plan, table: pa.Table, tmp_path: Path, **options: bool) -> Randomized:
    output = tmp_path / "responses.parquet"
    return randomize(plan, answers_in(table, plan.layout), output, **options)


@pytest.mark.check
def test_counts_have_the_law_of_devices(apart: Plan) -> None:
    """One person's counts: every set of reported positions as often as on the device."""
    true_ones, draws = encode(apart.layout, PERSON), 15_000
    weights = 1 << np.arange(apart.layout.positions)
    encoded = encode_lists(apart.layout, {name: [value] for name, value in PERSON.items()})
    seen = np.zeros((2, 1 << apart.layout.positions), np.int64)
    for _ in range(draws):
        counts = np.zeros(apart.layout.positions, np.int64)
        add_reported_counts(apart, encoded, 1, secure_random(), counts)
        seen[0, counts @ weights] += 1
        told = reported_positions(apart, true_ones, secure_random())
        seen[1, weights[told].sum()] += 1
    often = seen.sum(axis=0) >= 20
    both = np.column_stack([seen[:, often], seen[:, ~often].sum(axis=1)])
    assert stats.chi2_contingency(both[:, both.sum(axis=0) > 0]).pvalue > ALPHA


@pytest.mark.check
@pytest.mark.parametrize("most_flips", [2**20, 100])
def test_a_crowd_is_counted_like_its_members(
    apart: Plan, most_flips: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts of many people: mean and variance of Bin(d, p) + Bin(N - d, q) at every position."""
    monkeypatch.setattr(batch, "MOST_FLIPS", most_flips)
    people = [PERSON] * 70 + [{"engine": "c"}] * 30 + [{}] * 100
    encoded = encode_lists(
        apart.layout, {n: [person.get(n) for person in people] for n in apart.layout.question_names}
    )
    found = np.zeros((2_000, apart.layout.positions), np.int64)
    for counts in found:
        add_reported_counts(apart, encoded, len(people), secure_random(), counts)
    truth = np.bincount(encoded.positions, minlength=apart.layout.positions)
    q = np.concatenate([np.full(b.positions, b.noise) for b in apart.blocks])
    mean, variance = truth * (1 - q) + (200 - truth) * q, 200 * q * (1 - q)
    assert np.all(np.abs(found.mean(axis=0) - mean) < 5 * np.sqrt(variance / len(found)))
    assert np.all(np.abs(found.var(axis=0) / variance - 1) < 5 * np.sqrt(2 / len(found)) * 1.2)


def test_tokens_are_sorted_and_say_who_took_part(
    apart: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file holds a multiset of positions, the plan, the round and the number of people."""
    monkeypatch.setattr(batch, "TOKENS_AT_A_TIME", 100)
    done = made(apart, table_of([PERSON] * 400), tmp_path)
    header = header_of(pq.ParquetFile(done.output), done.output)
    assert (header.plan, header.people, header.round) == (apart.hash, 400, 1)
    tokens = np.concatenate(list(response_batches(done.output, 64)))
    assert len(tokens) == done.rows
    assert np.all(np.diff(tokens) >= 0)
    counts = np.bincount(tokens, minlength=apart.layout.positions)
    q = np.concatenate([np.full(b.positions, b.noise) for b in apart.blocks])
    truth = np.zeros(apart.layout.positions)
    truth[list(encode(apart.layout, PERSON))] = 400
    mean = truth * (1 - q) + (400 - truth) * q
    assert np.all(np.abs(counts - mean) < 6 * np.sqrt(400 * q * (1 - q)))


def test_records_are_shuffled_copies(linked: Plan, tmp_path: Path) -> None:
    """k records for each person, each bit flipped with q, first and last people mixed."""
    people = [PERSON] * 3_000 + [{}] * 3_000
    done = made(linked, table_of(people), tmp_path)
    rows = np.concatenate(list(response_batches(done.output, 1_000)))
    assert (len(rows), done.rows, done.people) == (18_000, 18_000, 6_000)
    bits = np.unpackbits(rows, axis=1)[:, : linked.layout.positions].astype(float)
    q = linked.blocks[0].noise
    ones = list(encode(linked.layout, PERSON))
    mean = np.full(linked.layout.positions, 18_000 * q)
    mean[ones] = 9_000.0
    assert np.all(np.abs(bits.sum(axis=0) - mean) < 5 * np.sqrt(18_000 * q * (1 - q)))
    halves = bits[:9_000, ones].sum(), bits[9_000:, ones].sum()
    assert abs(halves[0] - halves[1]) < 6 * np.sqrt(18_000 * len(ones) / 4)


def test_bad_rows_stop_everything(apart: Plan, tmp_path: Path) -> None:
    """Row, column, rule and value are named, counted from 1, and nothing is written."""
    people = [dict(PERSON) for _ in range(300)]
    people[6]["engine"] = "z"
    people[9]["pets"] = ["cat", "dog", "emu"]
    with pytest.raises(BadRows) as caught:
        made(apart, table_of(people), tmp_path)
    assert "row 7, engine: must be one of its choices, found 'z'" in str(caught.value)
    assert "row 10, pets: must be at most 2" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_bad_rows_can_be_left_out(
    apart: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are counted and told with their rows, of all chunks."""
    monkeypatch.setattr(reading, "CHUNK", 128)
    people: list[dict[str, object]] = [{} for _ in range(300)]
    for row in (0, 131, 297):
        people[row] = {"engine": "z", "smokes": True}
    people[299] = dict(PERSON)
    done = made(apart, table_of(people), tmp_path, skip_bad_rows=True)
    assert (done.people, done.skipped) == (297, 3)
    assert [m.row for m in done.mistakes] == [1, 132, 298]


@pytest.mark.parametrize("linkage", ["apart", "linked"])
def test_people_behind_rows_left_out_are_noisy_and_there(
    linkage: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """As many bad rows as good ones before them: all who smoke report it, but for flips."""
    people: list[dict[str, object]] = [*[{"engine": "z"}] * 1500, *[dict(PERSON)] * 1500]
    plan: Plan = request.getfixturevalue(linkage)
    done = made(plan, table_of(people), tmp_path, skip_bad_rows=True)
    responses = np.concatenate(list(response_batches(done.output, 10_000)))
    apart = plan.survey.linkage is Linkage.BIT
    found = np.count_nonzero(responses == 0 if apart else responses[:, 0] & 0x80)
    reports, q = 1500 * plan.survey.copies, plan.blocks[0].noise
    assert abs(found - reports * (1 - q)) < 5 * np.sqrt(reports * q * (1 - q))


def test_torn_rows_keep_the_count_of_rows_right(apart: Plan, tmp_path: Path) -> None:
    """In a text file rows with the wrong number of fields are left out, and still counted."""
    lines = ["yes,a,cat"] * 200
    lines[3], lines[5], lines[9] = "yes,a", "yes,z,", "yes,y,"
    (tmp_path / "a.csv").write_text("smokes,engine,pets\n" + "\n".join(lines), encoding="utf-8")
    answers = open_answers(tmp_path / "a.csv", apart.layout, skip_torn=True)
    done = randomize(apart, answers, tmp_path / "r.parquet", skip_bad_rows=True)
    assert (done.people, done.skipped) == (197, 3)
    assert [m.row for m in done.mistakes] == [6, 10]


@pytest.mark.parametrize("known", [True, False])
def test_below_the_planned_crowd_nothing_is_written(
    apart: Plan, known: bool, tmp_path: Path
) -> None:
    """Whether the number of rows is known before, or only after the last one was read."""
    table = table_of([PERSON] * 149)
    source = table if known else table.to_reader()
    with pytest.raises(CrowdTooSmall, match="at least the planned crowd of 150"):
        randomize(apart, answers_in(source, apart.layout), tmp_path / "r")
    assert not list(tmp_path.iterdir())


def test_rows_left_out_are_no_crowd(apart: Plan, tmp_path: Path) -> None:
    """150 rows of which one cannot be read are 149 people."""
    people = [dict(PERSON) for _ in range(150)]
    people[0]["engine"] = "z"
    with pytest.raises(CrowdTooSmall):
        made(apart, table_of(people), tmp_path, skip_bad_rows=True)


def test_a_second_randomization_is_refused(apart: Plan, tmp_path: Path) -> None:
    """An existing file stays, because another noise on the same answers tells more."""
    done = made(apart, table_of([PERSON] * 150), tmp_path)
    before = done.output.read_bytes()
    with pytest.raises(InvalidInput, match="second randomization"):
        made(apart, table_of([PERSON] * 150), tmp_path)
    assert done.output.read_bytes() == before


def test_a_table_has_no_mixers(tmp_path: Path) -> None:
    """Devices do not flip where mixers add the noise: responses would be the true answers."""
    trust = Trust(noise=mechanisms.MIXERS)
    plan = make_plan(Survey(id="habits", policy=POLICY, questions=QUESTIONS, trust=trust))
    with pytest.raises(InvalidInput, match="devices add the noise"):
        made(plan, table_of([PERSON] * 150), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_round_that_was_not_planned_is_refused(apart: Plan, tmp_path: Path) -> None:
    """The promise covers the planned rounds only."""
    answers = answers_in(table_of([PERSON] * 150), apart.layout)
    with pytest.raises(InvalidInput, match="round"):
        randomize(apart, answers, tmp_path / "r", round_number=2)


KILLED = """
import sys, time
from pathlib import Path
from krand.tables import randomizing as batch
from krand.tables.answers import open_answers
from krand.survey.plan_file import read_plan
plan = read_plan(sys.argv[1])
slow = lambda rows: (print("working", flush=True), time.sleep(0.05))
answers = open_answers(sys.argv[2], plan.layout)
output = Path(sys.argv[3]) / "responses.parquet"
batch.randomize(plan, answers, output, progress=slow)
"""


@pytest.fixture(scope="module")
def many_answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes a while."""
    place = tmp_path_factory.mktemp("many") / "answers.parquet"
    pq.write_table(table_of([PERSON] * 500_000), place)
    return place


@pytest.mark.check
@pytest.mark.parametrize("linkage", list(Linkage))
@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_half_way_it_leaves_nothing(
    linkage: Linkage, kill: signal.Signals, many_answers: Path, tmp_path: Path
) -> None:
    """No output, no temporary file, whichever signal ends it."""
    plan = plan_for(linkage)
    (tmp_path / "plan.json").write_bytes(plan.bytes)
    place = tmp_path / "out"
    place.mkdir()
    command = [sys.executable, "-c", KILLED, *map(str, (tmp_path / "plan.json",))]
    with subprocess.Popen(
        [*command, str(many_answers), str(place)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as child:
        assert child.stdout.readline() == b"working\n"
        time.sleep(0.02)
        child.send_signal(kill)
        assert child.wait() != 0
    assert not list(place.iterdir())
