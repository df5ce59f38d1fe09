"""`krand-lab observe`: the ratio of an outcome, with everything that it does not say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from analysis.mixed_surveys import mixed_tallies
from krand.analysis.tally import Tally
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.promise import NOISE_GRID, Linkage, Policy
from krand.survey import mechanisms
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, YesNo
from krand.survey.survey import Survey, Trust
from krand_lab.commands.observe import observe
from krand_lab.observe.outcome import MixedSeen
from krand_lab.observe.outcome import observe as look
from krand_lab.observe.wording import chance, ratio
from plans import plan_with_noise
from schedules import days

PEOPLE = 2000
Write = Callable[[Plan, Tally], list[str]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Puts plan and tally into files; the command line that reads them."""

    def files(plan: Plan, tally: Tally) -> list[str]:
        (tmp_path / "plan.json").write_bytes(plan.bytes)
        tally.save(tmp_path / "tally.json")
        return [str(tmp_path / "tally.json"), "--plan", str(tmp_path / "plan.json")]

    return files


def survey(linkage: Linkage, copies: int = 1, rounds: int = 1, **policy: int) -> Survey:
    questions = (*(YesNo(name=f"q{i}") for i in range(9)), Choice(name="c", choices=COLOURS))
    asked = Policy(**{"epsilon": 1.0, "minimum_crowd": 1000, "delta": 1e-6, **policy})
    return Survey(
        id="seen",
        policy=asked,
        questions=questions,
        together=(),
        linkage=linkage,
        copies=copies,
        rounds=rounds,
        schedule=days(rounds),
    )


COLOURS = Choices(("red", "green", "blue"))
BITS = plan_with_noise(survey(Linkage.BIT), round(0.02 * NOISE_GRID))
RECORDS = plan_with_noise(survey(Linkage.RECORD), round(0.3 * NOISE_GRID))


def bit_tally(plan: Plan = BITS, true_ones: int = 0, crowd: int = PEOPLE) -> Tally:
    """Every position with 40 ones by noise, the first of them with true ones as well."""
    counts = np.full(12, 40)
    counts[0] += true_ones
    return Tally(
        plan_hash=plan.hash,
        linkage=Linkage.BIT,
        positions=12,
        round=1,
        people=PEOPLE,
        crowd=crowd,
        responses=PEOPLE,
        counts=counts,
    )


def record_tally(plan: Plan, density: float = 0.0, lost: int = 0) -> Tally:
    """Records of people who answer 1 with this probability, everywhere."""
    rng = np.random.default_rng(7)
    responses = PEOPLE * plan.survey.copies - lost
    q = plan.blocks[0].noise
    share = density * (1 - q) + (1 - density) * q
    return counted(plan, PEOPLE, rng.random((responses, 12)) < share)


def counted(plan: Plan, people: int, records: NDArray[np.bool_]) -> Tally:
    """The tally of these very records, one row each."""
    return Tally(
        plan_hash=plan.hash,
        linkage=Linkage.RECORD,
        positions=12,
        round=1,
        people=people,
        crowd=people,
        responses=len(records),
        counts=records.sum(axis=0),
        table=np.bincount(records @ (1 << np.arange(11, -1, -1)), minlength=4096),
        histogram=np.bincount(records.sum(axis=1), minlength=13),
    )


def run(*arguments: str) -> Result:
    return CliRunner().invoke(observe, list(arguments))


def words(arguments: list[str], *more: str) -> str:
    """The output without its line breaks."""
    result = run(*arguments, *more)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def values(arguments: list[str], *more: str) -> dict[str, Any]:
    result = run(*arguments, "--json", *more)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_bits_as_json(write: Write) -> None:
    """One object: the promise, the ratios that observing gives, and what is said about them."""
    tally = bit_tally(true_ones=500)
    found = values(write(BITS, tally), "--show", "2")
    assert list(found) == [
        *("plan", "round", "people", "linkage", "epsilon", "eta", "delta"),
        *("record", "bits", "mixed", "statements"),
    ]
    seen = look(BITS, tally, most=2)
    assert found["record"] is None
    assert found["bits"]["worst"]["seen"] == seen.worst.seen  # type: ignore[union-attr]
    assert found["bits"]["outside"] == 1
    assert [row["question"] for row in found["bits"]["extremes"]] == ["q0", "q1"]
    assert (found["plan"], found["people"], found["epsilon"]) == (BITS.hash, PEOPLE, 1.0)


def test_records_as_json(write: Write) -> None:
    """The record's ratio with both tails; no positions."""
    tally = record_tally(RECORDS)
    found = values(write(RECORDS, tally))
    seen = look(RECORDS, tally)
    assert found["bits"] is None
    assert found["record"]["log_ratio"] == seen.log_ratio  # type: ignore[union-attr]
    assert 0 < found["record"]["alike"]["value"] < found["record"]["outlier"]["value"] < 1


def test_a_real_crowd_is_said_to_be_one(write: Write) -> None:
    """Where true ones make R practically impossible, that is said; where they do not, it is not."""
    told = "says nothing about any one person"
    outside = "At 1 of 12 positions R is practically impossible"
    assert outside in words(write(BITS, bit_tally(true_ones=500)))
    assert told in words(write(BITS, bit_tally(true_ones=500)))
    assert told not in words(write(BITS, bit_tally()))
    real, zeros = (words(write(RECORDS, record_tally(RECORDS, d))) for d in (0.6, 0.0))
    assert told in real
    assert "cannot be compared with the promise" in real
    assert told not in zeros
    assert "R is within the promised limit" in zeros


def test_what_was_seen_stands_beside_the_promise(write: Write) -> None:
    """ε_seen, how it came about, and the promise that it is compared with."""
    tally = bit_tally(true_ones=500)
    said = words(write(BITS, tally))
    worst = look(BITS, tally).worst  # type: ignore[union-attr]
    assert f"ε_seen = {worst.seen:.3g}" in said
    assert "within the promised ε = 1." in said
    assert "by construction" in said
    assert f"95 % reveal at most ε = {worst.limit:.3g}" in said
    assert "A single outcome neither keeps nor breaks a promise" in said


def test_an_outcome_beyond_the_promise_is_called_so(write: Write) -> None:
    """Counts that no crowd explains are beyond ε, and R of few reports beyond λ."""
    empty = replace(bit_tally(), counts=np.zeros(12, np.int64))
    assert "beyond the promised ε = 1." in words(write(BITS, empty))
    two = plan_with_noise(survey(Linkage.RECORD, minimum_crowd=2), round(0.3 * NOISE_GRID))
    few = counted(two, 2, np.array([[False] * 12, [True] * 12]))
    assert "R is beyond the promised limit" in words(write(two, few))


def test_the_table_shows_as_much_as_asked_for(write: Write) -> None:
    """The first rows are the most extreme positions; none, and there is no table."""
    arguments = write(BITS, bit_tally(true_ones=500))
    assert "q0: yes" in words(arguments, "--show", "1")
    assert "q1: yes" not in words(arguments, "--show", "1")
    assert "P[as far from 1]" not in words(arguments, "--show", "0")
    assert "P[as far" in words(arguments)
    assert "< 10⁻¹²" in words(arguments)


def test_records_table(write: Write) -> None:
    """R, both tails and the budget stand in one table; all ones is no possible answer here."""
    said = words(write(RECORDS, record_tally(RECORDS)))
    for part in ("log R", "all zeros", "promised η", "promised δ", "λ = e^ε 2.718"):
        assert part in said
    assert "No record in this survey can be all ones" in said
    assert "simulated" not in said


def test_copies_are_said_to_be_simulated(write: Write) -> None:
    """With copies the tails come with intervals; lost responses are mentioned."""
    plan = plan_with_noise(survey(Linkage.RECORD, copies=2), round(0.3 * NOISE_GRID))
    said = words(write(plan, record_tally(plan, lost=3)))
    assert "The distribution of R was simulated: 10,000 outcomes" in said
    assert "3 responses were not counted" in said
    assert "[0." in said


def test_what_the_numbers_leave_out_is_said(write: Write) -> None:
    """Several files, rounds, people who help the analyst, forged ones."""
    asked = survey(Linkage.BIT, rounds=3, colluding=50)
    plan = plan_with_noise(asked, round(0.02 * NOISE_GRID))
    tally = bit_tally(plan, true_ones=PEOPLE, crowd=1000)
    said = words(write(plan, tally))
    assert "files that were shuffled separately" in said
    assert "50 colluding participants" in said
    assert "all 3 rounds together; this is round 1" in said
    assert "At 1 of 12 positions there are more ones than people" in said
    plain = words(write(BITS, bit_tally()))
    for part in ("shuffled separately", "colluding", "rounds together", "forged"):
        assert part not in plain


def test_mixers_noise(write: Write) -> None:
    """R by the law of dummies, what one mixer alone leaves, and nothing about a crowd."""
    asked = replace(survey(Linkage.BIT), trust=Trust(noise=mechanisms.MIXERS, mixers=3))
    plan = make_plan(asked)
    true = np.array([100] * 9 + [500, 600, 700])
    (tally,) = mixed_tallies(plan, true, PEOPLE, 1, seed=5)
    arguments = write(plan, tally)
    found = values(arguments, "--show", "13")
    seen = look(plan, tally, most=13)
    assert isinstance(seen, MixedSeen)
    assert (found["record"], found["bits"]) == (None, None)
    assert found["mixed"]["worst"]["limit"] == seen.worst.limit
    assert {row["answer"] for row in found["mixed"]["extremes"]} >= {"red", "unanswered"}
    said = words(arguments)
    assert f"ε_seen = {seen.worst.seen:.3g}" in said
    assert "one of the 3 mixers" in said
    assert f"95 % reveal at most ε = {seen.one_mixer.limit:.3g}" in said
    assert "drafts" not in said


def test_mistakes_are_the_users(write: Write, tmp_path: Path) -> None:
    """A tally of another plan or an edited one, a file that is none, a negative number."""
    arguments = write(BITS, bit_tally())
    missing = [str(tmp_path / "none.json"), *arguments[1:]]
    edited = write(BITS, bit_tally(crowd=900))
    for wrong in (missing, edited, [*arguments, "--show", "-1"], write(BITS, bit_tally(RECORDS))):
        assert isinstance(run(*wrong).exception, InvalidInput)


def test_numbers_in_words() -> None:
    """Large ratios are powers of e, tiny chances are bounds, never 0."""
    assert ratio(0.0) == "1"
    assert ratio(800.0) == "e^800"
    assert ratio(-800.0) == "e^-800"
    assert chance(0.0) == "< 10⁻¹²"
    assert chance(0.25) == "0.25"
