"""`krand-lab observe`: the ratio of an outcome, with everything that it does not say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from krand import (
    Choice,
    Choices,
    Linkage,
    Plan,
    Policy,
    Survey,
    Tally,
    Trust,
    YesNo,
    make_plan,
)
from krand_lab.commands.observe import observe
from krand_lab.observe.outcome import MixedSeen
from krand_lab.observe.outcome import observe as look
from made_plans import mixed_tallies, plan_with_noise

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


def survey(linkage: Linkage, trust: Trust | None = None, copies: int = 1, **policy: int) -> Survey:
    questions = (*(YesNo(name=f"q{i}") for i in range(9)), Choice(name="c", choices=COLOURS))
    asked = Policy(**{"epsilon": 1.0, "minimum_crowd": 1000, "delta": 1e-6, **policy})
    return Survey(
        id="seen",
        policy=asked,
        questions=questions,
        together=(),
        linkage=linkage,
        copies=copies,
        trust=trust or Trust(noise="devices"),
    )


COLOURS = Choices(("red", "green", "blue"))
BITS = plan_with_noise(survey(Linkage.BIT), round(0.02 * 2**32))
RECORDS = plan_with_noise(survey(Linkage.RECORD), round(0.3 * 2**32))


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


def test_mixers_noise(write: Write) -> None:
    """R by the law of dummies, what one mixer alone leaves, and nothing about a crowd."""
    plan = make_plan(survey(Linkage.BIT, trust=Trust(noise="mixers", mixers=3)))
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
