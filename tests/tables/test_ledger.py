"""A data holder randomizes a table once: what was randomized is known, and says so itself."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import krand
from krand.analysis.tallying import responses_in
from krand.batches.responses import header_of
from krand.errors import InvalidInput
from krand.promise import Policy
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from krand.tables.ledger import AlreadyRandomized, TableLedger, default_table_ledger
from krand.testing import simulated_table, small_plan
from plans import plan_with_noise

PLAN = small_plan()


def table(people: int = 100) -> pa.Table:
    return simulated_table(PLAN.survey, people, seed=1)


def test_the_same_table_is_not_randomized_twice(tmp_path: Path) -> None:
    """Not even into another file; the error names the earlier one and what can be done."""
    first = tmp_path / "first.parquet"
    krand.randomize_table(PLAN, table(), first)
    with pytest.raises(AlreadyRandomized) as caught:
        krand.randomize_table(PLAN, table(), tmp_path / "second.parquet")
    said = str(caught.value)
    for part in (
        "round",
        str(first),
        "100 people",
        "other_people=True",
        "discarded=True",
        "has 1 round",
    ):
        assert part in said
    assert not (tmp_path / "second.parquet").exists()


def test_a_later_round_is_randomized_as_planned(tmp_path: Path) -> None:
    """The plan's promise covers all of its rounds; each is randomized once."""
    survey = Survey(
        id="s",
        policy=Policy(epsilon=1.0, minimum_crowd=1_000, delta=1e-3),
        questions=(YesNo(name="smokes"),),
        rounds=2,
    )
    plan = plan_with_noise(survey, 2**30)
    people = pa.table({"smokes": [True] * 1_000})
    for number in (1, 2):
        krand.randomize_table(plan, people, tmp_path / f"{number}.parquet", round_number=number)
        with pytest.raises(AlreadyRandomized) as caught:
            krand.randomize_table(plan, people, tmp_path / "again", round_number=number)
        assert ("round_number=2" in str(caught.value)) is (number == 1)


def test_a_table_of_other_people_says_so_in_its_file(tmp_path: Path) -> None:
    """It names every earlier run, and no other."""
    runs = [
        krand.randomize_table(PLAN, table(), tmp_path / f"{n}.parquet", other_people=n > 0).run
        for n in range(3)
    ]
    files = [tmp_path / f"{n}.parquet" for n in range(3)]
    said = [header_of(pq.ParquetFile(file), file).distinct_from for file in files]
    assert [sorted(entry) for entry in said] == [[], [runs[0]], sorted(runs[:2])]
    assert len(set(runs)) == 3
    assert {entry.run for entry in TableLedger().runs()} == set(runs)


def test_a_file_that_nobody_saw_may_be_made_again_once_it_is_gone(tmp_path: Path) -> None:
    """The declaration is held against the disk."""
    first = tmp_path / "first.parquet"
    krand.randomize_table(PLAN, table(), first)
    with pytest.raises(InvalidInput, match="still exists"):
        krand.randomize_table(PLAN, table(), tmp_path / "second.parquet", discarded=True)
    first.unlink()
    done = krand.randomize_table(PLAN, table(), tmp_path / "second.parquet", discarded=True)
    assert header_of(pq.ParquetFile(done.output), done.output).distinct_from == ()
    assert [entry.run for entry in TableLedger().runs()] == [done.run]
    with pytest.raises(AlreadyRandomized):
        krand.randomize_table(PLAN, table(), tmp_path / "third.parquet")
    with pytest.raises(InvalidInput, match="other_people"):
        krand.randomize_table(PLAN, table(), tmp_path / "x", discarded=True, other_people=True)


def test_what_failed_is_not_noted(tmp_path: Path) -> None:
    """A crowd that is too small, rows that cannot be read, a file that exists, a lost folder."""
    (tmp_path / "exists").write_bytes(b"")
    bad = table().set_column(1, "pet", pa.array(["unicorn"] * 100))
    for answers, output in (
        (table(99), "a"),
        (bad, "b"),
        (table(), "exists"),
        (table(), "no/such/folder"),
    ):
        with pytest.raises(InvalidInput):
            krand.randomize_table(PLAN, answers, tmp_path / output)
    assert TableLedger().runs() == ()
    krand.randomize_table(PLAN, table(), tmp_path / "good.parquet")


def test_of_two_runs_at_once_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever ends second finds the other one noted, and writes nothing."""
    admit = TableLedger.admit

    def late(*given: object) -> tuple[str, ...]:
        found = admit(*given)  # type: ignore[arg-type]
        monkeypatch.setattr(TableLedger, "admit", admit)
        krand.randomize_table(PLAN, table(), tmp_path / "other.parquet")
        return found

    monkeypatch.setattr(TableLedger, "admit", late)
    with pytest.raises(AlreadyRandomized):
        krand.randomize_table(PLAN, table(), tmp_path / "own.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["other.parquet"]
    assert len(TableLedger().runs()) == 1


def test_the_ledger_lies_where_state_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In XDG_STATE_HOME, else below the home, or where it is asked for; a relative path is none."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert default_table_ledger() == tmp_path / "state" / "krand" / "randomized.sqlite"
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert default_table_ledger() == tmp_path / ".local/state/krand/randomized.sqlite"
    krand.randomize_table(PLAN, table(), tmp_path / "r.parquet", ledger=tmp_path / "own.sqlite")
    assert not (tmp_path / ".local").exists()
    assert (tmp_path / "own.sqlite").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"no ledger", None], ids=["a text", "a folder"])
def test_a_ledger_that_cannot_be_used_is_named(content: bytes | None, tmp_path: Path) -> None:
    """Nothing is randomized without one."""
    place = tmp_path / "ledger"
    place.mkdir() if content is None else place.write_bytes(content)
    with pytest.raises(InvalidInput, match="name another file as ledger") as caught:
        krand.randomize_table(PLAN, table(), tmp_path / "r.parquet", ledger=place)
    assert caught.value.field == "ledger"
    assert not (tmp_path / "r.parquet").exists()


def two_runs(tmp_path: Path, *, other_people: bool) -> list[Path]:
    """The same table twice: by two machines, or declared to be about other people."""
    files = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    krand.randomize_table(PLAN, table(), files[0])
    ledger = None if other_people else tmp_path / "elsewhere.sqlite"
    krand.randomize_table(PLAN, table(), files[1], other_people=other_people, ledger=ledger)
    return files


def test_two_runs_are_not_added_up_unless_somebody_vouches(tmp_path: Path) -> None:
    """Both files are named; who vouched is written down."""
    files = two_runs(tmp_path, other_people=False)
    with pytest.raises(InvalidInput, match="may be about the same people") as caught:
        krand.tally_responses(PLAN, files)
    assert caught.value.value == f"{files[0]} and {files[1]}"
    tally = krand.tally_responses(PLAN, files, different_people=True)
    assert (tally.people, tally.crowd, tally.distinct_people) == (200, 100, "analyst")
    assert krand.make_results(PLAN, tally).distinct_people == "analyst"


def test_what_the_data_holder_declared_is_in_the_file(tmp_path: Path) -> None:
    """Then the analyst need not declare it, and the tally says whose word it is."""
    files = two_runs(tmp_path, other_people=True)
    assert krand.tally_responses(PLAN, files).distinct_people == "data_holder"
    declared = krand.tally_responses(PLAN, files, different_people=True)
    assert declared.distinct_people == "data_holder"
    assert krand.tally_responses(PLAN, files[:1]).distinct_people is None


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
    from krand.demo.devices import write_responses
    from krand.demo.randomness import Chance
    from krand.simulation.crowd import Crowd

    plan: Plan = PLAN
    crowd, made = Crowd(plan.survey, 100, 1), tmp_path / "simulated.parquet"
    write_responses(plan, crowd, Chance(1).noise("devices"), made, "ab" * 16)
    krand.randomize_table(plan, table(), tmp_path / "a.parquet")
    assert [s.provenance for s in responses_in(plan, [made])] == ["simulation"]
    with pytest.raises(InvalidInput, match="tally each kind separately"):
        krand.tally_responses(plan, [tmp_path / "a.parquet", made], different_people=True)
