"""Weights to known margins: what they are, how well they are known, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from analysis.mixed_surveys import both_tallies, mixed_plan_of, mixed_tallies
from analysis.simulated_surveys import inside, plan_of, record_tallies, simulated_tallies
from analysis.test_group_comparison import CROWDS, A, B, Wholes, _plan, _tallies
from effort import LONG
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.joint.tables import joint_table
from krand.analysis.raking import Margins, Raked, _raked, rake, read_margins
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.tally import Tally
from krand.cli.main import krand
from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.survey import mechanisms
from krand.survey.plan import Plan
from krand.survey.questions import YesNo

KNOWN = np.array([0.2, 0.3, 0.5])
MARGINS = {"a": {"x": 20, "y": 30, "z": 50}}
EXACT = 1e-9
NOBODY = "must be of groups that surely have people"


def _results(noise: str, cells: Wholes, people: int) -> Results:
    plan = _plan(noise, people)
    (tally,) = _tallies(noise, plan, cells, people, 1)
    return make_results(plan, tally, ResultsOptions(joint=(("a", "b"),)))


def _classical(cells: Wholes, *targets: list[float]) -> np.ndarray:
    """Iterative proportional fitting as textbooks have it, axis by axis."""
    fitted = cells.astype(float)
    for _ in range(500):
        for axis, target in enumerate(targets):
            others = tuple(other for other in range(cells.ndim) if other != axis)
            shape = [-1 if other == axis else 1 for other in range(cells.ndim)]
            fitted *= (np.array(target) / fitted.sum(axis=others)).reshape(shape)
    return fitted


def test_without_noise_it_is_iterative_proportional_fitting() -> None:
    """One margin, and two; the weights are what cells were multiplied with."""
    cells = np.random.default_rng(1).integers(20, 90, (3, 2, 2))
    plan = plan_of([A, B, YesNo(name="c")], EXACT, 2_000, [["a", "b", "c"]])
    true = np.zeros((4, 3, 3), dtype=np.int64)
    true[1:, 1:, 1:] = cells
    (tally,) = simulated_tallies(plan, true.ravel()[1:], 2_000, 1, 1)
    results = make_results(plan, tally)
    two = {**MARGINS, "b": {"u": 40, "v": 60}}
    for margins, targets, whole in (
        (MARGINS, [list(KNOWN)], cells.sum(axis=1)),
        (two, [list(KNOWN), [0.4, 0.6]], cells),
    ):
        found, fitted = rake(results, "c", margins), _classical(whole, *targets)
        expected = fitted.reshape(-1, 2).sum(axis=0)
        assert [row.share for row in found.shares] == pytest.approx(expected.tolist(), rel=1e-5)
        weights = (fitted / whole * whole.sum())[..., 0].ravel()
        assert [w.weight for w in found.weights] == pytest.approx(weights.tolist(), rel=1e-5)
        assert found.weights[1].answers == (("y",) if margins is MARGINS else ("x", "v"))


def _covered(found: Raked, truth: list[float], weights: list[float]) -> list[bool]:
    """The first answer, all answers, the first weight."""
    rows = list(zip(found.shares, truth, strict=True))
    return [
        inside(rows[0][0].interval, rows[0][1]),
        all(inside(row.simultaneous, share) for row, share in rows),
        inside(found.weights[0].interval, weights[0]),
    ]


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("noise", ["one mixer", "three mixers", "both", "flips", "records"])
@pytest.mark.parametrize("crowd", list(CROWDS))
def test_weighted_shares_are_covered(noise: str, crowd: str) -> None:
    """In at most 5 % of surveys something is given and missed; tiny groups are often refused."""
    cells, people = np.array(CROWDS[crowd][0]), CROWDS[crowd][1]
    sizes, plan = cells.sum(axis=1), _plan(noise, people)
    truth, weights = KNOWN @ (cells / sizes[:, None]), KNOWN / sizes * sizes.sum()
    repeats, missed, refused = 1_000 if LONG else 60, np.zeros(3), set()
    for tally in _tallies(noise, plan, cells, people, repeats):
        try:
            found = _raked(joint_table(plan, tally, ["a", "b"]), [KNOWN], None)
        except InvalidInput as error:
            refused.add(error.rule)
            continue
        missed += np.logical_not(_covered(found, truth.tolist(), weights.tolist()))
    assert refused <= (set() if crowd == "large" else {NOBODY})
    assert missed.max() <= 0.05 * repeats + 3 * (0.05 * 0.95 * repeats) ** 0.5


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("noise", ["mixers", "both", "flips", "records"])
def test_two_margins_and_a_sample_are_covered(noise: str) -> None:
    """Crowds drawn from a population whose groups answer otherwise; 12 cells, one empty."""
    people, questions = 1_500, [A, B, YesNo(name="c")]
    if noise in ("flips", "records"):
        plan = plan_of(questions, 0.02, people, **_LINKED[noise])
    else:
        source = mechanisms.BOTH if noise == "both" else mechanisms.MIXERS
        plan = mixed_plan_of(questions, [["a", "b", "c"]], crowd=people, noise=source)
    shares = np.array([[[4, 1], [2, 2]], [[1, 3], [3, 1]], [[2, 2], [0, 4]]]) / 25
    targets = [[0.2, 0.3, 0.5], [0.6, 0.4]]
    truth = _classical(shares, *targets).sum(axis=(0, 1))
    random, repeats, missed = np.random.default_rng(3), 1_000 if LONG else 60, 0
    for seed, cells in enumerate(random.multinomial(people, shares.ravel(), repeats)):
        tally = _tally_of_three(noise, plan, cells.reshape(3, 2, 2), seed)
        table = joint_table(plan, tally, ["a", "b", "c"])
        found = _raked(table, [np.array(target) for target in targets], Sampling())
        missed += not inside(found.shares[0].interval, float(truth[0]))
    assert missed <= 0.05 * repeats + 3 * (0.05 * 0.95 * repeats) ** 0.5


_LINKED: dict[str, Any] = {
    "flips": {"together": [["a", "b", "c"]]},
    "records": {"linkage": Linkage.RECORD},
}


def _tally_of_three(noise: str, plan: Plan, cells: Wholes, seed: int) -> Tally:
    """Of a crowd with so many people in every cell of a, b and c (yes or no)."""
    people = int(cells.sum())
    if noise == "records":
        patterns = np.zeros(64, dtype=np.int64)
        for (a, b, c), count in np.ndenumerate(cells):
            patterns[(32 >> a) + (4 >> b) + (c == 0)] = count
        (tally,) = record_tallies(plan, patterns, 1, seed)
        return tally
    true = np.zeros((4, 3, 3), dtype=np.int64)
    true[1:, 1:, 1:] = cells
    drawn = {"mixers": mixed_tallies, "both": both_tallies, "flips": simulated_tallies}[noise]
    (tally,) = drawn(plan, true.ravel()[1:], people, 1, seed)
    return tally


def test_a_negative_cell_stays_and_a_group_known_to_be_nobody_goes() -> None:
    """Raw shares may be impossible; what is shown is possible, and inside its interval."""
    cells = np.array([[300, 0], [300, 0], [0, 0]])
    for seed in range(20):
        plan = _plan("one mixer", 800)
        true = np.zeros((4, 3), dtype=np.int64)
        true[1:, 1:] = cells
        (tally,) = mixed_tallies(plan, true.ravel()[1:], 800, 1, seed)
        table = joint_table(plan, tally, ["a", "b"])
        found = _raked(table, [np.array([0.5, 0.5, 0.0])], None)
        assert [weight.answers for weight in found.weights] == [("x",), ("y",)]
        assert sum(row.share for row in found.shares) == pytest.approx(1)
        for row in found.shares:
            assert 0 <= row.interval.low <= row.consistent <= row.interval.high <= 1
            assert row.simultaneous.high >= row.interval.high
        if found.shares[1].share < 0:
            assert found.shares[1].consistent == 0
            return
    pytest.fail("no cell was negative")


REFUSED: list[tuple[Margins, str]] = [
    ({}, "of other questions .*'none'"),
    ({"b": {"u": 1, "v": 1}}, "of other questions"),
    ({"a": {"x": 1, "y": 1}}, "answers to a, each of them.*missing: z"),
    ({"a": {"x": 1, "y": 1, "z": 1, "w": 2}}, "unknown: w.*its answers are x, y, z"),
    ({"a": {"x": 1, "y": -1, "z": 1}}, "0 or more.*a = y: -1"),
    ({"a": {"x": 1, "y": float("nan"), "z": 1}}, "0 or more.*a = y: nan"),
    ({"a": {"x": 0, "y": 0, "z": 0}}, "must have people.*a: none"),
    ({"a": {"x": 0, "y": 1, "z": 1}}, "must not be 0 where people gave the answer.*a = x: 3"),
    ({"c": {"yes": 1, "no": 1}}, r"declared together .* \[\[together\]\]"),
    ({"d": {"yes": 1}}, "d"),
]


@pytest.mark.parametrize(("margins", "said"), REFUSED)
def test_margins_that_contradict_are_refused(margins: Margins, said: str) -> None:
    """With what is wrong, what was found, and what to do."""
    plan = mixed_plan_of([A, B, YesNo(name="c")], [["a", "b"]], crowd=100)
    true = np.zeros((4, 3), dtype=np.int64)
    true[1:, 1:] = CROWDS["large"][0]
    counts = np.append(true.ravel()[1:], np.zeros(plan.layout.positions - 11, dtype=np.int64))
    (tally,) = mixed_tallies(plan, counts, 800, 1, 1)
    with pytest.raises(InvalidInput, match=f"(?s){said}"):
        rake(make_results(plan, tally), "b", margins)


def test_other_sums_nobody_and_whole_records_are_refused() -> None:
    """Two margins are of the same people; a group that may be empty has no weight."""
    plan = plan_of([A, B, YesNo(name="c")], 0.02, 900, [["a", "b", "c"]])
    (tally,) = simulated_tallies(plan, np.full(35, 25), 900, 1, 1)
    results = make_results(plan, tally)
    with pytest.raises(InvalidInput, match=r"same sum.*a: 100, b: 99"):
        rake(results, "c", {**MARGINS, "b": {"u": 39, "v": 60}})
    rounded = rake(results, "c", {**MARGINS, "b": {"u": 39.95, "v": 60}})
    assert len(rounded.weights) == 6
    with pytest.raises(InvalidInput, match=r"a = y: .* ± .*join it with another answer"):
        rake(_results("three mixers", np.array([[90, 9], [0, 0], [9, 90]]), 300), "b", MARGINS)
    records = plan_of([A, B], 0.05, 100, linkage=Linkage.RECORD)
    (tally,) = _tallies("records", records, np.full((3, 2), 10), 100, 1)
    with pytest.raises(InvalidInput, match="with --joint a,b"):
        rake(make_results(records, tally), "b", MARGINS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question,answer\na,x\n", "columns question, answer, people"),
        ("", "columns question"),
        ("question,answer,people\na,x,1,2\n", "columns question"),
        ("question,answer,people\na,x,1\na,x,2\n", "each answer once.*a = x"),
        ("question,answer,people\na,x,many\n", "numbers of people.*a = x: many"),
    ],
)
def test_a_file_of_margins_is_read_strictly(text: str, said: str, tmp_path: Path) -> None:
    """The right columns, each answer once, numbers."""
    path = tmp_path / "margins.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match=said):
        read_margins(path)


def test_the_command_weights(tmp_path: Path) -> None:
    """Tables for people, JSON for programs, and the same numbers as in Python."""
    results, margins = tmp_path / "results.json", tmp_path / "margins.csv"
    _results("records", np.array(CROWDS["large"][0]), 800).save(results)
    margins.write_text("\ufeffquestion,answer,people\r\na,x,20\r\na,y,30\r\na,z,50\r\n", "utf-8")
    asked = ["rake", str(results), "--question", "b", "--margins", str(margins)]
    told = CliRunner().invoke(krand, asked)
    assert told.exit_code == 0, told.output
    assert "weighted" in told.stdout
    values = json.loads(CliRunner().invoke(krand, [*asked, "--json"]).stdout)
    found = rake(_results("records", np.array(CROWDS["large"][0]), 800), "b", MARGINS)
    assert [row["share"] for row in values["shares"]] == pytest.approx(
        [row.share for row in found.shares]
    )
    assert values["weights"][0]["interval"]["low"] == pytest.approx(found.weights[0].interval.low)
    refused = CliRunner().invoke(krand, [*asked[:3], "a", *asked[4:]])
    assert refused.exit_code == 2
