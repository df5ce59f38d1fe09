"""A whole table at once: the law of devices, no order, no partial file, and once for each round."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from scipy import stats

import krand
import world
from chaos import no_file_grows_beyond
from command_line import done, refused
from coverage_table import plan_of
from draws import law_of_ones, noises, survey_of
from effort import EFFORT
from oracle import follows

FEW = 150
PERSON: dict[str, Any] = {"first": True, "happy": True, "team": "blue", "mood": 3, "age": 5}


def table_of(people: list[dict[str, Any]], noise: str = "flips") -> pa.Table:
    """A row for each; who says nothing has an empty one."""
    types = {"pets": pa.list_(pa.string()), "town": pa.list_(pa.string())}
    names = [question.name for question in plan_of(noise).survey.questions]
    return pa.table(
        {name: pa.array([p.get(name) for p in people], types.get(name)) for name in names}
    )


def responses(path: Path) -> Any:
    """What a file holds: positions, or a row of bits for each record."""
    column = pq.read_table(path).column(0)
    if column.type == pa.int32():
        return column.to_numpy()
    rows = np.frombuffer(b"".join(column.to_pylist()), np.uint8).reshape(len(column), -1)
    return np.unpackbits(rows, axis=1)


def header(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pq.read_schema(path).metadata[b"krand"])
    return found


def test_counts_have_the_law_of_devices(tmp_path: Path) -> None:
    """Of each position: so many keep a one, so many others gain one, each by itself."""
    plan, output = plan_of("flips"), tmp_path / "r.parquet"
    people = [PERSON] * 40 + [{"team": "red"}] * 30 + [{}] * 80
    runs = np.zeros((80 * EFFORT, plan.layout.positions), np.int64)
    for run in runs:
        krand.randomize_table(plan, table_of(people), output, again=True, overwrite=True)
        run += np.bincount(responses(output), minlength=len(run))
    q = noises(plan)
    first, team = plan.block_of("first").offset, plan.block_of("team").offset
    # cells: unanswered × yes, unanswered × no, then red × unanswered, yes, no, and blue
    truth = np.zeros(plan.layout.positions)
    truth[[first, team + 6, team + 2]] = 40, 40, 30
    truth[plan.block_of("mood").offset + 2] = truth[plan.block_of("age").offset] = 40
    mean, variance = truth * (1 - q) + (FEW - truth) * q, FEW * q * (1 - q)
    off = (runs.mean(axis=0) - mean) / np.sqrt(variance / len(runs))
    assert np.abs(off).max() < 6, "so many standard errors"
    spread = runs.var(axis=0) / variance
    assert np.abs(spread - 1).max() < 7 * np.sqrt(2 / len(runs))
    for place, true in ((first, 40), (team, 0)):
        seen = np.bincount(runs[:, place], minlength=FEW + 1)
        assert follows(seen, law_of_ones(true, FEW, q[place]))
    related = np.corrcoef(runs.T) - np.eye(runs.shape[1])
    assert np.abs(related).max() < 6.5 / np.sqrt(len(runs)), "positions are flipped by themselves"


SMALL = """id = "s"
policy = { epsilon = 20, delta = 0.01, minimum_crowd = 400 }
question = [{ name = "q", type = "yes_no" }]
"""


def test_a_table_needs_the_noise_of_devices(tmp_path: Path) -> None:
    """Mixers, whom a survey has by default, stand behind no table; the hint is what to write."""
    answers = pa.table({"q": [True] * 400})
    pa.csv.write_csv(answers, tmp_path / "answers.csv")
    plan, output = krand.make_plan(krand.parse_survey(SMALL)), tmp_path / "r.parquet"
    plan.save(tmp_path / "plan.json")
    error = refused("randomize answers.csv --plan plan.json -o r.parquet", at=tmp_path)
    assert error["hint"].endswith('write noise = "devices" under [trust]')
    with pytest.raises(krand.InvalidInput, match=r"under \[trust\]"):
        krand.randomize_table(plan, answers, output)
    said = krand.make_plan(krand.parse_survey(SMALL + '[trust]\nnoise = "devices"\n'))
    assert krand.randomize_table(said, answers, output).people == 400


def test_many_people_in_chunks_are_counted_once(tmp_path: Path) -> None:
    """More rows than are read at a time: as many tokens of each position as there should be."""
    plan, output = plan_of("flips"), tmp_path / "r.parquet"
    people = 140_000
    sizes = [people // 2, people - people // 2]
    columns = {
        name: pa.concat_arrays(
            [pa.array([PERSON[name]] * sizes[0]), pa.nulls(sizes[1], pa.array([PERSON[name]]).type)]
        )
        for name in PERSON
    }
    empty = table_of([{}]).schema
    rest = {f.name: pa.nulls(people, f.type) for f in empty if f.name not in PERSON}
    run = krand.randomize_table(plan, pa.table({**columns, **rest}), output)
    found = responses(output)
    assert (run.people, run.rows, header(output)["people"]) == (people, len(found), people)
    assert np.all(np.diff(found) >= 0), "sorted: no order is left"
    counts = np.bincount(found, minlength=plan.layout.positions)
    for name, place in (("first", 0), ("mood", 2), ("age", 0), ("colour", 1)):
        block = plan.block_of(name)
        true, q = sizes[0] * (name in PERSON), block.noise
        expected = true * (1 - q) + (people - true) * q
        assert abs(counts[block.offset + place] - expected) < 6 * np.sqrt(people * q * (1 - q)), (
            name
        )


def test_of_many_positions_few_people_are_flipped_at_a_time(tmp_path: Path) -> None:
    """Everybody is counted at the position that is theirs, first and last people alike."""
    question = krand.Choice(name="q", choices=krand.Choices([f"c{n}" for n in range(3_000)]))
    policy = krand.Policy(epsilon=20, delta=0.01, minimum_crowd=1_000)
    plan = krand.make_plan(survey_of(question, policy=policy))
    answers = pa.table({"q": ["c0"] * 6_001 + ["c1"] * 3_000 + ["c2999"] * 2_999})
    krand.randomize_table(plan, answers, tmp_path / "r")
    counts, q = np.bincount(responses(tmp_path / "r"), minlength=3_000), plan.blocks[0].noise
    true = np.zeros(len(counts))
    true[[0, 1, 2_999]] = 6_001, 3_000, 2_999
    off = counts[: len(true)] - (true * (1 - q) + (12_000 - true) * q)
    assert np.abs(off).max() <= stats.binom.isf(1e-12, 12_000, q), np.argmax(np.abs(off))


@pytest.mark.parametrize("noise", ["record", "copies"])
def test_records_are_shuffled_copies(noise: str, tmp_path: Path) -> None:
    """k records for each person, each bit flipped with q, first and last people mixed."""
    plan, output = plan_of(noise), tmp_path / "r.parquet"
    people = [PERSON] * 3_000 + [{}] * 3_000
    done_ = krand.randomize_table(plan, table_of(people, noise), output)
    rows, copies, q = responses(output), plan.survey.copies, plan.blocks[0].noise
    assert (len(rows), done_.rows, done_.people) == (6_000 * copies, 6_000 * copies, 6_000)
    ones = [plan.block_of(name).offset for name in ("first", "happy", "age")]
    sigma = np.sqrt(6_000 * copies * q * (1 - q))
    for place in range(plan.layout.positions):
        is_set = place in ones or place in (
            plan.block_of("team").offset + 1,
            plan.block_of("mood").offset + 2,
        )
        expected = 6_000 * copies * (0.5 if is_set else q)
        assert abs(int(rows[:, place].sum()) - expected) < 6 * sigma, place
    assert not rows[:, plan.layout.positions :].any()
    early, late = (int(half[:, ones].sum()) for half in np.split(rows, 2))
    assert abs(early - late) < 7 * np.sqrt(len(rows) * len(ones) / 4), "order is left to chance"
    again = krand.randomize_table(plan, table_of(people, noise), tmp_path / "b", again=True)
    assert not np.array_equal(responses(again.output), rows), "noise is new each time"


@pytest.mark.parametrize("noise", ["flips", "copies"])
def test_people_behind_rows_left_out_are_noisy_and_there(noise: str, tmp_path: Path) -> None:
    """As many bad rows as good ones before them: all who said yes report it, but for flips."""
    plan, output = plan_of(noise), tmp_path / "r.parquet"
    people = [{**PERSON, "team": "green"}] * 1_500 + [PERSON] * 1_500
    run = krand.randomize_table(plan, table_of(people, noise), output, skip_bad_rows=True)
    assert (run.people, run.skipped) == (1_500, 1_500)
    tally = krand.tally_responses(plan, [output])
    q, reports = plan.block_of("first").noise, 1_500 * plan.survey.copies
    found = int(tally.counts[plan.block_of("first").offset])
    assert abs(found - reports * (1 - q)) < 6 * np.sqrt(reports * q * (1 - q))
    assert tally.people == 1_500


def test_bad_rows_stop_everything_or_are_told(tmp_path: Path) -> None:
    """Row, column, rule and value, counted from 1; nothing is written before. Torn rows stop it."""
    people: list[dict[str, Any]] = [dict(PERSON) for _ in range(300)]
    people[6]["team"], people[9]["mood"] = "green", 7
    with pytest.raises(krand.BadRows) as caught:
        krand.randomize_table(plan_of("flips"), table_of(people), tmp_path / "r")
    assert "row 7, team: must be one of its choices, found 'green'" in str(caught.value)
    assert "row 10, mood: must be" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    lines = ["yes,cat"] * 200
    lines[3], lines[5], lines[9] = "yes", "yes,unicorn", "maybe,cat"
    given = "randomize a.csv --plan plan.json -o r.parquet"
    krand.testing.small_plan().save(tmp_path / "plan.json")
    (tmp_path / "a.csv").write_text("smokes,pet\n" + "\n".join(lines), encoding="utf-8")
    for option in ("", "--skip-bad-rows"):
        assert "row 4: must have 2 fields" in refused(given, option, at=tmp_path)["message"]
    (tmp_path / "a.csv").write_text("smokes,pet\n" + "\n".join(lines[4:]), encoding="utf-8")
    assert "row 2, pet" in refused(given, at=tmp_path)["message"]
    told = json.loads(done(given, "--skip-bad-rows --json", at=tmp_path).stdout)
    assert (told["people"], told["skipped"]) == (194, 2)
    run = krand.randomize_table(
        krand.testing.small_plan(),
        tmp_path / "a.csv",
        tmp_path / "b.parquet",
        skip_bad_rows=True,
        again=True,
    )
    assert [mistake.row for mistake in run.mistakes] == [2, 6]


def test_answers_to_what_nobody_was_asked_are_dropped_and_told(tmp_path: Path) -> None:
    """And who was asked and said nothing is counted."""
    people = [{"gate": True, "why": "x"}] * 60 + [{"gate": False, "why": "z"}] * 50
    people += [{"gate": True}] * 40
    run = krand.randomize_table(plan_of("flips"), table_of(people), tmp_path / "r")
    assert dict(run.not_asked) == {"why": 50}
    assert (run.unanswered["why"], run.unanswered["first"]) == (40, 150)
    assert "gate" not in run.unanswered


# --- the crowd, and once for each round ----------------------------------------------------------


def marks(state: Path) -> list[Path]:
    """What stands for runs, below what krand keeps for its user."""
    return sorted(path for path in state.rglob("randomized/*") if path.is_file())


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place for what krand keeps."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


def tiny(people: int = 12) -> pa.Table:
    return world.table("tiny", people)


def randomized(folder: Path, name: str = "r.parquet", answers: Any = None, **more: Any) -> Any:
    given = tiny() if answers is None else answers
    return krand.randomize_table(world.plan("tiny"), given, folder / name, **more)


def test_a_run_that_wrote_nothing_leaves_nothing_and_may_be_repeated(
    tmp_path: Path, state: Path
) -> None:
    """Too few people, known before or only at the end, or without rows that were left out."""
    (tmp_path / "exists").write_bytes(b"")
    first = tiny().column_names[0]
    bad = tiny().set_column(0, first, pa.array(["?"] * 12))
    one_bad = tiny().set_column(0, first, pa.array(["?"] + [None] * 11, pa.string()))
    weeks = world.table("weeks", 50)
    mixed, mixed_table = world.plan("mixer"), world.table("mixer", 12)
    for answers, name, more, error in (
        (tiny(11), "a", {}, krand.CrowdTooSmall),
        (tiny(11).to_reader(), "a", {}, krand.CrowdTooSmall),
        (one_bad, "a", {"skip_bad_rows": True}, krand.CrowdTooSmall),
        (bad, "b", {}, krand.BadRows),
        (tiny(), "exists", {}, krand.InvalidInput),
        (tiny(), "no/such/folder", {}, krand.InvalidInput),
        (tiny(), "c", {"round_number": 2}, krand.InvalidInput),
        (weeks, "d", {}, krand.InvalidInput),
    ):
        with pytest.raises(error):
            randomized(tmp_path, name, answers, **more)
    with pytest.raises(krand.InvalidInput, match="devices add the noise"):
        krand.randomize_table(mixed, mixed_table, tmp_path / "e")
    assert [path.name for path in tmp_path.iterdir()] == ["exists"]
    assert marks(state) == []
    assert randomized(tmp_path).people == 12


def test_the_same_table_is_not_randomized_twice(tmp_path: Path, state: Path) -> None:
    """Two draws tell more than one: not into another file, not over the first, by nobody."""
    run = randomized(tmp_path)
    before = run.output.read_bytes()
    (mark,) = marks(state)
    assert mark.name == f"{world.plan('tiny').hash}-1"
    assert (mark.stat().st_size, mark.stat().st_mode & 0o777) == (0, 0o600)
    assert mark.parent.stat().st_mode & 0o777 == 0o700
    with pytest.raises(krand.AlreadyRandomized) as caught:
        randomized(tmp_path, "second.parquet")
    for part in ("round", "again=True", "has 1 round"):
        assert part in str(caught.value)
    world.plan("tiny").save(tmp_path / "plan.json")
    pq.write_table(tiny(), tmp_path / "a.parquet")
    error = refused("randomize a.parquet --plan plan.json -o c.parquet", at=tmp_path)
    assert "must not have been randomized before" in error["message"]
    with pytest.raises(krand.InvalidInput, match="must not exist yet"):
        randomized(tmp_path, again=True)
    assert run.output.read_bytes() == before
    run.output.unlink()
    randomized(tmp_path, again=True)
    with pytest.raises(krand.AlreadyRandomized):
        randomized(tmp_path, "third.parquet")
    assert not (tmp_path / "third.parquet").exists()


def test_each_round_is_randomized_once(tmp_path: Path, state: Path) -> None:
    """The promise covers all of them; a later one is named where there is one."""
    plan, people = plan_of("record"), table_of([PERSON] * FEW, "record")
    for number in range(1, 5):
        krand.randomize_table(plan, people, tmp_path / f"{number}", round_number=number)
        with pytest.raises(krand.AlreadyRandomized) as caught:
            krand.randomize_table(plan, people, tmp_path / "again", round_number=number)
        assert (f"round_number={number + 1}" in str(caught.value)) is (number < 4)
        assert header(tmp_path / f"{number}")["round"] == number
    assert len(marks(state)) == 4


def test_of_two_runs_at_once_one_is_refused(tmp_path: Path, state: Path) -> None:
    """Whoever has read all people second finds the other's mark, and writes nothing."""

    def answers() -> pa.RecordBatchReader:
        def batches() -> Any:
            randomized(tmp_path, "other.parquet")
            yield from tiny().to_batches()

        return pa.RecordBatchReader.from_batches(tiny().schema, batches())

    with pytest.raises(krand.AlreadyRandomized):
        randomized(tmp_path, "own.parquet", answers())
    assert [path.name for path in tmp_path.iterdir()] == ["other.parquet"]
    assert len(marks(state)) == 1


def test_a_run_that_fails_while_it_writes_is_not_repeated_silently(
    tmp_path: Path, state: Path
) -> None:
    """Its mark was made before the first byte, and stays; nothing else does."""
    people = table_of([PERSON] * 20_000, "record")
    with no_file_grows_beyond(4_096), pytest.raises(krand.KrandError):
        krand.randomize_table(plan_of("record"), people, tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []
    assert len(marks(state)) == 1
    with pytest.raises(krand.AlreadyRandomized, match="never finished"):
        krand.randomize_table(plan_of("record"), people, tmp_path / "r.parquet")
    krand.randomize_table(plan_of("record"), people, tmp_path / "r.parquet", again=True)


def test_nothing_is_written_where_no_mark_can_be_made(tmp_path: Path, state: Path) -> None:
    """The folder for state is named."""
    (state / "krand").write_bytes(b"")
    with pytest.raises(krand.InvalidInput) as caught:
        randomized(tmp_path)
    assert caught.value.field == "XDG_STATE_HOME"
    assert list(tmp_path.iterdir()) == []


def test_two_runs_are_not_added_up_unless_the_analyst_vouches(tmp_path: Path) -> None:
    """Both files are named; that somebody vouched is written down."""
    plan, files = world.plan("tiny"), [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for file in files:
        randomized(tmp_path, file.name, again=True)
    with pytest.raises(krand.InvalidInput, match="may be about the same people") as caught:
        krand.tally_responses(plan, files)
    assert caught.value.value == f"{files[0]} and {files[1]}"
    tally = krand.tally_responses(plan, files, different_people=True)
    assert (tally.people, tally.crowd, tally.different_people) == (24, 12, True)
    assert krand.make_results(plan, tally).different_people
    for declared in (False, True):
        alone = krand.tally_responses(plan, files[:1], different_people=declared)
        assert not alone.different_people
    copy = tmp_path / "copy.parquet"
    pq.write_table(pq.read_table(files[0]), copy, compression="gzip")
    for pair in ([files[0], files[0]], [files[0], copy]):
        with pytest.raises(krand.InvalidInput, match="two files are of one run"):
            krand.tally_responses(plan, pair, different_people=True)
    schema = pq.read_schema(files[1])
    said = {**header(files[1]), "provenance": "simulation"}
    schema = schema.with_metadata({b"krand": json.dumps(said, sort_keys=True).encode()})
    pq.write_table(pq.read_table(files[1]).cast(schema), copy)
    with pytest.raises(krand.InvalidInput, match="tally each kind separately"):
        krand.tally_responses(plan, [files[0], copy], different_people=True)
