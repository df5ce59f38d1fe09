"""A data holder randomizes a table once; a second draw of the same answers tells more."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import krand
from krand.analysis.tallying import responses_in
from krand.errors import InvalidInput
from krand.files import state_folder
from krand.promise import Policy
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from krand.tables import randomizing
from krand.testing import simulated_table, small_plan
from plans import plan_with_noise
from schedules import days

PLAN = small_plan()


def table(people: int = 100) -> pa.Table:
    return simulated_table(PLAN.survey, people, seed=1)


def marks() -> list[Path]:
    """What stands for runs."""
    folder = state_folder() / "randomized"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_the_same_table_is_not_randomized_twice(tmp_path: Path) -> None:
    """Not even into another file; the error says what can be done."""
    krand.randomize_table(PLAN, table(), tmp_path / "first.parquet")
    with pytest.raises(krand.AlreadyRandomized) as caught:
        krand.randomize_table(PLAN, table(), tmp_path / "second.parquet")
    for part in ("round", "again=True", "has 1 round"):
        assert part in str(caught.value)
    assert not (tmp_path / "second.parquet").exists()


def test_what_stands_for_a_run_is_an_empty_private_file(tmp_path: Path) -> None:
    """It is named for plan and round, and holds nothing about people."""
    krand.randomize_table(PLAN, table(), tmp_path / "first.parquet")
    (mark,) = marks()
    assert mark.name == f"{PLAN.hash}-1"
    assert (mark.stat().st_size, mark.stat().st_mode & 0o777) == (0, 0o600)
    assert mark.parent.stat().st_mode & 0o777 == 0o700


def test_a_later_round_is_randomized_as_planned(tmp_path: Path) -> None:
    """The plan's promise covers all of its rounds; each is randomized once."""
    survey = Survey(
        id="s",
        policy=Policy(epsilon=1.0, minimum_crowd=1_000, delta=1e-3),
        questions=(YesNo(name="smokes"),),
        rounds=2,
        schedule=days(2),
    )
    plan = plan_with_noise(survey, 2**30)
    people = pa.table({"smokes": [True] * 1_000})
    for number in (1, 2):
        krand.randomize_table(plan, people, tmp_path / f"{number}.parquet", round_number=number)
        with pytest.raises(krand.AlreadyRandomized) as caught:
            krand.randomize_table(plan, people, tmp_path / "again", round_number=number)
        assert ("round_number=2" in str(caught.value)) is (number == 1)


def test_a_destroyed_output_may_be_made_again(tmp_path: Path) -> None:
    """As declared; the run after that is refused again."""
    first = tmp_path / "first.parquet"
    krand.randomize_table(PLAN, table(), first)
    with pytest.raises(InvalidInput, match="must not exist yet"):
        krand.randomize_table(PLAN, table(), first, again=True)
    first.unlink()
    krand.randomize_table(PLAN, table(), first, again=True)
    with pytest.raises(krand.AlreadyRandomized):
        krand.randomize_table(PLAN, table(), tmp_path / "third.parquet")


def test_a_run_that_wrote_nothing_may_be_repeated(tmp_path: Path) -> None:
    """A crowd that is too small, rows that cannot be read, a file that exists, a lost folder."""
    (tmp_path / "exists").write_bytes(b"")
    bad = table().set_column(1, "pet", pa.array(["unicorn"] * 100))
    for answers, output in (
        (table(99), "a"),
        (table(99).to_reader(), "a"),
        (bad, "b"),
        (table(), "exists"),
        (table(), "no/such/folder"),
    ):
        with pytest.raises(InvalidInput):
            krand.randomize_table(PLAN, answers, tmp_path / output)
    assert marks() == []
    krand.randomize_table(PLAN, table(), tmp_path / "good.parquet")


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError("no space left")])
def test_a_run_that_fails_while_it_writes_is_not_repeated_silently(
    failure: BaseException, tmp_path: Path
) -> None:
    """Its mark was made before the first byte, and stays; nothing else does."""

    class Failing:
        def __init__(self, *_: object) -> None:
            assert len(marks()) == 1
            raise failure

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(randomizing, "ResponsesWriter", Failing)
        with pytest.raises((KeyboardInterrupt, OSError)):
            krand.randomize_table(PLAN, table(), tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(krand.AlreadyRandomized, match="never finished"):
        krand.randomize_table(PLAN, table(), tmp_path / "r.parquet")
    krand.randomize_table(PLAN, table(), tmp_path / "r.parquet", again=True)


def test_of_two_runs_at_once_one_is_refused(tmp_path: Path) -> None:
    """Whoever has read all people second finds the other's mark, and writes nothing."""

    def answers() -> pa.RecordBatchReader:
        def batches() -> object:
            krand.randomize_table(PLAN, table(), tmp_path / "other.parquet")
            yield from table().to_batches()

        return pa.RecordBatchReader.from_batches(table().schema, batches())

    with pytest.raises(krand.AlreadyRandomized):
        krand.randomize_table(PLAN, answers(), tmp_path / "own.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["other.parquet"]
    assert len(marks()) == 1


def test_nothing_is_written_where_no_mark_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder for state is named."""
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "krand").write_bytes(b"")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with pytest.raises(InvalidInput) as caught:
        krand.randomize_table(PLAN, table(), tmp_path / "r.parquet")
    assert caught.value.field == "XDG_STATE_HOME"
    assert not (tmp_path / "r.parquet").exists()


def two_runs(folder: Path) -> list[Path]:
    """The same table twice."""
    files = [folder / "a.parquet", folder / "b.parquet"]
    for file in files:
        krand.randomize_table(PLAN, table(), file, again=True)
    return files


def test_two_runs_are_not_added_up_unless_the_analyst_vouches(tmp_path: Path) -> None:
    """Both files are named; that somebody vouched is written down."""
    files = two_runs(tmp_path)
    with pytest.raises(InvalidInput, match="may be about the same people") as caught:
        krand.tally_responses(PLAN, files)
    assert caught.value.value == f"{files[0]} and {files[1]}"
    tally = krand.tally_responses(PLAN, files, different_people=True)
    assert (tally.people, tally.crowd, tally.different_people) == (200, 100, True)
    assert krand.make_results(PLAN, tally).different_people
    assert not krand.tally_responses(PLAN, files[:1]).different_people
    assert not krand.tally_responses(PLAN, files[:1], different_people=True).different_people


def test_one_run_is_never_counted_twice(tmp_path: Path) -> None:
    """Whatever is declared: a file twice, a copy, and a copy with other bytes."""
    first = tmp_path / "a.parquet"
    krand.randomize_table(PLAN, table(), first)
    copy = tmp_path / "copy.parquet"
    pq.write_table(pq.read_table(first), copy, compression="gzip")
    assert copy.read_bytes() != first.read_bytes()
    for files in ([first, first], [first, copy]):
        with pytest.raises(InvalidInput, match="two files are of one run"):
            krand.tally_responses(PLAN, files, different_people=True)


def test_a_simulation_and_a_table_are_not_added_up(tmp_path: Path) -> None:
    """No sentence would be true of both."""
    from krand.demo.devices import Chance, write_responses
    from krand.simulation.crowd import Crowd

    plan: Plan = PLAN
    crowd, made = Crowd(plan.survey, 100, 1), tmp_path / "simulated.parquet"
    write_responses(plan, crowd, Chance(1).noise("devices"), made, "ab" * 16)
    krand.randomize_table(plan, table(), tmp_path / "a.parquet")
    assert [s.provenance for s in responses_in(plan, [made])] == ["simulation"]
    with pytest.raises(InvalidInput, match="tally each kind separately"):
        krand.tally_responses(plan, [tmp_path / "a.parquet", made], different_people=True)
