"""What results say of every kind of question, at the edges: few people, silence, open ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import estimates
import krand
from coverage_table import Case, chances, draws_of, plan_of, rounds_of
from draws import Draws, law_of_ones, noises, survey_of, tally_of
from krand.testing import unsafe_exact_plan, unsafe_simulated_tally

FEW = 150


def exactly(survey: Any, people: dict[str, list[Any]], **options: Any) -> krand.Results:
    """Results without noise, of people with these answers."""
    plan, table = unsafe_exact_plan(survey), pa.table(people)
    tally = unsafe_simulated_tally(plan, table, seed=1)
    return krand.make_results(plan, tally, krand.ResultsOptions(**options))


def loud_results() -> list[krand.Results]:
    """Of simulated people, and of the counts that are hardest to believe."""
    plan = plan_of("flips")
    extremes = [
        np.zeros(plan.layout.positions),
        np.full(plan.layout.positions, FEW),
        np.arange(plan.layout.positions) % 2 * FEW,
    ]
    tallies = [each.tally for each in rounds_of(Case("flips", FEW), 2, 1)]
    tallies += [tally_of(plan, FEW, counts) for counts in extremes]
    options = [krand.ResultsOptions(sample_of=of) for of in (None, 5_000)]
    return [krand.make_results(plan, tally, each) for tally in tallies for each in options]


def test_what_is_shown_is_possible_and_in_its_interval() -> None:
    """Nobody is negative, answers of which everybody gives one add up, no interval is a point."""
    raw = []
    for results in loud_results():
        for question in results.questions:
            name, rows = question.name, estimates.counts(results, question.name)
            raw += [row.unbiased for row in rows.values()]
            if "unanswered" in rows:
                assert sum(row.value for row in rows.values()) == pytest.approx(FEW)
            spans = [*((row, FEW) for row in rows.values())]
            spans += [(row, FEW) for row in estimates.counts_together(results, name).values()]
            spans += [(row, 1) for row in estimates.shares(results, name).values()]
            spans += [(row, 1) for row in estimates.below(results, name).values()]
            spans += [(row, 1) for row in estimates.asked(results, name).values()]
            spans += [(row, 40) for row in estimates.summaries(results, name).values()]
            for row, most in spans:
                assert 0 <= row.low <= row.value <= row.high <= most + 1e-9, (name, row)
                assert row.low < row.high or row.value in (0, 1), (name, row)
        table = estimates.cells(results)
        assert sum(cell.value for cell in table.values()) == pytest.approx(FEW)
        for cell in (*table.values(), *estimates.given(results).values()):
            assert 0 <= cell.low <= cell.value <= cell.high <= FEW + 1e-9
    assert min(raw) < -0.02 * FEW < 1.02 * FEW < max(raw), "the noise is loud enough to matter"


def test_a_margin_above_15_percent_cannot_be_read() -> None:
    """Of counts, shares and differences; of a sample, where chance has two sources, sooner."""
    plan = plan_of("mixers")
    for people, reads in ((12, False), (3_000, True)):
        found = list(rounds_of(Case("mixers", people), 2, 3))
        for question in found[0].results.questions:
            wide = [row.standard_error * 1.96 > 0.15 * people for row in question.all_rows]
            assert [row.readable for row in question.all_rows] == [not each for each in wide]
            assert all(row.readable == reads for row in question.rows), question.name
        comparison = krand.compare_results([each.results for each in found])
        (first,) = comparison.questions["first"][0].differences
        assert first.readable is reads
    sampled = krand.ResultsOptions(sample_of="everybody")
    few = krand.make_results(plan, _with_people(plan, 40), sampled)
    assert not few.questions[0].rows[0].readable


def _with_people(plan: krand.Plan, people: int) -> krand.Tally:
    kinds = np.rint(chances(related=True) * people).astype(np.int64)
    return draws_of("mixers").tally(kinds, np.random.default_rng(1))


@pytest.mark.parametrize(("below", "above"), [(True, False), (False, True), (True, True)])
def test_open_ranges_have_no_mean_and_no_outer_bound(below: bool, above: bool) -> None:
    """A mean needs ends; a quantile in an open range has none."""
    ends = True if below and above else "below" if below else "above"
    asked = krand.Number(name="n", edges=(10, 20, 30), open=ends)
    people = {"n": [5.0 if below else 15.0] * 50 + [15.0, 25.0] * 50 + [35.0 if above else 25] * 50}
    results = exactly(survey_of(asked), people, quantiles=(0.01, 0.5, 0.99))
    assert "mean" not in estimates.summaries(results, "n")
    rows = estimates.quantiles(results, "n")
    assert [value is None for value in (rows[0.01][0], rows[0.01][1])] == [below] * 2
    assert [value is None for value in (rows[0.99][0], rows[0.99][2])] == [above] * 2


def test_whole_numbers_end_below_the_next_edge() -> None:
    """5 to under 10 holds 5 to 9, whose middle is 7; ranges of one number need no assumption."""
    wide = krand.Number(name="n", edges=(0, 5, 10), integer=True)
    each = krand.Number(name="m", edges=tuple(range(5)), integer=True)
    results = exactly(survey_of(wide, each), {"n": [7] * 100, "m": [0, 3, 3, 3] * 25})
    assert estimates.summaries(results, "n")["mean"].value == pytest.approx(7)
    assert [row[0] for row in estimates.quantiles(results, "n").values()] == [6, 7, 8]
    assert list(estimates.counts(results, "n")) == ["0 to 4", "5 to 9", "unanswered"]
    assert estimates.quantiles(results, "m")[0.5] == (3, 3, 3)
    assert estimates.summaries(results, "m")["mean"].value == pytest.approx(2.25)


def test_where_nobody_answered_nothing_is_claimed() -> None:
    """No mean, no distribution; and where all but nobody did, any share is possible."""
    plan = plan_of("flips")
    nobody = np.zeros(plan.layout.positions)
    results = krand.make_results(plan, tally_of(plan, FEW, nobody))
    assert estimates.summaries(results, "mood") == {}
    assert (estimates.below(results, "age"), estimates.asked(results, "why")) == ({}, {})
    assert estimates.given(results) == {}
    results = krand.make_results(plan, tally_of(plan, FEW, np.ceil(FEW * noises(plan))))
    middle = estimates.below(results, "age")[10]
    assert (middle.low, middle.high) == (0, 1)
    assert estimates.asked(results, "why") == estimates.by_group(results) == {}


YES, BOTH = 'type = "yes_no"', 'type = "yes_no", counts = "both"'
SCALE = 'type = "scale", lowest = 1, highest = 4'
LIST = 'type = "pick_any", choices = ["a", "b", "c"]'
GROUP = 'together = [{ questions = ["gate", "q"] }]'
GATED = """id = "s"
policy = {{ epsilon = 1, delta = 1e-3, minimum_crowd = 2 }}
trust = {{ noise = "devices" }}
question = [
  {{ name = "gate", {gate} }},
  {{ name = "q", type = "scale", lowest = 1, highest = 2, asked_if = {condition} }},
]
{group}
"""


@pytest.mark.parametrize(
    ("gate", "answers", "given", "other", "group", "base"),
    [
        (YES, "[true]", True, False, "", "asked"),
        (YES, "[false]", False, True, "", "answered"),
        (BOTH, "[false]", False, True, "", "asked"),
        (YES, "[false]", False, True, GROUP, "asked"),
        (SCALE, "[1, 4]", 4, 2, "", "asked"),
        (LIST, '["b"]', ["b"], ["c"], "", "asked"),
        (LIST, '["a", "b"]', ["a"], ["c"], "", "answered"),
    ],
)
def test_a_share_is_of_those_asked_where_they_are_counted(
    gate: str, answers: str, given: Any, other: Any, group: str, base: str
) -> None:
    """Everybody gives one answer and each is counted, or one item of a list is named.

    Otherwise it is of those who answered. What others answered does not count.
    """
    condition = f'{{ question = "gate", is = {answers} }}'
    survey = krand.parse_survey(GATED.format(gate=gate, condition=condition, group=group))
    said = {
        "gate": [given] * 40 + [other] * 40 + [None] * 20,
        "q": [1] * 10 + [2] * 20 + [None] * 70,
    }
    results = exactly(survey, said)
    (found,), shares = results.asked, estimates.asked(results, "q")
    whole = 40 if base == "asked" else 30
    assert (str(found.base), found.consistent) == (base, pytest.approx(whole, abs=1e-3))
    expected = {"1": 10 / whole, "2": 20 / whole, "unanswered": 10 / whole}
    if base == "answered":
        del expected["unanswered"]
    assert {k: v.value for k, v in shares.items()} == pytest.approx(expected, abs=1e-4)


ABC = krand.Choices(["a", "b", "c"])
LINKED = survey_of(
    krand.Choice(name="engine", choices=ABC),
    krand.PickAny(name="sports", choices=krand.Choices(["run", "swim"])),
    krand.YesNo(name="blocker"),
    linkage=krand.Linkage.RECORD,
)
PEOPLE = {
    "engine": ["a", "b", None] * 10,
    "sports": [["run"], ["run", "swim"], ["swim"]] * 10,
    "blocker": [True, None, False] * 10,
}


def test_whole_records_have_any_table(tmp_path: Any) -> None:
    """Items of lists, and single answers against all others; of three questions a cube."""
    plan = unsafe_exact_plan(LINKED)
    krand.randomize_table(plan, pa.table(PEOPLE), tmp_path / "r.parquet")
    tally = krand.tally_responses(plan, [tmp_path / "r.parquet"])
    names = (("sports=run", "sports=swim"), ("engine", "sports=run", "blocker"))
    results = krand.make_results(plan, tally, krand.ResultsOptions(joint=names))
    found = [{k: round(v.value) for k, v in estimates.cells(results, n).items()} for n in (0, 1)]
    assert found[0] == {
        ("run", "swim"): 10,
        ("run", "not swim"): 10,
        ("not run", "swim"): 10,
        ("not run", "not swim"): 0,
    }
    assert {cell: n for cell, n in found[1].items() if n} == {
        ("a", "run", "yes"): 10,
        ("b", "run", "no or unanswered"): 10,
        ("unanswered", "not run", "no or unanswered"): 10,
    }
    for wrong, says in (
        (("engine", "sports"), "sports=…"),
        (("engine", "engine=a"), "all different"),
        (("engine", "shoe"), "the questions are engine, sports, blocker"),
    ):
        with pytest.raises(krand.InvalidInput, match=says):
            krand.make_results(plan, tally, krand.ResultsOptions(joint=(wrong,)))


def test_long_records_count_what_was_asked_for_jointly(tmp_path: Any) -> None:
    """No table of all vectors: the bits of both questions are counted, and no others."""
    many = krand.Choice(name="many", choices=krand.Choices([str(n) for n in range(15)]))
    plan = unsafe_exact_plan(survey_of(*LINKED.questions, many, linkage=krand.Linkage.RECORD))
    people = {**PEOPLE, "many": [str(n % 15) for n in range(30)]}
    krand.randomize_table(plan, pa.table(people), tmp_path / "r.parquet")
    joint = [("engine", "many")]
    tally = krand.tally_responses(plan, [tmp_path / "r.parquet"], joint=joint)
    results = krand.make_results(plan, tally, krand.ResultsOptions(joint=tuple(joint)))
    table = {cell: round(seen.value) for cell, seen in estimates.cells(results).items()}
    expected = {
        (e or "unanswered", m): 0 for e in (*ABC, None) for m in (*people["many"], "unanswered")
    }
    for pair in zip(people["engine"], people["many"], strict=True):
        expected[pair[0] or "unanswered", pair[1]] += 1
    assert table == expected
    with pytest.raises(krand.InvalidInput, match="tally the responses again"):
        krand.make_results(plan, tally, krand.ResultsOptions(joint=(("many", "blocker"),)))


def test_what_was_reported_apart_cannot_be_linked_again() -> None:
    """Only groups have tables, in any order; the mend is for the next survey."""
    (found,) = rounds_of(Case("flips", FEW), 1, 2)
    plan, tally = plan_of("flips"), found.tally
    for names in (("first", "mood"), ("team", "happy", "mood"), ("team", "team")):
        with pytest.raises(krand.InvalidInput, match="cannot be linked again") as caught:
            krand.make_results(plan, tally, krand.ResultsOptions(joint=(names,)))
        assert "[[together]]" in caught.value.hint
    turned = krand.make_results(plan, tally, krand.ResultsOptions(joint=(("happy", "team"),)))
    there, here = (estimates.cells(turned, place) for place in (0, 1))
    assert {(b, a): seen for (a, b), seen in here.items()} == there
    margin = sum(seen.value for (team, _), seen in there.items() if team == "red")
    assert margin == pytest.approx(estimates.counts(turned, "team")["red"].value)


def test_a_table_that_is_mostly_noise_is_not_tested_for_independence() -> None:
    """Nor where answers that somebody gave are fewer than two; what nobody gave is left out."""
    (loud,) = rounds_of(Case("mixers", 12), 1, 4)
    assert loud.results.joint[0].independence is None
    draws = Draws(unsafe_exact_plan(plan_of("flips").survey), draws_of("flips").answers)
    people = np.array([10 * (kind["team"] != "blue") for kind in draws.answers])
    tally = draws.tally(people * 10, np.random.default_rng(1))
    assert krand.make_results(draws.plan, tally).joint[0].independence is None


def test_one_dishonest_person_moves_a_count_by_no_more_than_the_plan_says() -> None:
    """All messages of a lane for one answer; and all copies of a record at once."""
    for noise in ("flips", "copies"):
        plan = plan_of(noise)
        block = plan.block_of("mood")
        honest = np.full(plan.layout.positions, FEW // 3 * plan.survey.copies)
        attacked = honest.copy()
        attacked[block.offset] += block.room if noise == "flips" else plan.survey.copies
        before, after = (
            estimates.counts(krand.make_results(plan, tally_of(plan, FEW, c)), "mood")["1"].unbiased
            for c in (honest, attacked)
        )
        assert after - before == pytest.approx(block.shift.too_high, rel=1e-4), noise


@pytest.mark.parametrize(
    ("options", "says"),
    [
        *(({"confidence": level}, "confidence") for level in (0, 1, 1.5, float("nan"), "0.95")),
        ({"quantiles": (0.5, 1.0)}, "quantile"),
        ({"sample_of": 0}, "population"),
        ({"sample_of": "nobody"}, "must be a number of people, or 'everybody'"),
        ({"candidates": {"mood": ["x"]}}, "of type words"),
        ({"candidates": {"nothing": ["x"]}}, "question of the survey"),
        ({"candidates": {"town": []}}, "at least one word"),
        ({"candidates": {"town": " "}}, "candidates"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    """With the field's name."""
    (found,) = rounds_of(Case("mixers", 30), 1, 2)
    with pytest.raises(krand.InvalidInput, match=says):
        krand.make_results(plan_of("mixers"), found.tally, krand.ResultsOptions(**options))


def test_small_p_values_are_no_more_frequent_than_they_say() -> None:
    """Twice the chance that noise alone makes as large a difference, for the worst true share.

    By enumeration, for flips of two crowds of different sizes.
    """
    plan = plan_of("flips")
    sizes, q = (FEW, 2 * FEW), plan.block_of("first").noise
    shares = np.linspace(0, 1, 21)
    for ones in ((40, 40), (12, 60), (60, 100), (9, 38)):
        results = [
            krand.make_results(
                plan, tally_of(plan, people, np.full(plan.layout.positions, m), round=number)
            )
            for number, people, m in zip((1, 2), sizes, ones, strict=True)
        ]
        (row,) = krand.compare_results(results, ["first"]).questions["first"][0].differences
        found = ((m - q * n) / (1 - 2 * q) / n for m, n in zip(ones, sizes, strict=True))
        difference = -next(found) + next(found)
        assert row.difference == pytest.approx(difference)
        chance = max(
            _chance_of(abs(difference), sizes, q, share, np.sign(difference)) for share in shares
        )
        assert 2 * chance * (1 - 1e-9) <= row.p_value <= min(1.0, 2.05 * chance + 1e-10), ones


def _chance_of(
    difference: float, sizes: tuple[int, int], q: float, share: float, sign: float
) -> float:
    """How likely the later share is as much larger (or smaller), if both are truly the same."""
    laws = []
    for people in sizes:
        d = round(share * people)
        errors = (np.arange(people + 1) - d - q * (people - 2 * d)) / (1 - 2 * q) / people
        laws.append((law_of_ones(d, people, q), errors))
    (one, before), (other, after) = laws
    apart = sign * (after[None, :] - before[:, None])
    return float((np.outer(one, other) * (apart >= difference - 1e-12)).sum())
